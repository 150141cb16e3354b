// The client library against folders as keepers make them, and as forgers would.
#include "client/tend.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "client/tend.hpp"

namespace {

namespace fs = std::filesystem;

struct Closer {
  void operator()(tend_client* client) const { tend_close(client); }
};
using Client = std::unique_ptr<tend_client, Closer>;

std::string why() { return tend_why(nullptr); }

class TendClient : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "tend_client_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    root = pattern;
    folder = root / "agent";
    make_agent(folder);
  }
  void TearDown() override {
    for (const char* name : {"TEND_INFRA", "TEND_LIFE", "TEND_AGENT"}) ::unsetenv(name);
    fs::remove_all(root);
  }

  static void make_agent(const fs::path& at) {
    fs::create_directories(at);
    fs::permissions(at, fs::perms::owner_all);
    write(at / ".beat", "");
    write_life(at, 2);
    write(at / ".heartbeat", R"({"pid":1,"status":"running","life":2,"agent":"coder-x7"})");
  }
  static void write(const fs::path& path, const std::string& text) {
    std::ofstream(path) << text;
    fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  }
  /// As a keeper writes it: fields around it, nested ones too, padded to its size.
  static void write_life(const fs::path& at, unsigned life) {
    std::string record = R"({"keeper":{"pid":7,"life":99},"text":"\"life\":98,{[","life":)" +
                         std::to_string(life) + R"(,"group":""})";
    record.resize(1023, ' ');
    write(at / ".lock", record + "\n");
  }
  static std::string read(const fs::path& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void make_old(const fs::path& path) {
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(1));
  }
  static bool is_fresh(const fs::path& path) {
    return fs::last_write_time(path) > fs::file_time_type::clock::now() - std::chrono::minutes(30);
  }
  Client open(unsigned life = 2) const { return Client(tend_open_at(folder.c_str(), life)); }

  fs::path root;
  fs::path folder;
};

TEST_F(TendClient, finds_its_keeper_by_the_environment) {
  ::setenv("TEND_INFRA", folder.c_str(), 1);
  ::setenv("TEND_LIFE", "2", 1);
  ::setenv("TEND_AGENT", "coder\n-x7", 1);
  const Client client(tend_open());
  ASSERT_NE(client, nullptr) << why();
  EXPECT_STREQ(tend_agent(client.get()), "coder?-x7");
  EXPECT_EQ(tend_life(client.get()), 2U);
  EXPECT_EQ(why(), "");
}

TEST_F(TendClient, says_that_it_is_outside_an_agent) {
  EXPECT_EQ(tend_open(), nullptr);
  EXPECT_EQ(errno, ESRCH);
  EXPECT_EQ(why(),
            "not inside a kept agent: TEND_INFRA is not set (start the program with `tend run -- "
            "CMD`)");
}

TEST_F(TendClient, refuses_an_environment_that_makes_no_sense) {
  ::setenv("TEND_INFRA", folder.c_str(), 1);
  for (const char* life : {"", "0", "-1", "2x", " 2", "4294967296", "99999999999999999999999"}) {
    ::setenv("TEND_LIFE", life, 1);
    EXPECT_EQ(tend_open(), nullptr) << life;
    EXPECT_EQ(errno, EINVAL) << life;
  }
  ::setenv("TEND_LIFE", "2", 1);
  ::setenv("TEND_INFRA", "relative/folder", 1);
  EXPECT_EQ(tend_open(), nullptr);
  EXPECT_EQ(why(), "the folder 'relative/folder' is no absolute path");
}

TEST_F(TendClient, learns_the_name_from_the_heartbeat_or_the_path) {
  EXPECT_STREQ(tend_agent(open().get()), "coder-x7");
  fs::remove(folder / ".heartbeat");
  EXPECT_STREQ(tend_agent(open().get()), "agent");
}

TEST_F(TendClient, refuses_a_folder_that_is_not_its_own) {
  const fs::path link = root / "link";
  fs::create_directory_symlink(folder, link);
  EXPECT_EQ(tend_open_at(link.c_str(), 1), nullptr);
  EXPECT_EQ(why(), link.string() + " is no folder, or a link to one");
  EXPECT_EQ(tend_open_at((link.string() + "/").c_str(), 1), nullptr) << "a slash hides a link";

  fs::permissions(folder, fs::perms::others_write, fs::perm_options::add);
  EXPECT_EQ(tend_open_at(folder.c_str(), 1), nullptr);
  EXPECT_EQ(errno, EPERM);
  EXPECT_NE(why().find("may be written by others"), std::string::npos) << why();

  EXPECT_EQ(tend_open_at((root / "none").c_str(), 1), nullptr);
  EXPECT_EQ(errno, ENOENT);
}

TEST_F(TendClient, refuses_what_belongs_to_another_user) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  ASSERT_EQ(::chown((folder / ".beat").c_str(), 12345, 12345), 0);
  const Client client = open();
  EXPECT_EQ(tend_beat(client.get()), -1);
  EXPECT_EQ(why(), ".beat belongs to another user (uid 12345)");
  ASSERT_EQ(::chown(folder.c_str(), 12345, 12345), 0);
  EXPECT_EQ(tend_open_at(folder.c_str(), 1), nullptr);
  EXPECT_EQ(errno, EPERM);
}

TEST_F(TendClient, beats_by_the_time_of_the_file) {
  const Client client = open();
  for (int i = 0; i < 3; ++i) {
    make_old(folder / ".beat");
    ASSERT_EQ(tend_beat(client.get()), 0) << why();
    EXPECT_TRUE(is_fresh(folder / ".beat"));
  }
  EXPECT_EQ(read(folder / ".beat"), "");
}

TEST_F(TendClient, notices_within_seconds_that_the_file_was_replaced_or_removed) {
  const Client client = open();
  ASSERT_EQ(tend_beat(client.get()), 0);
  write(root / "other", "");
  make_old(root / "other");
  fs::rename(root / "other", folder / ".beat");
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!is_fresh(folder / ".beat") && std::chrono::steady_clock::now() < deadline) {
    ASSERT_EQ(tend_beat(client.get()), 0);
  }
  EXPECT_TRUE(is_fresh(folder / ".beat"));

  fs::remove(folder / ".beat");
  int last = 0;
  while (last == 0 && std::chrono::steady_clock::now() < deadline) last = tend_beat(client.get());
  EXPECT_EQ(last, -1);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(why(), "cannot open .beat: No such file or directory");
}

TEST_F(TendClient, refuses_a_beat_file_that_is_a_link_or_a_fifo) {
  fs::remove(folder / ".beat");
  write(root / "target", "");
  make_old(root / "target");
  fs::create_symlink(root / "target", folder / ".beat");
  EXPECT_EQ(tend_beat(open().get()), -1);
  EXPECT_EQ(why(), ".beat is a link, and links are not followed");
  EXPECT_FALSE(is_fresh(root / "target"));

  fs::remove(folder / ".beat");
  ASSERT_EQ(::mkfifo((folder / ".beat").c_str(), 0600), 0);
  EXPECT_EQ(tend_beat(open().get()), -1);
  EXPECT_EQ(why(), ".beat is no plain file");
}

TEST_F(TendClient, says_its_state_in_one_line) {
  const Client client = open();
  ASSERT_EQ(tend_state(client.get(), TEND_WORKING, 0), 0) << why();
  ASSERT_EQ(tend_state(client.get(), TEND_STUCK, 0), 0);
  EXPECT_EQ(read(folder / "signals.jsonl"),
            "{\"is\":\"state\",\"state\":\"working\",\"life\":2}\n"
            "{\"is\":\"state\",\"state\":\"stuck\",\"life\":2}\n");
  struct stat facts{};
  ASSERT_EQ(::stat((folder / "signals.jsonl").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0600U);
}

TEST_F(TendClient, says_until_when_on_the_clock_of_the_machine) {
  timespec before{};
  ::clock_gettime(CLOCK_BOOTTIME, &before);
  ASSERT_EQ(tend_state(open().get(), TEND_IDLE, 900), 0);
  timespec after{};
  ::clock_gettime(CLOCK_BOOTTIME, &after);
  const std::string line = read(folder / "signals.jsonl");
  const std::string begin = R"({"is":"state","state":"idle","until":)";
  ASSERT_EQ(line.substr(0, begin.size()), begin);
  std::size_t digits = 0;
  const double until = std::stod(line.substr(begin.size()), &digits);
  EXPECT_GE(until, static_cast<double>(before.tv_sec) + 900);
  EXPECT_LE(until, static_cast<double>(after.tv_sec) + 901);
  EXPECT_EQ(line.substr(begin.size() + digits), ",\"life\":2}\n");
}

TEST_F(TendClient, refuses_times_that_do_not_exist) {
  const Client client = open();
  EXPECT_EQ(tend_state(client.get(), TEND_IDLE, -1), -1);
  EXPECT_EQ(tend_state(client.get(), TEND_IDLE, TEND_LONGEST_UNTIL + 1), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(tend_state(client.get(), TEND_IDLE, TEND_LONGEST_UNTIL), 0);
}

TEST_F(TendClient, says_any_signal_with_its_life) {
  const Client client = open();
  ASSERT_EQ(tend_signal(client.get(), R"({"is":"tool-open","id":"a","tool":"Bash"})"), 0);
  std::string long_one = R"({"is":"ask","id":"")";
  long_one.insert(long_one.size() - 1, TEND_LONGEST_SIGNAL - long_one.size() - 1, 'x');
  ASSERT_EQ(tend_signal(client.get(), (long_one + "}").c_str()), 0) << why();
  EXPECT_EQ(read(folder / "signals.jsonl"), R"({"is":"tool-open","id":"a","tool":"Bash","life":2})"
                                            "\n" +
                                                long_one + ",\"life\":2}\n");
}

TEST_F(TendClient, refuses_a_signal_that_is_no_object_on_one_line) {
  const Client client = open();
  const std::string too_long = R"({"is":")" + std::string(TEND_LONGEST_SIGNAL, 'x') + R"("})";
  for (const std::string& bad :
       {std::string(), std::string("{}"), std::string("[1]"), std::string(R"({"is":"ack"})") + "\n",
        std::string("{\"is\":\n\"ack\"}"), std::string(R"({"id":"x"})"),
        std::string(R"({"is":"ack"} })").substr(0, 11), too_long}) {
    EXPECT_EQ(tend_signal(client.get(), bad.c_str()), -1) << bad;
    EXPECT_EQ(errno, EINVAL) << bad;
  }
  EXPECT_FALSE(fs::exists(folder / "signals.jsonl"));
}

TEST_F(TendClient, acknowledges_one_question_or_all) {
  const Client client = open();
  ASSERT_EQ(tend_ack(client.get(), nullptr), 0);
  ASSERT_EQ(tend_ack(client.get(), R"(p"1\)"), 0);
  ASSERT_EQ(tend_ack(client.get(), std::string(TEND_LONGEST_ID, '"').c_str()), 0);
  std::istringstream lines(read(folder / "signals.jsonl"));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, R"({"is":"ack","life":2})");
  std::getline(lines, line);
  EXPECT_EQ(line, R"({"is":"ack","id":"p\"1\\","life":2})");
  std::getline(lines, line);
  EXPECT_EQ(line.size(),
            std::string(R"({"is":"ack","id":"","life":2})").size() + 2 * TEND_LONGEST_ID);
}

TEST_F(TendClient, refuses_ids_that_would_spoil_the_line) {
  const Client client = open();
  const std::string too_long(TEND_LONGEST_ID + 1, 'a');
  for (const char* id : {"", "a\nb", "\x7f", "\xff", "\xc3\xa4", too_long.c_str()}) {
    EXPECT_EQ(tend_ack(client.get(), id), -1) << id;
    EXPECT_EQ(errno, EINVAL);
  }
  EXPECT_FALSE(fs::exists(folder / "signals.jsonl"));
}

TEST_F(TendClient, begins_a_line_of_its_own_behind_a_torn_one) {
  write(folder / "signals.jsonl", "{\"is\":\"sta");
  ASSERT_EQ(tend_ack(open().get(), nullptr), 0);
  EXPECT_EQ(read(folder / "signals.jsonl"), "{\"is\":\"sta\n{\"is\":\"ack\",\"life\":2}\n");
}

TEST_F(TendClient, stops_at_a_file_that_nobody_reads) {
  write(folder / "signals.jsonl", "");
  fs::resize_file(folder / "signals.jsonl", std::uintmax_t{64} * 1024 * 1024 + 1);
  EXPECT_EQ(tend_ack(open().get(), nullptr), -1);
  EXPECT_EQ(errno, ENOSPC);
  EXPECT_EQ(why(), "signals.jsonl is full (64 MB): this life has said too much");
}

TEST_F(TendClient, writes_to_no_link) {
  write(root / "target", "");
  fs::create_symlink(root / "target", folder / "signals.jsonl");
  EXPECT_EQ(tend_ack(open().get(), nullptr), -1);
  EXPECT_EQ(errno, ELOOP);
  EXPECT_EQ(read(root / "target"), "");
}

TEST_F(TendClient, makes_nothing_in_a_folder_without_a_keeper) {
  fs::remove(folder / ".lock");
  EXPECT_EQ(tend_ack(open().get(), nullptr), -1);
  EXPECT_EQ(tend_beat(open().get()), -1);
  EXPECT_EQ(why(), "cannot open .lock: No such file or directory");
  EXPECT_FALSE(fs::exists(folder / "signals.jsonl"));
}

TEST_F(TendClient, knows_whether_its_life_runs) {
  EXPECT_EQ(tend_check_life(open(2).get()), 1);
  EXPECT_EQ(tend_check_life(open(1).get()), 0);
  EXPECT_EQ(errno, ESTALE);
  EXPECT_EQ(why(), "life 1 of coder-x7 is over; life 2 runs now");
  EXPECT_EQ(tend_check_life(open(3).get()), 0);
  EXPECT_EQ(why(), "life 3 of coder-x7 has not begun");
  fs::remove(folder / ".lock");
  EXPECT_EQ(tend_check_life(open(2).get()), -1);
}

TEST_F(TendClient, is_over_when_its_work_has_ended) {
  write(folder / ".heartbeat", R"({"status":"withdrawn", "life" : 2 ,"agent":"coder-x7"})");
  const Client client = open();
  EXPECT_EQ(tend_beat(client.get()), -1);
  EXPECT_EQ(errno, ESTALE);
  EXPECT_EQ(why(), "coder-x7 has ended: its status is withdrawn");
  write(folder / ".heartbeat", R"({"status":"completed","life":1,"agent":"coder-x7"})");
  EXPECT_EQ(tend_beat(client.get()), 0) << "that was the life before";
}

TEST_F(TendClient, is_silent_once_another_life_runs) {
  const Client client = open();
  ASSERT_EQ(tend_beat(client.get()), 0);
  write_life(folder, 3);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  int last = 0;
  while (last == 0 && std::chrono::steady_clock::now() < deadline) last = tend_beat(client.get());
  EXPECT_EQ(last, -1);
  EXPECT_EQ(errno, ESTALE);
  EXPECT_EQ(tend_state(client.get(), TEND_IDLE, 0), -1);
  EXPECT_EQ(errno, ESTALE);
  make_old(folder / ".beat");
  EXPECT_EQ(tend_beat(client.get()), -1);
  EXPECT_FALSE(is_fresh(folder / ".beat"));
}

TEST_F(TendClient, beats_on_when_the_record_cannot_be_understood) {
  for (const char* record :
       {"", "   ", "{", "{\"life\":", "{\"life\":\"2\"}", "{\"life\":-1}", "{\"life\":2", "[2]",
        "{\"a\":[}]}", "{\"life\":2.5}", "{\"\\", "{\"life\":99999999999999999999999999}"}) {
    write(folder / ".lock", record);
    const Client client = open();
    EXPECT_EQ(tend_check_life(client.get()), -1) << record;
    EXPECT_EQ(errno, EBADMSG) << record;
    EXPECT_EQ(tend_beat(client.get()), 0) << record;
  }
}

// --- The parent
// -----------------------------------------------------------------------------------

std::string line_of(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

class TendClientParent : public TendClient {
 protected:
  static std::uint64_t start_ticks(pid_t pid) {
    std::string text = line_of("/proc/" + std::to_string(pid) + "/stat");
    std::istringstream fields(text.substr(text.rfind(')') + 2));
    std::string field;
    for (int i = 0; i < 20; ++i) fields >> field;
    return std::stoull(field);
  }
  static std::uint64_t pid_ns() {
    struct stat facts{};
    ::stat("/proc/self/ns/pid", &facts);
    return facts.st_ino;
  }
  static std::string boot_id() { return line_of("/proc/sys/kernel/random/boot_id"); }

  std::string heartbeat_of(pid_t pid, std::uint64_t ticks, std::uint64_t space,
                           const std::string& boot) const {
    return "{\"pid\":" + std::to_string(pid) +
           ",\"because\":[\"a\",{\"pid\":1}],\"start_ticks\":" + std::to_string(ticks) +
           ",\"pid_ns\":" + std::to_string(space) + ",\"boot_id\":\"" + boot +
           "\",\"status\":\"running\"}";
  }
  int ask(const std::string& parent_says) const {
    const fs::path parent = root / "parent.heartbeat";
    write(parent, parent_says);
    write(folder / ".heartbeat", "{\"parent_heartbeat\":\"" + parent.string() + "\"}");
    return tend_parent(open().get());
  }
};

TEST_F(TendClientParent, is_unknown_where_there_is_none) {
  EXPECT_EQ(tend_parent(open().get()), -1);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(why(), "coder-x7 has no parent");
  write(folder / ".heartbeat", R"({"parent_heartbeat":"/nowhere/.heartbeat"})");
  EXPECT_EQ(tend_parent(open().get()), -1);
  EXPECT_EQ(errno, ENODATA);
}

TEST_F(TendClientParent, lives_while_its_process_does) {
  const pid_t self = ::getpid();
  EXPECT_EQ(ask(heartbeat_of(self, start_ticks(self), pid_ns(), boot_id())), 1) << why();
}

TEST_F(TendClientParent, is_dead_when_its_number_means_another_process_or_another_boot) {
  const pid_t self = ::getpid();
  EXPECT_EQ(ask(heartbeat_of(self, start_ticks(self) + 1, pid_ns(), boot_id())), 0);
  EXPECT_EQ(ask(heartbeat_of(self, start_ticks(self), pid_ns(), "another")), 0);
}

TEST_F(TendClientParent, is_dead_as_a_zombie_and_after_it) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(0);
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  const std::string heartbeat = heartbeat_of(child, start_ticks(child), pid_ns(), boot_id());
  EXPECT_EQ(ask(heartbeat), 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_EQ(ask(heartbeat), 0);
}

TEST_F(TendClientParent, is_unknown_in_another_namespace_or_without_proof) {
  const pid_t self = ::getpid();
  EXPECT_EQ(ask(heartbeat_of(self, start_ticks(self), pid_ns() + 1, boot_id())), -1);
  EXPECT_EQ(errno, EXDEV);
  EXPECT_EQ(ask("{\"pid\":" + std::to_string(self) + "}"), -1);
  EXPECT_EQ(ask("{\"pid\":0}"), -1);
  EXPECT_EQ(ask("nonsense"), -1);
  EXPECT_EQ(ask(heartbeat_of(self, 0, 0, "")), -1) << "as written by one that did not know";
  EXPECT_EQ(ask(heartbeat_of(self, start_ticks(self), 0, "")), 1) << why();
  write(folder / ".heartbeat", R"({"parent_heartbeat":"/a\"b"})");
  EXPECT_EQ(tend_parent(open().get()), -1);
  EXPECT_EQ(errno, EBADMSG);
}

// --- Threads and C++
// ------------------------------------------------------------------------------

TEST_F(TendClient, serves_many_threads_with_one_client) {
  const Client client = open();
  constexpr int kThreads = 8;
  constexpr int kEach = 200;
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kEach; ++i) {
        failures += tend_beat(client.get()) != 0 ? 1 : 0;
        failures += tend_ack(client.get(), "p1") != 0 ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  std::istringstream lines(read(folder / "signals.jsonl"));
  std::string line;
  int count = 0;
  while (std::getline(lines, line)) {
    EXPECT_EQ(line, R"({"is":"ack","id":"p1","life":2})");
    ++count;
  }
  EXPECT_EQ(count, kThreads * kEach);
}

TEST_F(TendClient, keeps_the_words_of_threads_apart) {
  EXPECT_EQ(tend_open_at("a", 1), nullptr);
  std::thread([] { EXPECT_EQ(tend_open_at("b", 1), nullptr); }).join();
  EXPECT_EQ(why(), "the folder 'a' is no absolute path");
}

TEST_F(TendClient, leaves_no_descriptor_open) {
  const auto count = [] {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  };
  const auto before = count();
  for (int i = 0; i < 10; ++i) {
    const Client client = open();
    tend_beat(client.get());
    tend_ack(client.get(), nullptr);
    tend_parent(client.get());
    EXPECT_EQ(tend_open_at((folder / ".beat").c_str(), 1), nullptr);
  }
  EXPECT_EQ(count(), before);
}

TEST_F(TendClient, closes_itself_in_cpp) {
  auto client = tend::Client::open_at(folder.string(), 2);
  ASSERT_TRUE(client) << tend::Client::why();
  EXPECT_TRUE(client.beat());
  EXPECT_TRUE(client.state(tend::State::idle, 60));
  EXPECT_TRUE(client.ack("p1"));
  EXPECT_EQ(client.life_is_current(), tend::Answer::yes);
  EXPECT_EQ(client.parent_lives(), tend::Answer::unknown);
  EXPECT_EQ(client.agent(), "coder-x7");
  EXPECT_EQ(client.life(), 2U);
  EXPECT_FALSE(client.has_sinks());
  auto moved = std::move(client);
  EXPECT_TRUE(moved.beat());
  EXPECT_FALSE(tend::Client::open());
}

}  // namespace
