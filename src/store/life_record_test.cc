// One keeper at a time, and its record in a file that never grows.
#include "store/life_record.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "os/sim/sim_universe.h"

namespace tend {
namespace {

constexpr const char* kPath = "/home/user/a/.lock";

LifeRecord third_life() {
  const ProcessId keeper{4700, 123400, 4026531836, "boot-1"};
  return {.keeper = keeper,
          .life = 3,
          .process = {4711, 123456, 4026531836, "boot-1"},
          .group = "/sys/fs/cgroup/user/tend-x",
          .released = true,
          .hung = true,
          .slept = std::chrono::seconds{7},
          .awake_since = WallTime{std::chrono::milliseconds{1763000000123}},
          .unwritten = true};
}

void expect_equal(const LifeRecord& a, const LifeRecord& b) {
  EXPECT_EQ(a.keeper, b.keeper);
  EXPECT_EQ(a.life, b.life);
  EXPECT_EQ(a.process, b.process);
  EXPECT_EQ(a.group, b.group);
  EXPECT_EQ(a.released, b.released);
  EXPECT_EQ(a.hung, b.hung);
  EXPECT_EQ(a.slept, b.slept);
  EXPECT_EQ(a.awake_since, b.awake_since);
  EXPECT_EQ(a.unwritten, b.unwritten);
}

class LifeRecords : public testing::Test {
 protected:
  LifeRecords() : folder(universe.machine().folders.make("/home/user/a").value()) {}

  std::unique_ptr<KeeperLock> take() {
    auto lock = KeeperLock::take(*folder);
    EXPECT_TRUE(lock.has_value()) << (lock ? "" : lock.error().text);
    return lock ? *std::move(lock) : nullptr;
  }

  SimUniverse universe;
  std::unique_ptr<Folder> folder;
};

TEST_F(LifeRecords, are_empty_at_first) {
  EXPECT_FALSE(look_at_lock(*folder).value().has_value());
  const auto lock = take();
  ASSERT_NE(lock, nullptr);
  expect_equal(lock->record(), {});
}

TEST_F(LifeRecords, come_back_to_the_next_keeper) {
  ASSERT_TRUE(take()->write(third_life()).has_value());
  const auto lock = take();
  ASSERT_NE(lock, nullptr);
  expect_equal(lock->record(), third_life());
}

TEST_F(LifeRecords, are_signed_by_the_child_itself) {
  LifeRecord waiting = third_life();
  waiting.released = false;
  ASSERT_TRUE(take()->write(waiting).has_value());
  std::string text = universe.disk.read("/home/user/a/.lock").value();
  text[kReleasedAt] = kSigned;
  universe.disk.write("/home/user/a/.lock", text);
  waiting.released = true;
  expect_equal(take()->record(), waiting);
}

TEST_F(LifeRecords, can_be_seen_by_others_while_the_lock_is_held_and_after) {
  auto lock = take();
  ASSERT_TRUE(lock->write(third_life()).has_value());
  EXPECT_EQ(take(), nullptr) << "another keeper holds it";

  const LockState held = look_at_lock(*folder).value().value();
  EXPECT_TRUE(held.held);
  expect_equal(held.record, third_life());

  lock.reset();
  const LockState left = look_at_lock(*folder).value().value();
  EXPECT_FALSE(left.held);
  expect_equal(left.record, third_life());
}

TEST_F(LifeRecords, keep_one_size_so_that_they_fit_on_a_full_disk) {
  const auto lock = take();
  ASSERT_TRUE(lock->write({}).has_value());
  EXPECT_EQ(universe.disk.read(kPath).value().size(), 1024U);
  universe.disk.room = 0;
  ASSERT_TRUE(lock->write(third_life()).has_value());
  const std::string text = universe.disk.read(kPath).value();
  EXPECT_EQ(text.size(), 1024U);
  EXPECT_TRUE(text.ends_with(" \n"));
  expect_equal(lock->record(), third_life());
}

TEST_F(LifeRecords, that_do_not_fit_are_refused_and_leave_the_old_one) {
  const auto lock = take();
  ASSERT_TRUE(lock->write(third_life()).has_value());
  LifeRecord long_one = third_life();
  long_one.life = 4;
  long_one.group.assign(1000, 'x');
  EXPECT_TRUE(lock->write(long_one).error().text.starts_with(
      "the record of a life does not fit into 1024 bytes"));
  expect_equal(lock->record(), third_life());
  expect_equal(look_at_lock(*folder).value().value().record, third_life());
}

TEST_F(LifeRecords, name_no_process_of_another_boot) {
  LifeRecord mixed = third_life();
  mixed.process.boot_id = "boot-0";
  EXPECT_EQ(take()->write(mixed).error().text,
            "the life's process is of another boot or pid namespace than its keeper");
  mixed.process.pid = 0;
  EXPECT_TRUE(take()->write(mixed).has_value());
}

TEST_F(LifeRecords, that_cannot_be_understood_count_as_empty) {
  for (const std::string_view text :
       {"what", "[]", "{}", "{\"life\":", "{\"pid\":1}", "\0\0\0\0", "{\"life\":1} {}"}) {
    universe.disk.write(kPath, text);
    expect_equal(take()->record(), {});
  }
  universe.disk.write(kPath, std::string(2000, '{'));
  expect_equal(take()->record(), {});
}

TEST_F(LifeRecords, say_the_same_however_their_json_is_laid_out) {
  ASSERT_TRUE(take()->write(third_life()).has_value());
  const std::string written = universe.disk.read(kPath).value();
  const std::string as_written = written.substr(0, written.find('}') + 1);
  const auto same_without = [&](const std::string& field) {
    std::string text = as_written;
    text.erase(text.find(field), field.size());
    return text;
  };
  for (const std::string& text :
       {as_written, as_written + "\t\r\n", "\n{ " + as_written.substr(1),
        "{\"life\":3,\"more\":[1]," + same_without("\"life\":3,").substr(1),
        same_without("{\"boot_id\":\"boot-1\"").replace(0, 1, "{\"boot_id\":\"boot\\u002d1\",")}) {
    universe.disk.write(kPath, text);
    expect_equal(take()->record(), third_life());
  }
}

TEST_F(LifeRecords, are_whole_or_nothing_at_every_byte_that_is_wrong) {
  ASSERT_TRUE(take()->write(third_life()).has_value());
  const std::string written = universe.disk.read(kPath).value();
  const std::size_t end = written.find('}') + 1;
  for (std::size_t size = 0; size < end; ++size) {
    universe.disk.write(kPath, written.substr(0, size));
    expect_equal(take()->record(), {});
  }
  // A space in front has it read as anybody's JSON.
  for (std::size_t at = 0; at < end; ++at) {
    for (const char wrong : {'0', '9', '"', '\\', '-', 'e', '\x80', '\x01'}) {
      std::string text = written.substr(0, end);
      text[at] = wrong;
      universe.disk.write(kPath, " " + text);
      const LifeRecord any = take()->record();
      universe.disk.write(kPath, text);
      expect_equal(take()->record(), any);
    }
  }
}

TEST_F(LifeRecords, hold_numbers_of_any_size_and_none_that_is_too_large) {
  LifeRecord large = third_life();
  large.keeper.start_ticks = std::numeric_limits<std::uint64_t>::max();
  large.life = std::numeric_limits<std::uint32_t>::max();
  large.process.pid = std::numeric_limits<std::int32_t>::max();
  large.group = "";
  ASSERT_TRUE(take()->write(large).has_value());
  expect_equal(take()->record(), large);
  std::string text = universe.disk.read(kPath).value();
  text.replace(text.find("\"pid\":2147483647"), 16, "\"pid\":2147483648");
  universe.disk.write(kPath, text);
  EXPECT_EQ(take()->record().process.pid, 0);
  EXPECT_EQ(take()->record().life, large.life);
}

TEST_F(LifeRecords, know_no_time_that_the_calendar_does_not_reach) {
  ASSERT_TRUE(take()->write(third_life()).has_value());
  const std::string written = universe.disk.read(kPath).value();
  const auto awake_since = [&](const std::string& milliseconds, const char* before) {
    std::string text = written;
    const std::string old = "\"awake_since_ms\":1763000000123";
    text.replace(text.find(old), old.size(), "\"awake_since_ms\":" + milliseconds);
    universe.disk.write(kPath, before + text.substr(0, text.find('}') + 1));
    return take()->record().awake_since;
  };
  // A space in front has it read as anybody's JSON.
  for (const char* const before : {"", " "}) {
    EXPECT_EQ(awake_since("9223372036854", before),
              WallTime{std::chrono::milliseconds{9'223'372'036'854}});
    for (const char* const far : {"9223372036855", "281474976710656", "18446744073709551615"}) {
      EXPECT_EQ(awake_since(far, before), std::nullopt) << far;
    }
  }
}

TEST_F(LifeRecords, are_out_of_place_once_the_name_stands_for_another_file) {
  const auto lock = take();
  EXPECT_TRUE(lock->is_in_place(*folder).value());
  EXPECT_TRUE(lock->is_in_place(*folder).value());
  ASSERT_TRUE(folder->remove(std::string(kLockFile)).has_value());
  EXPECT_FALSE(lock->is_in_place(*folder).value());
  const auto other = take();
  ASSERT_NE(other, nullptr);
  EXPECT_FALSE(lock->is_in_place(*folder).value());
  EXPECT_TRUE(other->is_in_place(*folder).value());
}

TEST_F(LifeRecords, are_not_believed_from_a_link) {
  universe.disk.write("/home/user/elsewhere", "{}");
  universe.disk.make_link(kPath, "/home/user/elsewhere");
  EXPECT_FALSE(KeeperLock::take(*folder).has_value());
}

}  // namespace
}  // namespace tend
