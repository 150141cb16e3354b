// The contracts of os/, asserted on both machines: what holds on the real one holds on the
// simulated one, so that a keeper proven there works here.
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "os/machine_contract_testing.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

template <class Which>
class FolderContract : public Contract<Which> {};
TYPED_TEST_SUITE(FolderContract, Machines, MachineNames);

TYPED_TEST(FolderContract, has_nothing_at_first) {
  Folder& home = *this->home_;
  EXPECT_EQ(home.read("none", 10).value(), std::nullopt);
  EXPECT_EQ(home.facts("none").value(), std::nullopt);
  EXPECT_EQ(home.folder("none").value(), nullptr);
  EXPECT_FALSE(home.open("none", Folder::Open::read));
  EXPECT_FALSE(home.rename("none", "other"));
  EXPECT_TRUE(home.remove("none")) << "gone is gone";
  EXPECT_TRUE(home.folders(10).value().empty());
}

TYPED_TEST(FolderContract, replaces_a_file_by_another_one) {
  Folder& home = *this->home_;
  ASSERT_TRUE(home.replace("a", "first", Folder::Sync::no));
  const auto before = home.facts("a").value().value();
  ASSERT_TRUE(home.replace("a", "second one", Folder::Sync::yes, WallTime{1000s + 5ns}));
  const auto after = home.facts("a").value().value();
  EXPECT_EQ(home.read("a", 100).value(), "second one");
  EXPECT_NE(before.file, after.file);
  EXPECT_EQ(after.size, 10U);
  EXPECT_EQ(after.modified, WallTime{1000s + 5ns});
}

TYPED_TEST(FolderContract, makes_a_whole_file_where_there_is_none_and_leaves_one_that_is) {
  Folder& home = *this->home_;
  EXPECT_EQ(home.make_file("a", "first", Folder::Sync::yes).value(), true);
  EXPECT_EQ(home.make_file("a", "second", Folder::Sync::yes).value(), false);
  EXPECT_EQ(home.read("a", 100).value(), "first");
  EXPECT_EQ(home.file_names(10).value(), std::vector<std::string>{"a"}) << "nothing is left aside";
  EXPECT_FALSE(home.make_file("a/b", "", Folder::Sync::no));
  EXPECT_TRUE(home.open("a", Folder::Open::update)) << "it has no other name";
}

TYPED_TEST(FolderContract, reads_a_file_as_large_as_asked_and_no_larger) {
  ASSERT_TRUE(this->home_->replace("a", "12345", Folder::Sync::no));
  EXPECT_EQ(this->home_->read("a", 5).value(), "12345");
  const auto refused = this->home_->read("a", 4);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text, this->path("a") + " is larger than 4 bytes");
}

TYPED_TEST(FolderContract, appends_at_the_end_whoever_else_does) {
  Folder& home = *this->home_;
  auto one = home.open("lines", Folder::Open::append).value();
  auto other = home.open("lines", Folder::Open::append).value();
  ASSERT_TRUE(one->append("1\n") && other->append("2\n") && one->append("3\n"));
  EXPECT_EQ(this->text("lines"), "1\n2\n3\n");
  std::vector<char> piece(3);
  EXPECT_EQ(one->read_at(2, piece).value(), 3U);
  EXPECT_EQ(std::string(piece.begin(), piece.end()), "2\n3");
  EXPECT_EQ(one->read_at(6, piece).value(), 0U);
}

TYPED_TEST(FolderContract, overwrites_in_place_and_keeps_what_is_behind) {
  auto file = this->home_->open("record", Folder::Open::update).value();
  ASSERT_TRUE(file->overwrite("123456"));
  ASSERT_TRUE(file->overwrite("abc"));
  EXPECT_EQ(this->text("record"), "abc456");
  ASSERT_TRUE(file->cut(2));
  ASSERT_TRUE(file->cut(100)) << "it never grows by that";
  EXPECT_EQ(this->text("record"), "ab");
}

TYPED_TEST(FolderContract, makes_a_file_exclusively_once) {
  auto first = this->home_->open("only", Folder::Open::exclusive);
  ASSERT_TRUE(first);
  EXPECT_TRUE((*first)->append("mine"));
  EXPECT_FALSE(this->home_->open("only", Folder::Open::exclusive));
  EXPECT_EQ(this->text("only"), "mine");
}

TYPED_TEST(FolderContract, writes_nothing_to_a_file_opened_to_be_read) {
  ASSERT_TRUE(this->home_->replace("a", "1", Folder::Sync::no));
  auto file = this->home_->open("a", Folder::Open::read).value();
  EXPECT_FALSE(file->append("2"));
  EXPECT_FALSE(file->overwrite("2"));
  EXPECT_EQ(this->text("a"), "1");
}

TYPED_TEST(FolderContract, keeps_an_open_file_when_another_takes_its_name) {
  Folder& home = *this->home_;
  ASSERT_TRUE(home.replace("a", "old", Folder::Sync::no));
  auto held = home.open("a", Folder::Open::read).value();
  ASSERT_TRUE(home.replace("a", "newer", Folder::Sync::no));
  EXPECT_EQ(held->facts().value().size, 3U);
  EXPECT_NE(held->facts().value().file, home.facts("a").value()->file);
  ASSERT_TRUE(home.rename("a", "b"));
  EXPECT_EQ(home.facts("a").value(), std::nullopt);
  EXPECT_EQ(this->text("b"), "newer");
  ASSERT_TRUE(home.remove("b"));
  EXPECT_EQ(held->facts().value().size, 3U);
}

TYPED_TEST(FolderContract, touches_a_file_without_writing_it) {
  auto file = this->home_->open("beat", Folder::Open::update).value();
  ASSERT_TRUE(file->touch(WallTime{77s}));
  EXPECT_EQ(file->facts().value().modified, WallTime{77s});
  ASSERT_TRUE(file->touch());
  EXPECT_GT(file->facts().value().modified, this->machine_.clock.wall() - 1h);
}

TYPED_TEST(FolderContract, gives_back_the_front_of_a_file) {
  constexpr std::uint64_t kBlocks = 64 * 1024;
  auto file = this->home_->open("stream", Folder::Open::append).value();
  ASSERT_TRUE(file->append(std::string(kBlocks, 'a') + std::string(100, 'b')));
  EXPECT_EQ(file->data_from(10).value(), 10U);
  if (!file->punch(kBlocks)) GTEST_SKIP() << "this file system cannot";
  EXPECT_EQ(file->facts().value().size, kBlocks + 100);
  EXPECT_EQ(file->data_from(0).value(), kBlocks);
  EXPECT_EQ(file->data_from(kBlocks + 7).value(), kBlocks + 7);
  EXPECT_EQ(file->data_from(kBlocks + 100).value(), kBlocks + 100) << "the size if there is none";
  std::vector<char> piece(1);
  ASSERT_EQ(file->read_at(5, piece).value(), 1U);
  EXPECT_EQ(piece.at(0), '\0');
  ASSERT_EQ(file->read_at(kBlocks, piece).value(), 1U);
  EXPECT_EQ(piece.at(0), 'b');
}

TYPED_TEST(FolderContract, locks_a_file_for_one_opening_of_it) {
  Folder& home = *this->home_;
  auto one = home.open("lock", Folder::Open::update).value();
  auto other = home.open("lock", Folder::Open::update).value();
  EXPECT_EQ(one->is_locked().value(), false);
  EXPECT_EQ(one->lock().value(), true);
  EXPECT_EQ(one->lock().value(), true) << "it has it already";
  EXPECT_EQ(one->is_locked().value(), false) << "nobody else";
  EXPECT_EQ(other->is_locked().value(), true);
  EXPECT_EQ(other->lock().value(), false);
  one.reset();
  EXPECT_EQ(other->lock().value(), true);
}

TYPED_TEST(FolderContract, makes_and_lists_folders_in_it) {
  Folder& home = *this->home_;
  ASSERT_TRUE(home.make_folder("b"));
  auto made = home.make_new_folder("a").value();
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(made->path(), this->path("a"));
  EXPECT_EQ(home.make_new_folder("a").value(), nullptr) << "taken";
  ASSERT_TRUE(made->replace("inner", "1", Folder::Sync::no));
  EXPECT_EQ(home.make_folder("a").value()->read("inner", 10).value(), "1");
  EXPECT_EQ(home.folder("a").value()->read("inner", 10).value(), "1");
  ASSERT_TRUE(home.replace("file", "", Folder::Sync::no));
  EXPECT_EQ(home.folders(10).value(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(home.folders(1).value(), (std::vector<std::string>{"a"}));
  ASSERT_TRUE(home.replace("another", "", Folder::Sync::no));
  EXPECT_EQ(home.file_names(10).value(), (std::vector<std::string>{"another", "file"}));
  EXPECT_EQ(home.file_names(1).value(), (std::vector<std::string>{"another"}));
}

TYPED_TEST(FolderContract, refuses_names_that_are_paths) {
  for (const std::string name : {"", ".", "..", "a/b", "/etc"}) {
    EXPECT_FALSE(this->home_->read(name, 10)) << name;
    EXPECT_FALSE(this->home_->open(name, Folder::Open::append)) << name;
    EXPECT_FALSE(this->home_->replace(name, "x", Folder::Sync::no)) << name;
    EXPECT_FALSE(this->home_->make_folder(name)) << name;
    EXPECT_FALSE(this->home_->rename(name, "x")) << name;
    EXPECT_FALSE(this->home_->rename("x", name)) << name;
  }
}

TYPED_TEST(FolderContract, refuses_what_is_no_plain_file) {
  Folder& home = *this->home_;
  ASSERT_TRUE(home.replace("target", "secret", Folder::Sync::no));
  this->which_.make_link(this->path("link"), this->path("target"));
  ASSERT_TRUE(home.make_folder("folder"));
  for (const std::string name : {"link", "folder"}) {
    EXPECT_FALSE(home.read(name, 100)) << name;
    EXPECT_FALSE(home.open(name, Folder::Open::append)) << name;
    EXPECT_FALSE(home.facts(name)) << name;
  }
  EXPECT_FALSE(home.folder("link"));
  EXPECT_FALSE(home.folder("target"));
  EXPECT_FALSE(home.remove("folder"));
  ASSERT_TRUE(home.replace("link", "plain", Folder::Sync::no)) << "the link itself goes";
  EXPECT_EQ(this->text("link"), "plain");
  EXPECT_EQ(this->text("target"), "secret");
}

TYPED_TEST(FolderContract, finds_the_newest_file_below_a_folder_by_its_name) {
  Folders& folders = this->machine_.folders;
  const auto put = [&](const std::string& folder, const std::string& name, WallTime modified) {
    const auto made = folders.make(this->path(folder));
    ASSERT_TRUE(made);
    ASSERT_TRUE((*made)->replace(name, "text", Folder::Sync::no, modified));
  };
  put("logs", "one-x.jsonl", WallTime{1000s});
  put("logs/a/b", "two-x.jsonl", WallTime{3000s});
  put("logs/a/b/c", "three-x.jsonl", WallTime{4000s});
  put("logs/a", "other.jsonl", WallTime{5000s});
  const std::string logs = this->path("logs");
  EXPECT_EQ(folders.newest_below(logs, "-x", 2), WallTime{3000s});
  EXPECT_EQ(folders.newest_below(logs, "-x", 0), WallTime{1000s});
  EXPECT_EQ(folders.newest_below(logs, "", 9), WallTime{5000s});
  EXPECT_EQ(folders.newest_below(logs + "/a/other.jsonl", "-x", 0), WallTime{5000s});
  EXPECT_EQ(folders.newest_below(logs, "-y", 9), std::nullopt);
  EXPECT_EQ(folders.newest_below(this->path("none"), "", 9), std::nullopt);
}

TYPED_TEST(FolderContract, opens_only_paths_that_nobody_else_can_replace) {
  Folders& folders = this->machine_.folders;
  ASSERT_TRUE(folders.make(this->path("a/b/c")));
  EXPECT_EQ(folders.open(this->path("a/b/c")).value()->path(), this->path("a/b/c"));
  EXPECT_EQ(folders.open(this->path("a//b/../b/c/")).value()->path(), this->path("a/b/c"));
  EXPECT_FALSE(folders.open(this->path("none")));
  EXPECT_FALSE(folders.open("relative"));
  this->which_.make_link(this->path("way"), this->path("a/b"));
  EXPECT_EQ(folders.open(this->path("way/c")).value()->path(), this->path("a/b/c"));
  EXPECT_FALSE(folders.open(this->path("way"))) << "the folder itself must be none";
  EXPECT_EQ(folders.real_path(this->path("way/c")).value(), this->path("a/b/c"));
  EXPECT_FALSE(folders.real_path(this->path("none")));
  EXPECT_FALSE(folders.real_path("")) << "no path is not the working folder";
  this->which_.make_shared(this->path("a/b"));
  EXPECT_FALSE(folders.open(this->path("a/b")));
  EXPECT_FALSE(folders.open(this->path("a/b/c")));
}

template <class Which>
class LoopContract : public Contract<Which> {};
TYPED_TEST_SUITE(LoopContract, Machines, MachineNames);

TYPED_TEST(LoopContract, fires_timers_in_their_order_and_once) {
  Machine& machine = this->machine_;
  const Instant now = machine.clock.now();
  std::string order;
  const auto c = machine.loop.at(now + 30ms, [&] { order += 'c'; });
  const auto a = machine.loop.at(now - 1h, [&] { order += 'a'; });
  const auto b = machine.loop.at(now + 10ms, [&] {
    order += 'b';
    EXPECT_GE(machine.clock.now(), now + 10ms);
  });
  const auto end = machine.loop.at(now + 60ms, [&] { machine.loop.stop(); });
  machine.loop.run();
  EXPECT_EQ(order, "abc");
}

TYPED_TEST(LoopContract, forgets_a_timer_that_was_taken_back) {
  Machine& machine = this->machine_;
  const Instant now = machine.clock.now();
  int fired = 0;
  auto late = machine.loop.at(now + 20ms, [&] { ++fired; });
  const auto early = machine.loop.at(now + 5ms, [&] { late.reset(); });
  const auto end = machine.loop.at(now + 50ms, [&] { machine.loop.stop(); });
  machine.loop.run();
  EXPECT_EQ(fired, 0);
}

TYPED_TEST(LoopContract, lets_a_callback_end_its_own_subscription_and_make_others) {
  Machine& machine = this->machine_;
  std::string held = "what a callback holds stays while it runs";
  std::string seen;
  Subscribed timer;
  timer = machine.loop.at(machine.clock.now(), [&, held] {
    timer = machine.loop.at(machine.clock.now(), [&] { machine.loop.stop(); });
    seen = held;
  });
  machine.loop.run();
  EXPECT_EQ(seen, held);
}

TYPED_TEST(LoopContract, hears_an_order_that_was_subscribed) {
  Machine& machine = this->machine_;
  int heard = 0;
  const auto order = machine.loop.on(Order::look, [&] { ++heard; });
  ASSERT_TRUE(machine.processes.open(machine.processes.self())->signal(Kill::look));
  EXPECT_TRUE(this->run_until([&] { return heard == 1; }));
  ASSERT_TRUE(machine.processes.open(machine.processes.self())->signal(Kill::look));
  EXPECT_TRUE(this->run_until([&] { return heard == 2; })) << "every time";
}

TYPED_TEST(LoopContract, hints_at_changes_in_a_folder) {
  int heard = 0;
  auto hint = this->machine_.loop.on_change(this->home_->path(), [&] { ++heard; });
  if (hint == nullptr) GTEST_SKIP() << "this system has no hint to give";
  ASSERT_TRUE(this->home_->replace("a", "1", Folder::Sync::no));
  EXPECT_TRUE(this->run_until([&] { return heard > 0; }));
  auto file = this->home_->open("a", Folder::Open::append).value();
  heard = 0;
  ASSERT_TRUE(file->append("2"));
  EXPECT_TRUE(this->run_until([&] { return heard > 0; }));
  EXPECT_EQ(this->machine_.loop.on_change(this->path("none"), [] {}), nullptr);
}

TYPED_TEST(LoopContract, does_not_hint_at_a_touch) {
  auto file = this->home_->open("beat", Folder::Open::update).value();
  int heard = 0;
  auto hint = this->machine_.loop.on_change(this->home_->path(), [&] { ++heard; });
  if (hint == nullptr) GTEST_SKIP() << "this system has no hint to give";
  ASSERT_TRUE(file->touch());
  ASSERT_TRUE(file->touch(WallTime{77s}));
  int looks = 0;
  EXPECT_TRUE(this->run_until([&] { return ++looks > 10; }));
  EXPECT_EQ(heard, 0);
}

template <class Which>
class ProcessContract : public Contract<Which> {};
TYPED_TEST_SUITE(ProcessContract, Machines, MachineNames);

TYPED_TEST(ProcessContract, knows_itself) {
  Processes& processes = this->machine_.processes;
  const ProcessId self = processes.self();
  EXPECT_EQ(processes.identify(self.pid).value(), self);
  EXPECT_EQ(processes.open(self)->look().state, RunState::running);
  EXPECT_GT(processes.started(self), 0);
}

TYPED_TEST(ProcessContract, runs_a_program_to_its_end) {
  const auto process = this->start(this->which_.prints_and_exits());
  int ends = 0;
  const auto exit = process->on_exit([&] { ++ends; });
  EXPECT_TRUE(this->run_until([&] { return ends == 1; }));
  EXPECT_EQ(process->look().state, RunState::gone);
  EXPECT_EQ(process->look().exit, (ExitStatus{ExitStatus::How::code, 3}));
  EXPECT_EQ(this->text("out"), "printed\n");
  EXPECT_EQ(this->text("err"), "complained\n");
  EXPECT_FALSE(process->signal(Kill::terminate));
  const auto late = process->on_exit([&] { ++ends; });
  EXPECT_TRUE(this->run_until([&] { return ends == 2; })) << "soon if it is over already";
}

TYPED_TEST(ProcessContract, holds_a_child_at_its_gate) {
  auto child = this->machine_.processes.spawn(this->launch_of(this->which_.prints_and_exits()));
  ASSERT_TRUE(child);
  const ProcessId id = (*child)->id();
  EXPECT_EQ(this->machine_.processes.open(id)->look().state, RunState::running);
  EXPECT_EQ(this->machine_.processes.identify(id.pid).value(), id);
  child->reset();
  const auto process = this->machine_.processes.open(id);
  EXPECT_TRUE(this->run_until([&] { return process->look().state == RunState::gone; }));
  EXPECT_EQ(this->text("out"), "") << "it ran nothing";
}

TYPED_TEST(ProcessContract, says_why_a_program_cannot_run) {
  auto missing = this->machine_.processes.spawn(this->launch_of({"no-such-program"}));
  ASSERT_TRUE(missing);
  const auto none = (*missing)->release();
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().exit_code, 127);
  EXPECT_EQ(none.error().text, "cannot run 'no-such-program': not found in PATH");
  Launch nowhere = this->launch_of(this->which_.sleeps());
  nowhere.working_folder = this->path("none");
  auto lost = this->machine_.processes.spawn(nowhere);
  ASSERT_TRUE(lost);
  const auto failed = (*lost)->release();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().exit_code, 126);
}

TYPED_TEST(ProcessContract, ends_a_process_by_a_signal) {
  for (const auto& [kill, number] : {std::pair{Kill::interrupt, 2}, {Kill::terminate, 15}}) {
    const auto process = this->start(this->which_.sleeps());
    ASSERT_TRUE(process->signal(kill));
    EXPECT_TRUE(this->run_until([&] { return process->look().state == RunState::gone; }));
    EXPECT_EQ(process->look().exit, (ExitStatus{ExitStatus::How::signal, number}));
  }
}

TYPED_TEST(ProcessContract, kills_what_ignores_a_request) {
  const auto process = this->start(this->which_.ignores_terminate());
  ASSERT_TRUE(this->run_until([&] { return this->text("out") == "ready\n"; }));
  ASSERT_TRUE(process->signal(Kill::terminate));
  EXPECT_EQ(process->look().state, RunState::running);
  this->end(*process);
  EXPECT_EQ(process->look().exit, (ExitStatus{ExitStatus::How::signal, 9}));
}

TYPED_TEST(ProcessContract, stops_a_process_and_lets_it_go_on) {
  const auto process = this->start(this->which_.sleeps());
  ASSERT_TRUE(process->signal(Kill::stop));
  EXPECT_TRUE(this->run_until([&] { return process->look().state == RunState::stopped; }));
  ASSERT_TRUE(process->signal(Kill::cont));
  EXPECT_TRUE(this->run_until([&] { return process->look().state == RunState::running; }));
}

TYPED_TEST(ProcessContract, tells_who_has_gone_and_whose_pid_is_anothers) {
  const auto process = this->start(this->which_.sleeps());
  ProcessId other = process->id();
  ++other.start_ticks;
  const auto reused = this->machine_.processes.open(other);
  EXPECT_EQ(reused->look().state, RunState::reused);
  EXPECT_FALSE(reused->signal(Kill::kill));
  EXPECT_EQ(process->look().state, RunState::running);
  ProcessId before = process->id();
  before.boot_id = "another";
  EXPECT_EQ(this->machine_.processes.open(before)->look().state, RunState::gone);
  ProcessId elsewhere = process->id();
  elsewhere.pid_ns = 1;
  EXPECT_EQ(this->machine_.processes.open(elsewhere)->look().state, RunState::unknown);
  this->end(*process);
  EXPECT_EQ(this->machine_.processes.open(process->id())->look().state, RunState::gone);
}

TYPED_TEST(ProcessContract, knows_the_environment_that_a_process_was_started_with) {
  Processes& processes = this->machine_.processes;
  const auto process = this->start(this->which_.sleeps());
  EXPECT_EQ(processes.environment_of(process->id()),
            this->launch_of(this->which_.sleeps()).environment);
  ProcessId other = process->id();
  ++other.start_ticks;
  EXPECT_EQ(processes.environment_of(other), std::nullopt) << "its pid came to mean another";
  this->end(*process);
  EXPECT_EQ(processes.environment_of(process->id()), std::nullopt);
}

TYPED_TEST(ProcessContract, sees_marks_and_adopts_orphans) {
  const auto process = this->start(this->which_.leaves_an_orphan());
  EXPECT_TRUE(this->run_until([&] { return process->look().state == RunState::gone; }));
  const auto left = this->marked();
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left.at(0).parent, this->machine_.processes.self().pid);
  EXPECT_FALSE(this->machine_.processes.childless(""));
  const auto orphan = this->machine_.processes.open(left.at(0).id);
  this->end(*orphan);
  EXPECT_TRUE(this->run_until([&] { return this->machine_.processes.childless(""); }));
}

template <class Which>
class FilesContract : public Contract<Which> {};
TYPED_TEST_SUITE(FilesContract, Machines, MachineNames);

TYPED_TEST(FilesContract, has_nothing_at_first) {
  Files& files = this->machine_.files;
  EXPECT_EQ(files.read(this->path("none"), 10).value(), std::nullopt);
  EXPECT_EQ(files.read(this->path("none/at/all"), 10).value(), std::nullopt);
  EXPECT_EQ(files.modified(this->path("none")).value(), std::nullopt);
  EXPECT_FALSE(files.open(this->path("none")));
  EXPECT_TRUE(files.remove(this->path("none"))) << "gone is gone";
}

TYPED_TEST(FilesContract, puts_a_new_file_in_the_place_of_the_old_one) {
  Files& files = this->machine_.files;
  const std::string path = this->path("deep/er/store.json");
  ASSERT_TRUE(files.replace(path, "first")) << "missing folders are made";
  ASSERT_TRUE(files.replace(path, "second one"));
  EXPECT_EQ(files.read(path, 10).value(), "second one");
  const auto refused = files.read(path, 9);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text, path + " is larger than 9 bytes");
  auto source = files.open(path).value();
  std::vector<char> piece(100);
  EXPECT_EQ(source->read(piece).value(), 10U);
  EXPECT_EQ(source->read(piece).value(), 0U);
  EXPECT_TRUE(files.modified(path).value().has_value());
  ASSERT_TRUE(files.remove(path));
  EXPECT_EQ(files.read(path, 10).value(), std::nullopt);
}

TYPED_TEST(FilesContract, makes_a_file_only_where_none_is) {
  Files& files = this->machine_.files;
  EXPECT_TRUE(files.make_new(this->path("lock"), "mine").value());
  EXPECT_FALSE(files.make_new(this->path("lock"), "other").value());
  EXPECT_EQ(this->text("lock"), "mine");
  EXPECT_FALSE(files.make_new(this->path("no/folder"), "")) << "folders are not made";
}

TYPED_TEST(FilesContract, follows_links_and_leaves_them) {
  Files& files = this->machine_.files;
  ASSERT_TRUE(files.replace(this->path("real"), "old"));
  this->which_.make_link(this->path("link"), this->path("real"));
  EXPECT_EQ(files.read(this->path("link"), 10).value(), "old");
  ASSERT_TRUE(files.replace(this->path("link"), "new"));
  EXPECT_EQ(this->text("real"), "new");
  EXPECT_FALSE(this->home_->read("link", 10)) << "it is a link still";
  this->which_.make_link(this->path("dangling"), this->path("nothing"));
  EXPECT_EQ(files.read(this->path("dangling"), 10).value(), std::nullopt);
  EXPECT_FALSE(files.replace(this->path("dangling"), "x"));
}

TYPED_TEST(FilesContract, adds_lines_and_puts_a_full_file_aside) {
  Files& files = this->machine_.files;
  const std::string path = this->path("logs/service.log");
  ASSERT_TRUE(files.append_line(path, "first", 12)) << "missing folders are made";
  ASSERT_TRUE(files.append_line(path, "other", 12)) << "as many as are allowed";
  EXPECT_EQ(files.read(path, 100).value(), "first\nother\n");
  EXPECT_EQ(files.read(path + ".1", 100).value(), std::nullopt);
  ASSERT_TRUE(files.append_line(path, "3", 12));
  EXPECT_EQ(files.read(path, 100).value(), "3\n");
  EXPECT_EQ(files.read(path + ".1", 100).value(), "first\nother\n");
  ASSERT_TRUE(files.append_line(path, "longer than that", 12));
  EXPECT_EQ(files.read(path + ".1", 100).value(), "3\n") << "one old file";
}

TYPED_TEST(FilesContract, adds_lines_to_what_a_link_leads_to) {
  Files& files = this->machine_.files;
  ASSERT_TRUE(files.replace(this->path("real"), "old\n"));
  this->which_.make_link(this->path("link"), this->path("real"));
  ASSERT_TRUE(files.append_line(this->path("link"), "new", 100));
  EXPECT_EQ(this->text("real"), "old\nnew\n");
  ASSERT_TRUE(this->home_->make_folder("folder"));
  EXPECT_FALSE(files.append_line(this->path("folder"), "x", 100));
}

template <class Which>
class SocketsContract : public Contract<Which> {};
TYPED_TEST_SUITE(SocketsContract, Machines, MachineNames);

TYPED_TEST(SocketsContract, sends_a_message_to_whoever_receives) {
  Sockets& sockets = this->machine_.sockets;
  const std::string path = this->path("notify");
  EXPECT_FALSE(sockets.send(path, "READY=1")) << "nobody is there";
  std::vector<Datagram> heard;
  auto receiver =
      sockets.receive(path, [&](const Datagram& datagram) { heard.push_back(datagram); });
  ASSERT_TRUE(receiver);
  ASSERT_TRUE(sockets.send(path, "READY=1\nSTATUS=beating"));
  ASSERT_TRUE(this->run_until([&] { return !heard.empty(); }));
  EXPECT_EQ(heard.at(0).text, "READY=1\nSTATUS=beating");
  EXPECT_EQ(heard.at(0).pid, this->machine_.processes.self().pid);
  EXPECT_TRUE(heard.at(0).same_user);
  receiver->reset();
  const auto alone = sockets.send(path, "STOPPING=1");
  ASSERT_FALSE(alone);
  EXPECT_NE(alone.error().text.find(path), std::string::npos);
  EXPECT_FALSE(sockets.send(std::string(200, 'x'), "READY=1"));
}

TYPED_TEST(FilesContract, takes_nothing_but_plain_files) {
  Files& files = this->machine_.files;
  ASSERT_TRUE(this->home_->make_folder("folder"));
  EXPECT_FALSE(files.read(this->path("folder"), 10));
  EXPECT_FALSE(files.modified(this->path("folder")));
  EXPECT_FALSE(files.replace(this->path("folder"), "x"));
}

}  // namespace
}  // namespace tend
