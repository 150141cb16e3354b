// The patrol of a world's home, those who hold tasks without being agents of ours, and what goes
// wrong with both.
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "act/launch.h"
#include "base/duration.h"
#include "checks/check.h"
#include "os/database.h"
#include "run/patrol_process.h"
#include "run/postman.h"
#include "run/work_items.h"
#include "seeded_world.h"
#include "store/home_database.h"
#include "store/mail.h"

namespace tend::sim {
namespace {

constexpr const char* kChannel = "people";

/// As `tend patrol` puts it together: what it knows, what it sends, and itself.
struct PatrolAtWork {
  std::unique_ptr<Folder> home;
  std::unique_ptr<WorkItems> items;
  std::unique_ptr<Postman> postman;
  std::unique_ptr<PatrolProcess> process;
};

/// The interval of `tend patrol --interval DUR`.
Duration interval_in(const std::vector<std::string>& command) {
  const auto option = std::ranges::find(command, "--interval");
  if (option == command.end() || option + 1 == command.end()) return Duration::zero();
  return parse_duration(*(option + 1)).value_or(Duration::zero());
}

/// Those of the home, with somebody who hears what the patrol is shown of those that are held.
class WatchedItems final : public WorkItems {
 public:
  using Hears = std::function<void(const std::vector<Task>& held)>;
  WatchedItems(std::unique_ptr<WorkItems> items, Hears hears)
      : items_(std::move(items)), hears_(std::move(hears)) {}

  Subscribed list(const TaskFilter& filter, Listed listed) override {
    if (filter.status != kInProgress) return items_->list(filter, std::move(listed));
    return items_->list(filter, [this, listed = std::move(listed)](const auto& tasks) {
      if (tasks) hears_(*tasks);
      listed(tasks);
    });
  }
  Subscribed find(const std::string& id, Answered answered) override {
    return items_->find(id, std::move(answered));
  }
  Subscribed claim(const std::string& id, const Worker& worker, Answered answered) override {
    return items_->claim(id, worker, std::move(answered));
  }
  Subscribed beat(const std::string& id, const Worker& worker,
                  const std::optional<std::string>& message, Answered answered) override {
    return items_->beat(id, worker, message, std::move(answered));
  }
  Subscribed release(const std::string& id, const Worker& worker, Answered answered) override {
    return items_->release(id, worker, std::move(answered));
  }
  Subscribed close(const std::string& id, const Worker& worker,
                   const std::optional<std::string>& reason, Answered answered) override {
    return items_->close(id, worker, reason, std::move(answered));
  }
  Subscribed reclaim(const Task& held, Answered answered) override {
    return items_->reclaim(held, std::move(answered));
  }

 private:
  std::unique_ptr<WorkItems> items_;
  Hears hears_;
};

}  // namespace

std::shared_ptr<void> SeededWorld::be_patrol(Machine& machine, const Launch& launch) {
  auto patrol = std::make_shared<PatrolAtWork>();
  auto home = machine.folders.open(kHome);
  if (!home) {
    say("a patrol cannot begin: " + home.error().text);
    machine.loop.stop();
    return nullptr;
  }
  patrol->home = *std::move(home);
  patrol->items = std::make_unique<WatchedItems>(home_work_items(machine, *patrol->home),
                                                 [this](const std::vector<Task>& held) {
                                                   for (const auto& check : checks_)
                                                     check->on_listed(held);
                                                 });
  const std::vector<NotifyChannel> channels{
      {.name = kChannel, .command = {"tell-a-person"}, .url = ""}};
  patrol->postman = std::make_unique<Postman>(
      machine, *patrol->home, channels, std::nullopt, [](const Postman::Delivery&) {},
      [](const Postman::Round&) {});
  PatrolProcess::Settings settings;
  settings.interval = interval_in(launch.command);
  settings.patrol = {
      .policy = with_interval({}, settings.interval),
      .channels = {kChannel},
      .program = {
          .program = kTend, .home = kHome, .environment = keeper_environment(launch.environment)}};
  settings.swept = [this](const Sweep& sweep) {
    if (trace) say(fmt::format("sweep: {} silent {}", sweep.silent, sweep.unfit_because));
  };
  settings.found = [](const std::vector<SweepLine>&) {};
  settings.deliver = [postman = patrol->postman.get()](const Callback&) { postman->send(); };
  patrol->process =
      std::make_unique<PatrolProcess>(machine, *patrol->home, *patrol->items, std::move(settings));
  const std::int64_t pid = machine.processes.self().pid;
  const auto began = patrol->process->begin();
  if (!began) say("a patrol cannot begin: " + began.error().text);
  if (!began || *began != PatrolProcess::Began::at_work) {
    machine.loop.stop();
    return patrol;
  }
  patrols_.emplace(pid, elapsed());
  for (const auto& check : checks_) check->on_patrol(patrols_.size());
  return patrol;
}

void SeededWorld::start_patrol() {
  if (scenario.patrol == Duration::zero()) return;
  const std::string interval = fmt::format("{}s", scenario.patrol / std::chrono::seconds{1});
  tend({"patrol", "-d", "--interval", interval});
}

/// As the system does, without a command that looks first.
void SeededWorld::launch_patrol() {
  Launch launch;
  launch.command = {kTend, "patrol", "--interval",
                    fmt::format("{}s", scenario.patrol / std::chrono::seconds{1})};
  launch.environment = {"PATH=/bin", "HOME=/home/user", std::string("TEND_HOME=") + kHome};
  universe.start_command(launch);
}

std::vector<std::int64_t> SeededWorld::patrols() const {
  return processes_of("", Owner::Is::patrol);
}

std::optional<Duration> SeededWorld::patrolled_since() const {
  for (const auto& [pid, since] : patrols_) {
    const SimFacts* const facts = universe.find(pid);
    if (facts != nullptr && facts->state == RunState::running) return since;
  }
  return std::nullopt;
}

bool SeededWorld::is_disturbed() const {
  return !universe.looking_fails.empty() || !universe.spawning_fails.empty() ||
         universe.disk.room.has_value() || universe.call_takes > Duration::zero() ||
         wrong_until_.contains(Wrong::busy_database) ||
         wrong_until_.contains(Wrong::unreadable_database) || shutting_down_;
}

// --- Outsiders -----------------------------------------------------------------------------------

void SeededWorld::play_outsiders() {
  for (std::size_t i = 0; i < outsiders_.size(); ++i) {
    const OutsiderPlan& plan = scenario.outsiders[i];
    Outsider& outsider = outsiders_[i];
    const Duration now = elapsed();
    if (now < plan.begins) continue;
    const Duration beat =
        PatrolPolicy{}.of(static_cast<PatrolContext>(plan.context)).interval * 4 / 5;
    if (!outsider.holds) {
      outsider.holds = tend({"task", "claim", plan.name, "--actor", plan.name}) == 0;
      outsider.next_beat = now + beat;
    } else if (now >= plan.silent_at && now - plan.silent_at < plan.silent_for &&
               !outsider.is_back) {
      if (plan.answers) answer_letters(plan.name);
    } else if (now >= outsider.next_beat) {
      outsider.next_beat = now + beat;
      tend({"heartbeat", plan.name, "--actor", plan.name});
    }
  }
}

void SeededWorld::answer_letters(const std::string& name) {
  const auto found = universe.databases.find(fmt::format("{}/{}", kHome, kDatabaseFile));
  if (found == universe.databases.end()) return;
  const auto database = look_into(found->second, found->first);
  const auto letters = Mailbox(*database).inbox(name, LetterView::unacked);
  if (!letters) return;
  for (const Letter& letter : *letters) {
    tend({"mail", "ack", std::to_string(letter.id), "--actor", name});
  }
}

/// What the patrol remembers was written behind what it told, and nothing of it is synced.
void SeededWorld::strike_telling() {
  if (!awaits(FaultKind::cut_after_telling)) {
    for (Outsider& outsider : outsiders_) outsider.is_told_of = true;
    return;
  }
  const std::unique_ptr<Database> database = home_database_of(*this);
  if (!database) return;
  for (std::size_t i = 0; i < outsiders_.size(); ++i) {
    bool told = false;
    const std::string key = "task:" + scenario.outsiders[i].name;
    std::ignore = database->each(
        "SELECT 1 FROM notices WHERE key = ? AND closed = 0 AND kind <> 'close' LIMIT 1",
        {std::string_view(key)}, [&](const DatabaseRow&) { told = true; });
    if (std::exchange(outsiders_[i].is_told_of, told) || !told || outsiders_[i].is_back) continue;
    if (!next_awaited(FaultKind::cut_after_telling)) continue;
    outsiders_[i].is_back = true;
    outsiders_[i].next_beat = elapsed();
    universe.after({}, [this] { restart_machine({.lost = SimReboot::Lost::unsynced}); });
    return;
  }
  write_back();
}

// --- What goes wrong -----------------------------------------------------------------------------

void SeededWorld::strike_patrol(const Fault& fault) {
  if (scenario.patrol == Duration::zero()) return;
  switch (fault.kind) {
    case FaultKind::kill_patrol:
      for (const std::int64_t pid : patrols()) universe.kill(pid);
      return;
    case FaultKind::patrol_at_call:
      for (const std::int64_t pid : patrols()) {
        universe.kill_at_call(pid, fault.number, fault.number % 2 == 0);
      }
      return;
    case FaultKind::pause_patrol:
      return pause(patrols(), fault.lasts, "");
    case FaultKind::two_patrols:
      for (int n = 0; n < 2; ++n) launch_patrol();
      return;
    default:
      return;
  }
}

}  // namespace tend::sim
