// Where the home is, and the names of new sessions.
#include "store/home.h"

#include <gtest/gtest.h>

#include "os/sim/sim_universe.h"
#include "os/sim/sim_world.h"

namespace tend {
namespace {

class HomePath : public testing::Test {
 protected:
  HomePath() {
    environment.variables["HOME"] = "/home/user";
    universe.disk.make_folder("/home/user/project/src");
    universe.disk.make_folder("/home/user/project/.git");
    universe.repositories["/home/user/project"] = {};
  }

  std::string path() {
    const auto pid = universe.start_process("tend", {.working_folder = working_folder});
    const auto found = home_path(environment, universe.machine_of(pid));
    return found ? *found : "error: " + found.error().text;
  }

  SimUniverse universe;
  SimEnvironment environment;
  std::string working_folder = "/home/user/project/src";
};

TEST_F(HomePath, is_named_after_the_repository) {
  const std::string below_home = path();
  EXPECT_TRUE(below_home.starts_with("/home/user/.local/state/tend/project-")) << below_home;
  EXPECT_EQ(below_home.size(), std::string("/home/user/.local/state/tend/project-").size() + 16);

  environment.variables["XDG_STATE_HOME"] = "/var/state//";
  EXPECT_TRUE(path().starts_with("/var/state/tend/project-")) << path();
  environment.variables["XDG_STATE_HOME"] = "relative";
  EXPECT_EQ(path(), below_home) << "a relative one is to be ignored";
}

TEST_F(HomePath, is_the_same_for_all_folders_of_a_work_tree_and_another_for_others) {
  const std::string from_src = path();
  working_folder = "/home/user/project";
  EXPECT_EQ(path(), from_src);
  universe.disk.make_folder("/tmp/project");
  working_folder = "/tmp/project";
  EXPECT_NE(path(), from_src);
  EXPECT_TRUE(path().starts_with("/home/user/.local/state/tend/project-"));
}

TEST_F(HomePath, is_what_tend_home_says) {
  environment.variables["TEND_HOME"] = "/data/./tend//";
  EXPECT_EQ(path(), "/data/tend");
  environment.variables["TEND_HOME"] = "data";
  EXPECT_EQ(path(), "error: TEND_HOME must be an absolute path, not 'data'");
  environment.variables["TEND_HOME"] = "/data/../tend";
  EXPECT_EQ(path(), "error: TEND_HOME must be a path without '..'");
  environment.variables["TEND_HOME"] = "";
  EXPECT_TRUE(path().starts_with("/home/user/.local/state/tend/project-"));
}

TEST_F(HomePath, is_never_inside_the_work_tree) {
  environment.variables["TEND_HOME"] = "/home/user/project/build/tend";
  EXPECT_EQ(path(),
            "error: Tend's files would be in /home/user/project/build/tend, inside the work tree "
            "/home/user/project, because of TEND_HOME; set TEND_HOME to a folder outside of it");
  environment.variables["TEND_HOME"] = "/home/user/project";
  EXPECT_TRUE(path().starts_with("error: ")) << path();
  environment.variables["TEND_HOME"] = "/home/user/project-state";
  EXPECT_EQ(path(), "/home/user/project-state");
  environment.variables.erase("TEND_HOME");
  environment.variables["XDG_STATE_HOME"] = "/home/user/project/.state";
  EXPECT_NE(path().find("because of XDG_STATE_HOME"), std::string::npos) << path();
}

TEST_F(HomePath, may_be_below_a_folder_that_is_no_work_tree) {
  working_folder = "/home/user";
  EXPECT_TRUE(path().starts_with("/home/user/.local/state/tend/user-")) << path();
  working_folder = "/";
  EXPECT_TRUE(path().starts_with("/home/user/.local/state/tend/root-")) << path();
}

TEST_F(HomePath, needs_some_place) {
  environment.variables.clear();
  EXPECT_EQ(path(), "error: no place for Tend's files: set TEND_HOME or HOME");
}

class Numbers final : public Entropy {
 public:
  std::uint64_t number() override { return next++ / repeat; }
  std::uint64_t next = 0;
  std::uint64_t repeat = 1;
};

WallTime wall(std::int64_t seconds) {
  return WallTime{std::chrono::seconds{seconds} + std::chrono::milliseconds{999}};
}

class MakeSession : public testing::Test {
 protected:
  MakeSession() : home(universe.machine().folders.make("/home/user/tend").value()) {}

  std::string make(std::int64_t seconds) {
    const auto made = make_session(*home, wall(seconds), chance);
    return made ? (*made)->path() : "error: " + made.error().text;
  }

  SimUniverse universe;
  std::unique_ptr<Folder> home;
  Numbers chance;
};

TEST_F(MakeSession, names_it_by_the_calendar_and_chance) {
  EXPECT_EQ(make(0), "/home/user/tend/sessions/19700101-000000-0000");
  EXPECT_EQ(make(1773002269), "/home/user/tend/sessions/20260308-203749-1000");
  EXPECT_EQ(make(1709164799), "/home/user/tend/sessions/20240228-235959-2000");
  EXPECT_EQ(make(1709164800), "/home/user/tend/sessions/20240229-000000-3000");
}

TEST_F(MakeSession, tries_another_name_when_one_is_taken) {
  chance.repeat = 3;
  EXPECT_EQ(make(0), "/home/user/tend/sessions/19700101-000000-0000");
  EXPECT_EQ(make(0), "/home/user/tend/sessions/19700101-000000-1000");
  chance.repeat = 1'000'000;
  chance.next = 0;
  EXPECT_EQ(make(0), "error: /home/user/tend/sessions: 20 names for a new folder were all taken");
}

}  // namespace
}  // namespace tend
