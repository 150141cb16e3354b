// Lines as recorders write them, as people write them, and as nobody should.
#include "sense/trace_line.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "sense/flat_line.h"
#include "sense/json_token.h"
#include "sense/testing.h"

namespace tend {
namespace {

using namespace std::chrono_literals;
using Found = TraceLineParser::Found;

class TraceLine : public testing::Test {
 protected:
  Found parse(std::string_view text) {
    line_.emplace(text);
    const Found found = parser_.parse(line_->view(), texts_, signal, at);
    line_.emplace("what was there before is gone");
    return found;
  }
  std::string problem(std::string_view text) {
    EXPECT_EQ(parse(text), Found::bad) << text;
    return std::string(parser_.problem());
  }
  const Signal& read(std::string_view text) {
    EXPECT_EQ(parse(text), Found::signal) << text;
    return signal;
  }

  Signal signal;
  Instant at{};

 private:
  TraceLineParser parser_;
  TextArena texts_;
  std::optional<PaddedLine> line_;
};

TEST_F(TraceLine, has_a_time_in_seconds) {
  read(R"({"t":12,"is":"progress"})");
  EXPECT_EQ(at, Instant{12s});
  read(R"({"is":"progress","t":0.0124})");
  EXPECT_EQ(at, Instant{12ms});
  read(R"({"is":"progress","t":1.5e2})");
  EXPECT_EQ(at, Instant{150s});
}

TEST_F(TraceLine, is_bad_without_a_usable_time) {
  EXPECT_EQ(problem(R"({"is":"progress"})"), "it has no time `t` in seconds");
  EXPECT_EQ(problem(R"({"t":"5","is":"progress"})"), "it has no time `t` in seconds");
  EXPECT_EQ(problem(R"({"t":null,"is":"progress"})"), "it has no time `t` in seconds");
  for (const char* time : {"-1", "-0.5", "1e300", "1e999", "123456789012345678901234567890"}) {
    EXPECT_EQ(problem(std::string(R"({"is":"progress","t":)") + time + "}"),
              "its time `t` is out of range");
  }
}

TEST_F(TraceLine, is_bad_if_it_does_not_say_what_it_is) {
  EXPECT_EQ(problem(R"({"t":1})"), "it does not say what it `is`");
  EXPECT_EQ(problem(R"({"t":1,"is":5})"), "it does not say what it `is`");
  EXPECT_EQ(problem(R"({"t":1,"is":""})"), "it does not say what it `is`");
}

TEST_F(TraceLine, is_bad_if_it_is_no_json_object) {
  for (const char* text :
       {"not json at all", R"({"t":5,"is":"process","sta)", R"({"t":410,"is":)", "[1]", "5",
        "\"a\"", R"({"t":1,"is":"progress")", R"({"t":1,"is":"progress",})",
        R"({"t":1 "is":"progress"})", R"({"t":01,"is":"progress"})", R"({"t":1.,"is":"progress"})",
        R"({"t":+1,"is":"progress"})", R"({"t":1,"is":"progress"}})",
        R"({"t":1,"is":"progress"}{"t":2})", R"({"t":1,"is":"progress"]})",
        R"({"t":1,"is":"progress"} x)", "{\"t\":1,\"is\":\"pro\tgress\"}",
        R"({"t":1,"is":"pro\qgress"})"}) {
    EXPECT_FALSE(problem(text).empty()) << text;
  }
}

TEST_F(TraceLine, is_bad_also_where_nobody_looks) {
  for (const char* value : {"[1,2", "[1,2}", "{\"a\":1", "{\"a\"}", "[tru]", "[nul]", "[1 2]", "01",
                            "truth", "nil", "[\"\\q\"]", "{\"\\q\":1}", "-", "1e", "[,]", ""}) {
    EXPECT_FALSE(problem(std::string(R"({"t":1,"is":"progress","x":)") + value + "}").empty())
        << value;
  }
}

TEST_F(TraceLine, is_bad_if_it_is_not_utf8) {
  EXPECT_EQ(problem("{\"t\":1,\"is\":\"ask\",\"id\":\"\xff\"}"), "it is not UTF-8");
}

TEST_F(TraceLine, may_be_blank_or_a_header) {
  EXPECT_EQ(parse(""), Found::nothing);
  EXPECT_EQ(parse(" \t\r"), Found::nothing);
  EXPECT_EQ(parse(R"({"trace":1,"id":"x"})"), Found::header);
  EXPECT_EQ(parse(R"({"trace":1,"expect":[{"from":1}]})"), Found::header);
}

TEST_F(TraceLine, may_have_blanks_escapes_and_unknown_fields) {
  read(
      "  { \"t\" : 1 , \"is\" : \"tool-open\",\"id\":\"a\\\"\\u00e4\",\"t\\u006fol\":\"Bash\","
      "\"x\":{\"y\":[1,-2.5e3,true,null,\"z\"]} } \r");
  EXPECT_EQ(signal.is, Kind::tool_open);
  EXPECT_EQ(signal.id, "a\"\xc3\xa4");
  EXPECT_EQ(signal.tool, "Bash");
}

TEST_F(TraceLine, of_an_unknown_kind_is_other) {
  EXPECT_EQ(read(R"({"t":1,"is":"spawnn"})").is, Kind::other);
  EXPECT_EQ(read(R"({"t":1,"is":"a kind with a very long name","life":2})").life, 2U);
}

TEST_F(TraceLine, tells_of_a_process) {
  EXPECT_EQ(read(R"({"t":0,"is":"spawn","pid":100})").pid, 100);
  EXPECT_EQ(read(R"({"t":0,"is":"process","state":"zombie"})").process, ProcessState::zombie);
  EXPECT_EQ(signal.exit, Exit{});
  read(R"({"t":0,"is":"process","state":"gone","exit":{"code":7}})");
  EXPECT_EQ(signal.exit, (Exit{Exit::How::code, 7}));
  read(R"({"t":0,"is":"process","state":"gone","exit":{"code":null,"signal":9}})");
  EXPECT_EQ(signal.exit, (Exit{Exit::How::signal, 9}));
}

TEST_F(TraceLine, with_an_unknown_word_proves_as_little_as_can_be) {
  EXPECT_EQ(read(R"({"t":0,"is":"process","state":"sleeping"})").process, ProcessState::unknown);
  EXPECT_EQ(read(R"({"t":0,"is":"process"})").process, ProcessState::unknown);
  EXPECT_EQ(read(R"({"t":0,"is":"beat","by":"me"})").by, BeatBy::other);
  EXPECT_EQ(read(R"({"t":0,"is":"activity","from":"disk"})").from, ActivityFrom::log);
  EXPECT_EQ(read(R"({"t":0,"is":"child","child":"c","verdict":"fine"})").verdict, Verdict::unknown);
  for (const char* text :
       {R"({"t":0,"is":"status","status":"new"})",
        R"({"t":0,"is":"state","state":"new","until":9})", R"({"t":0,"is":"intent","want":"new"})",
        R"({"t":0,"is":"parent","state":"new"})", R"({"t":0,"is":"task","task":"a","event":"new"})",
        R"({"t":0,"is":"child","verdict":"dead"})", R"({"t":0,"is":"inbox","waiting":"many"})"}) {
    EXPECT_EQ(read(text).is, Kind::other) << text;
    EXPECT_FALSE(signal.until) << text;
  }
}

TEST_F(TraceLine, knows_every_word_of_the_contract) {
  EXPECT_EQ(read(R"({"t":0,"is":"beat","by":"agent"})").by, BeatBy::agent);
  EXPECT_EQ(read(R"({"t":0,"is":"status","status":"withdrawn"})").status, Status::withdrawn);
  EXPECT_EQ(read(R"({"t":0,"is":"state","state":"exiting"})").state, SelfState::exiting);
  EXPECT_EQ(read(R"({"t":0,"is":"activity","from":"files"})").from, ActivityFrom::files);
  EXPECT_EQ(read(R"({"t":0,"is":"task","task":"a","event":"claim"})").event, TaskEvent::claim);
  EXPECT_EQ(signal.task, "a");
  EXPECT_EQ(read(R"({"t":0,"is":"parent","state":"replaced"})").parent, ParentState::replaced);
  EXPECT_EQ(read(R"({"t":0,"is":"intent","want":"drain"})").want, Want::drain);
  EXPECT_EQ(read(R"({"t":0,"is":"inbox","waiting":3})").count, 3U);
  EXPECT_EQ(read(R"({"t":0,"is":"fleet","silent":4,"of":8})").count, 4U);
  EXPECT_EQ(signal.of, 8U);
  EXPECT_EQ(read(R"({"t":0,"is":"fault","of":"store"})").is, Kind::fault);
}

TEST_F(TraceLine, tells_of_children) {
  read(R"({"t":0,"is":"child","child":"c1","verdict":"waiting","for":"parent"})");
  EXPECT_EQ(signal.child, "c1");
  EXPECT_EQ(signal.verdict, Verdict::waiting);
  EXPECT_TRUE(signal.for_parent);
}

TEST_F(TraceLine, tells_of_tools) {
  read(
      R"({"t":0,"is":"tool-open","id":"a","tool":"Bash","limit":600,"task":"s","background":true})");
  EXPECT_EQ(signal.id, "a");
  EXPECT_EQ(signal.tool, "Bash");
  EXPECT_EQ(signal.limit, 600s);
  EXPECT_EQ(signal.task, "s");
  EXPECT_TRUE(signal.background);
  EXPECT_FALSE(signal.child_tool);
  EXPECT_TRUE(read(R"({"t":0,"is":"tool-open","id":"a","tool":"Task"})").child_tool);
  EXPECT_TRUE(read(R"({"t":0,"is":"tool-open","id":"a","tool":"Agent"})").child_tool);
  EXPECT_TRUE(read(R"({"t":0,"is":"tool-open","id":"a","tool":"x","child":true})").child_tool);
  EXPECT_FALSE(read(R"({"t":0,"is":"tool-open","id":"a","tool":"Task","child":false})").child_tool);
  EXPECT_EQ(read(R"({"t":0,"is":"tool-close","id":"a","same":3})").same, 3U);
}

TEST_F(TraceLine, keeps_the_cause_as_it_was_written) {
  read(R"({"t":5,"is":"retry","cause":"rate","until":90.5})");
  EXPECT_EQ(signal.cause, Cause::rate);
  EXPECT_EQ(signal.until, Instant{90500ms});
  read(R"({"t":5,"is":"turn-end","error":"context","background":2})");
  EXPECT_EQ(signal.cause, Cause::another);
  EXPECT_EQ(signal.cause_word, "context");
  EXPECT_EQ(signal.count, 2U);
  EXPECT_EQ(read(R"({"t":5,"is":"turn-end"})").cause, Cause::none);
  EXPECT_EQ(read(R"({"t":5,"is":"turn-end","error":null})").cause, Cause::none);
  EXPECT_TRUE(read(R"({"t":5,"is":"error","cause":"fatal","final":true})").final);
}

TEST_F(TraceLine, brings_absurd_numbers_into_range) {
  EXPECT_EQ(read(R"({"t":0,"is":"tool-open","id":"a","limit":-5})").limit, 0s);
  EXPECT_EQ(read(R"({"t":0,"is":"tool-open","id":"a","limit":1e300})").limit, kLongestTime);
  EXPECT_EQ(read(R"({"t":0,"is":"tool-open","id":"a","limit":999999999999999999})").limit,
            kLongestTime);
  EXPECT_EQ(read(R"({"t":0,"is":"tool-open","id":"a","limit":"10"})").limit, std::nullopt);
  EXPECT_EQ(read(R"({"t":0,"is":"lag","seconds":-5})").seconds, 0s);
  EXPECT_EQ(read(R"({"t":0,"is":"clock-step","seconds":-5})").seconds, -5s);
  EXPECT_EQ(read(R"({"t":0,"is":"clock-step","seconds":-1e99})").seconds, -kLongestTime);
  EXPECT_EQ(read(R"({"t":0,"is":"inbox","waiting":-1})").count, 0U);
  EXPECT_EQ(read(R"({"t":0,"is":"inbox","waiting":1e12})").count, 4294967295U);
}

TEST_F(TraceLine, has_numbers_that_are_the_nearest_there_is) {
  for (const std::string text : {"0.1", "-0.1", "123456.789", "0.000000000001", "12345678901234.5",
                                 "123456789012345.67", "999999999999999", "1000000000000000",
                                 "9007199254740993", "1.5e3", "2.5E-3", "0.0", "-0"}) {
    FieldValue value;
    ASSERT_EQ(read_number((text + ",").c_str(), value) == nullptr, false) << text;
    const double read =
        value.type == FieldValue::Type::whole ? static_cast<double>(value.whole) : value.real;
    EXPECT_EQ(read, std::stod(text)) << text;
  }
}

TEST_F(TraceLine, is_read_alike_on_the_short_way_and_on_the_thorough_one) {
  JsonLine json;
  for (const char* text :
       {R"({"t":2,"is":"tool-open","id":"a","tool":"Bash","limit":600})",
        R"({"x":"y","t":-0,"is":"z"})", R"({"t":1,"is":"ask","id":"","final":false,"child":true})",
        R"({"t":999999999999999999})", R"({"t":0.1,"until":-123456.789,"seconds":1e-3})"}) {
    const PaddedLine line(text);
    TraceFields flat;
    TraceFields thorough;
    ASSERT_TRUE(read_flat_line(line.view(), flat)) << text;
    ASSERT_EQ(json.read(line.view(), thorough), "") << text;
    EXPECT_TRUE(flat == thorough) << text;
  }
}

TEST_F(TraceLine, that_is_not_plain_is_no_matter_of_the_short_way) {
  for (const char* text : {"", "{", "{}", R"({"t":1,"x":null})", R"({"t": 1})", "{\"t\":1,}",
                           R"({"t":"\n"})", R"({"t":[]})", R"({"t":1}})", R"({"t")", R"({"t":)",
                           R"({"t)", "{\"t\":\"\xc3\xa4\"}", "{\"t\":\"\x01\"}"}) {
    const PaddedLine line(text);
    TraceFields fields;
    EXPECT_FALSE(read_flat_line(line.view(), fields)) << text;
  }
}

TEST_F(TraceLine, may_be_what_a_keeper_decided_did_or_noted) {
  for (const char* line :
       {R"({"t":12.5,"verdict":"working","phase":"model","because":[{"a":1}]})",
        R"({"t":12.5,"action":"kill","why":"silent","n":7})",
        R"({"t":12.5,"did":"kill","n":7,"result":"gone"})",
        R"({"t":12.5,"note":"the disk is full"})", R"({"t":12.5,"note":null,"did":1})",
        R"({"t":12.5,"is":null,"note":""})"}) {
    EXPECT_EQ(parse(line), Found::record) << line;
    EXPECT_EQ(at, Instant{12500ms});
  }
  EXPECT_EQ(read(R"({"t":1,"is":"child","child":"c","verdict":"idle"})").verdict, Verdict::idle);
  EXPECT_EQ(read(R"({"t":1,"is":"acted","action":"kill"})").is, Kind::acted);
}

TEST_F(TraceLine, is_no_record_without_a_time_or_with_a_kind_that_is_no_word) {
  EXPECT_EQ(problem(R"({"verdict":"working"})"), "it has no time `t` in seconds");
  EXPECT_EQ(problem(R"({"t":1,"is":5,"verdict":"working"})"), "it does not say what it `is`");
  EXPECT_EQ(problem(R"({"t":1,"note":null})"), "it does not say what it `is`");
}

TEST(TraceLineParser, needs_no_time_where_it_is_optional) {
  TraceLineParser parser(TraceLineParser::Time::optional);
  TextArena texts;
  Signal signal;
  Instant at{7s};
  EXPECT_EQ(parser.parse(PaddedLine(R"({"is":"progress"})").view(), texts, signal, at),
            Found::signal);
  EXPECT_EQ(at, Instant{});
  EXPECT_EQ(parser.parse(PaddedLine(R"({"is":"progress","t":2})").view(), texts, signal, at),
            Found::signal);
  EXPECT_EQ(at, Instant{2s});
}

TEST(TraceLineParser, tells_the_offset_of_the_stream) {
  TraceLineParser parser;
  TextArena texts;
  Signal signal;
  Instant at{};
  const auto offset = [&](const char* text) {
    const PaddedLine line(text);
    EXPECT_EQ(parser.parse(line.view(), texts, signal, at), Found::signal) << text;
    return parser.offset(Field::offset, 99);
  };
  EXPECT_EQ(offset(R"({"t":1,"is":"progress","offset":4096})"), 4096U);
  EXPECT_EQ(offset(R"({"t":1,"is":"progress"})"), 99U);
  EXPECT_EQ(offset(R"({"t":1,"is":"progress","offset":-1})"), 99U);
  EXPECT_EQ(offset(R"({"t":1,"is":"progress","offset":"x"})"), 99U);
}

}  // namespace
}  // namespace tend
