// Tasks of a `bd` that says what the test wants it to say, and what is asked of it.
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "os/sim/sim_universe.h"
#include "run/work_items.h"

namespace tend {
namespace {

using namespace std::chrono_literals;
using Did = TaskAnswer::Did;
using Texts = std::vector<std::string>;

constexpr std::string_view kIssue =
    R"([{"id":"web:3.1","title":"Implement login","status":"in_progress","priority":1,)"
    R"("issue_type":"task","assignee":"PinkHill","created_at":"2026-01-03T11:00:00Z",)"
    R"("updated_at":"2026-01-03T12:00:00.123456789Z","heartbeat_at":"2026-01-03T14:15:00+02:00",)"
    R"("lease_expires_at":"2026-01-03T12:20:00Z","claim_fence":4,"labels":["web","api"],)"
    R"("dependencies":[{"id":"x"}]}])";

class BeadsWorkItemsTest : public testing::Test {
 protected:
  BeadsWorkItemsTest() {
    universe.on_run = [this](const tend::Run& run) -> std::optional<SimAnswer> {
      const std::string verb = run.command.at(1);
      if (!answers[verb].empty()) {
        SimAnswer answer = answers[verb].front();
        if (answers[verb].size() > 1) answers[verb].erase(answers[verb].begin());
        return answer;
      }
      return std::nullopt;
    };
  }

  void says(const std::string& verb, std::string_view output) {
    answers[verb].push_back({.output = std::string(output)});
  }
  void refuses(const std::string& verb, std::string_view error) {
    answers[verb].push_back({.exit = {ExitStatus::How::code, 1}, .error = std::string(error)});
  }

  /// What was asked last but `back` questions, as words.
  std::string asked(std::size_t back = 0) {
    const auto& ran = universe.ran();
    if (ran.size() <= back) return "";
    return fmt::format("{}", fmt::join(ran[ran.size() - 1 - back].command, " "));
  }

  template <class Answer>
  Result<Answer> await(
      const std::function<Subscribed(std::function<void(const Result<Answer>&)>)>& question) {
    std::optional<Result<Answer>> got;
    const Subscribed asking = question([&](const Result<Answer>& answer) { got = answer; });
    EXPECT_FALSE(got) << "from within the call";
    universe.run_until([&] { return got.has_value(); }, 2min);
    return got ? *std::move(got) : fail("no answer at all");
  }
  Result<std::vector<Task>> list(const TaskFilter& filter) {
    return await<std::vector<Task>>([&](auto then) { return items->list(filter, then); });
  }
  Result<TaskAnswer> find(const std::string& id) {
    return await<TaskAnswer>([&](auto then) { return items->find(id, then); });
  }
  Result<TaskAnswer> claim(const std::string& id, const Worker& worker) {
    return await<TaskAnswer>([&](auto then) { return items->claim(id, worker, then); });
  }
  Result<TaskAnswer> beat(const std::string& id, const std::optional<std::string>& message = {}) {
    return await<TaskAnswer>(
        [&](auto then) { return items->beat(id, {.name = "PinkHill"}, message, then); });
  }
  Result<TaskAnswer> release(const std::string& id, const Worker& worker) {
    return await<TaskAnswer>([&](auto then) { return items->release(id, worker, then); });
  }
  Result<TaskAnswer> close(const std::string& id, const Worker& worker,
                           const std::optional<std::string>& reason = {}) {
    return await<TaskAnswer>([&](auto then) { return items->close(id, worker, reason, then); });
  }
  Result<TaskAnswer> reclaim(const Task& held) {
    return await<TaskAnswer>([&](auto then) { return items->reclaim(held, then); });
  }
  /// What is said of an error; "" if there is none.
  std::string trouble_with(std::string_view id = "web:3.1") {
    const auto answer = beat(std::string(id));
    return answer ? "" : answer.error().text;
  }
  static Texts ids(const Result<std::vector<Task>>& tasks) {
    Texts all;
    if (tasks) {
      for (const Task& task : *tasks) all.push_back(task.id);
    }
    return all;
  }
  std::string at(Duration before) {
    const auto seconds =
        std::chrono::floor<std::chrono::seconds>((universe.wall() - before).time_since_epoch());
    const auto days = std::chrono::floor<std::chrono::days>(seconds);
    const std::chrono::year_month_day date{std::chrono::sys_days{days}};
    const std::chrono::hh_mm_ss clock{seconds - days};
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                       clock.hours().count(), clock.minutes().count(), clock.seconds().count());
  }

  SimUniverse universe;
  std::map<std::string, std::vector<SimAnswer>> answers;  // by verb; the last one stays
  std::unique_ptr<WorkItems> items = beads_work_items(universe.machine(), {"bd"});
};

TEST_F(BeadsWorkItemsTest, are_read_in_the_words_of_the_program) {
  says("show", kIssue);
  const auto answer = find("web:3.1");
  ASSERT_TRUE(answer) << answer.error().text;
  EXPECT_EQ(asked(), "bd show --json web:3.1");
  EXPECT_EQ(answer->did, Did::done);
  const Task& task = answer->task;
  EXPECT_EQ(task.title, "Implement login");
  EXPECT_EQ(task.status, kInProgress);
  EXPECT_EQ(task.assignee, "PinkHill");
  EXPECT_EQ(task.fence, 4);
  EXPECT_EQ(task.labels, (Texts{"api", "web"}));
  EXPECT_EQ(task.lease_expires_at, WallTime{1767442800s});
  EXPECT_EQ(task.last_heartbeat, WallTime{1767442500s});
  EXPECT_EQ(task.updated_at, WallTime{1767441600s + 123456789ns});
}

TEST_F(BeadsWorkItemsTest, are_read_with_what_is_missing_and_of_another_kind) {
  says("show", R"({"id":"a","title":7,"labels":"x","heartbeat_at":"soon","claim_fence":"many"})");
  const auto answer = find("a");
  ASSERT_TRUE(answer) << answer.error().text;
  EXPECT_EQ(answer->did, Did::done);
  EXPECT_EQ(answer->task.title, "");
  EXPECT_EQ(answer->task.status, "");
  EXPECT_FALSE(answer->task.assignee);
  EXPECT_FALSE(answer->task.last_heartbeat);
  EXPECT_EQ(answer->task.fence, 0);
}

TEST_F(BeadsWorkItemsTest, are_read_from_an_envelope_and_from_behind_a_warning) {
  says("show",
       fmt::format("warning: old database\n{{\"schema_version\":1,\"data\":{}}}\n", kIssue));
  EXPECT_EQ(find("web:3.1")->task.assignee, "PinkHill");
}

TEST_F(BeadsWorkItemsTest, that_only_resemble_what_was_asked_for_are_others) {
  says("show", R"([{"id":"web:3.10","title":"another"}])");
  EXPECT_EQ(find("web:3.1")->did, Did::no_such_task);
  answers.clear();
  refuses("show", "Error: no issues found matching the provided IDs\n");
  EXPECT_EQ(find("web:3.1")->did, Did::no_such_task);
}

TEST_F(BeadsWorkItemsTest, are_listed_by_the_filter_and_looked_through_once_more) {
  says("list",
       R"([{"id":"b","status":"in_progress","labels":["web"],"created_at":"2026-01-03T12:00:00Z"},)"
       R"({"id":"a","status":"in_progress","labels":["web"],"created_at":"2026-01-03T11:00:00Z"},)"
       R"({"id":"c","status":"open","labels":["web"]},{"id":"d","status":"in_progress"},7,{}])");
  TaskFilter filter;
  filter.status = std::string(kInProgress);
  filter.labels = {"web"};
  EXPECT_EQ(ids(list(filter)), (Texts{"a", "b"}));
  EXPECT_EQ(asked(), "bd list --json --limit=0 --status=in_progress --label=web");
  filter.most = 1;
  EXPECT_EQ(ids(list(filter)), Texts{"a"});
  filter = {};
  EXPECT_EQ(list(filter)->size(), 4U);
  EXPECT_EQ(asked(), "bd list --json --limit=0 --all");
  filter.assignee = "PinkHill";
  filter.id = "a,b";
  filter.any_label = {"x"};
  filter.without_labels = {"y"};
  EXPECT_TRUE(list(filter)->empty());
  EXPECT_EQ(asked(),
            "bd list --json --limit=0 --all --assignee=PinkHill --label-any=x --exclude-label=y");
}

TEST_F(BeadsWorkItemsTest, are_stale_by_their_last_sign_the_oldest_first) {
  says("list", fmt::format(R"([{{"id":"fresh","updated_at":"{0}","heartbeat_at":"{1}"}},)"
                           R"({{"id":"old","updated_at":"{0}","heartbeat_at":"{2}"}},)"
                           R"({{"id":"never","updated_at":"{0}"}},)"
                           R"({{"id":"night","updated_at":"{2}","context":"overnight"}}])",
                           at(1h), at(1min), at(11min)));
  TaskFilter filter;
  filter.stale = true;
  EXPECT_EQ(ids(list(filter)), (Texts{"never", "old"}));
  EXPECT_EQ(asked(), "bd list --json --limit=0");
  filter.stale_for = 30min;
  EXPECT_EQ(ids(list(filter)), Texts{"never"});
}

TEST_F(BeadsWorkItemsTest, are_claimed_under_the_name_of_the_worker) {
  says("update", kIssue);
  const auto answer = claim("web:3.1", {.name = "PinkHill"});
  ASSERT_TRUE(answer) << answer.error().text;
  EXPECT_EQ(answer->did, Did::done);
  EXPECT_EQ(answer->task.fence, 4);
  EXPECT_EQ(asked(), "bd update --claim --json web:3.1");
  EXPECT_EQ(universe.ran().back().environment,
            (Texts{"BD_ACTOR=PinkHill", "BEADS_ACTOR=PinkHill"}));
}

TEST_F(BeadsWorkItemsTest, that_others_hold_are_refused_by_their_name) {
  refuses("update", "Error claiming web:3.1: issue already claimed by Blue Lake\n");
  const auto claimed = claim("web:3.1", {.name = "PinkHill"});
  EXPECT_EQ(claimed->did, Did::held_by_other);
  EXPECT_EQ(claimed->task.assignee, "Blue Lake");
  answers["heartbeat"].push_back(
      {.exit = {ExitStatus::How::code, 1},
       .output = R"({"error":"issue already claimed by BlueLake","schema_version":1})"});
  const auto beaten = beat("web:3.1");
  EXPECT_EQ(beaten->did, Did::held_by_other);
  EXPECT_EQ(beaten->task.assignee, "BlueLake");
}

TEST_F(BeadsWorkItemsTest, that_are_free_or_closed_are_not_beaten) {
  refuses("heartbeat", "Error: issue not claimable: web:3.1 status open\n");
  EXPECT_EQ(beat("web:3.1")->did, Did::not_claimed);
  answers.clear();
  refuses("heartbeat", "Error: issue not claimable: web:3.1 status closed\n");
  EXPECT_EQ(beat("web:3.1")->did, Did::not_claimable);
}

TEST_F(BeadsWorkItemsTest, are_beaten_without_a_message_where_there_can_be_none) {
  refuses("heartbeat", "Error: unknown flag: --message\n");
  says("heartbeat", R"({"id":"web:3.1","status":"heartbeat","owner":"PinkHill"})");
  const auto answer = beat("web:3.1", "half of it is done");
  ASSERT_TRUE(answer) << answer.error().text;
  EXPECT_EQ(answer->did, Did::done);
  EXPECT_FALSE(answer->task.heartbeat_message) << "it was not kept";
  EXPECT_EQ(asked(1), "bd heartbeat --json --message=half of it is done web:3.1");
  EXPECT_EQ(asked(), "bd heartbeat --json web:3.1");
  EXPECT_EQ(beat("web:3.1", "more")->task.heartbeat_message, "more");
}

TEST_F(BeadsWorkItemsTest, are_released_only_as_they_are_held) {
  says("show", kIssue);
  says("update", R"([{"id":"web:3.1","status":"open"}])");
  EXPECT_EQ(release("web:3.1", {.name = "BlueLake"})->did, Did::held_by_other);
  EXPECT_EQ(release("web:3.1", {.name = "PinkHill", .fence = 3})->did, Did::lost);
  EXPECT_EQ(universe.ran().size(), 2U) << "nothing was changed";
  const auto answer = release("web:3.1", {.name = "PinkHill", .fence = 4});
  EXPECT_EQ(answer->did, Did::done);
  EXPECT_EQ(answer->task.status, kOpen);
  EXPECT_EQ(asked(), "bd update --status=open --assignee= --json --if-fence=4 web:3.1");
}

TEST_F(BeadsWorkItemsTest, are_closed_by_their_holder_or_by_anybody_if_they_have_none) {
  says("show", kIssue);
  says("close", R"([{"id":"web:3.1","status":"closed","close_reason":"--shipped"}])");
  EXPECT_EQ(close("web:3.1", {.name = "BlueLake"})->did, Did::held_by_other);
  const auto closed = close("web:3.1", {.name = "PinkHill"}, "--shipped");
  EXPECT_EQ(closed->did, Did::done);
  EXPECT_EQ(closed->task.close_reason, "--shipped");
  EXPECT_EQ(asked(), "bd close --json --reason=--shipped web:3.1");
  answers["show"].clear();
  says("show", R"([{"id":"web:3.1","status":"open"}])");
  EXPECT_EQ(close("web:3.1", {.name = "BlueLake"})->did, Did::done);
  EXPECT_EQ(close("web:3.1", {.name = "PinkHill", .fence = 4})->did, Did::not_claimed)
      << "it held it once, and somebody took that back";
  answers["show"].clear();
  says("show", R"([{"id":"web:3.1","status":"closed"}])");
  EXPECT_EQ(close("web:3.1", {.name = "PinkHill"})->did, Did::as_before);
}

TEST_F(BeadsWorkItemsTest, are_reclaimed_by_their_age_and_never_when_they_were_just_heard_of) {
  Task held;
  held.id = "web:3.1";
  held.assignee = "PinkHill";
  held.status = kInProgress;
  held.updated_at = universe.wall() - 20min;
  says("reclaim", R"({"reclaimed":[{"id":"web:3.1","previous_owner":"PinkHill"}],"count":1})");
  EXPECT_EQ(reclaim(held)->did, Did::done);
  EXPECT_EQ(asked(), "bd reclaim --json --id=web:3.1 --older-than=1200s");
  held.lease_expires_at = universe.wall() + 1min;
  EXPECT_EQ(reclaim(held)->did, Did::done);
  EXPECT_EQ(asked(), "bd reclaim --json --id=web:3.1 --older-than=60s");
  answers.clear();
  says("reclaim", R"({"reclaimed":[],"count":0,"scoped":true})");
  EXPECT_EQ(reclaim(held)->did, Did::as_before);
}

TEST_F(BeadsWorkItemsTest, with_ids_like_options_are_named_behind_two_dashes) {
  says("show", R"([{"id":"--all","status":"open"}])");
  EXPECT_EQ(find("--all")->did, Did::done);
  EXPECT_EQ(asked(), "bd show --json -- --all");
}

TEST_F(BeadsWorkItemsTest, of_a_program_that_hangs_fail_in_time) {
  answers["heartbeat"].push_back({.takes = 1h});
  const Instant before = universe.now();
  EXPECT_EQ(trouble_with(), "bd heartbeat did not answer within 20 s");
  EXPECT_EQ(universe.now() - before, 20s);
}

TEST_F(BeadsWorkItemsTest, of_a_program_that_is_missing_say_where_it_is_named) {
  EXPECT_EQ(trouble_with(),
            "bd heartbeat could not be run: bd: command not found; [tasks] beads names it in the "
            "configuration");
}

TEST_F(BeadsWorkItemsTest, of_a_program_that_fails_say_what_it_said) {
  refuses("heartbeat", "connecting...\nError: database is locked\n");
  EXPECT_EQ(trouble_with(), "bd heartbeat: database is locked");
  answers.clear();
  answers["heartbeat"].push_back({.exit = {ExitStatus::How::code, 3}});
  EXPECT_EQ(trouble_with(), "bd heartbeat: it exited with 3");
  answers.clear();
  answers["heartbeat"].push_back({.exit = {ExitStatus::How::signal, 11}});
  EXPECT_EQ(trouble_with(), "bd heartbeat died of signal 11");
}

TEST_F(BeadsWorkItemsTest, of_a_program_that_babbles_are_refused) {
  says("list", "\x1b[31mhello\n");
  EXPECT_EQ(list({}).error().text, "bd list did not answer in JSON, but with '\\x1b[31mhello'");
  answers.clear();
  says("list", "");
  EXPECT_EQ(list({}).error().text, "bd list did not answer in JSON");
  answers.clear();
  says("list", std::string(std::size_t{17} * 1024 * 1024, '['));
  EXPECT_EQ(list({}).error().text, "bd list said more than 16 MiB");
}

TEST_F(BeadsWorkItemsTest, are_not_told_of_once_nobody_wants_to_know) {
  says("show", kIssue);
  bool told = false;
  Subscribed asking =
      items->close("web:3.1", {.name = "PinkHill"}, {}, [&](const auto&) { told = true; });
  asking.reset();
  universe.run_for(1min);
  EXPECT_FALSE(told);
  EXPECT_EQ(universe.ran().size(), 1U);
}

}  // namespace
}  // namespace tend
