// A home with tasks, agents and a patrol on one simulated machine. The patrol is driven by the
// test, sweep by sweep; agents and their keepers are those of family_test.h.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "run/family_test.h"
#include "run/patrol.h"
#include "store/home_database.h"

namespace tend {

class PatrolTest : public testing::Test {
 protected:
  PatrolTest() {
    settings.channels = {"phone"};
    settings.program = Family::keeper_program();
    begin_anew();
  }

  // The patrol.
  void begin_anew() {
    patrol = std::make_unique<Patrol>(machine, *home, *items, settings);
    forgotten = patrol->remember();
  }
  Sweep sweep() {
    std::optional<Sweep> got;
    patrol->sweep([&](const Sweep& sweep) {
      got = sweep;
      machine.loop.stop();
    });
    machine.loop.run();
    for (const SweepLine& line : got->lines) said.push_back(line.what + " " + line.about);
    last = *got;
    return *got;
  }
  /// Sweeps whenever the last sweep asked for it, for as long.
  void patrol_for(std::chrono::minutes time) {
    const Instant until = universe.now() + time;
    while (true) {
      const Duration next = sweep().next;
      if (universe.now() + next > until) break;
      universe.run_for(next);
    }
    universe.run_until(until);
  }
  /// Until it has looked for long enough to do more than warn.
  void become_fit() {
    using namespace std::chrono_literals;
    patrol_for(15min);
    EXPECT_EQ(sweep().unfit_because, "");
  }
  [[nodiscard]] long count(std::string_view what) const {
    return std::ranges::count_if(said, [&](const auto& line) { return line.starts_with(what); });
  }

  // Tasks, mail, notices.
  template <class Ask>
  auto ask(Ask ask) {
    auto database = open_home_database(machine.databases, *home);
    EXPECT_TRUE(database) << database.error().text;
    auto got = ask(**database);
    EXPECT_TRUE(got) << got.error().text;
    return *std::move(got);
  }
  void add(const std::string& id, TaskContext context = TaskContext::active) {
    ask([&](Database& database) {
      Task task;
      task.id = id;
      task.title = "what " + id + " is";
      task.context = context;
      return Tasks(database, {}).add(task, universe.wall());
    });
  }
  TaskAnswer claim(const std::string& id, const std::string& who) {
    Worker worker{.name = who, .folder = {}, .fence = {}};
    if (family.folders.contains(who)) worker.folder = family.folders.at(who);
    return ask(
        [&](Database& database) { return Tasks(database, {}).claim(id, worker, universe.wall()); });
  }
  void have(const std::string& id, const std::string& holder) {
    add(id);
    EXPECT_EQ(claim(id, holder).did, TaskAnswer::Did::done);
  }
  TaskAnswer beat(const std::string& id, const std::string& who) {
    return ask([&](Database& database) {
      return Tasks(database, {})
          .beat(id, {.name = who, .folder = {}, .fence = {}}, "on it", universe.wall());
    });
  }
  Task task(const std::string& id) {
    return ask([&](Database& database) { return Tasks(database, {}).find(id); }).value();
  }
  std::vector<Letter> letters(const std::string& to) {
    return ask([&](Database& database) { return Mailbox(database).inbox(to, LetterView::all); });
  }
  void acknowledge(const Letter& letter) {
    EXPECT_EQ(ask([&](Database& database) {
                return Mailbox(database).ack(letter.id, letter.to, universe.wall());
              }),
              LetterDid::done);
  }
  std::vector<Notice> notices(const std::string& key) {
    NoticeFilter filter;
    filter.key = key;
    return ask([&](Database& database) { return Outbox(database).list(filter); });
  }
  [[nodiscard]] int events(std::string_view text) const {
    std::istringstream lines(
        universe.disk.read(std::string(Family::kHome) + "/events.jsonl").value_or(""));
    int found = 0;
    for (std::string line; std::getline(lines, line);) found += line.contains(text) ? 1 : 0;
    return found;
  }

  /// An agent that is kept, and works.
  void keep(const std::string& name) {
    family.root(name);
    universe.run_for(std::chrono::seconds{10});
  }

  Family family;
  SimUniverse& universe = family.universe;
  Machine& machine = universe.machine("patrol");
  std::unique_ptr<Folder> home = machine.folders.open(Family::kHome).value();
  std::unique_ptr<WorkItems> items = home_work_items(machine, *home);
  PatrolSettings settings;
  std::unique_ptr<Patrol> patrol;
  std::optional<SweepLine> forgotten;
  std::vector<std::string> said;  // "what about", in this order
  Sweep last;
};

}  // namespace tend
