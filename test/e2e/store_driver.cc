// A process that uses the database of a home as a keeper does, without being one.
//
//   store_driver HOME race NAME SEED OPERATIONS TASKS HISTORY
//     asks random things of the tasks t0, t1, ... as the worker NAME; HISTORY gets a line of JSON
//     for each: what, of which task, with which fence, when it began and ended, and the answer
//   store_driver HOME send TO KEY SUBJECT
//   store_driver HOME put KEY PAYLOAD
#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "os/linux/linux_clock.h"
#include "os/linux/linux_databases.h"
#include "os/linux/linux_folder.h"
#include "store/home_database.h"
#include "store/mail.h"
#include "store/outbox.h"
#include "store/tasks.h"

namespace tend::e2e {
namespace {

std::string_view word_of(TaskAnswer::Did did) {
  using Did = TaskAnswer::Did;
  switch (did) {
    case Did::done:
      return "done";
    case Did::as_before:
      return "as_before";
    case Did::no_such_task:
      return "no_such_task";
    case Did::exists_already:
      return "exists_already";
    case Did::held_by_other:
      return "held_by_other";
    case Did::lost:
      return "lost";
    case Did::not_claimed:
      return "not_claimed";
    case Did::not_claimable:
      return "not_claimable";
  }
  return "?";
}

/// One worker, which remembers what it holds.
class Racer {
 public:
  Racer(Database& database, std::string name, std::uint64_t seed, const std::string& history)
      : tasks_(database, TaskLimits{}),
        name_(std::move(name)),
        random_(seed),
        history_(history, std::ios::app) {}

  void step(const std::string& id) {
    constexpr std::uint64_t kChoices = 100;
    const std::uint64_t choice = random_() % kChoices;
    if (!held_.contains(id)) {
      if (choice < 70) return claim(id);
      if (choice < 85) return reclaim(id);
      return note("reopen", id, [&] { return tasks_.reopen(id, now()); });
    }
    if (choice < 60) return note("beat", id, [&] { return tasks_.beat(id, me(id), "on", now()); });
    if (choice < 70) return end("close", id);
    if (choice < 90) return end("release", id);
    if (choice < 95) return claim(id);
    return reclaim(id);
  }

 private:
  using Ask = std::function<Result<TaskAnswer>()>;

  WallTime now() { return clock_.wall(); }
  Worker me(const std::string& id) {
    Worker worker{.name = name_, .folder = {}, .fence = {}};
    if (const auto held = held_.find(id); held != held_.end()) worker.fence = held->second;
    return worker;
  }

  void claim(const std::string& id) {
    std::optional<std::int64_t> fence;
    note("claim", id, [&] {
      auto answer = tasks_.claim(id, me(id), now());
      if (answer && answer->did == TaskAnswer::Did::done) fence = answer->task.fence;
      return answer;
    });
    if (fence) held_[id] = *fence;
  }
  void end(const std::string& how, const std::string& id) {
    note(how, id, [&] {
      return how == "close" ? tasks_.close(id, me(id), "done", false, now())
                            : tasks_.release(id, me(id), now());
    });
    held_.erase(id);
  }
  void reclaim(const std::string& id) {
    const auto seen = tasks_.find(id);
    if (!seen || !*seen) return;
    note("reclaim", id, [&] { return tasks_.reclaim(**seen, now()); });
  }

  /// Writes down what was asked and answered. A worker that is told that a task is not its own any
  /// more believes it.
  void note(std::string_view what, const std::string& id, const Ask& ask) {
    const auto fence = me(id).fence;
    const auto begin = std::chrono::steady_clock::now();
    const auto answer = ask();
    const auto end = std::chrono::steady_clock::now();
    history_ << fmt::format(R"({{"op":"{}","id":"{}","who":"{}","sent":{},"begin":{},"end":{},)",
                            what, id, name_, fence.value_or(0), count(begin), count(end));
    if (!answer) {
      history_ << R"("did":"error","error":")" << answer.error().text << "\"}\n";
      return;
    }
    history_ << fmt::format(
        R"("did":"{}","fence":{},"status":"{}","updated_at":{},"assignee":"{}"}})",
        word_of(answer->did), answer->task.fence, answer->task.status,
        database_time(answer->task.updated_at), answer->task.assignee.value_or(""));
    history_ << "\n";
    const bool is_mine = answer->did == TaskAnswer::Did::done || what == "reclaim";
    if (fence && !is_mine) held_.erase(id);
  }
  /// Nanoseconds of a clock that all processes share.
  static std::int64_t count(std::chrono::steady_clock::time_point time) {
    return time.time_since_epoch().count();
  }

  LinuxClock clock_;
  Tasks tasks_;
  std::string name_;
  std::mt19937_64 random_;
  std::ofstream history_;
  std::map<std::string, std::int64_t> held_;
};

int complain(const std::string& text) {
  std::cerr << text << "\n";
  return 1;
}

int race(Database& database, const std::vector<std::string>& words) {
  const std::uint64_t seed = std::stoull(words.at(1));
  const int operations = std::stoi(words.at(2));
  const std::uint64_t tasks = std::stoull(words.at(3));
  Racer racer(database, words.at(0), seed, words.at(4));
  std::mt19937_64 random(seed + 1);
  for (int i = 0; i < operations; ++i) racer.step("t" + std::to_string(random() % tasks));
  return 0;
}

int run(const std::vector<std::string>& words) {
  LinuxClock clock;
  LinuxFolders folders;
  LinuxDatabases databases;
  const auto home = folders.make(words.at(0));
  if (!home) return complain(home.error().text);
  const auto database = open_home_database(databases, **home);
  if (!database) return complain(database.error().text);
  const std::string& what = words.at(1);
  const std::vector<std::string> rest(words.begin() + 2, words.end());
  if (what == "race") return race(**database, rest);
  if (what == "send") {
    Letter letter;
    letter.from = "driver";
    letter.to = rest.at(0);
    letter.key = rest.at(1);
    letter.subject = rest.at(2);
    const auto sent = Mailbox(**database).send(letter, clock.wall());
    return sent ? 0 : complain(sent.error().text);
  }
  if (what == "put") {
    const auto put = Outbox(**database).put("channel", rest.at(0), rest.at(1), clock.wall());
    return put ? 0 : complain(put.error().text);
  }
  return complain("no such thing to do: " + what);
}

}  // namespace
}  // namespace tend::e2e

int main(int count, char** words) {
  const std::vector<std::string> given(words + 1, words + count);
  return given.size() < 2 ? 2 : tend::e2e::run(given);
}
