// Tasks on a real SQLite file: claims, fences, beats, and what is stale.
#include "store/tasks.h"

#include <gtest/gtest.h>

#include "os/linux/linux_databases.h"
#include "os/linux/linux_folder.h"
#include "os/linux/temporary_folder.h"
#include "store/home_database.h"

namespace tend {
namespace {

using namespace std::chrono_literals;
using Did = TaskAnswer::Did;

class TasksTest : public testing::Test {
 protected:
  TasksTest() {
    auto opened = open_home_database(databases, *home);
    EXPECT_TRUE(opened) << opened.error().text;
    database = *std::move(opened);
  }

  Task add(const std::string& id, TaskContext context = TaskContext::active) {
    Task task;
    task.id = id;
    task.title = "what " + id + " is";
    task.context = context;
    return tasks().add(task, now).value().task;
  }
  Tasks tasks() { return {*database, limits}; }
  TaskAnswer claim(const std::string& id, const std::string& name) {
    return tasks().claim(id, {.name = name}, now).value();
  }
  TaskAnswer beat(const std::string& id, const Worker& worker,
                  const std::optional<std::string>& message = {}) {
    return tasks().beat(id, worker, message, now).value();
  }
  TaskAnswer close(const std::string& id, const Worker& worker, bool by_force = false) {
    return tasks().close(id, worker, "", by_force, now).value();
  }
  Task task(const std::string& id) { return tasks().find(id).value().value(); }
  std::vector<std::string> ids(const TaskFilter& filter) {
    std::vector<std::string> names;
    const std::vector<Task> found = tasks().list(filter, now).value();
    for (const Task& one : found) names.push_back(one.id);
    return names;
  }

  TemporaryFolder scratch;
  LinuxFolders folders;
  std::unique_ptr<Folder> home = folders.open(scratch.path()).value();
  LinuxDatabases databases;
  std::unique_ptr<Database> database;
  TaskLimits limits;
  WallTime now{std::chrono::hours{24 * 20'000}};
};

TEST_F(TasksTest, are_claimed_by_one_worker_and_by_it_as_often_as_it_likes) {
  add("t");
  const TaskAnswer first = claim("t", "PinkHill");
  EXPECT_EQ(first.did, Did::done);
  EXPECT_EQ(first.task.status, kInProgress);
  EXPECT_EQ(first.task.fence, 1);
  EXPECT_EQ(first.task.lease_expires_at, now + 10min);
  now += 1min;
  EXPECT_EQ(claim("t", "PinkHill").task.fence, 1);
  EXPECT_EQ(task("t").updated_at, now - 1min) << "a claim that stands changes nothing";
  EXPECT_EQ(task("t").lease_expires_at, now + 10min);
  const TaskAnswer other = claim("t", "BlueLake");
  EXPECT_EQ(other.did, Did::held_by_other);
  EXPECT_EQ(other.task.assignee, "PinkHill");
}

TEST_F(TasksTest, that_are_assigned_wait_for_the_one_they_are_meant_for) {
  add("t");
  ASSERT_EQ(tasks().update("t", {.assignee = "PinkHill"}, now)->did, Did::done);
  EXPECT_EQ(claim("t", "BlueLake").did, Did::held_by_other);
  EXPECT_EQ(claim("t", "PinkHill").did, Did::done);
}

TEST_F(TasksTest, are_beaten_by_their_holder_only_and_are_not_changed_by_it) {
  add("t");
  EXPECT_EQ(beat("t", {.name = "PinkHill"}).did, Did::not_claimed);
  claim("t", "PinkHill");
  const WallTime changed = now;
  now += 5min;
  const TaskAnswer beaten = beat("t", {.name = "PinkHill"}, "Tests passing");
  EXPECT_EQ(beaten.did, Did::done);
  EXPECT_EQ(task("t").last_heartbeat, now);
  EXPECT_EQ(task("t").updated_at, changed);
  EXPECT_EQ(task("t").heartbeat_message, "Tests passing");
  now += 5min;
  beat("t", {.name = "PinkHill"});
  EXPECT_EQ(task("t").heartbeat_message, "Tests passing") << "no word takes none back";
  EXPECT_EQ(beat("t", {.name = "BlueLake"}).did, Did::held_by_other);
  EXPECT_EQ(beat("nowhere", {.name = "BlueLake"}).did, Did::no_such_task);
}

TEST_F(TasksTest, keep_their_last_sign_when_the_calendar_is_set_back) {
  add("t");
  claim("t", "PinkHill");
  beat("t", {.name = "PinkHill"});
  const WallTime before = now;
  now -= 1h;
  beat("t", {.name = "PinkHill"});
  EXPECT_EQ(task("t").last_heartbeat, before);
}

TEST_F(TasksTest, are_lost_to_a_later_claim_even_of_the_same_name) {
  add("t");
  const std::int64_t old = claim("t", "PinkHill").task.fence;
  ASSERT_EQ(tasks().reclaim(task("t"), now)->did, Did::done);
  EXPECT_EQ(beat("t", {.name = "PinkHill", .fence = old}).did, Did::not_claimed);
  claim("t", "PinkHill");
  EXPECT_EQ(beat("t", {.name = "PinkHill", .fence = old}).did, Did::lost);
  EXPECT_EQ(close("t", {.name = "PinkHill", .fence = old}).did, Did::lost);
  EXPECT_GT(task("t").fence, old);
  EXPECT_EQ(beat("t", {.name = "PinkHill", .fence = task("t").fence}).did, Did::done);
}

TEST_F(TasksTest, begin_anew_with_every_holder) {
  add("t");
  claim("t", "PinkHill");
  beat("t", {.name = "PinkHill"}, "half way");
  ASSERT_EQ(tasks().release("t", {.name = "PinkHill"}, now)->did, Did::done);
  EXPECT_EQ(task("t").status, kOpen);
  EXPECT_EQ(task("t").assignee, std::nullopt);
  now += 3h;
  claim("t", "BlueLake");
  EXPECT_EQ(task("t").last_heartbeat, std::nullopt) << "or it were stale at once";
  EXPECT_EQ(task("t").heartbeat_message, std::nullopt);
  EXPECT_EQ(task("t").fence, 2);
}

TEST_F(TasksTest, are_closed_by_their_holder_or_by_anybody_if_they_have_none) {
  add("held");
  add("free");
  claim("held", "PinkHill");
  EXPECT_EQ(close("held", {.name = "BlueLake"}).did, Did::held_by_other);
  EXPECT_EQ(close("held", {.name = "PinkHill"}).did, Did::done);
  EXPECT_EQ(close("held", {.name = "PinkHill"}).did, Did::as_before);
  EXPECT_EQ(close("free", {.name = "BlueLake"}).did, Did::done);
  EXPECT_EQ(claim("free", "BlueLake").did, Did::not_claimable);
  EXPECT_EQ(beat("held", {.name = "PinkHill"}).did, Did::not_claimable);
  EXPECT_EQ(tasks().reopen("held", now)->did, Did::done);
  EXPECT_EQ(task("held").assignee, std::nullopt);
  claim("held", "PinkHill");
  EXPECT_EQ(close("held", {.name = "a person"}, true).did, Did::done);
}

TEST_F(TasksTest, are_reclaimed_as_they_were_seen_or_not_at_all) {
  add("t");
  claim("t", "PinkHill");
  const Task seen = task("t");
  now += 1h;
  beat("t", {.name = "PinkHill"});
  EXPECT_EQ(tasks().reclaim(seen, now)->did, Did::as_before) << "it was heard of meanwhile";
  EXPECT_EQ(tasks().reclaim(task("t"), now)->did, Did::done);
  EXPECT_EQ(task("t").status, kOpen);
}

TEST_F(TasksTest, S31_are_not_taken_after_a_beat_and_not_beaten_after_they_were_taken) {
  add("t");
  const std::int64_t fence = claim("t", "PinkHill").task.fence;
  const Task seen = task("t");
  now += 1h;
  ASSERT_EQ(beat("t", {.name = "PinkHill", .fence = fence}, "still here").did, Did::done);
  EXPECT_EQ(tasks().reclaim(seen, now)->did, Did::as_before);
  EXPECT_EQ(task("t").assignee, "PinkHill");
  now += 1h;
  ASSERT_EQ(tasks().reclaim(task("t"), now)->did, Did::done);
  claim("t", "BlueLake");
  const Task taken = task("t");
  EXPECT_EQ(beat("t", {.name = "PinkHill", .fence = fence}, "back").did, Did::held_by_other);
  EXPECT_EQ(task("t").last_heartbeat, taken.last_heartbeat) << "no beat of who lost it";
  EXPECT_EQ(task("t").heartbeat_message, taken.heartbeat_message);
}

TEST_F(TasksTest, S32_are_not_taken_after_they_were_closed_and_not_closed_by_who_lost_them) {
  add("done");
  add("lost");
  const std::int64_t fence = claim("lost", "PinkHill").task.fence;
  claim("done", "PinkHill");
  const Task seen = task("done");
  now += 1h;
  ASSERT_EQ(close("done", {.name = "PinkHill"}).did, Did::done);
  EXPECT_EQ(tasks().reclaim(seen, now)->did, Did::as_before);
  EXPECT_EQ(task("done").status, kClosed) << "finished work is not handed out again";
  ASSERT_EQ(tasks().reclaim(task("lost"), now)->did, Did::done);
  claim("lost", "PinkHill");
  EXPECT_EQ(close("lost", {.name = "PinkHill", .fence = fence}).did, Did::lost);
  EXPECT_EQ(task("lost").status, kInProgress) << "its new holder is at it";
}

TEST_F(TasksTest, are_stale_by_their_own_context) {
  for (const auto& [id, context] : {std::pair{"a", TaskContext::active},
                                    {"o", TaskContext::overnight},
                                    {"c", TaskContext::critical}}) {
    add(id, context);
    claim(id, "PinkHill");
  }
  TaskFilter stale{.status = std::string(kInProgress), .stale = true};
  const WallTime began = now;
  now = began + 5min;
  EXPECT_EQ(ids(stale), std::vector<std::string>{});
  now = began + 6min;
  EXPECT_EQ(ids(stale), std::vector<std::string>{"c"});
  now = began + 11min;
  EXPECT_EQ(ids(stale), (std::vector<std::string>{"a", "c"}));
  now = began + 31min;
  EXPECT_EQ(ids(stale), (std::vector<std::string>{"a", "c", "o"}));
  beat("a", {.name = "PinkHill"});
  EXPECT_EQ(ids(stale), (std::vector<std::string>{"c", "o"}));
  stale.stale_for = 40min;
  EXPECT_EQ(ids(stale), std::vector<std::string>{});
}

TEST_F(TasksTest, are_found_by_status_assignee_and_labels) {
  add("one");
  now += 1s;
  add("two");
  claim("two", "PinkHill");
  ASSERT_EQ(tasks().update("one", {.add_labels = {"web", "urgent"}}, now)->did, Did::done);
  ASSERT_EQ(tasks().update("two", {.add_labels = {"web"}}, now)->did, Did::done);
  EXPECT_EQ(ids({}), (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(ids({.status = "in_progress"}), std::vector<std::string>{"two"});
  EXPECT_EQ(ids({.assignee = "PinkHill"}), std::vector<std::string>{"two"});
  EXPECT_EQ(ids({.labels = {"web", "urgent"}}), std::vector<std::string>{"one"});
  EXPECT_EQ(ids({.any_label = {"urgent", "web"}}), (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(ids({.without_labels = {"urgent"}}), std::vector<std::string>{"two"});
  EXPECT_EQ(ids({.unassigned = true}), std::vector<std::string>{"one"});
  EXPECT_EQ(ids({.most = 1}), std::vector<std::string>{"one"});
  EXPECT_EQ(tasks().list({}, now)->front().labels, (std::vector<std::string>{"urgent", "web"}));
}

TEST_F(TasksTest, are_found_by_their_last_change_and_without_the_closed_ones) {
  add("old");
  add("done");
  close("done", {.name = "anybody"});
  const WallTime before = now;
  now += 1h;
  add("new");
  TaskFilter filter;
  filter.not_closed = true;
  EXPECT_EQ(ids(filter), (std::vector<std::string>{"old", "new"}));
  filter.updated_before = before + 1min;
  EXPECT_EQ(ids(filter), std::vector<std::string>{"old"});
  filter.updated_before.reset();
  filter.updated_after = before;
  EXPECT_EQ(ids(filter), std::vector<std::string>{"new"});
}

TEST_F(TasksTest, change_only_for_who_knows_their_last_claim_if_that_is_asked_for) {
  add("t");
  claim("t", "PinkHill");
  TaskWish wish;
  wish.if_fence = 2;
  wish.title = "another";
  EXPECT_EQ(tasks().update("t", wish, now)->did, Did::lost);
  EXPECT_EQ(task("t").title, "what t is");
  wish.if_fence = 1;
  EXPECT_EQ(tasks().update("t", wish, now)->did, Did::done);
  EXPECT_EQ(task("t").title, "another");
}

TEST_F(TasksTest, have_the_labels_they_are_given_each_once) {
  add("t");
  TaskWish wish;
  wish.add_labels = {"old"};
  ASSERT_EQ(tasks().update("t", wish, now)->did, Did::done);
  wish = {};
  wish.labels = {{"web", "api", "web"}};
  wish.add_labels = {"api", "new"};
  EXPECT_EQ(tasks().update("t", wish, now)->did, Did::done);
  EXPECT_EQ(task("t").labels, (std::vector<std::string>{"api", "new", "web"}));
  EXPECT_EQ(tasks().update("t", wish, now)->did, Did::as_before);
}

TEST_F(TasksTest, lose_their_claim_when_somebody_else_decides_what_becomes_of_them) {
  add("t");
  const std::int64_t fence = claim("t", "PinkHill").task.fence;
  ASSERT_EQ(tasks().update("t", {.assignee = "BlueLake"}, now)->did, Did::done);
  EXPECT_GT(task("t").fence, fence);
  EXPECT_EQ(beat("t", {.name = "PinkHill"}).did, Did::held_by_other);
  EXPECT_EQ(tasks().update("t", {.assignee = "BlueLake"}, now)->did, Did::as_before);
}

TEST_F(TasksTest, that_are_given_to_somebody_are_a_new_claim_whatever_an_earlier_one_knows) {
  add("t");
  const std::int64_t old = claim("t", "PinkHill").task.fence;
  beat("t", {.name = "PinkHill"}, "half way");
  ASSERT_EQ(tasks().release("t", {.name = "PinkHill"}, now)->did, Did::done);
  now += 2h;
  const TaskWish wish{.status = std::string(kInProgress), .assignee = "PinkHill"};
  ASSERT_EQ(tasks().update("t", wish, now)->did, Did::done);
  EXPECT_GT(task("t").fence, old);
  EXPECT_EQ(beat("t", {.name = "PinkHill", .fence = old}).did, Did::lost);
  EXPECT_EQ(task("t").lease_expires_at, now + 10min);
  EXPECT_EQ(task("t").last_sign(), now) << "or it were stale at once";
  now += 2h;
  ASSERT_EQ(tasks().update("t", {.assignee = "BlueLake"}, now)->did, Did::done);
  EXPECT_EQ(task("t").last_sign(), now) << "the new holder is not blamed for the old one";
}

TEST_F(TasksTest, forget_the_last_word_of_their_holder_when_it_says_nothing) {
  add("t", TaskContext::overnight);
  claim("t", "PinkHill");
  EXPECT_EQ(beat("t", {.name = "PinkHill"}, "half way").task.heartbeat_message, "half way");
  EXPECT_EQ(beat("t", {.name = "PinkHill"}).task.heartbeat_message, "half way");
  EXPECT_EQ(beat("t", {.name = "PinkHill"}, "").task.heartbeat_message, std::nullopt);
  EXPECT_EQ(task("t").lease_expires_at, now + 30min);
}

TEST_F(TasksTest, that_are_over_or_not_begun_are_not_stale) {
  for (const char* const id : {"open", "closed", "blocked", "held"}) add(id);
  ASSERT_EQ(close("closed", {.name = "PinkHill"}).did, Did::done);
  ASSERT_EQ(tasks().update("blocked", {.status = std::string(kBlocked)}, now)->did, Did::done);
  claim("held", "PinkHill");
  now += 1h;
  EXPECT_EQ(ids({.stale = true}), std::vector<std::string>{"held"});
  EXPECT_EQ(ids({.status = std::string(kBlocked), .stale = true}),
            std::vector<std::string>{"blocked"})
      << "unless that is what is asked for";
}

TEST_F(TasksTest, that_are_stale_come_in_the_order_of_their_last_signs) {
  for (const auto& [id, context] : {std::pair{"b", TaskContext::critical},
                                    {"a", TaskContext::overnight},
                                    {"d", TaskContext::active},
                                    {"c", TaskContext::overnight}}) {
    add(id, context);
    claim(id, "PinkHill");
    ASSERT_EQ(tasks().update(id, {.add_labels = {"web", "slow"}}, now)->did, Did::done);
    now += 1s;
  }
  add("e");
  claim("e", "BlueLake");
  now += 1h;
  EXPECT_EQ(ids({.stale = true}), (std::vector<std::string>{"b", "a", "d", "c", "e"}));
  EXPECT_EQ(ids({.stale = true, .most = 2}), (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(ids({.labels = {"web"}, .stale = true, .most = 3}),
            (std::vector<std::string>{"b", "a", "d"}));
  EXPECT_EQ(ids({.assignee = "BlueLake", .stale = true}), std::vector<std::string>{"e"});
  EXPECT_EQ(ids({.id = "c", .without_labels = {"fast"}, .stale = true}),
            std::vector<std::string>{"c"});
  const Task found = tasks().list({.id = "a", .stale = true}, now)->front();
  EXPECT_EQ(found.labels, (std::vector<std::string>{"slow", "web"}));
  EXPECT_EQ(found.status, kInProgress);
  EXPECT_EQ(found.context, TaskContext::overnight);
  EXPECT_EQ(found.title, "what a is");
}

TEST_F(TasksTest, have_each_label_once) {
  Task task;
  task.id = "t";
  task.title = "what it is";
  task.labels = {"web", "urgent", "web"};
  ASSERT_EQ(tasks().add(task, now)->did, Did::done);
  EXPECT_EQ(this->task("t").labels, (std::vector<std::string>{"urgent", "web"}));
  ASSERT_EQ(tasks().update("t", {.remove_labels = {"web"}}, now)->did, Did::done);
  EXPECT_EQ(ids({.labels = {"web"}}), std::vector<std::string>{});
  EXPECT_EQ(ids({.labels = {"urgent"}}), std::vector<std::string>{"t"});
}

TEST_F(TasksTest, have_ids_of_any_printable_text) {
  for (const char* const good : {"my-workflow:3-zyci.2.1", "../../etc/passwd", "ä b", "'; --"}) {
    EXPECT_TRUE(check_task_id(good)) << good;
    add(good);
    EXPECT_EQ(claim(good, "PinkHill").did, Did::done);
  }
  for (const std::string& bad : {std::string(), std::string("a\nb"), std::string(" a"),
                                 std::string("\xff"), std::string(257, 'x')}) {
    EXPECT_FALSE(check_task_id(bad)) << bad;
  }
  EXPECT_EQ(tasks().add(task("ä b"), now)->did, Did::exists_already);
}

// --- The file ------------------------------------------------------------------------------------

class HomeDatabase : public TasksTest {
 protected:
  Result<std::unique_ptr<Database>> open_again(Duration may_wait = 100ms) {
    return open_home_database(databases, *home, {.may_wait = may_wait});
  }
};

TEST_F(HomeDatabase, is_for_us_alone) {
  using std::filesystem::perms;
  const perms found = std::filesystem::status(scratch / "tend.db").permissions();
  EXPECT_EQ(found, perms::owner_read | perms::owner_write);
}

TEST_F(HomeDatabase, of_a_newer_version_is_left_alone) {
  ASSERT_TRUE(database->run_script("PRAGMA user_version = 99"));
  EXPECT_EQ(
      open_again().error().text,
      home->path() + "/tend.db was made by a newer tend (its version 99, ours 2): update tend");
}

TEST_F(HomeDatabase, that_is_damaged_is_left_as_it_is) {
  database.reset();
  ASSERT_TRUE(home->replace("tend.db", std::string(8192, 'x'), Folder::Sync::no));
  const auto opened = open_again();
  ASSERT_FALSE(opened);
  EXPECT_TRUE(opened.error().text.contains("is damaged")) << opened.error().text;
  EXPECT_EQ(home->read("tend.db", 10'000)->value(), std::string(8192, 'x'));
}

TEST_F(HomeDatabase, that_somebody_else_writes_to_is_waited_for_and_then_said_to_be_busy) {
  add("t");
  const auto second = open_again();
  ASSERT_TRUE(second);
  Tasks others(**second, limits);
  auto held = database->change([&]() -> Result<void> {
    const auto answer = others.claim("t", {.name = "PinkHill"}, now);
    EXPECT_FALSE(answer);
    EXPECT_TRUE(answer.error().text.ends_with("is busy: others write to it; try again"));
    EXPECT_EQ((*second)->trouble(), DatabaseTrouble::busy);
    EXPECT_TRUE(others.find("t")->has_value()) << "who reads need not wait";
    return {};
  });
  ASSERT_TRUE(held);
  EXPECT_EQ(others.claim("t", {.name = "PinkHill"}, now)->did, Did::done);
}

TEST_F(HomeDatabase, takes_back_a_change_that_failed) {
  add("t");
  auto failed = database->change([&]() -> Result<void> {
    EXPECT_TRUE(database->run("DELETE FROM tasks"));
    return fail("changed its mind");
  });
  EXPECT_EQ(failed.error().text, "changed its mind");
  EXPECT_TRUE(tasks().find("t")->has_value());
}

}  // namespace
}  // namespace tend
