// Where the times of a probe may stand, and which of them count.
#include "run/probe_of.h"

#include <chrono>

#include <gtest/gtest.h>

#include "os/sim/sim_world.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

class ProbeOf : public testing::Test {
 protected:
  ProbeOf() {
    config.probes["chat"] = {
        .channel = ProbeChannel::file, .file = "~/question", .env_file = "~/.env"};
    agent.agent = "chat";
  }
  Result<std::optional<ProbeSettings>> asked(const std::vector<std::string>& environment) {
    return probe_of(config, agent, environment, files);
  }

  Config config;
  AgentFile agent;
  SimFiles files;
};

TEST_F(ProbeOf, nobody_is_asked_who_is_not_named) {
  agent.agent = "other";
  EXPECT_EQ(asked({}).value(), std::nullopt);
}

TEST_F(ProbeOf, the_environment_wins_over_the_file_and_the_file_over_the_table) {
  EXPECT_EQ(asked({"HOME=/home/user"}).value()->interval, 5min);
  files.contents["/home/user/.env"] = "HEARTBEAT_INTERVAL=60\nHEARTBEAT_TIMEOUT=600\n";
  EXPECT_EQ(asked({"HOME=/home/user"}).value()->interval, 60s);
  EXPECT_EQ(asked({"HOME=/home/user"}).value()->deadline, 600s);
  const auto own = asked({"HOME=/home/user", "HEARTBEAT_INTERVAL=120"}).value();
  EXPECT_EQ(own->interval, 120s);
  EXPECT_EQ(own->deadline, 600s);
  EXPECT_EQ(own->file, "/home/user/question");
}

TEST_F(ProbeOf, times_that_make_no_sense_are_named_with_their_place) {
  files.contents["/home/user/.env"] = "A=1\nHEARTBEAT_TIMEOUT=soon\n";
  EXPECT_EQ(asked({"HOME=/home/user"}).error().text,
            "/home/user/.env: line 2: HEARTBEAT_TIMEOUT is 'soon'; it has to be a whole number of "
            "seconds above 0, like HEARTBEAT_TIMEOUT=300");
  EXPECT_TRUE(asked({"HOME=/x", "HEARTBEAT_INTERVAL=0"})
                  .error()
                  .text.starts_with("HEARTBEAT_INTERVAL is '0'"));
  EXPECT_FALSE(asked({"HOME=/x", "HEARTBEAT_TIMEOUT=10"})) << "below the interval of the table";
}

}  // namespace
}  // namespace tend
