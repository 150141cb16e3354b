// The layering of the source, as a test. The tables below say which folder may include what; the
// rest reads every file under src/ and names each line that breaks them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Words = std::vector<std::string_view>;

// What a folder may include of the others, itself included: a folder, or a single header.
struct Folder {
  std::string_view name;
  Words may_include;
};

// What sense, store and act may know of the judge: its words, never its judgement.
#define JUDGE_VOCABULARY                                                                     \
  "judge/words.h", "judge/signal.h", "judge/policy.h", "judge/decision.h", "judge/reason.h", \
      "judge/patrol.h", "judge/lease.h"

const std::vector<Folder> kFolders{
    {"base/", {"base/"}},
    {"judge/", {"base/", "judge/"}},
    {"os/", {"base/", "os/"}},
    {"sense/", {"base/", JUDGE_VOCABULARY, "os/", "sense/"}},
    {"store/", {"base/", JUDGE_VOCABULARY, "os/", "store/"}},
    {"act/", {"base/", JUDGE_VOCABULARY, "os/", "act/"}},
    {"run/", {"base/", "judge/", "os/", "sense/", "store/", "act/", "run/"}},
    {"app/",
     {"base/", "judge/", "os/", "sense/", "store/", "act/", "run/", "app/", "client/tend.h"}},
};

// Something that only some places may use; everybody else is told why. Places are folders or the
// beginnings of paths. Tests and fuzzers are free of those rules that do not bind tests.
struct Reserved {
  Words what;
  Words places;
  std::string_view why;
  bool binds_tests = false;
};

const std::vector<Reserved> kReservedHeaders{
    {{"os/linux/"}, {"os/linux/", "app/main.cc"}, "only main() picks the real machine"},
    {{"os/sim/"}, {"os/sim/"}, "only tests pick the simulated machine"},
    {{"<asio", "<boost/asio"}, {"os/"}, "only os/ has a loop", true},
    {{"<sqlite3.h>"},
     {"os/database.cc", "os/linux/linux_databases.cc", "os/sim/sim_database_file.cc"},
     "only os/database and its twins know SQLite",
     true},
    {{"<toml++/"}, {"store/"}, "configuration is read in store/", true},
    {{"<CLI/"}, {"app/"}, "arguments are parsed in app/", true},
    {{"<gtest/", "<gmock/", "<rapidcheck"}, {}, "only tests include test libraries"},
    {{"<fstream>", "<iostream>", "<filesystem>"}, {"os/"}, "files are reached through os/"},
    {{"<cstdio>"}, {"os/", "base/check.h"}, "output goes through os/"},
    {{"<ctime>"}, {"os/"}, "only os/ can read a clock"},
    {{"<random>"}, {"os/"}, "only os/ has entropy"},
    {{"<csignal>"}, {"os/"}, "signals of the system end in os/"},
    {{"<thread>", "<mutex>", "<shared_mutex>", "<condition_variable>", "<future>", "<semaphore>",
      "<stop_token>", "<latch>", "<barrier>"},
     {"os/"},
     "nothing above os/ has threads"},
};

// Whole words, outside comments and strings.
const std::vector<Reserved> kReservedNames{
    {{"system_clock", "steady_clock", "high_resolution_clock", "clock_gettime", "gettimeofday"},
     {"os/"},
     "only os/ can read a clock",
     true},
    {{"getenv", "secure_getenv", "setenv", "environ"}, {"os/"}, "ask the Environment of os/"},
    {{"random_device", "rand", "srand"}, {"os/"}, "only os/ has entropy", true},
    {{"sleep_for", "sleep_until", "usleep", "nanosleep"}, {"os/"}, "nothing sleeps", true},
    {{"cout", "cerr", "cin", "printf", "puts"}, {"os/", "base/check.h"}, "output goes through os/"},
};

// The judge iterates in a fixed order, so it has no container without one.
const Words kUnordered{"unordered_map", "unordered_set", "unordered_multimap",
                       "unordered_multiset"};

// Libraries that touch nothing: everybody may include them, unless they are reserved above.
const Words kLibraries{"<fmt/",   "<nlohmann/", "<simdjson.h>", "<toml++/",    "<CLI/",
                       "<gtest/", "<gmock/",    "<rapidcheck",  "<sqlite3.h>", "<asio"};

constexpr std::size_t kMostLines = 700;

bool is_test(std::string_view path) {
  return path.ends_with("_test.cc") || path.ends_with("_fuzz.cc") || path.ends_with("_test.h") ||
         path.ends_with("_testing.h");
}

bool starts_with_any(std::string_view text, const Words& beginnings) {
  return std::ranges::any_of(beginnings, [&](auto b) { return text.starts_with(b); });
}

// "judge/signal.h" or "<vector>", as written after #include; empty for any other line.
std::string_view included_by(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  if (!line.starts_with("#include")) return {};
  const auto from = line.find_first_of("<\"");
  if (from == std::string_view::npos) return {};
  const char closing = line[from] == '<' ? '>' : '"';
  const auto to = line.find(closing, from + 1);
  if (to == std::string_view::npos) return {};
  return closing == '>' ? line.substr(from, to + 1 - from) : line.substr(from + 1, to - from - 1);
}

// A header of the standard library has neither a folder nor an extension; what is no library of
// ours either belongs to the system.
bool is_system_header(std::string_view header) {
  return header.starts_with('<') && header.find_first_of("./") != std::string_view::npos &&
         !starts_with_any(header, kLibraries);
}

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// True if `word` stands in `line` with no character of the same sort beside it.
template <class Same>
bool has_word(std::string_view line, std::string_view word, Same same) {
  for (auto at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
    const auto end = at + word.size();
    if ((at == 0 || !same(line[at - 1])) && (end == line.size() || !same(line[end]))) return true;
  }
  return false;
}

// The line without its strings and its comment.
std::string code_of(std::string_view line) {
  std::string code;
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != 0) {
      if (c == '\\') ++i;
      if (c == quote) quote = 0;
    } else if (line.substr(i).starts_with("//")) {
      break;
    } else if (c == '"' || (c == '\'' && (i == 0 || !is_of_name(line[i - 1])))) {
      quote = c;
    } else {
      code += c;
    }
  }
  return code;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return std::tolower(c); });
  return result;
}

// Why `path`, a file under src/, must not include `header`; empty if it may.
std::string why_not_include(std::string_view path, std::string_view header) {
  for (const Reserved& row : kReservedHeaders) {
    if (is_test(path) && !row.binds_tests) continue;
    if (starts_with_any(header, row.what) && !starts_with_any(path, row.places)) {
      return std::string(row.why);
    }
  }
  if (header.starts_with('<')) {
    const bool may = path.starts_with("os/") || is_test(path) || !is_system_header(header);
    return may ? "" : "system headers are for os/ alone";
  }
  const auto folder =
      std::ranges::find_if(kFolders, [&](const Folder& row) { return path.starts_with(row.name); });
  if (folder == kFolders.end()) return "the folder has no row in the table of the layers";
  if (starts_with_any(header, folder->may_include)) return "";
  return std::string(folder->name) + " may not include it, or it is not named from src/";
}

// Why `line` of `path` must not stand there, apart from what it includes; empty if it may.
std::string why_not_say(std::string_view path, std::string_view line) {
  if (path.starts_with("os/")) {
    const std::string text = lower(line);
    const bool says_agent =
        has_word(text, "agent", is_letter) || has_word(text, "agents", is_letter);
    return says_agent ? "os/ does not know the word agent" : "";
  }
  const std::string code = code_of(line);
  const auto named = [&](std::string_view name) { return has_word(code, name, is_of_name); };
  for (const Reserved& row : kReservedNames) {
    if (is_test(path) && !row.binds_tests) continue;
    if (std::ranges::any_of(row.what, named) && !starts_with_any(path, row.places)) {
      return std::string(row.why);
    }
  }
  if (path.starts_with("judge/") && !is_test(path) && std::ranges::any_of(kUnordered, named)) {
    return "the judge iterates in a fixed order";
  }
  return "";
}

// All breaches in one file, each as "src/PATH:LINE: WHY: TEXT".
std::vector<std::string> breaches(const std::string& path, const std::string& text) {
  std::vector<std::string> found;
  if (!text.starts_with("//"))
    found.push_back(fmt::format("src/{}:1: opens without a comment", path));
  std::istringstream lines(text);
  std::string line;
  std::size_t number = 0;
  while (std::getline(lines, line)) {
    ++number;
    const std::string_view header = included_by(line);
    const std::string why =
        header.empty() ? why_not_say(path, line) : why_not_include(path, header);
    if (!why.empty()) found.push_back(fmt::format("src/{}:{}: {}: {}", path, number, why, line));
  }
  if (number > kMostLines) {
    found.push_back(fmt::format("src/{}:{}: longer than {} lines", path, number, kMostLines));
  }
  return found;
}

bool breaks(const std::string& path, const std::string& line) {
  return !breaches(path, "// Sample.\n" + line + "\n").empty();
}

TEST(Layering, holds_in_every_file) {
  const std::filesystem::path src = std::filesystem::path(TEND_SOURCE_DIR) / "src";
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(src)) {
    if (entry.path().extension() != ".cc" && entry.path().extension() != ".h") continue;
    std::ifstream in(entry.path());
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    for (const auto& breach : breaches(entry.path().lexically_relative(src).string(), text)) {
      ADD_FAILURE() << breach;
    }
    ++files;
  }
  EXPECT_GT(files, 10U) << "no source found in " << src;
}

// A header that opens its own source file is compiled alone there; all others are compiled by
// themselves (cmake/folders.cmake).
TEST(Layering, lets_every_source_file_open_with_its_own_header) {
  const std::filesystem::path src = std::filesystem::path(TEND_SOURCE_DIR) / "src";
  std::size_t pairs = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(src)) {
    std::filesystem::path header = entry.path();
    header.replace_extension(".h");
    if (entry.path().extension() != ".cc" || !std::filesystem::exists(header)) continue;
    if (is_test(entry.path().string())) continue;
    std::ifstream in(entry.path());
    std::string line;
    while (std::getline(in, line) && included_by(line).empty()) {
    }
    EXPECT_EQ(included_by(line), header.lexically_relative(src).string()) << entry.path();
    ++pairs;
  }
  EXPECT_GT(pairs, 100U);
}

// The type that a line of a header begins to define, "" if none.
std::string type_defined_by(const std::string& line) {
  for (const std::string_view opening : {"struct ", "class ", "enum class "}) {
    if (!line.starts_with(opening) || !line.contains('{')) continue;
    const auto name = std::string_view(line).substr(opening.size());
    return std::string(name.substr(0, name.find_first_of(" :;{")));
  }
  return "";
}

// Two types of one name in one namespace are one to the linker, which takes either for both.
TEST(Layering, gives_a_name_to_one_type_only) {
  const std::filesystem::path src = std::filesystem::path(TEND_SOURCE_DIR) / "src";
  std::map<std::string, std::string> places;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(src)) {
    if (entry.path().extension() != ".h") continue;
    const std::string place = entry.path().lexically_relative(src).string();
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) {
      const std::string type = type_defined_by(line);
      if (type.empty()) continue;
      const auto [found, is_new] = places.emplace(type, place);
      EXPECT_TRUE(is_new || is_test(place))
          << type << " in " << place << " is another one in " << found->second;
    }
  }
  EXPECT_GT(places.size(), 100U);
}

// The check is worth what it refuses.

TEST(Layering, lets_includes_point_down_only) {
  EXPECT_FALSE(breaks("judge/a.cc", "#include \"base/time.h\""));
  EXPECT_FALSE(breaks("run/a.cc", "#include \"sense/trace.h\""));
  EXPECT_TRUE(breaks("base/a.h", "#include \"judge/words.h\""));
  EXPECT_TRUE(breaks("judge/a.cc", "#include \"os/world.h\""));
  EXPECT_TRUE(breaks("run/a.cc", "#include \"app/command.h\""));
  EXPECT_TRUE(breaks("nowhere/a.cc", "#include \"base/time.h\""));
  EXPECT_TRUE(breaks("judge/a.cc", "#include \"words.h\"")) << "not named from src/";
  EXPECT_FALSE(breaks("app/a.cc", "#include \"client/tend.h\""));
  EXPECT_TRUE(breaks("run/a.cc", "#include \"client/tend.h\"")) << "it is for what is kept";
}

TEST(Layering, hides_siblings_from_each_other) {
  EXPECT_TRUE(breaks("sense/a.cc", "#include \"store/journal.h\""));
  EXPECT_TRUE(breaks("sense/a.cc", "#include \"act/kill.h\""));
  EXPECT_TRUE(breaks("store/a.cc", "#include \"sense/trace.h\""));
  EXPECT_TRUE(breaks("act/a.cc", "  #  include \"x\"\n#include \"store/journal.h\""));
}

TEST(Layering, shows_the_words_of_the_judge_but_not_the_judge) {
  for (const std::string folder : {"sense", "store", "act"}) {
    EXPECT_FALSE(breaks(folder + "/a.cc", "#include \"judge/signal.h\""));
    EXPECT_TRUE(breaks(folder + "/a.cc", "#include \"judge/judge.h\""));
  }
}

TEST(Layering, keeps_the_machine_in_os) {
  for (const std::string folder : {"base", "judge", "sense", "store", "act", "run", "app"}) {
    for (const std::string header : {"<unistd.h>", "<sys/stat.h>", "<fstream>", "<thread>",
                                     "<ctime>", "<asio.hpp>", "\"os/linux/linux_world.h\""}) {
      EXPECT_TRUE(breaks(folder + "/a.cc", "#include " + header)) << folder << " " << header;
    }
    EXPECT_TRUE(breaks(folder + "/a.cc", "auto t = std::chrono::steady_clock::now();")) << folder;
    EXPECT_FALSE(breaks(folder + "/a.cc", "#include <vector>")) << folder;
  }
  EXPECT_FALSE(breaks("os/linux/a.cc", "#include <sys/stat.h>"));
  EXPECT_FALSE(breaks("app/main.cc", "#include \"os/linux/linux_world.h\""));
  EXPECT_FALSE(breaks("os/database.cc", "#include <sqlite3.h>"));
  EXPECT_TRUE(breaks("os/database.h", "#include <sqlite3.h>"));
  EXPECT_TRUE(breaks("store/tasks.cc", "#include <sqlite3.h>"));
}

TEST(Layering, reads_code_and_not_what_stands_in_comments_and_strings) {
  EXPECT_FALSE(breaks("judge/a.cc", "int x;  // no steady_clock here"));
  EXPECT_FALSE(breaks("app/a.cc", "const char* text = \"getenv \\\" rand\";"));
  EXPECT_FALSE(breaks("app/a.cc", "int operand = 1'000; // '"));
  EXPECT_TRUE(breaks("app/a.cc", "const char q = '\"'; auto v = getenv(name);"));
}

TEST(Layering, keeps_disorder_out_of_the_judge) {
  EXPECT_TRUE(breaks("judge/a.h", "#include <unordered_map>\nstd::unordered_map<int, int> map;"));
  EXPECT_FALSE(breaks("sense/a.h", "std::unordered_map<int, int> map;"));
}

TEST(Layering, keeps_os_ignorant_of_agents) {
  EXPECT_TRUE(breaks("os/a.h", "// Starts an agent."));
  EXPECT_TRUE(breaks("os/a.h", "int agent_pid;"));
  EXPECT_TRUE(breaks("os/linux/a.h", "Agents all;"));
  EXPECT_FALSE(breaks("os/a.h", "// a reagent"));
}

TEST(Layering, wants_an_opening_comment_and_files_that_fit_in_a_head) {
  EXPECT_FALSE(breaches("base/a.h", "#pragma once\n").empty());
  EXPECT_TRUE(breaches("base/a.h", "// What it is for.\n#pragma once\n").empty());
  std::string text = "// Long.\n";
  for (std::size_t i = 0; i < kMostLines; ++i) text += "int x;\n";
  EXPECT_EQ(breaches("base/a.h", text).size(), 1U);
}

}  // namespace
