// Lines of events, and the file that many keepers append to.
#include "store/events.h"

#include <gtest/gtest.h>

#include "os/sim/sim_universe.h"

namespace tend {
namespace {

constexpr const char* kPath = "/home/user/tend/events.jsonl";
constexpr const char* kOldPath = "/home/user/tend/events.1.jsonl";
constexpr std::size_t kFull = std::size_t{8} * 1024 * 1024;

Event verdict() {
  Event event;
  event.kind = Event::Kind::verdict;
  event.at = 1773002269.25;
  event.agent = "coder";
  event.session = "s";
  event.life = 1;
  event.verdict = "stalled";
  event.phase = "model";
  event.because = {"silent 840 s", "process running"};
  event.needs_person = true;
  return event;
}

Event note(std::string text) {
  Event event;
  event.text = std::move(text);
  return event;
}

TEST(Event, has_a_line_for_each_kind) {
  EXPECT_EQ(format_event(verdict()),
            R"({"at":1773002269.25,"agent":"coder","session":"s","life":1,"kind":"verdict",)"
            R"("verdict":"stalled","phase":"model","because":["silent 840 s","process running"],)"
            R"("needs_person":true})");
  Event action;
  action.kind = Event::Kind::action;
  action.action = "kill";
  action.text = "silent 840 s";
  action.result = "ended by SIGTERM";
  EXPECT_EQ(format_event(action),
            R"({"at":0.0,"kind":"action","action":"kill","why":"silent 840 s",)"
            R"("result":"ended by SIGTERM"})");
  EXPECT_EQ(format_event(note("hello")), R"({"at":0.0,"kind":"note","text":"hello"})");
}

TEST(Event, comes_back_as_it_was) {
  const Event event = parse_event(format_event(verdict())).value();
  EXPECT_EQ(event.kind, Event::Kind::verdict);
  EXPECT_EQ(event.at, 1773002269.25);
  EXPECT_EQ(event.agent, "coder");
  EXPECT_EQ(event.session, "s");
  EXPECT_EQ(event.life, 1U);
  EXPECT_EQ(event.verdict, "stalled");
  EXPECT_EQ(event.phase, "model");
  EXPECT_EQ(event.because, verdict().because);
  EXPECT_TRUE(event.needs_person);
  EXPECT_EQ(format_event(event), format_event(verdict()));
}

TEST(Event, stays_under_4_kb_whatever_is_in_it) {
  for (const char c : {'x', '\n', '"', '\xff', '\x01'}) {
    const std::string text(100'000, c);
    Event event = verdict();
    event.agent = event.session = event.verdict = event.phase = text;
    event.because.assign(50, text);
    EXPECT_LT(format_event(event).size(), 4095U);
    event.kind = Event::Kind::action;
    event.action = event.text = event.result = text;
    EXPECT_LT(format_event(event).size(), 4095U);
    EXPECT_TRUE(parse_event(format_event(event)).has_value());
  }
}

TEST(Event, is_read_with_tolerance) {
  EXPECT_EQ(parse_event("{}").value().kind, Event::Kind::note);
  EXPECT_EQ(parse_event(R"({"kind":"later","text":"x","life":-1})").value().text, "x");
  EXPECT_FALSE(parse_event("").has_value());
  EXPECT_FALSE(parse_event("[]").has_value());
  EXPECT_FALSE(parse_event("{\"at\":1").has_value());
}

class EventsFile : public testing::Test {
 protected:
  EventsFile() : home(universe.machine().folders.make("/home/user/tend").value()) {}

  void append(const Event& event) {
    const auto done = append_event(*home, event);
    EXPECT_TRUE(done.has_value()) << (done ? "" : done.error().text);
  }
  std::string text(const char* path = kPath) { return universe.disk.read(path).value_or(""); }

  SimUniverse universe;
  std::unique_ptr<Folder> home;
};

TEST_F(EventsFile, grows_by_a_line_an_event) {
  append(note("one"));
  append(note("two"));
  EXPECT_EQ(text(), format_event(note("one")) + "\n" + format_event(note("two")) + "\n");
}

TEST_F(EventsFile, ends_the_torn_line_of_another_writer) {
  universe.disk.write(kPath, "{\"at\":1,\"ki");
  append(note("one"));
  EXPECT_EQ(text(), "{\"at\":1,\"ki\n" + format_event(note("one")) + "\n");
}

TEST_F(EventsFile, is_moved_away_when_it_is_full) {
  const std::string full = std::string(kFull, 'x') + "\n";
  universe.disk.write(kPath, full);
  universe.disk.write(kOldPath, "older");
  append(note("one"));
  EXPECT_EQ(text(), format_event(note("one")) + "\n");
  EXPECT_EQ(text(kOldPath), full);
}

TEST_F(EventsFile, is_left_to_who_is_moving_it_already) {
  const std::string full = std::string(kFull, 'x') + "\n";
  universe.disk.write(kPath, full);
  const auto lock = home->open(".events.lock", Folder::Open::update).value();
  ASSERT_TRUE(lock->lock().value());
  append(note("one"));
  EXPECT_EQ(text(), full + format_event(note("one")) + "\n");
}

TEST_F(EventsFile, has_a_bound_even_if_nobody_can_move_it) {
  universe.disk.write(kPath, std::string(2 * kFull + 1, 'x'));
  const auto lock = home->open(".events.lock", Folder::Open::update).value();
  ASSERT_TRUE(lock->lock().value());
  EXPECT_EQ(append_event(*home, note("one")).error().text,
            "somebody else holds the lock of the events");
}

TEST_F(EventsFile, says_when_it_cannot_be_written) {
  universe.disk.broken = "Input/output error";
  EXPECT_FALSE(append_event(*home, note("one")).has_value());
}

}  // namespace
}  // namespace tend
