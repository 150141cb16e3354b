// What holds of leases wherever they are: asserted on every backend, so that rules which are proven
// on one of them hold with all.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "os/linux/linux_machine.h"
#include "os/linux/temporary_folder.h"
#include "os/sim/sim_universe.h"
#include "store/lease_files.h"
#include "store/lease_memory.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

class FilesOnSim {
 public:
  static constexpr const char* kName = "FilesOnSim";
  Leases& one() { return one_; }
  Leases& other() { return other_; }

 private:
  SimUniverse universe_;
  std::unique_ptr<Folder> home_ = universe_.machine().folders.make("/home/user/tend").value();
  LeaseFiles one_{*home_};
  LeaseFiles other_{*home_};
};

class FilesOnLinux {
 public:
  static constexpr const char* kName = "FilesOnLinux";
  Leases& one() { return one_; }
  Leases& other() { return other_; }

 private:
  TemporaryFolder scratch_;
  LinuxMachine machine_;
  std::unique_ptr<Folder> home_ = machine_.machine().folders.make(scratch_ / "home").value();
  LeaseFiles one_{*home_};
  LeaseFiles other_{*home_};
};

class InMemory {
 public:
  static constexpr const char* kName = "InMemory";
  Leases& one() { return memory_; }
  Leases& other() { return memory_; }

 private:
  LeaseMemory memory_;
};

LeaseRecord record_of(std::uint64_t version, std::uint64_t fence) {
  const ProcessId process{12, 345, 4026531836, "boot"};
  return {.name = "leader",
          .version = version,
          .fence = fence,
          .held = true,
          .holder = {process, "boss \"the\" first", "/home/user/tend/sessions/a"},
          .run = {"/home/user/tend/leases/leader#1", process, "/sys/fs/cgroup/x"},
          .ttl = 180s,
          .renewed = 12'345ms,
          .clock = process,
          .granted_at = WallTime{1'767'225'600s},
          .renewed_at = WallTime{1'767'225'601s + 5ns},
          .mirror = "/srv/orchestrator-state.json",
          .why_free = "",
          .takeovers = {1s, 2s},
          .lag = 250ms};
}

template <class Backend>
class LeasesContract : public testing::Test {
 protected:
  Backend backend_;
  Leases& one_ = backend_.one();
  Leases& other_ = backend_.other();
};

class BackendNames {
 public:
  template <class Backend>
  static std::string GetName(int /*number*/) {
    return Backend::kName;
  }
};
using Backends = testing::Types<FilesOnSim, FilesOnLinux, InMemory>;
TYPED_TEST_SUITE(LeasesContract, Backends, BackendNames);

TYPED_TEST(LeasesContract, has_nothing_where_nothing_was_written) {
  EXPECT_EQ(this->one_.read("leader").value(), std::nullopt);
  EXPECT_TRUE(this->one_.list().value().empty());
}

TYPED_TEST(LeasesContract, gives_back_what_was_written_to_whoever_asks) {
  const LeaseRecord record = record_of(1, 1);
  EXPECT_TRUE(this->one_.write(record).value());
  EXPECT_EQ(this->other_.read("leader").value(), record);
  EXPECT_EQ(this->other_.list().value(), std::vector<std::string>{"leader"});
}

TYPED_TEST(LeasesContract, takes_the_next_version_and_no_other) {
  EXPECT_FALSE(this->one_.write(record_of(2, 1)).value()) << "there is none before it";
  ASSERT_TRUE(this->one_.write(record_of(1, 1)).value());
  EXPECT_FALSE(this->one_.write(record_of(1, 7)).value()) << "it is there";
  EXPECT_FALSE(this->one_.write(record_of(3, 7)).value()) << "one is left out";
  EXPECT_EQ(this->other_.read("leader").value(), record_of(1, 1));
}

TYPED_TEST(LeasesContract, lets_one_of_two_through_who_saw_the_same) {
  ASSERT_TRUE(this->one_.write(record_of(1, 1)).value());
  EXPECT_TRUE(this->one_.write(record_of(2, 2)).value());
  EXPECT_FALSE(this->other_.write(record_of(2, 3)).value());
  EXPECT_EQ(this->other_.read("leader").value()->fence, 2U);
}

TYPED_TEST(LeasesContract, goes_on_for_many_versions) {
  for (std::uint64_t version = 1; version <= 120; ++version) {
    ASSERT_TRUE(this->one_.write(record_of(version, 1)).value()) << version;
  }
  EXPECT_EQ(this->other_.read("leader").value()->version, 120U);
  EXPECT_FALSE(this->other_.write(record_of(60, 2)).value()) << "one that others put away";
}

TYPED_TEST(LeasesContract, keeps_leases_of_different_names_apart) {
  LeaseRecord other = record_of(1, 5);
  other.name = "Night_2.b-c";
  ASSERT_TRUE(this->one_.write(record_of(1, 1)).value());
  ASSERT_TRUE(this->one_.write(other).value());
  EXPECT_EQ(this->other_.read("leader").value()->fence, 1U);
  EXPECT_EQ(this->other_.read("Night_2.b-c").value()->fence, 5U);
  EXPECT_EQ(this->other_.list().value().size(), 2U);
}

TYPED_TEST(LeasesContract, refuses_names_that_are_none) {
  for (const char* name : {"", ".", "..", ".hidden", "a/b", "a b", "ä"}) {
    EXPECT_FALSE(this->one_.read(name)) << name;
    LeaseRecord record = record_of(1, 1);
    record.name = name;
    EXPECT_FALSE(this->one_.write(record)) << name;
  }
  EXPECT_FALSE(this->one_.read(std::string(101, 'a')));
}

}  // namespace
}  // namespace tend
