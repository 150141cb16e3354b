// What is written, and what a full disk or a torn line leaves of it.
#include "store/journal.h"

#include <gtest/gtest.h>

#include "os/sim/sim_universe.h"
#include "store/json.h"
#include "store/policy_json.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr const char* kPath = "/home/user/a/journal.jsonl";

std::string line(Instant at, const Signal& signal, const Offsets& offsets = {}) {
  std::string text;
  append_signal_line(text, at, signal, offsets);
  return text;
}

Instant at(Duration time) { return Instant{time}; }

TEST(SignalLine, has_the_fields_of_its_kind) {
  EXPECT_EQ(line(at(0s), {.is = Kind::spawn, .life = 2, .pid = 100}),
            R"({"t":0,"is":"spawn","life":2,"pid":100})");
  EXPECT_EQ(line(at(12'345ms), {.is = Kind::progress}, {.stream = 4096, .said = 7}),
            R"({"t":12.345,"is":"progress","offset":4096,"said":7})");
  EXPECT_EQ(line(at(2'500ms), {.is = Kind::tool_open,
                               .background = true,
                               .child_tool = true,
                               .limit = 600s,
                               .id = "a",
                               .tool = "Ba\"sh",
                               .task = "sub"}),
            R"({"t":2.5,"is":"tool-open","id":"a","tool":"Ba\"sh","limit":600,)"
            R"("background":true,"child":true,"task":"sub"})");
  EXPECT_EQ(
      line(at(3s),
           {.is = Kind::process, .process = ProcessState::gone, .exit = {Exit::How::code, 0}}),
      R"({"t":3,"is":"process","state":"gone","exit":{"code":0}})");
  EXPECT_EQ(line(at(4s), {.is = Kind::retry, .cause = Cause::rate, .until = at(99'010ms)}),
            R"({"t":4,"is":"retry","until":99.01,"cause":"rate"})");
  EXPECT_EQ(line(at(5s), {.is = Kind::clock_step, .seconds = -250ms}),
            R"({"t":5,"is":"clock-step","seconds":-0.25})");
}

TEST(SignalLine, names_a_providers_cause_so_that_it_is_read_as_the_same) {
  EXPECT_EQ(line(at(1s), {.is = Kind::error, .cause = Cause::rate, .cause_word = "429 slow down"}),
            R"({"t":1,"is":"error","cause":"rate"})");
  EXPECT_EQ(line(at(1s), {.is = Kind::error, .cause = Cause::another, .cause_word = "odd"}),
            R"({"t":1,"is":"error","cause":"odd"})");
}

TEST(SignalLine, bounds_its_texts) {
  const std::string huge(1'000'000, 'x');
  EXPECT_LT(line(at(1s), {.is = Kind::ask, .id = huge}).size(), 70'000U);
}

class Journals : public testing::Test {
 protected:
  Journals() : folder(universe.machine().folders.make("/home/user/a").value()) {
    header.agent = "coder";
    header.policy = *built_in_policy("agent");
    header.boot_id = "boot-1";
    header.shift = 250ms;
    header.wall = 1773002269.25;
    header.at = at(12'500ms);
    header.offsets = {4096, 120};
    header.actions = 7;
    header.life = 2;
    header.judge = R"({"snapshot":1,"judge":{}})";
  }

  std::unique_ptr<Journal> begin() { return Journal::begin(*folder, header).value(); }
  std::unique_ptr<Journal> go_on() { return Journal::go_on(*folder).value(); }
  std::string text() { return universe.disk.read(kPath).value_or(""); }
  /// Without the header.
  std::string lines() { return text().substr(text().find('\n') + 1); }
  ReadJson first() { return ReadJson::parse(text().substr(0, text().find('\n')), nullptr, false); }

  SimUniverse universe;
  std::unique_ptr<Folder> folder;
  JournalHeader header;
};

TEST_F(Journals, open_with_all_that_is_needed_to_judge_on) {
  begin();
  const ReadJson json = first();
  EXPECT_EQ(json["trace"], 1);
  EXPECT_EQ(json["id"], "coder");
  EXPECT_EQ(json["policy"], "agent");
  EXPECT_EQ(json["limits"], ReadJson::object());
  EXPECT_EQ(json["boot"], "boot-1");
  EXPECT_EQ(json["shift_ms"], 250);
  EXPECT_EQ(json["wall"], 1773002269.25);
  EXPECT_EQ(json["at_ms"], 12500);
  EXPECT_EQ(json["offset"], 4096);
  EXPECT_EQ(json["said"], 120);
  EXPECT_EQ(json["actions"], 7);
  EXPECT_EQ(json["life"], 2);
  EXPECT_EQ(json["judge"], ReadJson::parse(header.judge));
  EXPECT_EQ(parse_policy_json(json["policy_full"].dump()), header.policy);
  EXPECT_TRUE(text().ends_with("}\n"));
}

TEST_F(Journals, name_the_limits_that_the_policys_name_does_not_tell) {
  header.policy.limits.model = 10min;
  header.policy.limits.tool = kNoLimit;
  header.policy.limits.beats = {100ms, 2s};
  header.judge.clear();
  begin();
  EXPECT_EQ(first()["limits"],
            ReadJson::parse(R"({"model":600,"tool":94608000000,"beats":[0.1,2]})"));
  EXPECT_FALSE(first().contains("judge"));

  header.policy = *built_in_policy("worker");
  header.policy.name = "mine";
  begin();
  EXPECT_EQ(first()["limits"], ReadJson::parse(R"({"start":600,"beats":[600,900]})"))
      << "a name that is not built in counts as policy agent";
}

TEST_F(Journals, hold_lines_back_until_they_are_written) {
  const auto journal = begin();
  journal->signal(at(1s), {.is = Kind::progress}, {.stream = 5});
  Decision verdict;
  verdict.verdict = Verdict::working;
  verdict.phase = Phase::model;
  verdict.reasons[0] = {.because = Because::works_again};
  verdict.reason_count = 1;
  journal->decision(at(1s), verdict, 0, 2);
  Decision action = verdict;
  action.kind = Decision::Kind::action;
  action.action = Action::reassign;
  action.task = Name("T-1");
  journal->decision(at(2s), action, 7, 2);
  journal->did(at(3s), Action::reassign, 7, "given to \"b\"");
  journal->remark(at(4s), "a\nb");
  EXPECT_EQ(lines(), "");
  ASSERT_TRUE(journal->write().has_value());
  const std::string why = describe(verdict.reasons[0]);
  EXPECT_EQ(lines(), R"({"t":1,"is":"progress","offset":5}
{"t":1,"verdict":"working","phase":"model","because":[")" +
                         why + R"("]}
{"t":2,"action":"reassign","why":")" +
                         why + R"(","under":"working","life":2,"n":7,"task":"T-1"}
{"t":3,"did":"reassign","n":7,"result":"given to \"b\""}
{"t":4,"note":"a\nb"}
)");
}

TEST_F(Journals, begin_with_what_is_still_to_be_done) {
  const std::vector<CarriedOver> owed{
      {.action = Action::kill, .under = Verdict::stalled, .number = 6, .life = 1, .why = "silent"}};
  const auto journal = Journal::begin(*folder, header, owed).value();
  EXPECT_EQ(
      lines(),
      R"({"t":12.5,"action":"kill","why":"silent","under":"stalled","life":1,"n":6,"carried":true}
)");
  journal->remark(at(13s), "x");
  ASSERT_TRUE(journal->write().has_value());
  EXPECT_TRUE(lines().ends_with("{\"t\":13,\"note\":\"x\"}\n"));
}

TEST_F(Journals, go_on_behind_what_is_there) {
  begin();
  const auto journal = go_on();
  journal->remark(at(1s), "x");
  ASSERT_TRUE(journal->write().has_value());
  EXPECT_EQ(lines(), "{\"t\":1,\"note\":\"x\"}\n");
}

TEST_F(Journals, end_a_torn_line_before_they_go_on) {
  begin();
  universe.disk.append(kPath, "{\"t\":1,\"is\":\"pro");
  const auto journal = go_on();
  journal->remark(at(2s), "x");
  ASSERT_TRUE(journal->write().has_value());
  EXPECT_EQ(lines(), "{\"t\":1,\"is\":\"pro\n{\"t\":2,\"note\":\"x\"}\n");
}

TEST_F(Journals, do_not_go_on_from_nothing) {
  EXPECT_EQ(Journal::go_on(*folder).error().text,
            "/home/user/a/journal.jsonl: there is nothing to go on from");
  universe.disk.write(kPath, "");
  EXPECT_FALSE(Journal::go_on(*folder).has_value());
}

TEST_F(Journals, are_full_past_their_bound_also_when_they_go_on) {
  const auto journal = begin();
  EXPECT_FALSE(journal->full());
  universe.disk.append(kPath, std::string(Journal::kFull, 'x') + "\n");
  EXPECT_TRUE(go_on()->full());
  begin();
  EXPECT_FALSE(go_on()->full());
}

TEST_F(Journals, write_later_what_a_full_disk_did_not_take_and_nothing_twice) {
  const auto journal = begin();
  const std::string before = text();
  std::string wanted;
  for (int i = 0; i < 3; ++i) {
    const Signal signal{.is = Kind::ask, .id = "question"};
    journal->signal(at(1s * i), signal, {});
    wanted += line(at(1s * i), signal) + "\n";
  }
  for (const std::uint64_t room : {0U, 50U, 7U}) {  // nothing; a line and a half; a bit of a line
    universe.disk.room = room;
    EXPECT_FALSE(journal->write().has_value());
  }
  EXPECT_EQ(lines(), wanted.substr(0, 57));
  universe.disk.room.reset();
  ASSERT_TRUE(journal->write().has_value());
  EXPECT_EQ(lines(), wanted);
}

TEST_F(Journals, keep_the_newest_lines_when_too_many_wait_and_say_so) {
  const auto journal = begin();
  universe.disk.room = 30;  // the first line stays torn
  const std::string text(10'000, 'x');
  for (int i = 0; i < 300; ++i) {
    journal->signal(at(1s * i), {.is = Kind::ask, .id = text}, {});
    EXPECT_FALSE(journal->write().has_value());
  }
  universe.disk.room.reset();
  ASSERT_TRUE(journal->write().has_value());
  const std::string written = lines();
  EXPECT_LT(written.size(), std::size_t{1024} * 1024 + 20'000);
  EXPECT_NE(written.find("lines were lost: the journal could not be written"), std::string::npos);
  EXPECT_NE(written.find("{\"t\":299,"), std::string::npos);
  std::size_t broken = 0;
  std::size_t begin_of = 0;
  for (auto end = written.find('\n'); end != std::string::npos;
       end = written.find('\n', begin_of)) {
    if (!parse_object(written.substr(begin_of, end - begin_of), 20'000)) ++broken;
    begin_of = end + 1;
  }
  EXPECT_EQ(broken, 1U) << "only the line that the full disk tore";
}

}  // namespace
}  // namespace tend
