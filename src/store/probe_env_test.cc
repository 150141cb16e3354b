// `.env` files as people write them, and the environment.
#include "store/probe_env.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "base/duration.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

std::string shown(const Result<HeartbeatTimes>& times) {
  if (!times) return times.error().text;
  const auto text = [](const std::optional<Duration>& time) {
    return time ? format_duration(*time) : "none";
  };
  return fmt::format("{} {}", text(times->interval), text(times->deadline));
}
std::string read(std::string_view env_file) { return shown(heartbeat_times(env_file)); }

TEST(ProbeEnv, reads_the_two_names_of_a_file_and_no_other) {
  EXPECT_EQ(read("# Heartbeat configuration\n"
                 "HEARTBEAT_INTERVAL=300      # seconds between heartbeats (default: 5 min)\n"
                 "HEARTBEAT_TIMEOUT=900       # seconds before declaring stuck\n"),
            "5m 15m");
  EXPECT_EQ(read(""), "none none");
  EXPECT_EQ(read("TOKEN=HEARTBEAT_TIMEOUT=3\nMY_HEARTBEAT_INTERVAL=1\nheartbeat_interval=2\n"
                 "HEARTBEAT_INTERVALS=5\nHEARTBEAT_INTERVAL\n#HEARTBEAT_TIMEOUT=1\n"),
            "none none");
  EXPECT_EQ(read("HEARTBEAT_TIMEOUT=60"), "none 1m");
}

TEST(ProbeEnv, reads_a_file_as_a_shell_and_as_an_editor_writes_it) {
  EXPECT_EQ(read("\xef\xbb\xbf"
                 "HEARTBEAT_INTERVAL = \"30\" # half a minute\r\n"
                 "\texport\tHEARTBEAT_TIMEOUT='90'\r\n"),
            "30s 1m30s");
  EXPECT_EQ(read("HEARTBEAT_INTERVAL=1\nHEARTBEAT_INTERVAL=2\n"), "2s none");
  EXPECT_EQ(read("HEARTBEAT_INTERVAL=1\nHEARTBEAT_INTERVAL=\n"), "none none");
  EXPECT_EQ(read("HEARTBEAT_INTERVAL=  # later\nHEARTBEAT_TIMEOUT=\"\""), "none none");
}

TEST(ProbeEnv, names_the_line_of_what_is_no_time) {
  EXPECT_EQ(read("A=1\n\nHEARTBEAT_TIMEOUT=5m\n"),
            "line 3: HEARTBEAT_TIMEOUT is '5m'; it has to be a whole number of seconds above 0, "
            "like HEARTBEAT_TIMEOUT=300");
  for (const char* const value :
       {"0", "-1", "+1", "1.5", "1e3", "0x10", "300#x", "\"300", "'3'00", "$X", "1 2", "\x1b[2J",
        "99999999999999999999", "94608000001", "\xff", "\"1\" 2"}) {
    const std::string error = read(fmt::format("HEARTBEAT_INTERVAL={}", value));
    EXPECT_TRUE(error.starts_with("line 1: HEARTBEAT_INTERVAL is '")) << value << ": " << error;
    EXPECT_EQ(error.find_first_of("\n\x1b"), std::string::npos);
  }
  EXPECT_EQ(read("HEARTBEAT_INTERVAL=94608000000"), "1095000d none");
}

TEST(ProbeEnv, reads_the_environment) {
  EXPECT_EQ(shown(heartbeat_times(std::nullopt, std::nullopt)), "none none");
  EXPECT_EQ(shown(heartbeat_times("60", " 180 ")), "1m 3m");
  EXPECT_EQ(shown(heartbeat_times("", "180")), "none 3m");
  EXPECT_EQ(shown(heartbeat_times("60", "never")),
            "HEARTBEAT_TIMEOUT is 'never'; it has to be a whole number of seconds above 0, like "
            "HEARTBEAT_TIMEOUT=300");
}

TEST(ProbeEnv, takes_the_place_of_what_is_configured_if_it_fits) {
  const ProbeSettings settings{.interval = 5min, .deadline = 15min};
  EXPECT_EQ(with_times(settings, {}), settings);
  const auto changed = with_times(settings, {.interval = 10min, .deadline = std::nullopt});
  EXPECT_EQ(changed->interval, 10min);
  EXPECT_EQ(changed->deadline, 15min);
  EXPECT_EQ(with_times(settings, {.interval = 1min, .deadline = 2min})->deadline, 2min);
  EXPECT_EQ(with_times(settings, {.interval = std::nullopt, .deadline = 1min}).error().text,
            "the deadline of 1m (HEARTBEAT_TIMEOUT) is below the interval of 5m "
            "(HEARTBEAT_INTERVAL): raise one or lower the other");
}

}  // namespace
}  // namespace tend
