// One pass over the text: signals go to a judge, records to those who keep account of them.
#include "run/past.h"

#include <algorithm>
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

/// The decisions are in the file; only the judge they leave behind is wanted.
class Deaf final : public DecisionSink {
 public:
  void decided(Instant /*at*/, const Decision& /*decision*/) override {}
};

/// Keeps the list of what is owed while records are read, in their order.
class Debts {
 public:
  void hear(std::string_view line) {
    const auto record = nlohmann::json::parse(line, nullptr, false);
    if (!record.is_object() || !record.contains("n") || !record["n"].is_number_unsigned()) return;
    const auto number = record["n"].get<std::uint64_t>();
    if (record.contains("did")) {
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
  [[nodiscard]] std::uint64_t next() const { return next_; }
  std::vector<Ruling> take_owed() { return std::move(owed_); }

 private:
  std::vector<Ruling> owed_;
  std::uint64_t next_ = 1;
};

Result<Past> past_of(std::string_view text, const HearRecord& hear) {
  TextSource source(text);
  TraceReader reader(source, std::string(kJournalFile), [](std::uint64_t, std::string_view) {});
  Debts debts;
  reader.on_record([&](std::string_view line, Instant at) {
    debts.hear(line);
    if (hear) hear(line, at);
  });
  auto header = reader.open();
  if (!header) return std::unexpected(header.error());
  if (header->policy_full.empty()) return fail("it is no journal of a keeper");
  auto policy = parse_policy_json(header->policy_full);
  if (!policy) return std::unexpected(policy.error());
  auto judge = first_judge(*header, *std::move(policy));
  if (!judge) return std::unexpected(judge.error());

  Deaf deaf;
  Replay replay(*std::move(judge), reader, deaf);
  std::uint32_t lives = header->life;
  Moment moment;
  while (true) {
    const auto more = reader.next(moment);
    if (!more) return std::unexpected(more.error());
    if (!*more) break;
    lives +=
        static_cast<std::uint32_t>(std::ranges::count(moment.signals, Kind::spawn, &Signal::is));
    replay.take(moment);
  }
  replay.run_to(reader.last());
  const Instant last = std::max(reader.last(), header->at.value_or(Instant{}));
  const std::uint64_t next_action = std::max(debts.next(), header->actions);
  return Past{.header = *std::move(header),
              .judge = std::move(replay).take_judge(),
              .last = last,
              .lives = lives,
              .next_action = next_action,
              .offsets = {.stream = reader.offset(), .said = reader.said()},
              .owed = debts.take_owed()};
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
