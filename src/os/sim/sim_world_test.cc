// The twin behaves like the real one where commands can tell.
#include "os/sim/sim_world.h"

#include <gtest/gtest.h>

#include <array>

namespace tend {
namespace {

TEST(SimFiles, gives_a_file_in_pieces) {
  SimFiles files;
  files.contents["a"] = "12345";
  files.piece = 3;
  auto source = files.open("a");
  ASSERT_TRUE(source);
  std::array<char, 8> piece{};
  EXPECT_EQ((*source)->read(piece), 3U);
  EXPECT_EQ((*source)->read(piece), 2U);
  EXPECT_EQ((*source)->read(piece), 0U);
}

TEST(SimFiles, fails_like_the_real_ones) {
  SimFiles files;
  files.broken["folder"] = "Is a directory";
  EXPECT_EQ(files.open("none").error().text, "cannot open none: No such file or directory");
  std::array<char, 8> piece{};
  EXPECT_EQ((*files.open("folder"))->read(piece).error().text,
            "cannot read folder: Is a directory");
}

TEST(SimFiles, looks_on_the_disk_of_the_universe_too) {
  SimWorld world;
  world.universe.disk.write("/home/user/config", "text");
  std::array<char, 8> piece{};
  EXPECT_EQ((*world.files.open("/home/user/config"))->read(piece), 4U);
}

TEST(SimFiles, make_a_file_only_where_none_is_and_know_when_it_was_changed) {
  SimWorld world;
  world.universe.disk.write("/on/disk", "text");
  EXPECT_FALSE(world.files.make_new("/on/disk", "x").value());
  EXPECT_EQ(world.files.modified("/on/disk").value(), world.universe.disk.modified("/on/disk"));
  EXPECT_EQ(world.files.modified("/new").value(), std::nullopt);
  EXPECT_TRUE(world.files.make_new("/new", "x").value());
  EXPECT_FALSE(world.files.make_new("/new", "y").value());
  world.files.times["/new"] = WallTime{std::chrono::seconds{7}};
  EXPECT_EQ(world.files.modified("/new").value(), WallTime{std::chrono::seconds{7}});
  world.files.full = true;
  EXPECT_FALSE(world.files.make_new("/other", "x"));
}

TEST(SimMachines, give_each_command_a_process_with_its_environment) {
  SimUniverse universe;
  SimWorld one(universe);
  SimWorld other(universe);
  one.environment.variables["NAME"] = "value";
  const Machine& machine = one.world().machines.machine();
  EXPECT_EQ(&machine, &one.world().machines.machine());
  EXPECT_EQ(universe.facts(one.machines.pid())->environment.at(0), "NAME=value");
  EXPECT_NE(one.machines.pid(), other.machines.pid());
  universe.kill(one.machines.pid());
  EXPECT_FALSE(machine.folders.make("/home/user/tend")) << "dead, not dangling";
}

TEST(SimOutput, takes_nothing_more_once_it_was_full) {
  SimOutput out;
  out.room = 4;
  EXPECT_TRUE(out.write("abc"));
  EXPECT_FALSE(out.write("de"));
  EXPECT_FALSE(out.write("d"));
  EXPECT_FALSE(out.flush());
  EXPECT_EQ(out.text, "abc");
}

}  // namespace
}  // namespace tend
