// Bytes of an agent's stream to signals: splitting, parsing and hearing in one pass, in GB/s, on
// the recordings of the test suite repeated to 64 MB. Beside it the raw limits on the same bytes:
// copying them, and simdjson walking over each line without looking at anything.
#include <benchmark/benchmark.h>
#include <simdjson.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "sense/adapter.h"
#include "sense/line_splitter.h"
#include "sense/tail.h"

namespace tend {
namespace {

constexpr std::size_t kBytes = std::size_t{64} * 1024 * 1024;
constexpr std::size_t kPiece = std::size_t{256} * 1024;  // what a keeper reads at once

/// All recordings of one agent behind each other, again and again. Padded.
std::string recorded(const std::string& agent) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(TEND_SOURCE_DIR "/test/golden")) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(agent + "-")) paths.push_back(entry.path() / "stream.jsonl");
  }
  std::sort(paths.begin(), paths.end());
  std::string once;
  for (const auto& path : paths) {
    std::ifstream file(path);
    once.append(std::istreambuf_iterator<char>(file), {});
    if (!once.ends_with('\n')) once += '\n';
  }
  std::string text;
  text.reserve(kBytes + once.size() + LineSplitter::kPadding);
  while (text.size() < kBytes) text += once;
  return text;
}

const std::string& stream_of(AdapterKind kind) {
  static const std::string claude = recorded("claude");
  static const std::string codex = recorded("codex");
  static const std::string gemini = recorded("gemini");
  if (kind == AdapterKind::codex) return codex;
  return kind == AdapterKind::gemini ? gemini : claude;
}

void count_bytes(benchmark::State& state, const std::string& text) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}

void raw_limit_copy(benchmark::State& state, AdapterKind kind) {
  const std::string& text = stream_of(kind);
  std::string piece(kPiece, '\0');
  for (auto _ : state) {
    for (std::size_t at = 0; at < text.size(); at += kPiece) {
      std::memcpy(piece.data(), text.data() + at, std::min(kPiece, text.size() - at));
      benchmark::DoNotOptimize(piece.data());
      benchmark::ClobberMemory();
    }
  }
  count_bytes(state, text);
}

/// Finds each line's end and its structure, and goes over its fields.
void raw_limit_walk(benchmark::State& state, AdapterKind kind) {
  const std::string& text = stream_of(kind);
  simdjson::ondemand::parser parser;
  for (auto _ : state) {
    std::size_t fields = 0;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      const simdjson::padded_string_view line(text.data() + at, end - at, text.capacity() - at);
      at = end + 1;
      simdjson::ondemand::document document;
      simdjson::ondemand::object object;
      if (parser.iterate(line).get(document) != simdjson::SUCCESS) continue;
      if (document.get_object().get(object) != simdjson::SUCCESS) continue;
      for (auto field : object) fields += field.error() == simdjson::SUCCESS ? 1U : 0U;
    }
    benchmark::DoNotOptimize(fields);
  }
  count_bytes(state, text);
}

/// As a keeper does it: pieces of a file, all lines of a piece in one moment.
void hear(benchmark::State& state, AdapterKind kind) {
  const std::string& text = stream_of(kind);
  std::size_t signals = 0;
  for (auto _ : state) {
    const auto adapter = make_adapter(kind);
    SignalBatch batch;
    const LineTime seen{.now = Instant{std::chrono::seconds{1000}}};
    LineFeed lines([&](std::string_view line) { adapter->take(line, seen, batch); },
                   [](std::uint64_t) {});
    for (std::size_t at = 0; at < text.size(); at += kPiece) {
      batch.clear();
      lines.feed(std::string_view(text).substr(at, kPiece));
      signals += batch.signals.size();
    }
    lines.flush();
  }
  benchmark::DoNotOptimize(signals);
  count_bytes(state, text);
}

#define OF_EACH_AGENT(what)                                                            \
  BENCHMARK_CAPTURE(what, claude, AdapterKind::claude)->Unit(benchmark::kMillisecond); \
  BENCHMARK_CAPTURE(what, codex, AdapterKind::codex)->Unit(benchmark::kMillisecond);   \
  BENCHMARK_CAPTURE(what, gemini, AdapterKind::gemini)->Unit(benchmark::kMillisecond)
OF_EACH_AGENT(raw_limit_copy);
OF_EACH_AGENT(raw_limit_walk);
OF_EACH_AGENT(hear);

}  // namespace
}  // namespace tend
