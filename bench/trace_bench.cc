// Bytes of a trace to verdicts: splitting, parsing and judging in one pass, in MB/s, on all
// incident traces of the test suite repeated to a few megabytes. Beside it the raw limit: finding
// the line ends with memchr.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "judge/judge.h"
#include "os/world.h"
#include "run/replay.h"
#include "sense/trace_reader.h"

namespace tend {
namespace {

class TextSource final : public ByteSource {
 public:
  explicit TextSource(std::string_view text) : rest_(text) {}
  Result<std::size_t> read(std::span<char> into) override {
    const std::size_t size = std::min(into.size(), rest_.size());
    std::memcpy(into.data(), rest_.data(), size);
    rest_.remove_prefix(size);
    return size;
  }

 private:
  std::string_view rest_;
};

class Counter final : public DecisionSink {
 public:
  void decided(Instant, const Decision&) override { ++decisions; }
  std::uint64_t decisions = 0;
};

/// One long trace: the signals of all incidents behind each other, their times moved on.
std::string all_incidents() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(TEND_SOURCE_DIR "/test/incidents")) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::string text;
  double offset = 0;
  while (text.size() < std::size_t{8} * 1024 * 1024) {
    for (const auto& path : paths) {
      std::ifstream file(path);
      std::string line;
      double last = 0;
      while (std::getline(file, line)) {
        double t = 0;
        if (std::sscanf(line.c_str(), "{\"t\":%lf,", &t) != 1 || line.back() != '}') continue;
        std::ostringstream moved;
        moved << "{\"t\":" << static_cast<std::int64_t>(offset + t) << line.substr(line.find(','));
        text += moved.str();
        text += '\n';
        last = t;
      }
      offset += last + 10;
    }
  }
  return text;
}

/// A night's work of one agent: turns with calls, probes and beats between them, nothing wrong.
std::string one_night() {
  std::string text = "{\"t\":0,\"is\":\"spawn\",\"pid\":4711}\n";
  std::int64_t t = 0;
  const auto line = [&](std::string_view rest) {
    text += "{\"t\":" + std::to_string(t) + ",\"is\":" + std::string(rest) + "}\n";
  };
  for (int turn = 0; text.size() < std::size_t{8} * 1024 * 1024; ++turn) {
    t += 5;
    line("\"turn-start\"");
    for (int call = 0; call < 12; ++call) {
      const std::string id = "\"toolu_" + std::to_string(turn) + "_" + std::to_string(call) + "\"";
      line("\"progress\"");
      t += 3;
      line("\"tool-open\",\"id\":" + id + ",\"tool\":\"Bash\",\"limit\":600");
      t += 15;
      line("\"process\",\"state\":\"running\"");
      line("\"beat\",\"by\":\"keeper\"");
      t += 20;
      line("\"activity\",\"from\":\"files\"");
      line("\"tool-close\",\"id\":" + id);
    }
    line("\"turn-end\"");
    line("\"inbox\",\"waiting\":0");
  }
  return text;
}

const std::string& incidents() {
  static const std::string text = all_incidents();
  return text;
}
const std::string& night() {
  static const std::string text = one_night();
  return text;
}

void raw_limit_find_line_ends(benchmark::State& state, const std::string& text) {
  for (auto _ : state) {
    std::size_t lines = 0;
    const char* at = text.data();
    const char* const end = at + text.size();
    while ((at = static_cast<const char*>(
                std::memchr(at, '\n', static_cast<std::size_t>(end - at)))) != nullptr) {
      ++at;
      ++lines;
    }
    benchmark::DoNotOptimize(lines);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK_CAPTURE(raw_limit_find_line_ends, a_night, night())->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(raw_limit_find_line_ends, all_incidents, incidents())
    ->Unit(benchmark::kMillisecond);

void parse(benchmark::State& state, const std::string& text) {
  for (auto _ : state) {
    TextSource bytes(text);
    TraceReader reader(bytes, "corpus", [](std::uint64_t, std::string_view) {});
    if (!reader.open()) return state.SkipWithError("the corpus cannot be read");
    Moment moment;
    std::size_t signals = 0;
    while (reader.next(moment).value_or(false)) signals += moment.signals.size();
    benchmark::DoNotOptimize(signals);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK_CAPTURE(parse, a_night, night())->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(parse, all_incidents, incidents())->Unit(benchmark::kMillisecond);

void parse_and_judge(benchmark::State& state, const std::string& text) {
  for (auto _ : state) {
    TextSource bytes(text);
    TraceReader reader(bytes, "corpus", [](std::uint64_t, std::string_view) {});
    if (!reader.open()) return state.SkipWithError("the corpus cannot be read");
    Counter counter;
    Replay replay(Judge(*built_in_policy("agent")), reader, counter);
    Moment moment;
    while (reader.next(moment).value_or(false)) replay.take(moment);
    benchmark::DoNotOptimize(counter.decisions);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK_CAPTURE(parse_and_judge, a_night, night())->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(parse_and_judge, all_incidents, incidents())->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tend
