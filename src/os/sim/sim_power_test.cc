// What a power cut leaves: all that was synced, and of the rest nothing or a part.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "os/sim/sim_universe.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr const char* kHome = "/home/user/tend";
constexpr std::uint64_t kSeeds = 200;

std::string at(const std::string& name) { return std::string(kHome) + "/" + name; }

/// What is left of a file after the same was done in many universes and each was torn.
using Leftovers = std::set<std::optional<std::string>>;

Leftovers torn(const std::string& name, const std::function<void(SimUniverse&, Folder&)>& work) {
  Leftovers left;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SimUniverse universe(seed);
    universe.disk.make_folder(kHome);
    work(universe, *universe.machine().folders.open(kHome).value());
    universe.reboot({.lost = SimReboot::Lost::torn});
    left.insert(universe.disk.read(at(name)));
  }
  return left;
}

void append(Folder& folder, const std::string& name, std::string_view text, bool sync) {
  const auto file = folder.open(name, Folder::Open::append).value();
  EXPECT_TRUE(file->append(text));
  EXPECT_TRUE(!sync || file->sync());
}

TEST(SimPowerCut, leaves_a_first_part_of_what_was_added_or_zeros_in_its_place) {
  const Leftovers left = torn("lines", [](SimUniverse&, Folder& folder) {
    append(folder, "lines", "ab", true);
    append(folder, "lines", "cd", false);
  });
  const std::string c_and_zero{"abc\0", 4};
  const std::string zeros{"ab\0\0", 4};
  EXPECT_EQ(left, (Leftovers{"ab", "abc", "abcd", c_and_zero, zeros}));
}

TEST(SimPowerCut, leaves_everything_that_was_synced) {
  const Leftovers left = torn("safe", [](SimUniverse&, Folder& folder) {
    append(folder, "safe", "1", true);
    EXPECT_TRUE(folder.replace("safe", "2", Folder::Sync::yes));
  });
  EXPECT_EQ(left, (Leftovers{"2"}));
}

TEST(SimPowerCut, leaves_a_replaced_file_old_or_new_but_never_none) {
  const Leftovers left = torn("record", [](SimUniverse&, Folder& folder) {
    EXPECT_TRUE(folder.replace("record", "old", Folder::Sync::yes));
    EXPECT_TRUE(folder.replace("record", "n", Folder::Sync::no));
  });
  EXPECT_EQ(left, (Leftovers{"old", "n", "", std::string(1, '\0')}));
}

TEST(SimPowerCut, leaves_a_sector_that_was_overwritten_old_or_new) {
  const std::string old_bytes(1024, 'o');
  const std::string new_bytes(1024, 'n');
  const Leftovers left = torn("record", [&](SimUniverse&, Folder& folder) {
    append(folder, "record", old_bytes, true);
    EXPECT_TRUE(folder.open("record", Folder::Open::update).value()->overwrite(new_bytes));
  });
  const std::string half_old(512, 'o');
  const std::string half_new(512, 'n');
  EXPECT_EQ(left, (Leftovers{old_bytes, new_bytes, half_old + half_new, half_new + half_old}));
}

TEST(SimPowerCut, leaves_a_file_uncut_or_a_part_of_what_came_after_the_cut) {
  const Leftovers left = torn("output", [](SimUniverse&, Folder& folder) {
    append(folder, "output", "old", true);
    const auto file = folder.open("output", Folder::Open::append).value();
    EXPECT_TRUE(file->cut(0) && file->append("n"));
  });
  EXPECT_EQ(left, (Leftovers{"old", "", "n", std::string(1, '\0')}));
}

TEST(SimPowerCut, leaves_a_punched_hole_whole_or_not_at_all) {
  const std::string data(8192, 'd');
  const Leftovers left = torn("output", [&](SimUniverse&, Folder& folder) {
    append(folder, "output", data + "end", true);
    EXPECT_TRUE(folder.open("output", Folder::Open::append).value()->punch(8192));
  });
  EXPECT_EQ(left, (Leftovers{data + "end", std::string(8192, '\0') + "end"}));
}

TEST(SimPowerCut, leaves_a_file_that_was_removed_or_removes_it) {
  const Leftovers left = torn("a", [](SimUniverse&, Folder& folder) {
    append(folder, "a", "1", true);
    EXPECT_TRUE(folder.remove("a"));
  });
  EXPECT_EQ(left, (Leftovers{"1", std::nullopt}));
}

TEST(SimPowerCut, never_loses_a_file_between_two_names) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SimUniverse universe(seed);
    universe.disk.write(at("journal"), "old");
    const auto folder = universe.machine().folders.open(kHome).value();
    EXPECT_TRUE(folder->rename("journal", "journal.1"));
    append(*folder, "journal", "", false);
    universe.reboot({.lost = SimReboot::Lost::torn});
    const auto first = universe.disk.read(at("journal"));
    const auto second = universe.disk.read(at("journal.1"));
    EXPECT_TRUE(first == "old" || second == "old") << seed;
    EXPECT_FALSE(first == "old" && second == "old") << seed;
  }
}

TEST(SimPowerCut, may_lose_a_new_folder_but_none_with_something_synced_in_it) {
  std::set<bool> left;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SimUniverse universe(seed);
    universe.disk.make_folder(kHome);
    const auto home = universe.machine().folders.open(kHome).value();
    const auto quick = home->make_folder("quick").value();
    const auto careful = home->make_folder("careful").value();
    append(*quick, "file", "1", false);
    append(*careful, "file", "1", true);
    universe.reboot({.lost = SimReboot::Lost::torn});
    left.insert(universe.disk.exists(at("quick")));
    EXPECT_EQ(universe.disk.read(at("careful/file")), "1") << seed;
  }
  EXPECT_EQ(left, (std::set{false, true}));
}

TEST(SimPowerCut, leaves_what_the_test_put_there) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SimUniverse universe(seed);
    universe.disk.write(at("deep/config"), "1");
    universe.disk.make_folder(at("empty"));
    universe.disk.make_link(at("link"), "/tmp");
    universe.disk.write(at("gone"), "1");
    universe.disk.remove(at("gone"));
    universe.reboot({.lost = SimReboot::Lost::torn});
    EXPECT_EQ(universe.disk.read(at("deep/config")), "1");
    EXPECT_TRUE(universe.disk.exists(at("empty")));
    EXPECT_TRUE(universe.disk.exists(at("link")));
    EXPECT_FALSE(universe.disk.exists(at("gone")));
  }
}

TEST(SimPowerCut, takes_what_a_lying_disk_said_was_safe) {
  SimUniverse universe;
  const auto folder = universe.machine().folders.make(kHome).value();
  append(*folder, "lines", "a\n", true);
  universe.disk.syncs_lie = true;
  append(*folder, "lines", "b\n", true);
  EXPECT_TRUE(folder->replace("record", "1", Folder::Sync::yes));
  universe.reboot({.lost = SimReboot::Lost::unsynced});
  EXPECT_EQ(universe.disk.read(at("lines")), "a\n");
  EXPECT_FALSE(universe.disk.exists(at("record")));
}

TEST(SimPowerCut, makes_names_durable_with_their_folder) {
  SimUniverse universe;
  const auto folder = universe.machine().folders.make(kHome).value();
  append(*folder, "a", "1", true);
  EXPECT_TRUE(folder->rename("a", "b"));
  append(*folder, "c", "1", true);
  EXPECT_TRUE(folder->remove("c"));
  EXPECT_TRUE(folder->replace("record", "1", Folder::Sync::yes));
  universe.reboot({.lost = SimReboot::Lost::unsynced});
  EXPECT_EQ(universe.disk.files(kHome), (std::vector{at("b"), at("record")}));
}

TEST(SimPowerCut, undoes_a_new_name_that_nobody_synced) {
  SimUniverse universe;
  const auto folder = universe.machine().folders.make(kHome).value();
  append(*folder, "a", "1", true);
  EXPECT_TRUE(folder->rename("a", "b"));
  append(*folder, "a", "2", false);
  universe.disk.cut_power();
  EXPECT_EQ(universe.disk.files(kHome), (std::vector{at("a")}));
  EXPECT_EQ(universe.disk.read(at("a")), "1");
}

TEST(SimPowerCut, gives_back_the_room_of_what_it_took) {
  SimUniverse universe;
  const auto folder = universe.machine().folders.make(kHome).value();
  universe.disk.room = 100;
  append(*folder, "lines", "12345", true);
  append(*folder, "lines", "12345", false);
  append(*folder, "others", "12345", false);
  EXPECT_EQ(universe.disk.room, 85U);
  universe.disk.cut_power();
  EXPECT_EQ(universe.disk.room, 95U);
}

TEST(SimPowerCut, is_the_same_for_the_same_seed) {
  const auto left = [](std::uint64_t seed) {
    SimUniverse universe(seed);
    const auto folder = universe.machine().folders.make(kHome).value();
    for (int i = 0; i < 200; ++i) append(*folder, std::to_string(i % 50), "12345", i % 7 == 0);
    universe.reboot({.lost = SimReboot::Lost::torn});
    std::vector<std::string> all;
    for (const auto& path : universe.disk.files()) all.push_back(path + *universe.disk.read(path));
    return all;
  };
  EXPECT_EQ(left(3), left(3));
  EXPECT_NE(left(3), left(4));
}

}  // namespace
}  // namespace tend
