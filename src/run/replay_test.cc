// When the judge is asked, and when it must not be.
#include "run/replay.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "run/twin_replay.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

Signal of(Kind kind) {
  Signal signal;
  signal.is = kind;
  return signal;
}

/// Away strictly between two times.
struct Observer final : Attendance {
  bool was_there(Instant at) override { return at <= Instant{since} || at >= Instant{until}; }
  Duration since{};
  Duration until{};
};

/// "0 s starting, 1 s working": verdicts and actions with their times.
struct Listing final : DecisionSink {
  void decided(Instant at, const Decision& decision) override {
    text += text.empty() ? "" : ", ";
    text += std::to_string(at.time_since_epoch() / 1s) + " s ";
    text +=
        decision.kind == Decision::Kind::verdict ? word(decision.verdict) : word(decision.action);
  }
  std::string text;
};

class ReplayTest : public testing::Test {
 protected:
  ReplayTest() : replay(Judge(built_in_policy("agent").value()), observer, listing) {}

  void see(Duration at, std::vector<Signal> signals) { replay.take({Instant{at}, signals}); }
  void begin_work() {
    see(0s, {of(Kind::spawn)});
    see(1s, {of(Kind::turn_start)});
    listing.text.clear();
  }

  Observer observer;
  Listing listing;
  Replay replay;
};

TEST_F(ReplayTest, judges_at_every_deadline_before_the_next_moment) {
  begin_work();
  see(800s, {of(Kind::noise)});
  EXPECT_EQ(listing.text, "721 s suspect, 721 s warn, 721 s ping");
}

TEST_F(ReplayTest, judges_the_signals_of_a_moment_before_its_deadlines) {
  begin_work();
  see(721s, {of(Kind::progress)});
  EXPECT_EQ(listing.text, "");
}

TEST_F(ReplayTest, judges_at_no_deadline_while_the_observer_was_away) {
  begin_work();
  observer.since = 720s;
  observer.until = 745s;
  see(730s, {of(Kind::progress)});
  see(745s, {of(Kind::noise)});
  EXPECT_EQ(listing.text, "");
}

TEST_F(ReplayTest, judges_at_a_deadline_in_the_very_moment_the_observer_left) {
  begin_work();
  observer.since = 721s;
  observer.until = 745s;
  see(745s, {of(Kind::noise)});
  EXPECT_EQ(listing.text, "721 s suspect, 721 s warn, 721 s ping");
}

TEST_F(ReplayTest, runs_on_to_the_end_and_no_further) {
  begin_work();
  replay.run_to(Instant{720s});
  EXPECT_EQ(listing.text, "");
  replay.run_to(Instant{721s});
  EXPECT_EQ(listing.text, "721 s suspect, 721 s warn, 721 s ping");
}

struct TwinListing final : TwinSink {
  void decided(Instant at, std::span<const Decision> first,
               std::span<const Decision> second) override {
    text += std::to_string(at.time_since_epoch() / 1s) + ":" + std::to_string(first.size()) + "/" +
            std::to_string(second.size()) + " ";
  }
  std::string text;
};

TEST(TwinReplay, brings_the_decisions_of_one_time_together) {
  Policy patient = built_in_policy("agent").value();
  ASSERT_TRUE(set_limit(patient, "model", 750s));
  Observer observer;
  TwinListing listing;
  TwinReplay replay(Judge(built_in_policy("agent").value()), Judge(patient), observer, listing);
  const std::vector<Signal> spawn{of(Kind::spawn)};
  const std::vector<Signal> turn{of(Kind::turn_start)};
  replay.take({Instant{0s}, spawn});
  replay.take({Instant{1s}, turn});
  replay.run_to(Instant{800s});
  EXPECT_EQ(listing.text, "0:1/1 1:1/1 721:3/0 751:0/3 ");
}

}  // namespace
}  // namespace tend
