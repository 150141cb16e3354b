// Tasks on a simulated machine, for tests of who works on them: what stands in the home's database,
// everything that ever stood there, and a database that cannot be opened for a while.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "os/sim/sim_universe.h"
#include "run/kept_test.h"
#include "store/home_database.h"
#include "store/tasks.h"

namespace tend {

class TasksAtHome {
 public:
  explicit TasksAtHome(SimUniverse& universe, const std::string& home = Kept::kHome)
      : universe_(universe) {
    const auto folder = universe.machine().folders.make(home).value();
    EXPECT_TRUE(open_home_database(universe.machine().databases, *folder));
    // Not that of a process: it outlives every restart of the machine.
    const std::string path = home + "/" + kDatabaseFile;
    database_ = look_into(universe.databases.at(path), path);
    run(R"(CREATE TABLE history(number INTEGER PRIMARY KEY, words TEXT);
           CREATE TRIGGER seen AFTER UPDATE ON tasks
             WHEN old.status <> new.status OR old.fence <> new.fence BEGIN
             INSERT INTO history(words) VALUES(new.status || ' ' || new.fence); END;)");
  }

  void add(const std::string& id) {
    Task task;
    task.id = id;
    task.title = "what " + id + " is";
    const auto added = tasks().add(task, universe_.wall());
    ASSERT_TRUE(added) << added.error().text;
  }
  void set_context(const std::string& id, TaskContext context) {
    TaskWish wish;
    wish.context = context;
    EXPECT_EQ(tasks().update(id, wish, universe_.wall()).value().did, TaskAnswer::Did::done);
  }
  [[nodiscard]] Task task(const std::string& id) {
    auto found = tasks().find(id);
    return found && *found ? **std::move(found) : Task{};
  }
  void claim(const std::string& id, const std::string& name) {
    EXPECT_EQ(tasks().claim(id, {.name = name}, universe_.wall()).value().did,
              TaskAnswer::Did::done);
  }
  /// By a person who knows better: from whoever holds it.
  void give(const std::string& id, const std::string& name) {
    TaskWish wish;
    wish.status = std::string(kOpen);
    wish.assignee = "";
    EXPECT_EQ(tasks().update(id, wish, universe_.wall()).value().did, TaskAnswer::Did::done);
    claim(id, name);
  }
  /// By a patrol that found its holder gone.
  void take_back(const std::string& id) {
    EXPECT_EQ(tasks().reclaim(task(id), universe_.wall()).value().did, TaskAnswer::Did::done);
  }
  void beat(const std::string& id, const std::string& name, const std::string& message) {
    EXPECT_EQ(tasks().beat(id, {.name = name}, message, universe_.wall()).value().did,
              TaskAnswer::Did::done);
  }
  void close(const std::string& id, const std::string& name) {
    EXPECT_EQ(tasks().close(id, {.name = name}, "", false, universe_.wall()).value().did,
              TaskAnswer::Did::done);
  }
  /// "in_progress 1", "closed 1": each change of status or fence, in order.
  [[nodiscard]] std::vector<std::string> history() {
    std::vector<std::string> all;
    EXPECT_TRUE(database_->each("SELECT words FROM history ORDER BY number", {},
                                [&](const DatabaseRow& row) { all.emplace_back(row.text(0)); }));
    return all;
  }
  /// For whoever comes from now on.
  void break_it() { run("PRAGMA user_version=99"); }
  void mend_it() { run("PRAGMA user_version=" + std::to_string(kDatabaseVersion)); }

 private:
  Tasks tasks() { return {*database_, TaskLimits{}}; }
  void run(const std::string& script) {
    const auto done = database_->run_script(script);
    ASSERT_TRUE(done) << done.error().text;
  }

  SimUniverse& universe_;
  std::unique_ptr<Database> database_;
};

}  // namespace tend
