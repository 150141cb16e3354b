// Messages: numbered, each told once, bounded, and read up to a mark.
#include "store/inbox.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "os/sim/sim_universe.h"

namespace tend {
namespace {

constexpr const char* kPath = "/home/user/a/inbox.jsonl";
constexpr const char* kMark = "/home/user/a/.inbox-read";

InboxMessage message(std::string text) {
  return {.at = 1773002269.25, .kind = "child-done", .from = "coder", .text = std::move(text)};
}

std::string line(std::uint64_t id, const std::string& text) {
  return fmt::format(
      R"({{"id":{},"at":1773002269.25,"kind":"child-done","from":"coder","text":"{}"}})", id, text);
}

class Inboxes : public testing::Test {
 protected:
  Inboxes() : folder(universe.machine().folders.make("/home/user/a").value()) {}

  std::uint64_t append(const InboxMessage& message) {
    const auto id = append_message(*folder, message);
    EXPECT_TRUE(id.has_value()) << (id ? "" : id.error().text);
    return id.value_or(0);
  }
  Inbox read() {
    auto inbox = read_inbox(*folder);
    EXPECT_TRUE(inbox.has_value()) << (inbox ? "" : inbox.error().text);
    return inbox.value_or(Inbox{});
  }
  std::string text() { return universe.disk.read(kPath).value_or(""); }
  /// As many short messages as are said, from the first id.
  void fill(std::uint64_t count) {
    std::string all;
    for (std::uint64_t id = 1; id <= count; ++id) all += line(id, fmt::format("m{}", id)) + "\n";
    universe.disk.write(kPath, all);
  }

  SimUniverse universe;
  std::unique_ptr<Folder> folder;
};

TEST_F(Inboxes, are_empty_before_the_first_message) {
  EXPECT_TRUE(read().messages.empty());
  EXPECT_EQ(read().unread(), 0U);
}

TEST_F(Inboxes, number_their_messages_from_one) {
  EXPECT_EQ(append(message("one")), 1U);
  EXPECT_EQ(append(message("two")), 2U);
  EXPECT_EQ(text(), line(1, "one") + "\n" + line(2, "two") + "\n");
  const Inbox inbox = read();
  ASSERT_EQ(inbox.messages.size(), 2U);
  EXPECT_EQ(inbox.messages[1].id, 2U);
  EXPECT_EQ(inbox.messages[1].at, 1773002269.25);
  EXPECT_EQ(inbox.messages[1].kind, "child-done");
  EXPECT_EQ(inbox.messages[1].from, "coder");
  EXPECT_EQ(inbox.messages[1].text, "two");
}

TEST_F(Inboxes, tell_the_same_thing_once) {
  append(message("one"));
  append(message("two"));
  InboxMessage again = message("one");
  again.at += 100;
  EXPECT_EQ(append(again), 1U);
  EXPECT_EQ(read().messages.size(), 2U);
  again.from = "tester";
  EXPECT_EQ(append(again), 3U);
  for (const char c : {'\n', '"', '\xff', '\x7f'}) {
    const InboxMessage odd = message(std::string(5000, c) + "end");
    const std::uint64_t id = append(odd);
    EXPECT_EQ(append(odd), id);
  }
}

TEST_F(Inboxes, know_what_was_read_and_never_move_back) {
  for (const char* each : {"one", "two", "three"}) append(message(each));
  EXPECT_EQ(read().unread(), 3U);
  ASSERT_TRUE(mark_read(*folder, 2).has_value());
  EXPECT_EQ(read().read_to, 2U);
  EXPECT_EQ(read().unread(), 1U);
  ASSERT_TRUE(mark_read(*folder, 1).has_value());
  EXPECT_EQ(read().read_to, 2U);
  EXPECT_EQ(mark_read(*folder, 18'446'744'073'709'551'615U).error().text,
            "there is no message 18446744073709551615");
}

TEST_F(Inboxes, that_were_lost_do_not_begin_with_messages_that_look_read) {
  append(message("one"));
  append(message("two"));
  ASSERT_TRUE(mark_read(*folder, 2).has_value());
  universe.disk.remove(kPath);
  EXPECT_EQ(append(message("one")), 3U);
  EXPECT_EQ(read().unread(), 1U);
}

TEST_F(Inboxes, survive_a_power_cut) {
  append(message("one"));
  universe.disk.cut_power();
  EXPECT_EQ(read().messages.size(), 1U);
}

TEST_F(Inboxes, go_on_behind_what_nobody_understands) {
  universe.disk.write(kPath, "what\n" + line(4, "one") + "\n{\"id\":0}\n{\"id\":-1}\n{\"id\":5");
  universe.disk.write(kMark, "what");
  EXPECT_EQ(append(message("two")), 5U);
  const Inbox inbox = read();
  ASSERT_EQ(inbox.messages.size(), 2U);
  EXPECT_EQ(inbox.messages[1].text, "two");
  EXPECT_EQ(inbox.read_to, 0U);
}

TEST_F(Inboxes, say_when_no_id_is_left) {
  universe.disk.write(kPath, line(std::uint64_t{1} << 53U, "last") + "\n");
  EXPECT_EQ(append_message(*folder, message("one")).error().text,
            "/home/user/a/inbox.jsonl: no id is left; move it away, and .inbox-read with it");
}

TEST_F(Inboxes, cut_long_texts) {
  append(message(std::string(10'000, 'x')));
  EXPECT_EQ(read().messages.front().text.size(), 3072U);
}

TEST_F(Inboxes, show_the_newest_thousand) {
  fill(1200);
  const Inbox inbox = read();
  EXPECT_EQ(inbox.messages.size(), 1000U);
  EXPECT_EQ(inbox.messages.front().id, 201U);
  EXPECT_EQ(inbox.messages.back().id, 1200U);
}

TEST_F(Inboxes, that_are_full_keep_the_newest_500_and_count_on) {
  fill(15'000);
  ASSERT_GT(text().size(), 1'048'576U);
  EXPECT_EQ(append(message("new")), 15'001U);
  const Inbox inbox = read();
  ASSERT_EQ(inbox.messages.size(), 500U);
  EXPECT_EQ(inbox.messages.front().id, 14'502U);
  EXPECT_EQ(inbox.messages.back().id, 15'001U);
  EXPECT_EQ(append(message("newer")), 15'002U);
  EXPECT_EQ(read().messages.size(), 501U);
}

TEST_F(Inboxes, that_are_full_of_long_messages_have_room_again) {
  for (int i = 0; i < 400; ++i) append(message(fmt::format("{} {}", i, std::string(3000, '"'))));
  EXPECT_LT(text().size(), 1'100'000U);
  EXPECT_EQ(read().messages.back().id, 400U);
}

TEST_F(Inboxes, that_somebody_blew_up_are_read_from_their_end) {
  universe.disk.write(
      kPath, std::string(std::size_t{20} * 1024 * 1024, 'x') + "\n" + line(7, "one") + "\n");
  EXPECT_EQ(read().messages.size(), 1U);
  EXPECT_EQ(append(message("two")), 8U);
  EXPECT_EQ(text(), line(7, "one") + "\n" + line(8, "two") + "\n");
}

TEST_F(Inboxes, say_when_they_cannot_be_written) {
  append(message("one"));
  universe.disk.broken = "Input/output error";
  EXPECT_FALSE(append_message(*folder, message("two")).has_value());
  EXPECT_FALSE(mark_read(*folder, 1).has_value());
  EXPECT_EQ(read().messages.size(), 1U);
}

}  // namespace
}  // namespace tend
