// A journal is a trace: whoever goes on from the snapshot in its header decides what the judge that
// wrote it decided.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "judge/judge.h"
#include "run/replay.h"
#include "sense/trace_reader.h"
#include "store/journal.h"

namespace tend {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

class TextSource final : public ByteSource {
 public:
  explicit TextSource(std::string text) : text_(std::move(text)) {}
  Result<std::size_t> read(std::span<char> into) override {
    const std::size_t size = std::min(into.size(), text_.size() - at_);
    std::memcpy(into.data(), text_.data() + at_, size);
    at_ += size;
    return size;
  }

 private:
  std::string text_;
  std::size_t at_ = 0;
};

std::string said(Instant at, std::string_view what, std::string_view which) {
  return std::to_string(at.time_since_epoch() / 1ms) + " " + std::string(what) + " " +
         std::string(which);
}

struct Listing final : DecisionSink {
  void decided(Instant at, const Decision& decision) override {
    const bool is_verdict = decision.kind == Decision::Kind::verdict;
    lines.push_back(said(at, is_verdict ? "verdict" : "action",
                         is_verdict ? word(decision.verdict) : word(decision.action)));
  }
  std::vector<std::string> lines;
};

Policy policy_of(const TraceHeader& header) {
  Policy policy = built_in_policy(header.policy.empty() ? "agent" : header.policy).value();
  EXPECT_TRUE(!header.beats || set_beats(policy, *header.beats));
  for (const auto& [name, value] : header.limits) EXPECT_TRUE(set_limit(policy, name, value));
  return policy;
}

/// What is left of a played trace: all decisions, and the judge where it stands.
class Played {
 public:
  /// Plays all of it, then on to `last` if that is given, else to its end.
  explicit Played(const std::string& text, std::optional<Instant> last = std::nullopt)
      : source_(text), reader_(source_, "trace", [](std::uint64_t, std::string_view what) {
          ADD_FAILURE() << what;
        }) {
    reader_.on_record([this](std::string_view line, Instant at) {
      const Json json = Json::parse(line);
      for (const char* what : {"verdict", "action"}) {
        if (json.contains(what)) records.push_back(said(at, what, json[what].get<std::string>()));
      }
    });
    auto opened = reader_.open();
    EXPECT_TRUE(opened) << opened.error().text;
    header = *std::move(opened);
    auto judge = first_judge(header, policy_of(header));
    EXPECT_TRUE(judge) << judge.error().text;
    Replay replay(*std::move(judge), reader_, listing);
    Moment moment;
    while (reader_.next(moment).value_or(false)) replay.take(moment);
    replay.run_to(last.value_or(reader_.last()));
    snapshot = replay.judge().snapshot();
  }

  TraceHeader header;
  Listing listing;
  std::vector<std::string> records;
  std::string snapshot;

 private:
  TextSource source_;
  TraceReader reader_;
};

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::string joined(const std::vector<std::string>& lines, std::size_t begin, std::size_t end) {
  std::string text;
  for (std::size_t i = begin; i < end; ++i) text += lines[i] + "\n";
  return text;
}

Instant time_of(const std::string& line) {
  return Instant{Duration{std::llround(Json::parse(line)["t"].get<double>() * 1000)}};
}

/// The header of a journal that is begun at `at`.
std::string journal_header(const std::string& trace_header, Instant at, const std::string& judge) {
  Json header = Json::parse(trace_header);
  header.erase("expect");
  std::string text = header.dump();
  text.pop_back();
  return text + ",\"boot\":\"b\",\"shift_ms\":0,\"wall\":1767225600.25,\"at_ms\":" +
         std::to_string(at.time_since_epoch() / 1ms) +
         ",\"offset\":0,\"actions\":1,\"judge\":" + judge + "}";
}

class JournalReplay : public testing::TestWithParam<const char*> {
 protected:
  JournalReplay() : lines(lines_of(TEND_SOURCE_DIR "/test/incidents/" + name() + ".jsonl")) {}
  static std::string name() { return GetParam(); }

  std::vector<std::string> lines;  // the header first
};

TEST_P(JournalReplay, goes_on_from_any_moment_as_if_never_interrupted) {
  ASSERT_GT(lines.size(), 2U);
  const Instant end = time_of(lines.back()) + 2h;
  const Played whole(joined(lines, 0, lines.size()), end);
  for (std::size_t cut = 1; cut < lines.size(); ++cut) {
    const Instant at = cut == 1 ? Instant{} : time_of(lines[cut - 1]);
    if (cut > 1 && time_of(lines[cut]) == at) continue;  // in the middle of a moment
    const Played first(joined(lines, 0, cut));
    const Played second(
        journal_header(lines[0], at, first.snapshot) + "\n" + joined(lines, cut, lines.size()),
        end);
    std::vector<std::string> both = first.listing.lines;
    both.insert(both.end(), second.listing.lines.begin(), second.listing.lines.end());
    EXPECT_EQ(both, whole.listing.lines) << "cut before line " << cut + 1;
    EXPECT_EQ(second.snapshot, whole.snapshot) << "cut before line " << cut + 1;
  }
}

TEST_P(JournalReplay, recomputes_the_decisions_that_were_recorded) {
  const Instant end = time_of(lines.back()) + 2h;
  const Played whole(joined(lines, 0, lines.size()), end);

  // As a keeper writes it: each decision behind the signals of its time and before those after it.
  std::string journal = lines[0] + "\n";
  std::size_t told = 0;
  const auto tell_up_to = [&](Instant last) {
    for (; told < whole.listing.lines.size(); ++told) {
      std::istringstream decision(whole.listing.lines[told]);
      std::int64_t at = 0;
      std::string what;
      std::string which;
      decision >> at >> what >> which;
      if (Instant{Duration{at}} > last) return;
      journal += Json{{"t", static_cast<double>(at) / 1000}, {what, which}}.dump() + "\n";
    }
  };
  for (std::size_t i = 1; i < lines.size(); ++i) {
    tell_up_to(time_of(lines[i]) - 1ms);
    journal += lines[i] + "\n";
  }
  tell_up_to(end);

  const Played again(journal);
  EXPECT_EQ(again.records, whole.listing.lines);
  EXPECT_EQ(again.listing.lines, whole.listing.lines) << "played as far as its last record";
}

TEST_P(JournalReplay, judges_the_lines_that_a_journal_makes_of_signals_alike) {
  const std::string text = joined(lines, 0, lines.size());
  TextSource source(text);
  TraceReader reader(source, "trace", [](std::uint64_t, std::string_view) {});
  ASSERT_TRUE(reader.open());
  std::string journal = lines[0] + "\n";
  Moment moment;
  for (std::uint64_t offset = 1; reader.next(moment).value_or(false); ++offset) {
    for (const Signal& signal : moment.signals) {
      append_signal_line(journal, moment.at, signal, {.stream = offset, .said = 2 * offset});
      journal += '\n';
    }
  }
  const Instant end = time_of(lines.back()) + 2h;
  EXPECT_EQ(Played(journal, end).listing.lines, Played(text, end).listing.lines);
}

INSTANTIATE_TEST_SUITE_P(Incidents, JournalReplay,
                         testing::Values("C008", "C110", "C134", "C135", "C179", "C183", "C232",
                                         "C294", "I012", "I072"),
                         [](const auto& incident) { return std::string(incident.param); });

TEST(FirstJudge, is_a_new_one_where_the_header_has_none) {
  const auto judge = first_judge(TraceHeader{}, built_in_policy("worker").value());
  ASSERT_TRUE(judge);
  EXPECT_EQ(judge->policy().name, "worker");
  EXPECT_EQ(judge->next(), std::nullopt);
}

TEST(FirstJudge, is_refused_when_its_snapshot_is_damaged) {
  TraceHeader header;
  header.judge = R"({"snapshot":1,"judge":{}})";
  const auto judge = first_judge(header, built_in_policy("agent").value());
  ASSERT_FALSE(judge);
  EXPECT_TRUE(judge.error().text.starts_with(
      "the judge in its header cannot be restored: the snapshot is damaged: "))
      << judge.error().text;
}

/// A judge that is 100 s into a silence of the model.
Judge silent_judge() {
  Judge judge(built_in_policy("agent").value());
  Signal signal;
  signal.is = Kind::spawn;
  judge.step({&signal, 1}, Instant{});
  signal.is = Kind::turn_start;
  judge.step({&signal, 1}, Instant{1s});
  judge.step({}, Instant{101s});
  return judge;
}

struct Always final : Attendance {
  bool was_there(Instant /*at*/) override { return true; }
};

TEST(Replay, takes_over_the_deadline_of_a_restored_judge) {
  const Policy policy = built_in_policy("agent").value();
  Listing listing;
  Always always;
  Replay replay(Judge::restore(policy, silent_judge().snapshot()).value(), always, listing);
  replay.run_to(Instant{720s});
  EXPECT_TRUE(listing.lines.empty());
  replay.run_to(Instant{721s});
  EXPECT_EQ(listing.lines, (std::vector<std::string>{"721000 verdict suspect", "721000 action warn",
                                                     "721000 action ping"}));
}

TEST(Replay, counts_another_policy_from_when_it_takes_effect) {
  Policy strict = built_in_policy("agent").value();
  ASSERT_TRUE(set_limit(strict, "model", 50s));
  for (const bool looks_again : {false, true}) {
    Judge judge = Judge::restore(strict, silent_judge().snapshot()).value();
    if (looks_again) {
      judge.take_on_policy();
      judge.step({}, Instant{101s});
      judge.step({}, Instant{110s});
    }
    Listing listing;
    Always always;
    Replay replay(std::move(judge), always, listing);
    replay.run_to(Instant{159s});
    EXPECT_TRUE(listing.lines.empty());
    replay.run_to(Instant{170s});
    ASSERT_EQ(listing.lines.empty(), !looks_again);
    EXPECT_TRUE(!looks_again || listing.lines.front() == "160000 verdict suspect");
  }
}

}  // namespace
}  // namespace tend
