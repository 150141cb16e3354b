// What the gate costs: 10,000 messages received and worked off through Gate against bare SQLite
// that inserts, finds and updates the same bytes in a table with an index made for that, one
// transaction each; and the same with each on the disk before the next. The ratios are what
// counts, and each comes from both measured in turn; the times are the machine's.
#include <benchmark/benchmark.h>
#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "os/linux/linux_databases.h"
#include "os/linux/linux_folder.h"
#include "store/gate.h"
#include "store/home_database.h"

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMessages = 10'000;
constexpr std::int64_t kTurns = 20;  // of each, in turn
constexpr tend::WallTime kNow{std::chrono::hours{24 * 20'000}};

constexpr const char* kRaw = R"(
CREATE TABLE raw(id INTEGER PRIMARY KEY, agent TEXT, channel TEXT, endpoint TEXT, priority INTEGER,
                 state TEXT, received_at INTEGER, updated_at INTEGER, content TEXT);
CREATE INDEX raw_queued ON raw(agent, priority, id) WHERE state = 'queued';
)";

/// A folder of its own, gone in the end.
class Scratch {
 public:
  Scratch() {
    std::string pattern = (fs::temp_directory_path() / "tend_gate_bench_XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { fs::remove_all(path_); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// The same without anything of ours.
class Raw {
 public:
  Raw(const std::string& path, bool durable) {
    if (sqlite3_open(path.c_str(), &connection_) != SQLITE_OK) std::abort();
    run("PRAGMA journal_mode=WAL");
    run(durable ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL");
    run(kRaw);
    insert_ = prepare("INSERT INTO raw VALUES(NULL, ?, ?, ?, ?, 'queued', ?, ?, ?)");
    first_ = prepare(
        "SELECT id, content FROM raw WHERE agent = ? AND state = 'queued' "
        "ORDER BY priority, id LIMIT 1");
    update_ = prepare("UPDATE raw SET state = ?, updated_at = ? WHERE id = ?");
  }
  Raw(const Raw&) = delete;
  Raw& operator=(const Raw&) = delete;
  ~Raw() {
    for (sqlite3_stmt* const one : {insert_, first_, update_}) sqlite3_finalize(one);
    sqlite3_close(connection_);
  }

  bool receive(const tend::Message& draft) {
    bind(insert_, 1, draft.agent);
    bind(insert_, 2, draft.channel);
    bind(insert_, 3, draft.endpoint);
    sqlite3_bind_int64(insert_, 4, draft.priority);
    sqlite3_bind_int64(insert_, 5, 1'728'000'000'000);
    sqlite3_bind_int64(insert_, 6, 1'728'000'000'000);
    bind(insert_, 7, draft.content);
    return step(insert_);
  }
  /// Takes the first and is done with it.
  bool work() {
    bind(first_, 1, "boss");
    if (sqlite3_step(first_) != SQLITE_ROW) return false;
    const std::int64_t id = sqlite3_column_int64(first_, 0);
    benchmark::DoNotOptimize(sqlite3_column_text(first_, 1));
    sqlite3_reset(first_);
    return becomes(id, "taken") && becomes(id, "done");
  }

 private:
  void run(const char* sql) {
    if (sqlite3_exec(connection_, sql, nullptr, nullptr, nullptr) == SQLITE_OK) return;
    std::fprintf(stderr, "%s\n", sqlite3_errmsg(connection_));
    std::abort();
  }
  sqlite3_stmt* prepare(const char* sql) {
    sqlite3_stmt* made = nullptr;
    if (sqlite3_prepare_v2(connection_, sql, -1, &made, nullptr) != SQLITE_OK) std::abort();
    return made;
  }
  static void bind(sqlite3_stmt* statement, int at, const std::string& text) {
    sqlite3_bind_text(statement, at, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
  }
  static bool step(sqlite3_stmt* statement) {
    const bool well = sqlite3_step(statement) == SQLITE_DONE;
    sqlite3_reset(statement);
    return well;
  }
  bool becomes(std::int64_t id, const char* state) {
    sqlite3_bind_text(update_, 1, state, -1, SQLITE_STATIC);
    sqlite3_bind_int64(update_, 2, 1'728'000'000'000);
    sqlite3_bind_int64(update_, 3, id);
    return step(update_);
  }

  sqlite3* connection_ = nullptr;
  sqlite3_stmt* insert_ = nullptr;
  sqlite3_stmt* first_ = nullptr;
  sqlite3_stmt* update_ = nullptr;
};

std::unique_ptr<tend::Database> open(const std::string& path, bool durable) {
  tend::LinuxFolders folders;
  tend::LinuxDatabases databases;
  const auto home = folders.open(path).value();
  return tend::open_home_database(databases, *home, {.durable = durable}).value();
}

tend::Arrival some_arrival() {
  tend::Arrival arrival;
  arrival.draft.agent = "boss";
  arrival.draft.channel = "telegram";
  arrival.draft.endpoint = "chat-42";
  arrival.draft.content.assign(400, 'x');  // a few sentences
  return arrival;
}

bool work(tend::Gate& gate) {
  const auto message = gate.next("boss", "bench", kNow);
  if (!message || !*message) return false;
  const auto answer = gate.done((*message)->id, kNow);
  return answer && answer->did == tend::MessageAnswer::Did::done;
}

/// Microseconds that it takes once, of so many times.
double timed(std::int64_t times, const std::function<bool()>& once, bool& well) {
  const auto from = std::chrono::steady_clock::now();
  for (std::int64_t i = 0; i < times; ++i) well = once() && well;
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - from;
  return took.count() / static_cast<double>(times);
}

double median(std::vector<double> times) {
  std::ranges::sort(times);
  return times[times.size() / 2];
}

void compare(benchmark::State& state, const std::string& what, std::int64_t times,
             const std::function<bool()>& ours, const std::function<bool()>& raw) {
  std::vector<double> our_times;
  std::vector<double> raw_times;
  bool well = true;
  for (std::int64_t i = 0; i < kTurns; ++i) {
    our_times.push_back(timed(times, ours, well));
    raw_times.push_back(timed(times, raw, well));
  }
  if (!well) return state.SkipWithError("a message was lost");
  state.counters[what + "_us"] = median(our_times);
  state.counters[what + "_raw_us"] = median(raw_times);
  state.counters[what + "_ratio"] = median(our_times) / median(raw_times);
}

/// All are received, and then worked off.
void messages(benchmark::State& state, bool durable) {
  for (auto _ : state) {
    const Scratch scratch;
    const auto database = open(scratch.path(), durable);
    tend::Gate gate(*database);
    Raw raw(scratch.path() + "/raw.db", durable);
    const tend::Arrival arrival = some_arrival();
    compare(
        state, "receive", kMessages / kTurns,
        [&] { return gate.receive(arrival, kNow).has_value(); },
        [&] { return raw.receive(arrival.draft); });
    compare(
        state, "work", kMessages / kTurns, [&] { return work(gate); }, [&] { return raw.work(); });
  }
}
void ratio_of_messages_on_disk(benchmark::State& state) { messages(state, true); }
void ratio_of_messages_not_waiting_for_the_disk(benchmark::State& state) { messages(state, false); }
BENCHMARK(ratio_of_messages_not_waiting_for_the_disk)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(ratio_of_messages_on_disk)->Iterations(1)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
