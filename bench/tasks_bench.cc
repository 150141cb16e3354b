// What tasks cost. Stale ones among a million, through Tasks::list, against a query written by hand
// with a partial index that has all it asks for; lists by creation and by label; beats of eight
// processes at once against as many bare UPDATEs, neither waiting for the disk; `tend heartbeat` as
// a new process against a minimal program that does the same with SQLite alone. The ratios are what
// counts, and each comes from both measured in turn; the times are the machine's.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <spawn.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "os/linux/linux_databases.h"
#include "os/linux/linux_folder.h"
#include "store/home_database.h"
#include "store/tasks.h"

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr std::int64_t kTasks = 1'000'000;
constexpr std::int64_t kStale = 1'000;
constexpr tend::WallTime kNow{std::chrono::hours{24 * 20'000}};

/// Of ten tasks one is in progress, three are open and six closed; of those in progress one of a
/// hundred was not heard of for an hour. One in a thousand has the label `rare`, every other
/// `common`.
constexpr const char* kFill = R"(
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999999)
INSERT INTO tasks(id, title, status, assignee, context, created_at, updated_at, last_heartbeat,
                  heartbeat_message, fence, lease_expires_at, labels)
SELECT printf('flow:%d-%07d', i % 7, i), 'What task ' || i || ' is about, in a few words',
  CASE WHEN i % 10 = 0 THEN 'in_progress' WHEN i % 10 < 4 THEN 'open' ELSE 'closed' END,
  CASE WHEN i % 10 = 0 THEN 'worker-' || (i % 97) END,
  CASE i / 10 % 3 WHEN 0 THEN 'active' WHEN 1 THEN 'overnight' ELSE 'critical' END,
  1700000000000 + i, 1710000000000 + i,
  CASE WHEN i % 1000 = 0 THEN 1727996400000 - i WHEN i % 10 = 0 THEN 1728000000000 - i % 100 END,
  CASE WHEN i % 10 = 0 THEN 'tests pass' END, i % 10 = 0,
  CASE WHEN i % 10 = 0 THEN 1728000300000 END,
  CASE WHEN i % 1000 = 0 THEN 'common' || char(10) || 'rare' WHEN i % 2 = 0 THEN 'common' ELSE '' END
FROM n;
INSERT INTO labels(task, label) SELECT id, 'common' FROM tasks WHERE labels <> '';
INSERT INTO labels(task, label) SELECT id, 'rare' FROM tasks WHERE labels LIKE '%rare';
)";
constexpr const char* kRaw = R"(
CREATE TABLE raw(id TEXT PRIMARY KEY, title TEXT, status TEXT, assignee TEXT, last_heartbeat INTEGER,
                 message TEXT) WITHOUT ROWID;
INSERT INTO raw SELECT id, title, status, assignee, last_heartbeat, heartbeat_message
  FROM ours.tasks;
CREATE INDEX raw_stale ON raw(last_heartbeat, id, status) WHERE status = 'in_progress';
CREATE TABLE whole AS SELECT id, title, status, assignee, context, created_at, updated_at,
  last_heartbeat, heartbeat_message, fence, lease_expires_at, labels
  FROM ours.tasks WHERE status = 'in_progress';
CREATE INDEX whole_stale ON whole(last_heartbeat, id, title, status, assignee, context, created_at,
  updated_at, heartbeat_message, fence, lease_expires_at, labels) WHERE status = 'in_progress';
)";

/// A connection without anything of ours.
class Raw {
 public:
  explicit Raw(const std::string& path) {
    if (sqlite3_open(path.c_str(), &connection_) != SQLITE_OK) std::abort();
    sqlite3_busy_timeout(connection_, 10'000);
    run("PRAGMA synchronous=NORMAL");
  }
  Raw(const Raw&) = delete;
  Raw& operator=(const Raw&) = delete;
  ~Raw() {
    for (sqlite3_stmt* const one : statements_) sqlite3_finalize(one);
    sqlite3_close(connection_);
  }
  void run(const std::string& sql) {
    if (sqlite3_exec(connection_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
      std::fprintf(stderr, "%s\n", sqlite3_errmsg(connection_));
      std::abort();
    }
  }
  sqlite3_stmt* prepare(const char* sql) {
    sqlite3_stmt* made = nullptr;
    if (sqlite3_prepare_v2(connection_, sql, -1, &made, nullptr) != SQLITE_OK) std::abort();
    statements_.push_back(made);
    return made;
  }

 private:
  sqlite3* connection_ = nullptr;
  std::vector<sqlite3_stmt*> statements_;
};

/// A home with a million tasks, and beside it the same in a database by hand. Made once.
class Million {
 public:
  static const Million& there() {
    static const Million one;
    return one;
  }
  Million(const Million&) = delete;
  Million& operator=(const Million&) = delete;
  ~Million() { fs::remove_all(path_); }

  [[nodiscard]] std::string raw_path() const { return path_ + "/raw.db"; }
  [[nodiscard]] std::string path() const { return path_; }
  [[nodiscard]] std::unique_ptr<tend::Database> open() const {
    tend::LinuxFolders folders;
    tend::LinuxDatabases databases;
    const auto home = folders.open(path_).value();
    return tend::open_home_database(databases, *home).value();
  }

 private:
  Million() {
    std::string pattern = (fs::temp_directory_path() / "tend_tasks_bench_XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
    const auto database = open();
    database->set_durable(false);
    database->run_script(kFill).value();
    Raw raw(raw_path());
    raw.run("PRAGMA journal_mode=WAL");
    raw.run("ATTACH '" + path_ + "/tend.db' AS ours");
    raw.run(kRaw);
  }

  std::string path_;
};

/// Every value of every row is looked at; how many rows.
std::int64_t read_all(sqlite3_stmt* statement) {
  std::int64_t rows = 0;
  while (sqlite3_step(statement) == SQLITE_ROW) {
    ++rows;
    for (int i = 0; i < sqlite3_column_count(statement); ++i) {
      if (sqlite3_column_type(statement, i) == SQLITE_INTEGER) {
        benchmark::DoNotOptimize(sqlite3_column_int64(statement, i));
      } else {
        benchmark::DoNotOptimize(sqlite3_column_text(statement, i));
      }
    }
  }
  sqlite3_reset(statement);
  return rows;
}

using Seconds = std::chrono::duration<double>;

double timed(const std::function<void()>& work) {
  const auto from = std::chrono::steady_clock::now();
  work();
  return Seconds(std::chrono::steady_clock::now() - from).count();
}

double tenth(std::vector<double> times) {
  std::ranges::sort(times);
  return times[times.size() / 10];
}

double median(std::vector<double> times) {
  std::ranges::sort(times);
  return times[times.size() / 2];
}

// --- Stale ones ---------------------------------------------------------------------------------

constexpr const char* kRawStale =
    "SELECT id, last_heartbeat FROM raw INDEXED BY raw_stale WHERE status = 'in_progress' "
    "AND last_heartbeat < 1727998000000 ORDER BY last_heartbeat";
/// The same with all that is told of a task.
constexpr const char* kRawWhole =
    "SELECT id, title, assignee, context, created_at, updated_at, last_heartbeat, "
    "heartbeat_message, fence, lease_expires_at, labels FROM whole INDEXED BY whole_stale "
    "WHERE status = 'in_progress' AND last_heartbeat < 1727998000000 ORDER BY last_heartbeat";

/// Measures both in turn, and compares what each takes when it is left alone.
void stale(benchmark::State& state, const char* raw_sql) {
  const auto database = Million::there().open();
  tend::Tasks tasks(*database, tend::TaskLimits{});
  Raw raw(Million::there().raw_path());
  sqlite3_stmt* const query = raw.prepare(raw_sql);
  const tend::TaskFilter filter{.status = std::string(tend::kInProgress), .stale = true};
  std::vector<double> ours;
  std::vector<double> theirs;
  std::int64_t found = 0;
  std::int64_t raw_found = 0;
  for (auto _ : state) {
    ours.push_back(timed([&] {
      const auto all = tasks.list(filter, kNow);
      found = all ? static_cast<std::int64_t>(all->size()) : 0;
    }));
    theirs.push_back(timed([&] { raw_found = read_all(query); }));
  }
  if (found != kStale || raw_found != kStale) return state.SkipWithError("not all were found");
  state.counters["ours_us"] = tenth(ours) * 1e6;
  state.counters["raw_us"] = tenth(theirs) * 1e6;
  state.counters["ratio"] = tenth(ours) / tenth(theirs);
}
void ratio_of_stale_tasks_to_their_ids(benchmark::State& state) { stale(state, kRawStale); }
void ratio_of_stale_tasks_to_all_columns(benchmark::State& state) { stale(state, kRawWhole); }
BENCHMARK(ratio_of_stale_tasks_to_their_ids)->Iterations(300)->Unit(benchmark::kMicrosecond);
BENCHMARK(ratio_of_stale_tasks_to_all_columns)->Iterations(300)->Unit(benchmark::kMicrosecond);

// --- Lists --------------------------------------------------------------------------------------

void list(benchmark::State& state, const tend::TaskFilter& filter) {
  const auto database = Million::there().open();
  tend::Tasks tasks(*database, tend::TaskLimits{});
  std::size_t found = 0;
  for (auto _ : state) found = tasks.list(filter, kNow)->size();
  state.counters["found"] = static_cast<double>(found);
}
void list_the_first_50(benchmark::State& state) { list(state, {.most = 50}); }
void list_the_first_50_open(benchmark::State& state) {
  list(state, {.status = std::string(tend::kOpen), .most = 50});
}
void list_50_of_a_worker(benchmark::State& state) {
  list(state, {.assignee = "worker-5", .most = 50});
}
void list_50_with_a_rare_label(benchmark::State& state) {
  list(state, {.labels = {"rare"}, .most = 50});
}
void list_50_with_a_common_label(benchmark::State& state) {
  list(state, {.labels = {"common"}, .most = 50});
}
void list_stale_ones_with_a_label(benchmark::State& state) {
  list(state, {.labels = {"rare"}, .stale = true});
}
BENCHMARK(list_the_first_50)->Unit(benchmark::kMicrosecond);
BENCHMARK(list_the_first_50_open)->Unit(benchmark::kMicrosecond);
BENCHMARK(list_50_of_a_worker)->Unit(benchmark::kMicrosecond);
BENCHMARK(list_50_with_a_rare_label)->Unit(benchmark::kMicrosecond);
BENCHMARK(list_50_with_a_common_label)->Unit(benchmark::kMicrosecond);
BENCHMARK(list_stale_ones_with_a_label)->Unit(benchmark::kMicrosecond);

// --- Beats --------------------------------------------------------------------------------------

constexpr int kProcesses = 8;
constexpr std::int64_t kBeats = 500;

std::string id_of(std::int64_t i) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "flow:%d-%07d", static_cast<int>(i % 7),
                static_cast<int>(i));
  return text.data();
}

/// The tasks of one process: they are held, and nobody else's.
std::int64_t nth_task(int process, std::int64_t beat) {
  return (beat * 7919 + process * 1'000) % (kTasks / 10) * 10;
}

/// `work(process)` in so many processes at once; how long all of them took.
double together(const std::function<bool(int)>& work) {
  std::array<int, 2> gate{};
  if (::pipe(gate.data()) != 0) std::abort();
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(gate[1]);
      char byte = 0;
      std::ignore = ::read(gate[0], &byte, 1);  // until the parent opens it for all
      ::_exit(work(i) ? 0 : 1);
    }
    children.push_back(child);
  }
  ::close(gate[0]);
  bool well = true;
  const double took = timed([&] {
    ::close(gate[1]);
    for (const pid_t child : children) {
      int status = -1;
      well = ::waitpid(child, &status, 0) == child && status == 0 && well;
    }
  });
  return well ? took : 0;
}

bool beat_ours(int process) {
  const auto database = Million::there().open();
  tend::Tasks tasks(*database, tend::TaskLimits{});
  for (std::int64_t i = 0; i < kBeats; ++i) {
    const std::int64_t number = nth_task(process, i);
    const auto answer = tasks.beat(id_of(number), {.name = "worker-" + std::to_string(number % 97)},
                                   "tests pass still", kNow + std::chrono::milliseconds{i});
    if (!answer || answer->did != tend::TaskAnswer::Did::done) return false;
  }
  return true;
}

bool beat_raw(int process) {
  Raw raw(Million::there().raw_path());
  sqlite3_stmt* const update =
      raw.prepare("UPDATE raw SET last_heartbeat = ?, message = ? WHERE id = ?");
  for (std::int64_t i = 0; i < kBeats; ++i) {
    const std::string id = id_of(nth_task(process, i));
    sqlite3_bind_int64(update, 1, 1728000000000 + i);
    sqlite3_bind_text(update, 2, "tests pass still", -1, SQLITE_STATIC);
    sqlite3_bind_text(update, 3, id.c_str(), -1, SQLITE_STATIC);
    if (sqlite3_step(update) != SQLITE_DONE) return false;
    sqlite3_reset(update);
  }
  return true;
}

void ratio_of_beats_of_eight_processes(benchmark::State& state) {
  std::ignore = Million::there();
  std::vector<double> ours;
  std::vector<double> theirs;
  for (auto _ : state) {
    ours.push_back(together(beat_ours));
    theirs.push_back(together(beat_raw));
    if (ours.back() <= 0 || theirs.back() <= 0) return state.SkipWithError("a beat failed");
  }
  constexpr double kAll = kProcesses * kBeats;
  state.counters["ours_per_s"] = kAll / median(ours);
  state.counters["raw_per_s"] = kAll / median(theirs);
  state.counters["ratio"] = median(ours) / median(theirs);
}
BENCHMARK(ratio_of_beats_of_eight_processes)
    ->Iterations(9)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

// --- A beat by a new process --------------------------------------------------------------------

bool run(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failed =
      posix_spawn(&child, words.front().c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = -1;
  return failed == 0 && waitpid(child, &status, 0) == child && status == 0;
}

/// Nobody else has the databases open, so whoever is done with one moves its log into it.
void ratio_of_a_beat_by_a_process(benchmark::State& state) {
  const Million& million = Million::there();
  ::setenv("TEND_HOME", million.path().c_str(), 1);
  const std::string id = id_of(0);
  std::vector<double> ours;
  std::vector<double> theirs;
  bool well = true;
  for (auto _ : state) {
    ours.push_back(timed([&] {
      well = run({TEND_BINARY_DIR "/tend", "heartbeat", id, "--actor", "worker-0"}) && well;
    }));
    theirs.push_back(timed([&] {
      well = run({TEND_BINARY_DIR "/bench/sqlite_beat", million.raw_path(), id}) && well;
    }));
  }
  if (!well) return state.SkipWithError("a beat failed");
  state.counters["ours_us"] = tenth(ours) * 1e6;
  state.counters["raw_us"] = tenth(theirs) * 1e6;
  state.counters["ratio"] = tenth(ours) / tenth(theirs);
}
BENCHMARK(ratio_of_a_beat_by_a_process)
    ->Iterations(200)
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime();

}  // namespace
