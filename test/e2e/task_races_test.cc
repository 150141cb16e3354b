// Sixteen processes claim, beat, release, close, reopen and reclaim the same few tasks at once.
// Each writes down what it asked, when, and what it was told; afterwards all histories are laid
// side by side and have to be one story.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <random>
#include <set>
#include <tuple>

#include "e2e.h"

namespace tend::e2e {
namespace {

constexpr int kWorkers = 16;
constexpr int kTasks = 6;
constexpr Patience kRaceTakes = std::chrono::minutes{10};

struct Event {
  std::string op;
  std::string id;
  std::string who;
  std::string did;
  std::string status;
  std::string assignee;
  long sent = 0;  // the fence it came with; 0: none
  long begin = 0;
  long end = 0;
  long fence = 0;
  long updated_at = 0;

  [[nodiscard]] bool is(const char* what) const { return op == what && did == "done"; }
};

Event event_of(const Json& line) {
  return {.op = text_in(line, "op"),
          .id = text_in(line, "id"),
          .who = text_in(line, "who"),
          .did = text_in(line, "did"),
          .status = text_in(line, "status"),
          .assignee = text_in(line, "assignee"),
          .sent = number_in(line, "sent"),
          .begin = number_in(line, "begin"),
          .end = number_in(line, "end"),
          .fence = number_in(line, "fence"),
          .updated_at = number_in(line, "updated_at")};
}

std::string shown(const Event& e) {
  return fmt::format("{} {} by {} with {} during {}..{}: {}, fence {}, {}", e.op, e.id, e.who,
                     e.sent, e.begin, e.end, e.did, e.fence, e.status);
}

/// What happened to one task, checked against what can happen to one.
class Story {
 public:
  explicit Story(std::vector<Event> events) : events_(std::move(events)) {}

  void check(const Json& last) {
    find_holders();
    check_fences(number_in(last, "fence"));
    check_closes(text_in(last, "status"));
    for (const Event& event : events_) {
      if (event.sent != 0 && event.op != "reclaim") check_holder(event);
    }
    check_order();
  }

 private:
  struct Claim {
    std::string who;
    long updated_at = 0;
    long begin = 0;
    long end = 0;
  };

  void find_holders() {
    for (const Event& event : events_) {
      if (event.is("reclaim")) taken_[event.fence - 1] = &event;
      if (!event.is("claim")) continue;
      const auto [claim, is_new] =
          claims_.try_emplace(event.fence, event.who, event.updated_at, event.begin, event.end);
      EXPECT_EQ(claim->second.who, event.who) << "a double claim: " << shown(event);
      EXPECT_EQ(claim->second.updated_at, event.updated_at) << shown(event);
      EXPECT_EQ(is_new, event.sent != event.fence) << "claimed twice: " << shown(event);
      claim->second.begin = std::min(claim->second.begin, event.begin);
    }
  }

  /// Each number was given once, to a claim or to who took one back; none is missing.
  void check_fences(long last) {
    std::multiset<long> given;
    for (const auto& [fence, claim] : claims_) given.insert(fence);
    for (const Event& event : events_) {
      if (event.is("reclaim")) given.insert(event.fence);
    }
    std::multiset<long> expected;
    for (long fence = 1; fence <= last; ++fence) expected.insert(fence);
    EXPECT_EQ(given, expected) << "fences of " << events_.front().id;
  }

  /// It was closed as often as opened again, or once more; and that is what it is now.
  void check_closes(const std::string& last) {
    const auto closed = std::ranges::count_if(events_, [](auto& e) { return e.is("close"); });
    const auto opened = std::ranges::count_if(events_, [](auto& e) { return e.is("reopen"); });
    EXPECT_EQ(closed - opened, last == "closed" ? 1 : 0) << events_.front().id << " is " << last;
  }

  /// Who came with a fence was told the truth about it.
  void check_holder(const Event& event) {
    const auto taken = taken_.find(event.sent);
    const bool claimed_anew = event.is("claim") && event.fence != event.sent;
    if (event.did == "done" && !claimed_anew) {
      EXPECT_EQ(event.fence, event.sent) << shown(event);
      EXPECT_EQ(claims_.at(event.sent).who, event.who) << shown(event);
      if (event.op == "beat") {
        EXPECT_EQ(event.updated_at, claims_.at(event.sent).updated_at)
            << "a beat is no change: " << shown(event);
      }
      if (taken != taken_.end()) {
        EXPECT_LE(event.begin, taken->second->end) << "it had lost it: " << shown(event) << "\n"
                                                   << shown(*taken->second);
      }
      return;
    }
    ASSERT_NE(taken, taken_.end()) << "nobody took it: " << shown(event);
    EXPECT_LE(taken->second->begin, event.end) << shown(event) << "\n" << shown(*taken->second);
    EXPECT_GT(event.fence, event.sent) << shown(event);
  }

  /// Who asks after another was answered sees no older fence, and no closed task that is claimed.
  void check_order() {
    std::vector<const Event*> by_begin;
    std::vector<const Event*> by_end;
    for (const Event& event : events_) {
      by_begin.push_back(&event);
      by_end.push_back(&event);
    }
    std::ranges::sort(by_begin, {}, [](const Event* e) { return std::tuple(e->begin, e->end); });
    std::ranges::sort(by_end, {}, [](const Event* e) { return std::tuple(e->end, e->begin); });
    long highest = 0;
    auto ended = by_end.begin();
    for (const Event* const event : by_begin) {
      for (; ended != by_end.end() && (*ended)->end < event->begin; ++ended) {
        highest = std::max(highest, (*ended)->fence);
      }
      EXPECT_GE(event->fence, highest) << shown(*event);
    }
  }

  std::vector<Event> events_;
  std::map<long, Claim> claims_;        // by fence
  std::map<long, const Event*> taken_;  // what ended the claim of this fence
};

class TaskRacesTest : public E2e {
 protected:
  [[nodiscard]] Path history(int worker) const {
    return scratch() / ("history-" + std::to_string(worker));
  }
  std::vector<Event> race(std::uint64_t seed, int operations) {
    std::vector<Background> workers;
    for (int i = 0; i < kWorkers; ++i) {
      workers.push_back(
          start({.arguments = {STORE_DRIVER, home().string(), "race", "w" + std::to_string(i),
                               std::to_string(seed + static_cast<unsigned>(i) * 1000),
                               std::to_string(operations), std::to_string(kTasks),
                               history(i).string()}}));
    }
    for (Background& worker : workers) {
      const auto ran = worker.wait(kRaceTakes);
      EXPECT_EQ(ran.exit, 0) << ran.err;
    }
    std::vector<Event> all;
    for (int i = 0; i < kWorkers; ++i) {
      const auto lines = json_lines(history(i));
      for (const Json& line : lines) {
        all.push_back(event_of(line));
        EXPECT_NE(all.back().did, "error") << line;
      }
    }
    return all;
  }
  static void print(std::uint64_t seed, const std::vector<Event>& all) {
    std::map<std::string, int> counted;
    for (const Event& event : all) ++counted[event.op + " " + event.did];
    std::cout << "seed " << seed << ", " << kWorkers << " processes, " << kTasks << " tasks, "
              << all.size() << " answers:";
    for (const auto& [what, count] : counted) std::cout << " " << what << " " << count << ";";
    std::cout << "\n";
  }
};

TEST_F(TaskRacesTest, sixteen_processes_tell_one_story_of_the_same_tasks) {
  const char* const given = std::getenv("TEND_RACE_SEED");
  const std::uint64_t seed = given != nullptr ? std::stoull(given) : std::random_device{}();
  const char* const asked = std::getenv("TEND_RACE_OPERATIONS");
  const int operations = asked != nullptr ? std::stoi(asked) : 150;
  SCOPED_TRACE("TEND_RACE_SEED=" + std::to_string(seed));
  for (int i = 0; i < kTasks; ++i) {
    const std::string id = "t" + std::to_string(i);
    const auto added = tend({"task", "add", "what " + id + " is", "--id", id});
    ASSERT_EQ(added.exit, 0) << added.err;
  }
  const auto all = race(seed, operations);
  print(seed, all);
  EXPECT_GT(all.size(), static_cast<std::size_t>(kWorkers * operations / 2));
  for (int i = 0; i < kTasks; ++i) {
    const std::string id = "t" + std::to_string(i);
    std::vector<Event> of_this;
    std::ranges::copy_if(all, std::back_inserter(of_this), [&](auto& e) { return e.id == id; });
    ASSERT_FALSE(of_this.empty());
    const auto shown = tend({"task", "show", id, "--json"});
    ASSERT_EQ(shown.exit, 0) << shown.err;
    Story(std::move(of_this)).check(Json::parse(shown.out, nullptr, false));
  }
}

}  // namespace
}  // namespace tend::e2e
