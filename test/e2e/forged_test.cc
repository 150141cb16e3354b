// Files that are not what they seem: of another user, links, folders and fifos in their place,
// rubbish, names that lead out of the home, records that name somebody else's process. Whatever
// stands there: nobody else is signalled, nothing else is written, nothing crashes, and who asks is
// told in one line.
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "e2e.h"

namespace tend::e2e {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

constexpr uid_t kNobody = 65534;

class ForgedTest : public E2e {
 protected:
  [[nodiscard]] Path pids() const { return scratch() / "pids"; }
  /// What must never change: it stands outside of the home.
  [[nodiscard]] Path outside() const { return scratch() / "outside"; }

  void SetUp() override {
    E2e::SetUp();
    std::ofstream(outside()) << kOutside;
  }

  /// An agent that runs, and whose keeper is gone.
  Path abandoned(const std::string& name) {
    const Path folder = keep({"--name", name, "--worktree", "none"},
                             worker({"--pids", (scratch() / ("pids-" + name)).string()}));
    EXPECT_TRUE(eventually([&] { return text_in(heartbeat_of(folder), "status") == "running"; }));
    const auto keeper = static_cast<pid_t>(number_in(heartbeat_of(folder), "keeper_pid"));
    EXPECT_TRUE(kill(keeper));
    EXPECT_TRUE(eventually([&] { return !is_running(keeper); }));
    return folder;
  }
  pid_t agent_of(const std::string& name) { return pid_of(scratch() / ("pids-" + name), "main"); }

  /// A keeper that is put on either refuses in one line or keeps; it never dies of a signal.
  void expect_no_crash(const Path& folder, bool may_refuse = true) {
    Background keeper = start_tend({"keep", folder.string()});
    eventually([&] { return keeper.is_over() || takes_part(folder, keeper.pid()); }, seconds{3});
    if (keeper.is_over()) {
      const auto ran = keeper.wait();
      EXPECT_TRUE(may_refuse) << ran.err;
      EXPECT_GE(ran.exit, 0) << "it died of a signal: " << ran.err;
      EXPECT_LE(lines_of(ran.err).size(), 1U) << ran.err;
    } else {
      keeper.signal(SIGKILL);
      keeper.wait();
    }
    for (const Arguments& reader :
         {Arguments{"status"}, Arguments{"status", "--json"}, Arguments{"events"},
          Arguments{"explain", folder.string()}, Arguments{"logs", "-n", "3", folder.string()}}) {
      const auto read = tend(reader);
      EXPECT_FALSE(read.timed_out) << reader.front();
      EXPECT_GE(read.exit, 0) << reader.front() << ": " << read.err;
    }
    EXPECT_EQ(read_file(outside()), kOutside);
  }
  static bool takes_part(const Path& folder, pid_t keeper) {
    return number_in(heartbeat_of(folder), "keeper_pid") == keeper;
  }

  static constexpr const char* kOutside = "not yours\n";
};

using Forge = std::function<void(const Path& file, const Path& outside)>;
struct Forgery {
  std::string how;
  Forge forge;
};

const std::vector<std::string> kFiles{".heartbeat",    ".lock",         "agent.json",
                                      "signals.jsonl", "journal.jsonl", "intent.json",
                                      ".beat",         "stream.jsonl",  "stderr.log"};

std::vector<Forgery> forgeries() {
  const auto remove = [](const Path& file) { fs::remove_all(file); };
  return {
      {"a link",
       [=](const Path& file, const Path& outside) {
         remove(file);
         fs::create_symlink(outside, file);
       }},
      {"a link to nowhere",
       [=](const Path& file, const Path& outside) {
         remove(file);
         fs::create_symlink(outside.string() + "-new", file);
       }},
      {"another name of a file elsewhere",
       [=](const Path& file, const Path& outside) {
         remove(file);
         fs::create_hard_link(outside, file);
       }},
      {"a folder",
       [=](const Path& file, const Path&) {
         remove(file);
         fs::create_directory(file);
       }},
      {"a fifo",
       [=](const Path& file, const Path&) {
         remove(file);
         ::mkfifo(file.c_str(), 0600);
       }},
      {"empty", [=](const Path& file, const Path&) { std::ofstream(file, std::ios::trunc); }},
      {"bytes of no meaning",
       [=](const Path& file, const Path&) {
         std::ofstream(file, std::ios::trunc | std::ios::binary)
             << std::string("\0\xff\xfe{\"pid\":[[[\0\n\0\0", 18) << std::string(3000, '\0')
             << "\n";
       }},
      {"deep",
       [=](const Path& file, const Path&) {
         std::ofstream(file, std::ios::trunc) << std::string(100'000, '[') << "\n";
       }},
      {"one line of 64 MB",
       [=](const Path& file, const Path&) {
         std::ofstream out(file, std::ios::trunc | std::ios::binary);
         const std::string piece(1024 * 1024, 'x');
         for (int i = 0; i < 64; ++i) out << piece;
       }},
      {"of another user",
       [=](const Path& file, const Path&) {
         if (!fs::exists(file)) std::ofstream{file};
         std::ignore = ::chown(file.c_str(), kNobody, kNobody);
       }},
  };
}

class ForgedFileTest : public ForgedTest, public testing::WithParamInterface<std::string> {};

TEST_P(ForgedFileTest, whatever_stands_there_does_no_harm) {
  Background innocent = start({.arguments = {"sleep", "600"}});
  int number = 0;
  for (const Forgery& forgery : forgeries()) {
    SCOPED_TRACE(GetParam() + " is " + forgery.how);
    if (forgery.how == "of another user" && geteuid() != 0) continue;
    const std::string name = "a" + std::to_string(++number);
    const Path folder = abandoned(name);
    const pid_t agent = agent_of(name);
    forgery.forge(folder / GetParam(), outside());
    expect_no_crash(folder);
    EXPECT_TRUE(is_running(agent)) << "it was ended";
    EXPECT_FALSE(fs::exists(outside().string() + "-new")) << "written through a link";
    EXPECT_EQ(processes_with("TEND_INFRA=" + folder.string()), std::vector<pid_t>{agent});
    ASSERT_TRUE(kill(agent));
    fs::remove_all(folder);
  }
  EXPECT_FALSE(innocent.is_over());
}

INSTANTIATE_TEST_SUITE_P(OfAnAgent, ForgedFileTest, testing::ValuesIn(kFiles),
                         [](const auto& file) {
                           std::string name = file.param;
                           std::erase(name, '.');
                           return name;
                         });

TEST_F(ForgedTest, what_is_put_in_a_files_place_under_a_working_keeper_does_no_harm) {
  int number = 0;
  for (const std::string& file : kFiles) {
    SCOPED_TRACE(file);
    const std::string name = "a" + std::to_string(++number);
    const Path folder = keep({"--name", name, "--worktree", "none", "--beat", "100ms"},
                             worker({"--pids", (scratch() / ("pids-" + name)).string()}));
    const pid_t agent = agent_of(name);
    ASSERT_TRUE(eventually([&] { return text_in(heartbeat_of(folder), "status") == "running"; }));
    const auto keeper = static_cast<pid_t>(number_in(heartbeat_of(folder), "keeper_pid"));
    // In one step: its keeper may write it anew at any moment.
    fs::create_symlink(outside(), folder / "aside");
    fs::rename(folder / "aside", folder / file);
    std::this_thread::sleep_for(seconds{1});  // some beats and looks
    EXPECT_TRUE(is_running(agent));
    EXPECT_TRUE(file == ".lock" || is_running(keeper)) << read_file(folder / "keeper.log");
    EXPECT_EQ(read_file(outside()), kOutside);
    fs::remove(folder / file);
    kill(keeper);
    kill(agent);
  }
}

// Records that name somebody else.

TEST_F(ForgedTest, a_record_with_the_bare_number_of_a_stranger_ends_nobody) {
  Background innocent = start({.arguments = {"sleep", "600"}});
  std::this_thread::sleep_for(seconds{1});  // the kernel counts starts in hundredths of it
  const Path folder = abandoned("a");
  Json record = Json::parse(read_file(folder / ".lock"), nullptr, false);
  ASSERT_TRUE(record.is_object());
  record["pid"] = innocent.pid();
  std::string text = record.dump();
  text.resize(1023, ' ');
  std::ofstream(folder / ".lock", std::ios::trunc) << text << "\n";
  const auto stopped = tend({"stop", "--now", "a"});
  EXPECT_FALSE(stopped.timed_out);
  EXPECT_FALSE(innocent.is_over());
  EXPECT_EQ(state_letter(innocent.pid()), 'S');
}

TEST_F(ForgedTest, a_heartbeat_with_the_number_of_a_stranger_ends_nobody) {
  Background innocent = start({.arguments = {"sleep", "600"}});
  const Path folder = abandoned("a");
  const pid_t agent = agent_of("a");
  Json heartbeat = heartbeat_of(folder);
  heartbeat["pid"] = innocent.pid();
  heartbeat["keeper_pid"] = innocent.pid();
  std::ofstream(folder / ".heartbeat", std::ios::trunc) << heartbeat.dump() << "\n";
  const auto stopped = tend({"stop", "--now", "a"});
  EXPECT_EQ(stopped.exit, 0) << stopped.err;
  EXPECT_FALSE(is_running(agent)) << "the record in the lock is what counts";
  EXPECT_FALSE(innocent.is_over());
}

TEST_F(ForgedTest, a_copy_of_an_agents_folder_does_not_take_its_process_away) {
  const Path folder = keep({"--name", "a", "--worktree", "none"},
                           worker({"--pids", (scratch() / "pids-a").string()}));
  const pid_t agent = agent_of("a");
  ASSERT_TRUE(eventually([&] { return text_in(heartbeat_of(folder), "status") == "running"; }));
  const Path copy = folder.string() + "-copy";
  // The keeper writes new files and renames them, and none may vanish while they are copied.
  const auto keeper = static_cast<pid_t>(number_in(heartbeat_of(folder), "keeper_pid"));
  ASSERT_EQ(::kill(keeper, SIGSTOP), 0);
  ASSERT_TRUE(eventually([&] { return state_letter(keeper) == 'T'; }));
  fs::copy(folder, copy, fs::copy_options::recursive | fs::copy_options::skip_symlinks);
  ASSERT_EQ(::kill(keeper, SIGCONT), 0);
  const auto stopped = tend({"stop", "--now", copy.string()});
  EXPECT_FALSE(stopped.timed_out) << stopped.err;
  EXPECT_TRUE(is_running(agent)) << stopped.out << stopped.err;
  EXPECT_EQ(text_in(heartbeat_of(folder), "status"), "running");
  EXPECT_EQ(tend({"stop", folder.string()}).exit, 0);
  EXPECT_FALSE(is_running(agent));
}

TEST_F(ForgedTest, a_folder_of_another_user_is_refused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  const Path folder = abandoned("a");
  ASSERT_EQ(::chown(folder.c_str(), kNobody, kNobody), 0);
  const auto kept = tend({"keep", folder.string()});
  EXPECT_NE(kept.exit, 0);
  EXPECT_EQ(lines_of(kept.err).size(), 1U) << kept.err;
  EXPECT_TRUE(kept.err.contains("belongs to another user")) << kept.err;
  EXPECT_TRUE(is_running(agent_of("a")));
}

TEST_F(ForgedTest, a_folder_that_others_can_write_is_refused) {
  const Path folder = abandoned("a");
  ASSERT_EQ(::chmod(folder.c_str(), 0777), 0);
  const auto kept = tend({"keep", folder.string()});
  EXPECT_NE(kept.exit, 0);
  EXPECT_TRUE(kept.err.contains("chmod go-w")) << kept.err;
  EXPECT_TRUE(is_running(agent_of("a")));
}

// Names that lead out.

TEST_F(ForgedTest, names_in_an_agents_file_do_not_lead_out_of_the_home) {
  const Path tree = scratch() / "tree";
  fs::create_directory(tree);
  ASSERT_EQ(run({.arguments = {"git", "init", "-q", "-b", "main", tree.string()}}).exit, 0);
  std::ofstream(tree / "file") << "work\n";
  int number = 0;
  for (const std::string bad :
       {"../../heads/main", "../../../../../escaped", "/etc/passwd", "a/../../b", "-rf", ".."}) {
    SCOPED_TRACE(bad);
    const std::string name = "n" + std::to_string(++number);
    const Path folder = keep({"--name", name, "--worktree", tree.string()},
                             worker({"--pids", (scratch() / ("pids-" + name)).string()}));
    const pid_t agent = agent_of(name);
    ASSERT_TRUE(eventually([&] { return text_in(heartbeat_of(folder), "status") == "running"; }));
    const auto keeper = static_cast<pid_t>(number_in(heartbeat_of(folder), "keeper_pid"));
    ASSERT_TRUE(kill(keeper));
    ASSERT_TRUE(eventually([&] { return !is_running(keeper); }));
    Json file = Json::parse(read_file(folder / "agent.json"), nullptr, false);
    ASSERT_TRUE(file.is_object());
    file["agent"] = bad;
    file["session"] = bad;
    file["role"] = bad;
    std::ofstream(folder / "agent.json", std::ios::trunc) << file.dump() << "\n";
    const auto stopped = tend({"stop", "--now", folder.string()});
    EXPECT_FALSE(stopped.timed_out);
    EXPECT_GE(stopped.exit, 0) << stopped.err;
    if (is_running(agent)) kill(agent);
    fs::remove_all(folder);
  }
  const auto refs = run({.arguments = {"git", "-C", tree.string(), "for-each-ref"}});
  for (const std::string& line : lines_of(refs.out)) {
    EXPECT_TRUE(line.contains("\trefs/tend/")) << line;
  }
  EXPECT_FALSE(fs::exists(home().parent_path() / "escaped"));
  for (const auto& entry : fs::directory_iterator(home())) {
    const std::string found = entry.path().filename();
    EXPECT_TRUE(found == "sessions" || found.ends_with("names") || found.contains("events"))
        << found;
  }
}

TEST_F(ForgedTest, a_home_that_others_can_write_is_refused) {
  fs::create_directory(home());
  ASSERT_EQ(::chmod(home().c_str(), 0777), 0);
  const auto ran = tend(Arguments{"run", "--"} + worker({"--pids", pids().string()}));
  EXPECT_EQ(ran.exit, 2);
  EXPECT_EQ(lines_of(ran.err).size(), 1U) << ran.err;
  EXPECT_EQ(read_file(pids()), "");
}

TEST_F(ForgedTest, a_home_that_is_a_link_of_another_user_is_refused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make a link of another user";
  fs::create_directory(scratch() / "theirs");
  fs::create_symlink(scratch() / "theirs", home());
  ASSERT_EQ(::lchown(home().c_str(), kNobody, kNobody), 0);
  const auto ran = tend(Arguments{"run", "--"} + worker({"--pids", pids().string()}));
  EXPECT_NE(ran.exit, 0);
  EXPECT_EQ(lines_of(ran.err).size(), 1U) << ran.err;
  EXPECT_EQ(read_file(pids()), "");
  EXPECT_TRUE(fs::is_empty(scratch() / "theirs"));
}

}  // namespace
}  // namespace tend::e2e
