// Whom an agent dispatched: lines from everybody, a file that is read while it is written.
#include "store/children.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "os/linux/linux_folder.h"
#include "os/linux/temporary_folder.h"
#include "os/sim/sim_universe.h"
#include "store/heartbeat.h"

namespace tend {
namespace {

constexpr const char* kPath = "/home/user/lead/.children";

std::string heartbeat_of(const std::string& name) {
  return "/home/user/lead/coding/" + name + "/.heartbeat";
}

ChildLine child(const std::string& name, ChildStatus status = ChildStatus::active) {
  return {.heartbeat = heartbeat_of(name),
          .team = "coding",
          .task_id = "toolu_01",
          .status = status,
          .agent = name,
          .at = 1773002269.25,
          .note = "asked for by the lead"};
}

std::vector<ChildLine> many(std::size_t count, const std::string& note) {
  std::vector<ChildLine> children;
  for (std::size_t i = 0; i < count; ++i) {
    children.push_back(child("k" + std::to_string(i)));
    children.back().note = note;
  }
  return children;
}

ChildLine parsed(const std::string& line) {
  const auto child = parse_child_line(line);
  EXPECT_TRUE(child.has_value()) << line;
  return child.value_or(ChildLine{});
}

bool is_refused(const std::string& heartbeat) {
  return !parse_child_line(R"({"heartbeat":")" + heartbeat + R"("})").has_value();
}

TEST(ChildLine, has_the_fields_that_others_read_first_and_then_ours) {
  EXPECT_EQ(format_child_line(child("k2")),
            R"({"heartbeat":"/home/user/lead/coding/k2/.heartbeat","team":"coding",)"
            R"("task_id":"toolu_01","status":"active","agent":"k2","at":1773002269.25,)"
            R"("note":"asked for by the lead"})");
}

TEST(ChildLine, comes_back_as_it_was_in_every_status) {
  for (std::size_t i = 0; i < kChildStatusWords.size(); ++i) {
    const ChildLine line = child("k2", static_cast<ChildStatus>(i));
    EXPECT_EQ(parsed(format_child_line(line)), line);
  }
  EXPECT_EQ(parsed(format_child_line({.heartbeat = "/a/.heartbeat"})),
            ChildLine{.heartbeat = "/a/.heartbeat"});
}

TEST(ChildLine, says_that_an_end_was_not_told_only_as_long_as_it_was_not) {
  ChildLine line = child("k2", ChildStatus::done);
  EXPECT_TRUE(is_closed(line));
  line.untold = true;
  EXPECT_FALSE(is_closed(line));
  EXPECT_TRUE(format_child_line(line).ends_with(R"(,"untold":true})"));
  EXPECT_EQ(parsed(format_child_line(line)), line);
}

TEST(ChildLine, of_another_system_is_enough) {
  EXPECT_EQ(parsed(R"({"heartbeat":"/s/art/1/.heartbeat","team":"art","task_id":null,)"
                   R"("status":"active"})"),
            (ChildLine{
                .heartbeat = "/s/art/1/.heartbeat", .team = "art", .status = ChildStatus::active}));
}

TEST(ChildLine, says_null_where_no_task_asked_for_it) {
  ChildLine line = child("k2");
  line.task_id.clear();
  EXPECT_NE(format_child_line(line).find(R"("task_id":null)"), std::string::npos);
}

TEST(ChildLine, whose_status_is_no_word_of_ours_is_looked_at) {
  for (const char* status : {R"("running")", "5", "null", R"("")", "[]"}) {
    const std::string line = R"({"heartbeat":"/a/.heartbeat","status":)" + std::string(status);
    EXPECT_EQ(parsed(line + "}").status, ChildStatus::active) << status;
  }
}

TEST(ChildLine, needs_a_path_that_leads_to_a_heartbeat_and_nowhere_else) {
  for (const char* path : {"", "a/.heartbeat", "/a/heartbeat", "/a/.heartbeat/", "/.heartbeat",
                           "/a/../b/.heartbeat", "/../.heartbeat", "/a\\u0000/.heartbeat",
                           "/a\\n/.heartbeat", "/a\\u001b[2J/.heartbeat", "/a\\u009b/.heartbeat"}) {
    EXPECT_TRUE(is_refused(path)) << path;
  }
  EXPECT_FALSE(is_refused("/a..b/k\xc3\xa4se/.heartbeat"));
  EXPECT_FALSE(is_refused("/" + std::string(2000, 'x') + "/.heartbeat"));
  EXPECT_TRUE(is_refused("/" + std::string(3000, 'x') + "/.heartbeat"));
  EXPECT_FALSE(parse_child_line(R"({"heartbeat":["/a/.heartbeat"]})").has_value());
  EXPECT_FALSE(parse_child_line("").has_value());
  EXPECT_FALSE(parse_child_line(R"({"heartbeat":"/a/.heartbeat")").has_value());
}

TEST(ChildLine, takes_hostile_values_for_missing) {
  const ChildLine line = parsed(R"({"heartbeat":"/a/.heartbeat","team":5,"task_id":"a\nb",)"
                                R"("agent":"a\u0000b","at":-1,"note":{"x":1}})");
  EXPECT_EQ(line, (ChildLine{.heartbeat = "/a/.heartbeat", .status = ChildStatus::active}));
}

TEST(ChildLine, stays_under_4_kb_whatever_is_in_it) {
  for (const char c : {'x', '\n', '"', '\xff', '\x01', '\\'}) {
    ChildLine line = child("k2");
    line.heartbeat = "/" + std::string(2000, 'p') + "/.heartbeat";
    line.team = line.task_id = line.agent = line.note = std::string(100'000, c);
    const std::string text = format_child_line(line);
    EXPECT_LT(text.size(), 4095U);
    EXPECT_EQ(parsed(text).heartbeat, line.heartbeat);
  }
}

TEST(FolderOfHeartbeat, is_the_folder_or_nothing) {
  EXPECT_EQ(folder_of_heartbeat("/a/b/.heartbeat"), "/a/b");
  EXPECT_EQ(folder_of_heartbeat("/a/b/agent.json"), "");
  EXPECT_EQ(folder_of_heartbeat("b/.heartbeat"), "");
  EXPECT_EQ(folder_of_heartbeat(std::string("/a\0b/.heartbeat", 15)), "");
}

class ChildrenFile : public testing::Test {
 protected:
  ChildrenFile() : folder(universe.machine().folders.make("/home/user/lead").value()) {}

  void append(const ChildLine& line) {
    const auto done = append_child(*folder, line);
    EXPECT_TRUE(done.has_value()) << (done ? "" : done.error().text);
  }
  ChildrenRead read() {
    auto children = read_children(*folder);
    EXPECT_TRUE(children.has_value()) << (children ? "" : children.error().text);
    return children.value_or(ChildrenRead{});
  }
  std::string text() { return universe.disk.read(kPath).value_or(""); }

  SimUniverse universe;
  std::unique_ptr<Folder> folder;
};

TEST_F(ChildrenFile, is_empty_before_the_first_child) {
  EXPECT_TRUE(read().children.empty());
  EXPECT_EQ(read().lines, 0U);
}

TEST_F(ChildrenFile, holds_for_each_child_what_was_said_last_in_the_order_of_their_dispatch) {
  append(child("a", ChildStatus::requested));
  append(child("b", ChildStatus::requested));
  append(child("a", ChildStatus::active));
  append(child("c", ChildStatus::requested));
  append(child("a", ChildStatus::done));
  const ChildrenRead all = read();
  EXPECT_EQ(all.children,
            (std::vector{child("a", ChildStatus::done), child("b", ChildStatus::requested),
                         child("c", ChildStatus::requested)}));
  EXPECT_EQ(all.lines, 5U);
  EXPECT_EQ(all.refused, 0U);
}

TEST_F(ChildrenFile, goes_on_behind_lines_that_nobody_understands) {
  universe.disk.write(kPath, "what\n\n[]\n{\"heartbeat\":\"x\"}\n" + std::string(9, '\0') + "\n" +
                                 format_child_line(child("a")) + "\n");
  const ChildrenRead all = read();
  EXPECT_EQ(all.children, std::vector{child("a")});
  EXPECT_EQ(all.lines, 5U);
  EXPECT_EQ(all.refused, 4U);
}

TEST_F(ChildrenFile, skips_a_torn_line_wherever_it_was_torn) {
  const std::string whole = format_child_line(child("a")) + "\n";
  const std::string torn = format_child_line(child("b"));
  for (std::size_t size = 0; size < torn.size(); ++size) {
    universe.disk.write(kPath, whole + torn.substr(0, size));
    EXPECT_EQ(read().children, std::vector{child("a")}) << size;
    EXPECT_EQ(read().refused, size == 0 ? 0U : 1U) << size;
  }
}

TEST_F(ChildrenFile, takes_a_last_line_that_lacks_nothing_but_its_newline) {
  universe.disk.write(kPath, format_child_line(child("a")));
  EXPECT_EQ(read().children, std::vector{child("a")});
  EXPECT_EQ(read().refused, 0U);
}

TEST_F(ChildrenFile, ends_a_torn_line_so_that_the_next_is_not_lost_with_it) {
  universe.disk.write(kPath, R"({"heartbeat":"/a)");
  append(child("b"));
  EXPECT_EQ(text(), "{\"heartbeat\":\"/a\n" + format_child_line(child("b")) + "\n");
  EXPECT_EQ(read().children, std::vector{child("b")});
  EXPECT_EQ(read().refused, 1U);
}

TEST_F(ChildrenFile, refuses_to_register_whom_nobody_could_find_again) {
  for (const std::string& path :
       {std::string("coding/.heartbeat"), std::string("/a\xff/.heartbeat"),
        "/" + std::string(4000, 'x') + "/.heartbeat"}) {
    const auto done = append_child(*folder, {.heartbeat = path});
    ASSERT_FALSE(done.has_value());
    EXPECT_NE(done.error().text.find("cannot be registered"), std::string::npos);
    EXPECT_FALSE(compact_children(*folder, std::vector{ChildLine{.heartbeat = path}}).has_value());
  }
  EXPECT_EQ(text(), "");
}

TEST_F(ChildrenFile, survives_a_power_cut) {
  append(child("a"));
  universe.disk.cut_power();
  EXPECT_EQ(read().children, std::vector{child("a")});
  append(child("b"));
  ASSERT_TRUE(compact_children(*folder, std::vector{child("b")}).has_value());
  universe.disk.cut_power();
  EXPECT_EQ(read().children, std::vector{child("b")});
}

TEST_F(ChildrenFile, says_when_it_cannot_be_written_or_read) {
  append(child("a"));
  universe.disk.broken = "Input/output error";
  EXPECT_FALSE(append_child(*folder, child("b")).has_value());
  EXPECT_FALSE(compact_children(*folder, {}).has_value());
  EXPECT_EQ(read().children, std::vector{child("a")});
  universe.disk.broken.clear();
  universe.disk.write(kPath, std::string(std::size_t{17} * 1024 * 1024, '\n'));
  EXPECT_EQ(read_children(*folder).error().text,
            "/home/user/lead/.children is larger than 16777216 bytes");
}

TEST_F(ChildrenFile, shows_one_that_was_asked_for_and_has_no_heartbeat) {
  append(child("a", ChildStatus::requested));
  append(child("b"));
  universe.disk.write(heartbeat_of("b"), format_heartbeat({.agent = "b"}));
  const auto has_heartbeat = [&](const ChildLine& line) {
    const auto its = universe.machine().folders.open(folder_of_heartbeat(line.heartbeat));
    return its && read_heartbeat(**its).value().has_value();
  };
  const auto all = read().children;
  ASSERT_EQ(all.size(), 2U);
  EXPECT_FALSE(has_heartbeat(all[0]));
  EXPECT_FALSE(is_settled(all[0].status));
  EXPECT_TRUE(has_heartbeat(all[1]));
}

TEST_F(ChildrenFile, is_compacted_to_what_was_said_last) {
  for (int i = 0; i < 10; ++i) append(child("a"));
  append(child("b", ChildStatus::done));
  ASSERT_TRUE(compact_children(*folder, read().children).has_value());
  EXPECT_EQ(text(), format_child_line(child("a")) + "\n" +
                        format_child_line(child("b", ChildStatus::done)) + "\n");
  append(child("c"));
  EXPECT_EQ(read().children.size(), 3U);
}

TEST_F(ChildrenFile, is_read_whole_by_who_opened_it_before_it_was_compacted) {
  for (const ChildLine& each : many(100, "old")) append(each);
  const std::string before = text();
  const auto open = folder->open(std::string(kChildrenFile), Folder::Open::read).value();
  std::string seen(before.size(), '\0');
  ASSERT_EQ(open->read_at(0, std::span(seen).first(50)).value(), 50U);
  ASSERT_TRUE(compact_children(*folder, many(100, "new")).has_value());
  ASSERT_EQ(open->read_at(50, std::span(seen).subspan(50)).value(), before.size() - 50);
  EXPECT_EQ(seen, before);
}

TEST_F(ChildrenFile, is_the_old_or_the_new_one_wherever_a_compaction_is_killed) {
  const auto before = many(20, "old");
  const auto after = many(20, "new");
  for (std::uint64_t call = 1; call < 8; ++call) {
    ASSERT_TRUE(compact_children(*folder, before).has_value());
    const auto pid = universe.start_process("compacting");
    const auto its = universe.machine_of(pid).folders.open("/home/user/lead").value();
    universe.kill_at_call(pid, call);
    try {
      std::ignore = compact_children(*its, after);
      universe.kill(pid);
    } catch (const SimKilled&) {
    }
    const auto seen = read().children;
    EXPECT_TRUE(seen == before || seen == after) << call;
  }
}

TEST_F(ChildrenFile, has_a_lock_that_one_at_a_time_holds) {
  auto first = lock_registry(*folder).value();
  EXPECT_NE(first, nullptr);
  EXPECT_EQ(lock_registry(*folder).value(), nullptr);
  first.reset();
  EXPECT_NE(lock_registry(*folder).value(), nullptr);
}

TEST_F(ChildrenFile, finds_each_child_among_very_many) {
  std::string all;
  for (const ChildLine& each : many(10'000, "")) all += format_child_line(each) + "\n";
  for (const ChildLine& each : many(10'000, "")) {
    all += R"({"heartbeat":")" + each.heartbeat + "\"}\n";
  }
  universe.disk.write(kPath, all);
  const ChildrenRead everybody = read();
  EXPECT_EQ(everybody.lines, 20'000U);
  ASSERT_EQ(everybody.children.size(), 10'000U);
  EXPECT_EQ(everybody.children.back().heartbeat, heartbeat_of("k9999"));
  EXPECT_EQ(everybody.children.back().agent, "");
}

TEST(ChildrenOnDisk, are_seen_whole_by_readers_while_they_are_compacted) {
  const TemporaryFolder place;
  LinuxFolders folders;
  const auto before = many(300, "old");
  const auto after = many(200, "new");
  ASSERT_TRUE(compact_children(*folders.make(place / "lead").value(), before).has_value());
  std::atomic<bool> stop = false;
  std::thread keeper([&] {
    const auto its = folders.open(place / "lead").value();
    for (int i = 0; i < 40; ++i) {
      EXPECT_TRUE(compact_children(*its, i % 2 == 0 ? after : before).has_value());
    }
    stop = true;
  });
  const auto ours = folders.open(place / "lead").value();
  do {
    const auto read = read_children(*ours);
    ASSERT_TRUE(read.has_value()) << read.error().text;
    EXPECT_EQ(read->refused, 0U);
    EXPECT_TRUE(read->children == before || read->children == after);
  } while (!stop);
  keeper.join();
}

}  // namespace
}  // namespace tend
