// Whole traces: moments, bad lines, falling times, lags that are told too late.
#include "sense/trace_reader.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "os/sim/sim_world.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

/// A trace in memory, and what was said about its lines.
struct Opened {
  explicit Opened(const std::string& text, std::size_t piece = 4096) {
    files.contents["f"] = text;
    files.piece = piece;
    source = files.open("f").value();
    reader = std::make_unique<TraceReader>(
        *source, "f", [this](std::uint64_t line, std::string_view what) {
          reports.push_back(std::to_string(line) + ": " + std::string(what));
        });
  }

  SimFiles files;
  std::unique_ptr<ByteSource> source;
  std::vector<std::string> reports;
  std::unique_ptr<TraceReader> reader;
};

/// "1: ask a, ask b | 2: ask c": the rest of the trace.
std::string rest_of(TraceReader& reader) {
  std::string text;
  Moment moment;
  while (reader.next(moment).value_or(false)) {
    text += text.empty() ? "" : " | ";
    text += std::to_string(moment.at.time_since_epoch() / 1s) + ":";
    for (const Signal& signal : moment.signals) {
      text += " " + std::string(word(signal.is)) + std::string(signal.id);
    }
  }
  return text;
}

std::string ask(int t, const std::string& id) {
  return R"({"t":)" + std::to_string(t) + R"(,"is":"ask","id":")" + id + "\"}\n";
}

TEST(TraceReader, gives_all_signals_of_a_time_at_once) {
  for (const std::size_t piece : {1U, 5U, 4096U}) {
    Opened trace(ask(1, "a") + ask(1, "b") + ask(2, "c") + ask(4, "d") + ask(4, "e"), piece);
    ASSERT_TRUE(trace.reader->open());
    EXPECT_EQ(rest_of(*trace.reader), "1: aska askb | 2: askc | 4: askd aske");
  }
}

TEST(TraceReader, reads_a_header_on_the_first_line_only) {
  Opened trace("\n{\"trace\":1,\"id\":\"x\",\"limits\":{\"moon\":1}}\n" + ask(1, "a") +
               "{\"trace\":1}\n");
  const auto header = trace.reader->open();
  ASSERT_TRUE(header);
  EXPECT_EQ(header->id, "x");
  EXPECT_EQ(rest_of(*trace.reader), "1: aska");
  EXPECT_EQ(trace.reports,
            (std::vector<std::string>{"2: there is no limit 'moon'; ignored",
                                      "4: a header can only be the first line; skipped"}));
}

TEST(TraceReader, names_bad_lines_and_goes_on) {
  Opened trace("garbage\n" + ask(1, "a") + "\n{\"t\":5,\"is\":\n" + ask(2, "b"));
  ASSERT_TRUE(trace.reader->open());
  EXPECT_EQ(rest_of(*trace.reader), "1: aska | 2: askb");
  EXPECT_EQ(trace.reports, (std::vector<std::string>{"1: it is no JSON object; skipped",
                                                     "4: it is no JSON object; skipped"}));
}

TEST(TraceReader, keeps_evidence_whose_time_falls_back) {
  Opened trace(ask(5, "a") + ask(3, "b") + ask(6, "c"));
  ASSERT_TRUE(trace.reader->open());
  EXPECT_EQ(rest_of(*trace.reader), "5: aska askb | 6: askc");
  EXPECT_EQ(trace.reports,
            std::vector<std::string>{"2: its time falls back to 3 s; judged at 5 s"});
}

TEST(TraceReader, cannot_open_what_holds_no_trace) {
  EXPECT_EQ(Opened("").reader->open().error().text, "f is empty");
  EXPECT_EQ(Opened("a\nb\n").reader->open().error().text,
            "f is no trace: not one of its lines can be read");
  EXPECT_EQ(Opened("{\"trace\":2}\n").reader->open().error().text,
            "f:1: the header is of trace version '2', this tend reads version 1");
}

TEST(TraceReader, opens_a_trace_of_nothing_but_a_header) {
  Opened trace("{\"trace\":1}");
  ASSERT_TRUE(trace.reader->open());
  EXPECT_EQ(rest_of(*trace.reader), "");
}

TEST(TraceReader, gives_out_a_crowded_moment_in_parts) {
  std::string text;
  for (std::size_t i = 0; i < TraceReader::kMostSignals + 10; ++i)
    text += ask(7, std::to_string(i));
  Opened trace(text + ask(8, "last"), 100'000);
  ASSERT_TRUE(trace.reader->open());
  Moment moment;
  ASSERT_TRUE(*trace.reader->next(moment));
  EXPECT_EQ(moment.signals.size(), TraceReader::kMostSignals);
  EXPECT_EQ(moment.signals.front().id, "0");
  EXPECT_EQ(moment.signals.back().id, std::to_string(TraceReader::kMostSignals - 1));
  ASSERT_TRUE(*trace.reader->next(moment));
  EXPECT_EQ(moment.at, Instant{7s});
  EXPECT_EQ(moment.signals.size(), 10U);
  EXPECT_EQ(rest_of(*trace.reader), "8: asklast");
}

TEST(TraceReader, knows_that_the_observer_was_away_before_it_gives_out_the_lag) {
  Opened trace(ask(1, "a") + ask(30, "b") + "{\"t\":35,\"is\":\"lag\",\"seconds\":25}\n" +
               ask(40, "c"));
  ASSERT_TRUE(trace.reader->open());
  Moment moment;
  ASSERT_TRUE(*trace.reader->next(moment));
  ASSERT_TRUE(*trace.reader->next(moment));
  EXPECT_EQ(moment.at, Instant{30s});
  EXPECT_TRUE(trace.reader->was_there(Instant{10s}));
  EXPECT_FALSE(trace.reader->was_there(Instant{10s + 1ms}));
  EXPECT_FALSE(trace.reader->was_there(Instant{29s}));
  EXPECT_EQ(moment.signals.front().id, "b");
  ASSERT_TRUE(*trace.reader->next(moment));
  EXPECT_FALSE(trace.reader->was_there(Instant{35s - 1ms}));
  EXPECT_TRUE(trace.reader->was_there(Instant{35s}));
  EXPECT_EQ(rest_of(*trace.reader), "40: askc");
}

TEST(TraceReader, loses_no_text_while_it_looks_ahead) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += ask(i, "number " + std::to_string(i));
  Opened trace(text, 100'000);
  ASSERT_TRUE(trace.reader->open());
  Moment moment;
  for (int i = 0; i < 20'000; ++i) {
    ASSERT_TRUE(*trace.reader->next(moment));
    ASSERT_TRUE(i % 1000 != 500 || trace.reader->was_there(moment.at - 1ms));
    ASSERT_EQ(moment.signals.size(), 1U);
    ASSERT_EQ(moment.signals[0].id, "number " + std::to_string(i));
  }
  EXPECT_FALSE(*trace.reader->next(moment));
}

TEST(TraceReader, tells_when_reading_fails_on_the_way) {
  SimFiles files;
  files.broken["f"] = "Input/output error";
  const auto source = files.open("f").value();
  TraceReader reader(*source, "f", [](std::uint64_t, std::string_view) {});
  EXPECT_EQ(reader.open().error().text, "cannot read f: Input/output error");
}

TEST(TraceReader, passes_over_what_a_keeper_wrote_down) {
  Opened trace(ask(1, "a") + "{\"t\":1,\"verdict\":\"waiting\",\"because\":[]}\n" +
               "{\"t\":3600,\"action\":\"warn\",\"n\":1}\n" + ask(2, "b") +
               "{\"t\":3700,\"did\":\"warn\"}\n{\"t\":3800,\"note\":\"x\"}\n");
  ASSERT_TRUE(trace.reader->open());
  EXPECT_EQ(rest_of(*trace.reader), "1: aska | 2: askb");
  EXPECT_TRUE(trace.reports.empty());
  EXPECT_EQ(trace.reader->last(), Instant{3600s}) << "judged no later";
}

TEST(TraceReader, tells_records_to_those_who_ask) {
  const std::string decided = R"({"t":1,"verdict":"waiting"})";
  const std::string noted = R"({"t":2.5,"note":"hello"})";
  Opened trace(ask(1, "a") + decided + "\n" + noted + "\n" + ask(3, "b"));
  std::vector<std::string> heard;
  trace.reader->on_record([&](std::string_view line, Instant at) {
    heard.push_back(std::to_string(at.time_since_epoch() / 1ms) + " " + std::string(line));
  });
  ASSERT_TRUE(trace.reader->open());
  rest_of(*trace.reader);
  EXPECT_EQ(heard, (std::vector<std::string>{"1000 " + decided, "2500 " + noted}));
}

TEST(TraceReader, begins_a_journal_at_the_time_of_its_snapshot) {
  Opened trace("{\"trace\":1,\"at_ms\":5000,\"offset\":7,\"judge\":{}}\n" + ask(4, "a"));
  ASSERT_TRUE(trace.reader->open());
  EXPECT_EQ(trace.reader->last(), Instant{5s});
  EXPECT_EQ(rest_of(*trace.reader), "5: aska");
  EXPECT_EQ(trace.reports,
            std::vector<std::string>{"2: its time falls back to 4 s; judged at 5 s"});
}

TEST(TraceReader, knows_how_far_files_were_judged) {
  Opened trace("{\"trace\":1,\"offset\":7,\"said\":120}\n" +
               std::string("{\"t\":1,\"is\":\"progress\",\"offset\":4096}\n") + ask(2, "a"));
  ASSERT_TRUE(trace.reader->open());
  EXPECT_EQ(trace.reader->offset(), 7U);
  rest_of(*trace.reader);
  EXPECT_EQ(trace.reader->offset(), 4096U);
  EXPECT_EQ(trace.reader->said(), 120U);
}

}  // namespace
}  // namespace tend
