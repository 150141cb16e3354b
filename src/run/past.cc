// One pass over the text: signals go to a judge, records to those who keep account of them.
#include "run/past.h"

#include <algorithm>
#include <ranges>
#include <span>
#include <utility>

#include <nlohmann/json.hpp>

#include "run/replay.h"
#include "sense/trace_reader.h"
#include "store/policy_json.h"

namespace tend {
namespace {

// A journal is replaced at a quarter of this; one that is larger is not ours.
constexpr std::size_t kLargestJournal = 4 * Journal::kFull;

class TextSource final : public ByteSource {
 public:
  explicit TextSource(std::string_view text) : text_(text) {}
  Result<std::size_t> read(std::span<char> into) override {
    const std::size_t size = std::min(into.size(), text_.size());
    std::copy_n(text_.begin(), size, into.begin());
    text_.remove_prefix(size);
    return size;
  }

 private:
  std::string_view text_;
};

/// Makes anew what stands in the file: the decisions, each action with its number. The last of them
/// may be missing there, if the write that had them was cut short.
class Again final : public DecisionSink {
 public:
  explicit Again(std::uint64_t next) : next_(next) {}
  void decided(Instant at, const Decision& decision) override {
    if (at != at_) latest_.clear();
    at_ = at;
    const bool is_action = decision.kind == Decision::Kind::action;
    latest_.push_back({.decision = decision, .number = is_action ? next_++ : 0, .life = life});
  }
  /// Those of the last moment.
  [[nodiscard]] const std::vector<Unwritten>& latest() const { return latest_; }
  [[nodiscard]] Instant at() const { return at_; }

  std::uint32_t life = 0;

 private:
  std::uint64_t next_;
  Instant at_{};
  std::vector<Unwritten> latest_;
};

/// Keeps the list of what is owed while records are read, in their order.
class Debts {
 public:
  void hear(std::string_view line, Instant at) {
    const auto record = nlohmann::json::parse(line, nullptr, false);
    if (!record.is_object()) return;
    const bool is_decision = record.contains("verdict") || record.contains("action");
    if (is_decision && !record.contains("carried")) count(at);
    if (!record.contains("n") || !record["n"].is_number_unsigned()) return;
    const auto number = record["n"].get<std::uint64_t>();
    if (record.contains("did")) {
      next_ = std::max(next_, number + 1);
      std::erase_if(owed_, [&](const Ruling& one) { return one.number == number; });
      return;
    }
    if (!record.contains("action") || !record["action"].is_string()) return;
    const auto action = from_word<Action>(kActionWords, record["action"].get<std::string>());
    if (!action) return;
    Ruling ruling;
    ruling.number = number;
    ruling.action = *action;
    if (record.contains("why") && record["why"].is_string()) ruling.why = record["why"];
    if (record.contains("life") && record["life"].is_number_unsigned()) {
      ruling.life = record["life"].get<std::uint32_t>();
    }
    if (record.contains("under") && record["under"].is_string()) {
      ruling.verdict = from_word<Verdict>(kVerdictWords, record["under"].get<std::string>())
                           .value_or(Verdict::unknown);
    }
    owed_.push_back(std::move(ruling));
    next_ = std::max(next_, number + 1);
  }
  /// One that was decided and never written down. False if its number stands there.
  bool add(const Unwritten& one) {
    if (one.number < next_) return false;
    const auto because = one.decision.because();
    owed_.push_back({.number = one.number,
                     .action = one.decision.action,
                     .verdict = one.decision.verdict,
                     .life = one.life,
                     .why = because.empty() ? "" : describe(because.front())});
    next_ = one.number + 1;
    return true;
  }
  /// How many decisions of that moment were written down.
  [[nodiscard]] std::size_t decided(Instant at) const { return at == last_ ? of_last_ : 0; }
  [[nodiscard]] std::uint64_t next() const { return next_; }
  std::vector<Ruling> take_owed() { return std::move(owed_); }

 private:
  void count(Instant at) {
    if (at < last_) return;
    if (std::exchange(last_, at) != at) of_last_ = 0;
    ++of_last_;
  }

  std::vector<Ruling> owed_;
  std::uint64_t next_ = 1;
  Instant last_{};           // of any decision
  std::size_t of_last_ = 0;  // decisions at that time
};

/// Of what was decided at `last`, all that stands behind the lines that are there; its actions are
/// owed.
std::vector<Unwritten> add_unwritten(Debts& debts, const Again& again, Instant last) {
  std::vector<Unwritten> unwritten;
  if (again.at() != last) return unwritten;
  for (const Unwritten& one : again.latest() | std::views::drop(debts.decided(last))) {
    const bool is_action = one.decision.kind == Decision::Kind::action;
    if (!is_action || debts.add(one)) unwritten.push_back(one);
  }
  return unwritten;
}

Result<Past> past_of(std::string_view text, const HearRecord& hear) {
  TextSource source(text);
  TraceReader reader(source, std::string(kJournalFile), [](std::uint64_t, std::string_view) {});
  Debts debts;
  reader.on_record([&](std::string_view line, Instant at) {
    debts.hear(line, at);
    if (hear) hear(line, at);
  });
  auto header = reader.open();
  if (!header) return std::unexpected(header.error());
  if (header->policy_full.empty()) return fail("it is no journal of a keeper");
  auto policy = parse_policy_json(header->policy_full);
  if (!policy) return std::unexpected(policy.error());
  auto judge = first_judge(*header, *std::move(policy));
  if (!judge) return std::unexpected(judge.error());

  Again again(header->actions);
  again.life = header->life;
  Replay replay(*std::move(judge), reader, again);
  Exit exit;
  Duration clock_steps{};
  Moment moment;
  while (true) {
    const auto more = reader.next(moment);
    if (!more) return std::unexpected(more.error());
    if (!*more) break;
    replay.run_to(moment.at - Duration{1});
    for (const Signal& signal : moment.signals) {
      if (signal.is == Kind::spawn) {
        again.life = signal.life != 0 ? signal.life : again.life + 1;
        exit = {};
      }
      if (signal.is == Kind::process && signal.exit.how != Exit::How::unknown) exit = signal.exit;
      if (signal.is == Kind::clock_step) clock_steps += signal.seconds;
    }
    replay.judge_at(moment);
  }
  replay.run_to(reader.last());
  auto unwritten = add_unwritten(debts, again, reader.last());
  const Instant last = std::max(reader.last(), header->at.value_or(Instant{}));
  const std::uint64_t next_action = std::max(debts.next(), header->actions);
  return Past{
      .header = *std::move(header),
      .judge = std::move(replay).take_judge(),
      .last = last,
      .lives = again.life,
      .next_action = next_action,
      .offsets = {.stream = reader.offset(), .said = reader.said(), .beaten = reader.beaten()},
      .owed = debts.take_owed(),
      .unwritten = std::move(unwritten),
      .exit = exit,
      .clock_steps = clock_steps};
}

}  // namespace

Result<std::optional<Past>> read_past(Folder& folder, const HearRecord& hear) {
  const auto text = folder.read(std::string(kJournalFile), kLargestJournal);
  if (!text) return std::unexpected(text.error());
  if (!*text) return std::nullopt;
  auto past = past_of(**text, hear);
  if (!past) return std::unexpected(past.error());
  return *std::move(past);
}

}  // namespace tend
