// Each look is one scan: what it shows decides the stage, and the signals of a stage go to the
// members of that very scan. Rescans come fast after a signal and slower later; the first process
// is also watched, so that the usual end is noticed the moment it happens.
#include "act/ending.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/check.h"

namespace tend {
namespace {

using std::chrono::milliseconds;

enum class Stage : std::uint8_t { before, interrupt, terminate, kill };

constexpr Duration kFirstLook = milliseconds{20};
constexpr Duration kFirstLookAtKilled = milliseconds{50};
constexpr Duration kSlowestLook = milliseconds{500};
constexpr std::size_t kMostNamed = 8;

std::string how_it_ended(Stage stage) {
  switch (stage) {
    case Stage::before:
      return "nothing was left";
    case Stage::interrupt:
      return "ended by SIGINT";
    case Stage::terminate:
      return "ended by SIGTERM";
    case Stage::kill:
      return "ended by SIGKILL";
  }
  CHECK(false);
}

bool contains(const std::vector<ProcessId>& among, const ProcessId& id) {
  return std::ranges::find(among, id) != among.end();
}

}  // namespace

class Ending::Work {
 public:
  Work(Machine& machine, EndOrder order, std::function<void(const Ended&)> done)
      : machine_(machine), order_(std::move(order)), done_(std::move(done)) {
    look_in(Duration::zero());
    if (order_.who.root.pid != 0) {
      first_ = machine_.processes.open(order_.who.root);
      first_exit_ = first_->on_exit([this] { look_in(Duration::zero()); });
    }
  }

 private:
  /// Who was there at the last kill, and why a kill could not be sent.
  struct Killed {
    ProcessId id;
    std::string problem;
  };

  void look_in(Duration wait) {
    timer_ = machine_.loop.at(machine_.clock.now() + wait, [this] { look(); });
  }

  Result<std::vector<ProcessId>> scan() {
    const auto all = machine_.processes.all(order_.variable);
    if (!all) return std::unexpected(all.error());
    const ProcessId self = machine_.processes.self();
    std::vector<std::int64_t> in_group;
    if (!order_.who.group.empty()) in_group = machine_.processes.members(order_.who.group);
    auto found = members(*all, order_.who, in_group, self);
    add_orphans(*all, self, found);
    members_ = found;
    job_ = job_among(*all, found);
    return found;
  }

  /// Those whom Ctrl-C in a terminal would reach: the first, and who shares its process group.
  [[nodiscard]] std::vector<ProcessId> job_among(const std::vector<Seen>& all,
                                                 const std::vector<ProcessId>& found) const {
    const auto first = std::ranges::find(all, order_.who.root, &Seen::id);
    if (first == all.end()) return {};
    std::vector<ProcessId> job{first->id};
    for (const Seen& seen : all) {
      if (seen.job == first->job && seen.id != first->id && contains(found, seen.id)) {
        job.push_back(seen.id);
      }
    }
    return job;
  }

  /// One without a mark belonged to them by its parent. When that is gone it still does, and so
  /// does what is below it.
  void add_orphans(const std::vector<Seen>& all, const ProcessId& self,
                   std::vector<ProcessId>& found) const {
    for (const ProcessId& member : members_) {
      const auto seen = std::ranges::find(all, member, &Seen::id);
      if (seen == all.end() || seen->mark.has_value() || contains(found, member)) continue;
      const Belonging below{.root = member, .not_ = order_.who.not_};
      for (ProcessId& id : members(all, below, {}, self)) {
        if (!contains(found, id)) found.push_back(std::move(id));
      }
    }
  }

  /// A list of processes is not taken in one moment, and one that was being forked or was becoming
  /// another program can slip through: that nothing is left has to be seen twice.
  Result<std::vector<ProcessId>> scan_surely() {
    auto found = scan();
    return found && found->empty() ? scan() : found;
  }

  void look() {
    const auto found = scan_surely();
    if (!found) return look_failed(found.error());
    // What was right before such a time need not be so now: whoever gave the order begins again.
    if (stage_ == Stage::before && has_been_unseeing_for_long()) {
      return finish({.how = "nothing could be looked at for too long", .unseen = true});
    }
    unseeing_since_.reset();
    if (found->empty()) return finish({.all_gone = true, .how = how_it_ended(stage_)});
    if (order_.may_act && !order_.may_act()) return wait();
    const Stage next = stage_for(*found);
    if (next != stage_) {
      enter(next);
      act(*found);
    } else if (stage_ == Stage::kill && is_over(Stage::kill)) {
      return finish({.how = words_for_left(*found), .left = *found});
    } else {
      act_again(*found);
    }
    wait();
  }

  /// Not to see is not to know: nobody is signalled, nobody is taken for gone.
  void look_failed(const Error& error) {
    if (!unseeing_since_) unseeing_since_ = machine_.clock.awake();
    if (has_been_unseeing_for_long()) {
      return finish({.how = "cannot tell what is left: " + error.text, .unseen = true});
    }
    wait();
  }

  [[nodiscard]] bool has_been_unseeing_for_long() const {
    return unseeing_since_ && machine_.clock.awake() - *unseeing_since_ >= order_.kill_for;
  }

  [[nodiscard]] Duration bound_of(Stage stage) const {
    switch (stage) {
      case Stage::before:
        return Duration::zero();
      case Stage::interrupt:
        return order_.interrupt_for;
      case Stage::terminate:
        return order_.terminate_for;
      case Stage::kill:
        return order_.kill_for;
    }
    CHECK(false);
  }

  /// Whether a stage has had its time; one of no length had it before it began.
  [[nodiscard]] bool is_over(Stage stage) const {
    const Duration spent =
        stage == stage_ ? machine_.clock.awake() - stage_began_ : Duration::zero();
    return spent >= bound_of(stage);
  }

  /// The stage that what was found calls for; it never falls.
  [[nodiscard]] Stage stage_for(const std::vector<ProcessId>& found) const {
    if (order_.now || stage_ == Stage::kill) return Stage::kill;
    const bool first_is_there = contains(found, order_.who.root);
    if (stage_ <= Stage::interrupt && first_is_there && !is_over(Stage::interrupt)) {
      return Stage::interrupt;
    }
    return is_over(Stage::terminate) ? Stage::kill : Stage::terminate;
  }

  void enter(Stage stage) {
    stage_ = stage;
    stage_began_ = machine_.clock.awake();
  }

  void act(const std::vector<ProcessId>& found) {
    next_wait_ = stage_ == Stage::kill ? kFirstLookAtKilled : kFirstLook;
    switch (stage_) {
      case Stage::before:
        CHECK(false);
      case Stage::interrupt:
        for (const ProcessId& id : job_) ask(id, Kill::interrupt);
        break;
      case Stage::terminate:
        for (const ProcessId& id : found) ask(id, Kill::terminate);
        asked_ = found;
        break;
      case Stage::kill:
        kill_all(found);
        break;
    }
  }

  /// One that appears after all were asked to terminate is most likely how one of them cleans up:
  /// it is asked only when none of those is left.
  void act_again(const std::vector<ProcessId>& found) {
    if (stage_ == Stage::kill) return kill_all(found);
    if (stage_ != Stage::terminate) return;
    if (std::ranges::any_of(found, [&](const ProcessId& id) { return contains(asked_, id); })) {
      return;
    }
    act(found);
  }

  /// A stopped process would not hear it. That it is gone by now is no failure.
  void ask(const ProcessId& id, Kill kill) {
    const auto process = machine_.processes.open(id);
    if (process->signal(kill)) std::ignore = process->signal(Kill::cont);
  }

  void kill_all(const std::vector<ProcessId>& found) {
    killed_.clear();
    for (const ProcessId& id : found) {
      const auto sent = machine_.processes.open(id)->signal(Kill::kill);
      killed_.push_back({id, sent ? "" : sent.error().text});
    }
  }

  void wait() {
    const Duration left = stage_began_ + bound_of(stage_) - machine_.clock.awake();
    look_in(left > Duration::zero() ? std::min(next_wait_, left) : next_wait_);
    next_wait_ = std::min(next_wait_ * 2, kSlowestLook);
  }

  [[nodiscard]] std::string words_for_left(const std::vector<ProcessId>& left) const {
    std::vector<std::string> named;
    for (const ProcessId& id : left) {
      if (named.size() == kMostNamed) break;
      const auto killed = std::ranges::find(killed_, id, &Killed::id);
      const bool refused = killed != killed_.end() && !killed->problem.empty();
      named.push_back(refused ? fmt::format("{} ({})", id.pid, killed->problem)
                              : fmt::format("{}", id.pid));
    }
    if (left.size() > named.size()) {
      named.push_back(fmt::format("and {} more", left.size() - named.size()));
    }
    return fmt::format("{} process{} left after SIGKILL: {}", left.size(),
                       left.size() == 1 ? "" : "es", fmt::join(named, ", "));
  }

  /// The last thing that is done: `done_` may destroy this.
  void finish(const Ended& ended) {
    timer_.reset();
    first_exit_.reset();
    const auto done = std::move(done_);
    done(ended);
  }

  Machine& machine_;
  EndOrder order_;
  std::function<void(const Ended&)> done_;

  Stage stage_ = Stage::before;
  Duration stage_began_{};  // on the clock that stands still while the machine sleeps
  std::optional<Duration> unseeing_since_;
  Duration next_wait_ = kFirstLook;
  std::vector<ProcessId> members_;  // in the last scan
  std::vector<ProcessId> job_;      // the first and its job, in the last scan
  std::vector<ProcessId> asked_;    // to terminate, in the last round
  std::vector<Killed> killed_;

  std::unique_ptr<Process> first_;
  Subscribed first_exit_;
  Subscribed timer_;
};

Ending::Ending(Machine& machine, EndOrder order, std::function<void(const Ended&)> done)
    : work_(std::make_unique<Work>(machine, std::move(order), std::move(done))) {}

Ending::~Ending() = default;

}  // namespace tend
