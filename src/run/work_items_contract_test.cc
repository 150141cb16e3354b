// What holds of tasks wherever they are: asserted on every backend, so that a keeper or a patrol
// that is proven on one of them works with all.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "os/linux/linux_machine.h"
#include "os/linux/temporary_folder.h"
#include "os/sim/sim_universe.h"
#include "run/work_items.h"
#include "store/home_database.h"

namespace tend {
namespace {

using namespace std::chrono_literals;
using Did = TaskAnswer::Did;

void add_at_home(Machine& machine, Folder& home, const std::string& id) {
  auto database = open_home_database(machine.databases, home);
  ASSERT_TRUE(database) << database.error().text;
  Task task;
  task.id = id;
  task.title = "what " + id + " is";
  const auto added = Tasks(**database, TaskLimits{}).add(task, machine.clock.wall());
  ASSERT_TRUE(added) << added.error().text;
}

class HomeOnSim {
 public:
  static constexpr const char* kName = "HomeOnSim";
  Machine& machine() { return universe_.machine(); }
  void add(const std::string& id) { add_at_home(machine(), *home_, id); }
  std::unique_ptr<WorkItems> items() { return home_work_items(machine(), *home_); }

 private:
  SimUniverse universe_;
  std::unique_ptr<Folder> home_ = machine().folders.make("/home/user/tend").value();
};

class HomeOnLinux {
 public:
  static constexpr const char* kName = "HomeOnLinux";
  Machine& machine() { return machine_.machine(); }
  void add(const std::string& id) { add_at_home(machine(), *home_, id); }
  std::unique_ptr<WorkItems> items() { return home_work_items(machine(), *home_); }

 private:
  TemporaryFolder scratch_;
  LinuxMachine machine_;
  std::unique_ptr<Folder> home_ = machine().folders.make(scratch_ / "home").value();
};

template <class Backend>
class WorkItemsContract : public testing::Test {
 protected:
  static constexpr Duration kTooLong = 60s;  // only a bug takes that long

  Machine& machine() { return backend_.machine(); }
  void add(const std::string& id) { backend_.add(id); }

  template <class Answer, class Ask>
  Answer answer_to(const Ask& ask) {
    std::optional<Result<Answer>> got;
    const Subscribed asked = ask([&](const Result<Answer>& answer) {
      got = answer;
      machine().loop.stop();
    });
    EXPECT_FALSE(got) << "answered from within the call";
    const Subscribed late =
        machine().loop.at(machine().clock.now() + kTooLong, [&] { machine().loop.stop(); });
    machine().loop.run();
    if (!got) throw std::runtime_error("no answer came");
    if (!*got) throw std::runtime_error(got->error().text);
    return **std::move(got);
  }
  TaskAnswer find(const std::string& id) {
    return answer_to<TaskAnswer>([&](auto heard) { return items_->find(id, heard); });
  }
  TaskAnswer claim(const std::string& id, const Worker& worker) {
    return answer_to<TaskAnswer>([&](auto heard) { return items_->claim(id, worker, heard); });
  }
  TaskAnswer beat(const std::string& id, const Worker& worker,
                  const std::optional<std::string>& message = {}) {
    return answer_to<TaskAnswer>(
        [&](auto heard) { return items_->beat(id, worker, message, heard); });
  }
  TaskAnswer release(const std::string& id, const Worker& worker) {
    return answer_to<TaskAnswer>([&](auto heard) { return items_->release(id, worker, heard); });
  }
  TaskAnswer close(const std::string& id, const Worker& worker,
                   const std::optional<std::string>& reason = {}) {
    return answer_to<TaskAnswer>(
        [&](auto heard) { return items_->close(id, worker, reason, heard); });
  }
  TaskAnswer reclaim(const Task& held) {
    return answer_to<TaskAnswer>([&](auto heard) { return items_->reclaim(held, heard); });
  }
  std::vector<std::string> ids(const TaskFilter& filter) {
    const auto tasks =
        answer_to<std::vector<Task>>([&](auto heard) { return items_->list(filter, heard); });
    std::vector<std::string> all;
    for (const Task& task : tasks) all.push_back(task.id);
    return all;
  }

  Backend backend_;
  std::unique_ptr<WorkItems> items_ = backend_.items();
};

using Backends = testing::Types<HomeOnSim, HomeOnLinux>;
struct BackendNames {
  template <class Backend>
  static std::string GetName(int /*index*/) {
    return Backend::kName;
  }
};
TYPED_TEST_SUITE(WorkItemsContract, Backends, BackendNames);

TYPED_TEST(WorkItemsContract, finds_what_is_there_and_says_what_is_not) {
  this->add("t1");
  const TaskAnswer found = this->find("t1");
  EXPECT_EQ(found.did, Did::done);
  EXPECT_EQ(found.task.id, "t1");
  EXPECT_EQ(found.task.title, "what t1 is");
  EXPECT_EQ(found.task.status, kOpen);
  EXPECT_EQ(found.task.assignee, std::nullopt);
  EXPECT_EQ(this->find("t2").did, Did::no_such_task);
  EXPECT_EQ(this->claim("t2", {.name = "coder"}).did, Did::no_such_task);
}

TYPED_TEST(WorkItemsContract, gives_a_task_to_one_worker_and_says_to_others_who_has_it) {
  this->add("t1");
  const TaskAnswer first = this->claim("t1", {.name = "coder", .folder = "/home/coder"});
  EXPECT_EQ(first.did, Did::done);
  EXPECT_EQ(first.task.status, kInProgress);
  EXPECT_EQ(first.task.assignee, "coder");
  const TaskAnswer again = this->claim("t1", {.name = "coder", .folder = "/home/coder"});
  EXPECT_EQ(again.did, Did::done);
  EXPECT_EQ(again.task.fence, first.task.fence);
  const TaskAnswer other = this->claim("t1", {.name = "tester"});
  EXPECT_EQ(other.did, Did::held_by_other);
  EXPECT_EQ(other.task.assignee, "coder");
}

TYPED_TEST(WorkItemsContract, takes_beats_of_the_holder_only_and_keeps_the_last_message) {
  this->add("t1");
  EXPECT_EQ(this->beat("t1", {.name = "coder"}).did, Did::not_claimed);
  this->claim("t1", {.name = "coder"});
  const TaskAnswer told = this->beat("t1", {.name = "coder"}, "half done");
  EXPECT_EQ(told.did, Did::done);
  EXPECT_TRUE(told.task.last_heartbeat);
  const TaskAnswer untold = this->beat("t1", {.name = "coder"});
  EXPECT_EQ(untold.task.heartbeat_message, "half done");
  EXPECT_EQ(this->beat("t1", {.name = "tester"}).did, Did::held_by_other);
}

TYPED_TEST(WorkItemsContract, releases_and_closes_for_the_holder_only) {
  this->add("t1");
  const Task claimed = this->claim("t1", {.name = "coder"}).task;
  EXPECT_EQ(this->release("t1", {.name = "tester"}).did, Did::held_by_other);
  EXPECT_EQ(this->close("t1", {.name = "tester"}).did, Did::held_by_other);
  EXPECT_EQ(this->release("t1", {.name = "coder", .folder = {}, .fence = claimed.fence}).did,
            Did::done);
  EXPECT_EQ(this->find("t1").task.status, kOpen);
  EXPECT_EQ(this->find("t1").task.assignee, std::nullopt);
  this->claim("t1", {.name = "tester"});
  EXPECT_EQ(this->close("t1", {.name = "tester"}, "done").did, Did::done);
  EXPECT_EQ(this->find("t1").task.status, kClosed);
  EXPECT_EQ(this->close("t1", {.name = "tester"}).did, Did::as_before);
  EXPECT_NE(this->claim("t1", {.name = "coder"}).did, Did::done);
  EXPECT_EQ(this->find("t1").task.status, kClosed);
}

TYPED_TEST(WorkItemsContract, takes_a_claim_as_it_was_seen_or_not_at_all) {
  this->add("t1");
  const Task seen = this->claim("t1", {.name = "coder"}).task;
  Task older = seen;
  older.assignee = "tester";
  EXPECT_NE(this->reclaim(older).did, Did::done);
  EXPECT_EQ(this->find("t1").task.assignee, "coder");
  EXPECT_EQ(this->reclaim(seen).did, Did::done);
  EXPECT_EQ(this->find("t1").task.assignee, std::nullopt);
  EXPECT_NE(this->beat("t1", {.name = "coder"}).did, Did::done);
}

TYPED_TEST(WorkItemsContract, lists_what_was_asked_for) {
  for (const char* id : {"t1", "t2", "t3"}) this->add(id);
  this->claim("t2", {.name = "coder"});
  TaskFilter held;
  held.status = std::string(kInProgress);
  EXPECT_EQ(this->ids(held), std::vector<std::string>{"t2"});
  TaskFilter free;
  free.status = std::string(kOpen);
  EXPECT_EQ(this->ids(free), (std::vector<std::string>{"t1", "t3"}));
}

TYPED_TEST(WorkItemsContract, answers_nobody_who_does_not_want_to_know_any_more) {
  this->add("t1");
  bool answered = false;
  Subscribed asked =
      this->items_->claim("t1", {.name = "coder"}, [&](const auto&) { answered = true; });
  asked.reset();
  EXPECT_EQ(this->find("t1").did, Did::done);  // the loop has run meanwhile
  EXPECT_FALSE(answered);
}

}  // namespace
}  // namespace tend
