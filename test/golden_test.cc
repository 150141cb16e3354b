// Recordings of real agents and the signals that each proves. The lines of signals.jsonl are the
// second opinion about the adapters: test/golden/README.md says which were written by hand.
#include <gtest/gtest.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sense/adapter.h"
#include "store/journal.h"

namespace tend {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

fs::path golden() { return fs::path(TEND_SOURCE_DIR) / "test/golden"; }

std::string contents(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> lines_of(const fs::path& path) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> recordings() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(golden())) {
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

/// "claude" of "claude-bash3".
AdapterKind language_of(const std::string& name) {
  const auto kind = from_word<AdapterKind>(kAdapterWords, name.substr(0, name.find('-')));
  EXPECT_TRUE(kind) << name;
  return kind.value_or(AdapterKind::none);
}

Instant second(const std::string& text) {
  const std::chrono::duration<double> seconds(std::stod(text));
  return Instant{std::chrono::round<std::chrono::milliseconds>(seconds)};
}

/// What the adapter hears in a recording, one signal a line.
std::vector<Json> heard_in(const std::string& name, Adapter& adapter) {
  const auto lines = lines_of(golden() / name / "stream.jsonl");
  const auto times = lines_of(golden() / name / "times.txt");
  EXPECT_EQ(lines.size(), times.size()) << name;
  std::vector<Json> heard;
  SignalBatch batch;
  for (std::size_t i = 0; i < std::min(lines.size(), times.size()); ++i) {
    const Instant now = second(times[i]);
    const std::string padded = lines[i] + std::string(64, '\0');
    batch.clear();
    adapter.take(std::string_view(padded).substr(0, lines[i].size()), {.now = now}, batch);
    for (const Signal& signal : batch.signals) {
      std::string text;
      append_signal_line(text, now, signal, {});
      heard.push_back(Json::parse(text));
    }
  }
  return heard;
}

class Golden : public testing::TestWithParam<std::string> {};

TEST_P(Golden, is_heard_as_it_was_meant) {
  const auto adapter = make_adapter(language_of(GetParam()));
  std::vector<Json> wanted;
  for (const std::string& line : lines_of(golden() / GetParam() / "signals.jsonl")) {
    wanted.push_back(Json::parse(line));
  }
  EXPECT_EQ(heard_in(GetParam(), *adapter), wanted);
}

TEST_P(Golden, is_known_by_its_first_lines) {
  const auto lines = lines_of(golden() / GetParam() / "stream.jsonl");
  if (lines.empty()) GTEST_SKIP() << "it printed nothing";
  const auto guess = make_guessing_adapter();
  const auto told = make_adapter(language_of(GetParam()));
  EXPECT_EQ(heard_in(GetParam(), *guess), heard_in(GetParam(), *told));
  EXPECT_EQ(guess->kind(), told->kind());
}

INSTANTIATE_TEST_SUITE_P(Recordings, Golden, testing::ValuesIn(recordings()),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(GoldenFolder, has_the_recordings_and_names_no_machine) {
  EXPECT_GE(recordings().size(), 85U);
  for (const std::string& name : recordings()) {
    EXPECT_TRUE(fs::exists(golden() / name / "signals.jsonl")) << name;
    // A folder of the machine that recorded it would be an absolute path; people's are stand-ins.
    const Json meta = Json::parse(contents(golden() / name / "meta.json"));
    const Json environment = meta.value("env", Json::object());
    for (const Json& value : environment) {
      EXPECT_FALSE(value.is_string() && value.get<std::string>().starts_with('/')) << name;
    }
  }
}

}  // namespace
}  // namespace tend
