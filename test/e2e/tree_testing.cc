// The agent of the trees is a script that does what its plan, a file of variables, tells it.
#include "tree_testing.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

namespace tend::e2e {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAgentScript = R"(# agent.sh SCRATCH NAME
scratch=$1
name=$2
. "$scratch/plan/options"
. "$scratch/plan/$name"
note() { echo "$name $TEND_LIFE $$ $1" >>"$scratch/ledger"; }

exec 9>"$scratch/locks/$name"
if ! flock -n 9; then
  note TWICE
  exit 1
fi
note start
[ "$lingers" = no ] || trap 'sleep 3; exit 130' INT TERM
{ # nothing that is started here holds the lock
  for child in $children; do
    grep -qs "\"agent\":\"$child\"" "$TEND_INFRA/.children" && continue
    "$tend" dispatch --role part --name "$child" --worktree new --policy agent \
      --restart on-failure --beat 1s $options -- sh "$0" "$scratch" "$child"
  done
  [ -z "$writes" ] || echo "by $name" >"$writes"
  while :; do
    echo "$name works"
    [ "$works" = no ] || echo "life $TEND_LIFE" >>"$name.txt"
    if [ -e "$scratch/go" ] || [ -e "$scratch/go.$name" ]; then break; fi
    sleep 0.1
  done
  for child in $children; do
    [ "$waits" = yes ] || break
    until "$tend" wait "$child"; do sleep 0.2; done
    "$tend" merge "$child"
  done
  [ -z "$outcome" ] || "$tend" done --outcome "$outcome" --note "$name is through"
} 9>&-
note end
)";

void write(const Path& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
}

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : " ") + word;
  return all;
}

template <class T>
bool has(const std::vector<T>& all, const T& one) {
  return std::ranges::find(all, one) != all.end();
}

const char* yes_or_no(bool yes) { return yes ? "yes" : "no"; }

bool is_terminal_word(const std::string& status) {
  return status == "completed" || status == "withdrawn";
}

}  // namespace

void TreeE2e::SetUp() {
  E2e::SetUp();
  for (const char* folder : {"plan", "locks", "repository"}) {
    fs::create_directory(scratch() / folder);
  }
  write(scratch() / "agent.sh", kAgentScript);
  git(repository(), {"init", "-q", "-b", "main"});
  commit_file(repository(), "README", "the project\n");
}

std::string TreeE2e::git(const Path& where, const Arguments& arguments) {
  const auto ran =
      run({.arguments = Arguments{"git", "-C", where.string(), "-c", "user.name=Tester", "-c",
                                  "user.email=tester@localhost"} +
                        arguments});
  EXPECT_EQ(ran.exit, 0) << arguments.front() << ": " << ran.err;
  return ran.out;
}

void TreeE2e::commit_file(const Path& where, const std::string& name, const std::string& text) {
  write(where / name, text);
  git(where, {"add", "-A"});
  git(where, {"commit", "-q", "-m", name});
}

// --- Growing ------------------------------------------------------------------------------------

void TreeE2e::plan(const std::vector<Part>& parts, const Arguments& options) {
  write(scratch() / "plan" / "options",
        "tend='" TEND_BINARY "'\noptions='" + joined(options) + "'\n");
  for (const Part& part : parts) {
    std::ostringstream text;
    text << "children='" << joined(part.children) << "'\noutcome='" << part.outcome << "'\nwrites='"
         << part.writes << "'\nworks=" << yes_or_no(part.works)
         << "\nwaits=" << yes_or_no(part.waits) << "\nlingers=" << yes_or_no(part.lingers) << "\n";
    write(scratch() / "plan" / part.name, text.str());
  }
}

Arguments TreeE2e::agent(const std::string& name) const {
  return {"sh", (scratch() / "agent.sh").string(), scratch().string(), name};
}

Path TreeE2e::keep_root(const std::string& name, const Arguments& options) {
  const auto ran = run({.arguments = Arguments{"env", "-C", repository().string(), TEND_BINARY,
                                               "run", "--detach", "--name", name, "--policy",
                                               "agent", "--restart", "on-failure", "--beat", "1s"} +
                                     options + Arguments{"--"} + agent(name)});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  return folder_of(name);
}

void TreeE2e::let_go(const std::string& name) const {
  write(scratch() / (name.empty() ? "go" : "go." + name), "");
}

// --- Looking ------------------------------------------------------------------------------------

Path TreeE2e::folder_of(const std::string& name) const {
  // One that was never begun, as when its dispatch was cut off, stands behind all others.
  std::pair<bool, std::string> best;
  Path found;
  std::error_code none;
  for (fs::recursive_directory_iterator at(home() / "sessions", none), end; at != end;
       at.increment(none)) {
    if (at->path().filename() != "agent.json") continue;
    const Json file = Json::parse(read_file(at->path()), nullptr, false);
    if (!file.is_object() || text_in(file, "agent") != name) continue;
    const Path folder = at->path().parent_path();
    const std::pair rank{fs::exists(folder / ".lock", none), folder.filename().string()};
    if (!found.empty() && rank < best) continue;
    best = rank;
    found = folder;
  }
  return found;
}

Path TreeE2e::worktree_of(const std::string& name) const {
  const Json file = Json::parse(read_file(folder_of(name) / "agent.json"), nullptr, false);
  return file.is_object() ? text_in(file, "worktree") : "";
}

Json TreeE2e::lock_of(const std::string& name) const {
  // Behind the record the child signs with one byte.
  const std::string text = read_file(folder_of(name) / ".lock");
  Json record = Json::parse(text.substr(0, text.rfind('}') + 1), nullptr, false);
  return record.is_object() ? record : Json::object();
}

pid_t TreeE2e::keeper_of(const std::string& name) const {
  return static_cast<pid_t>(number_in(lock_of(name), "keeper_pid"));
}

pid_t TreeE2e::process_of(const std::string& name) const {
  return static_cast<pid_t>(number_in(lock_of(name), "pid"));
}

bool TreeE2e::is_at_work(const std::string& name) const {
  const Json lock = lock_of(name);
  const auto keeper = static_cast<pid_t>(number_in(lock, "keeper_pid"));
  const auto process = static_cast<pid_t>(number_in(lock, "pid"));
  const bool runs = keeper != 0 && process != 0 && is_running(keeper) && is_running(process) &&
                    text_in(says(name), "status") == "running";
  // A process is there a moment before its agent has signed.
  return runs && has(ledger()[name].starts, number_in(lock, "life"));
}

bool TreeE2e::is_over(const std::string& name) const {
  return is_terminal_word(text_in(says(name), "status"));
}

bool TreeE2e::await_work(const Names& names) {
  const bool all = eventually([&] {
    return std::ranges::all_of(names, [&](const auto& name) { return is_at_work(name); });
  });
  for (const std::string& name : names) {
    EXPECT_TRUE(all || is_at_work(name)) << name << " does not work: " << says(name);
  }
  EXPECT_TRUE(all) << read_file(home() / "events.jsonl");
  return all;
}

bool TreeE2e::await_end(const Names& names, Patience patience) {
  const bool all = eventually(
      [&] { return std::ranges::all_of(names, [&](const auto& name) { return is_over(name); }); },
      patience);
  for (const std::string& name : names) {
    EXPECT_TRUE(all || is_over(name)) << name << " does not end: " << says(name);
  }
  EXPECT_TRUE(all) << read_file(home() / "events.jsonl");
  return all;
}

void TreeE2e::kill_all(const std::vector<pid_t>& pids) {
  for (const pid_t pid : pids) ASSERT_TRUE(signal_process_of(home(), pid, SIGSTOP)) << pid;
  for (const pid_t pid : pids) ASSERT_TRUE(kill(pid)) << pid;
  for (const pid_t pid : pids) ASSERT_TRUE(eventually([&] { return !is_running(pid); })) << pid;
}

std::map<std::string, pid_t> TreeE2e::processes_of(const Names& names) const {
  std::map<std::string, pid_t> pids;
  for (const std::string& name : names) pids[name] = process_of(name);
  return pids;
}

std::string TreeE2e::inbox_of(const std::string& name) {
  const auto ran = tend({"inbox", name, "--all"});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  return ran.out;
}

std::string TreeE2e::registered(const std::string& parent, const std::string& child) const {
  std::string status;
  for (const Json& line : json_lines(folder_of(parent) / ".children")) {
    if (text_in(line, "agent") == child) status = text_in(line, "status");
  }
  return status;
}

// --- Proving ------------------------------------------------------------------------------------

std::map<std::string, LedgerEntry> TreeE2e::ledger() const {
  std::map<std::string, LedgerEntry> kept;
  for (const std::string& line : lines_of(read_file(scratch() / "ledger"))) {
    std::istringstream words(line);
    std::string name;
    std::string what;
    long life = 0;
    long pid = 0;
    words >> name >> life >> pid >> what;
    LedgerEntry& one = kept[name];
    if (what == "start") one.starts.push_back(life);
    if (what == "end") ++one.ends;
    if (what == "TWICE") one.twice = true;
  }
  return kept;
}

void TreeE2e::expect_clean_ledger(const Names& names) const {
  const auto all = ledger();
  EXPECT_EQ(all.size(), names.size()) << read_file(scratch() / "ledger");
  for (const auto& [name, kept] : all) {
    EXPECT_TRUE(has(names, name)) << name << " is nobody";
    EXPECT_FALSE(kept.twice) << name << " was started while it lived";
    EXPECT_FALSE(kept.starts.empty()) << name << " was never started";
    EXPECT_EQ(kept.ends, 1) << name;
    EXPECT_TRUE(std::ranges::is_sorted(kept.starts, std::less_equal<>())) << name;
  }
  if (testing::Test::HasFailure()) ADD_FAILURE() << read_file(scratch() / "ledger");
}

void TreeE2e::expect_merged(const Names& names, const Path& into) {
  const auto files = lines_of(git(into, {"ls-tree", "-r", "--name-only", "HEAD"}));
  const std::string log = git(into, {"log", "--format=%s"});
  for (const std::string& name : names) {
    EXPECT_TRUE(has(files, name + ".txt")) << name << "\n" << log;
    const Path from = worktree_of(name);
    if (from == into) continue;
    EXPECT_TRUE(log.contains("Merge the work of " + name + " ")) << log;
    const std::string commit = lines_of(git(from, {"rev-parse", "HEAD"})).front();
    git(into, {"merge-base", "--is-ancestor", commit, "HEAD"});
    EXPECT_EQ(git(into, {"show", "HEAD:" + name + ".txt"}), read_file(from / (name + ".txt")));
  }
}

void TreeE2e::expect_clean_tree(const Path& worktree) {
  EXPECT_EQ(git(worktree, {"status", "--porcelain"}), "");
  const Path folder = lines_of(git(worktree, {"rev-parse", "--absolute-git-dir"})).front();
  EXPECT_FALSE(fs::exists(folder / "MERGE_HEAD"));
}

void TreeE2e::expect_nothing_left() {
  std::vector<pid_t> left;
  const bool none = eventually([&] {
    left = processes_with("TEND_HOME=" + home().string());
    return left.empty();
  });
  EXPECT_TRUE(none) << left.size() << " processes are left, one is " << (none ? 0 : left.front());
}

void TreeE2e::expect_nothing_to_recover() {
  const auto ran = tend({"recover"});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  std::string out = ran.out;
  // What a dispatch that was cut off has made is said, and left alone.
  while (cuts_dispatches_ && out.starts_with("worktree  ")) out.erase(0, out.find('\n') + 1);
  EXPECT_EQ(out, "nothing to recover\n") << ran.out << ran.err;
}

void TreeE2e::expect_good_end(const Names& names, const std::string& root) {
  if (!await_end(names)) return;
  expect_nothing_left();
  expect_clean_ledger(names);
  for (const std::string& name : names) EXPECT_EQ(text_in(says(name), "outcome"), "done") << name;
  expect_merged(names, worktree_of(root));
  expect_clean_tree(worktree_of(root));
  expect_nothing_to_recover();
}

}  // namespace tend::e2e
