// The files of the mirror, in a real folder.
#include "store/gate_mirror.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "os/linux/linux_folder.h"
#include "os/linux/temporary_folder.h"

namespace tend {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

class GateMirrorTest : public testing::Test {
 protected:
  void mirror(const std::vector<Outage>& open, const std::vector<PendingChannel>& pending) {
    const auto done = mirror_gate(*folder, open, pending);
    EXPECT_TRUE(done) << done.error().text;
  }
  [[nodiscard]] bool exists(const char* name) const { return fs::exists(place / name); }
  std::uint64_t file_of(const char* name) { return folder->facts(name).value()->file; }

  TemporaryFolder place;
  LinuxFolders folders;
  std::unique_ptr<Folder> folder = folders.open(place.path()).value();
  WallTime since{1'773'002'269'900ms};
  Outage outage{.id = 1, .agent = "boss", .why = "no \"answer\"", .since = since};
  PendingChannel channel{
      .agent = "boss", .channel = "telegram", .endpoint = "聊天", .outage = 1, .since = since};
};

TEST_F(GateMirrorTest, says_since_when_who_is_down_and_why) {
  Outage later = outage;
  later.agent = "other";
  mirror({outage, later}, {});
  EXPECT_EQ(place.read(".degraded"),
            "{\"since\":1773002269,\"agent\":\"boss\",\"why\":\"no \\\"answer\\\"\"}\n");
  EXPECT_FALSE(exists(".pending-channels.json"));
}

TEST_F(GateMirrorTest, lists_the_channels_that_wait_for_the_end) {
  PendingChannel second = channel;
  second.endpoint = "2";
  mirror({}, {channel, second});
  EXPECT_EQ(place.read(".pending-channels.json"),
            "[{\"channel\":\"telegram\",\"endpoint\":\"聊天\",\"since\":1773002269,"
            "\"agent\":\"boss\"},"
            "{\"channel\":\"telegram\",\"endpoint\":\"2\",\"since\":1773002269,"
            "\"agent\":\"boss\"}]\n");
  EXPECT_FALSE(exists(".degraded"));
}

TEST_F(GateMirrorTest, removes_what_is_over) {
  mirror({outage}, {channel});
  mirror({}, {channel});
  EXPECT_FALSE(exists(".degraded"));
  EXPECT_TRUE(exists(".pending-channels.json"));
  mirror({}, {});
  EXPECT_FALSE(exists(".pending-channels.json"));
  mirror({}, {});
}

TEST_F(GateMirrorTest, leaves_alone_what_says_so_already) {
  mirror({outage}, {channel});
  const std::uint64_t degraded = file_of(".degraded");
  const std::uint64_t pending = file_of(".pending-channels.json");
  PendingChannel second = channel;
  second.endpoint = "2";
  mirror({outage}, {channel, second});
  EXPECT_EQ(file_of(".degraded"), degraded);
  EXPECT_NE(file_of(".pending-channels.json"), pending);
}

TEST_F(GateMirrorTest, puts_right_what_somebody_else_changed) {
  place.write(".degraded", "rubbish");
  mirror({outage}, {});
  EXPECT_EQ(place.read(".degraded").front(), '{');
  fs::remove(place / ".degraded");
  fs::create_symlink("/dev/null", place / ".degraded");
  mirror({outage}, {});
  EXPECT_EQ(place.read(".degraded").front(), '{') << "a link is replaced, not followed";
}

TEST_F(GateMirrorTest, writes_the_second_file_even_if_the_first_cannot_be) {
  fs::create_directory(place / ".degraded");
  EXPECT_FALSE(mirror_gate(*folder, {outage}, {channel}));
  EXPECT_TRUE(exists(".pending-channels.json"));
}

}  // namespace
}  // namespace tend
