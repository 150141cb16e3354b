// A replay of what a keeper saw decides what the keeper decided.
#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "checks/check.h"
#include "run/replay.h"
#include "sense/trace_reader.h"
#include "store/journal.h"
#include "store/json.h"
#include "store/policy_json.h"

namespace tend::sim {
namespace {

/// Reads a journal as `tend replay` does.
class JournalTwice final : ByteSource, DecisionSink {
 public:
  explicit JournalTwice(std::string text) : text_(std::move(text)), left_(text_) {}

  /// "" if both say the same.
  std::string play() {
    TraceReader reader(*this, "journal", [](std::uint64_t, std::string_view) {});
    reader.on_record([this](std::string_view line, Instant at) { hear(line, at); });
    const auto header = reader.open();
    if (!header) return header.error().text;
    auto policy = parse_policy_json(header->policy_full);
    if (!policy) return policy.error().text;
    auto judge = first_judge(*header, *std::move(policy));
    if (!judge) return judge.error().text;
    Replay replay(*std::move(judge), reader, *this);
    Moment moment;
    while (reader.next(moment).value_or(false)) replay.take(moment);
    replay.run_to(reader.last());
    const auto [recorded, replayed] = std::ranges::mismatch(recorded_, replayed_);
    if (recorded == recorded_.end() && replayed == replayed_.end()) return "";
    return fmt::format("recorded {}, replayed {}",
                       recorded == recorded_.end() ? "nothing" : *recorded,
                       replayed == replayed_.end() ? "nothing" : *replayed);
  }

 private:
  Result<std::size_t> read(std::span<char> into) override {
    const std::size_t size = std::min(into.size(), left_.size());
    std::copy_n(left_.begin(), size, into.begin());
    left_.remove_prefix(size);
    return size;
  }
  void decided(Instant at, const Decision& decision) override {
    const bool is_verdict = decision.kind == Decision::Kind::verdict;
    add(replayed_, at, is_verdict ? word(decision.verdict) : word(decision.action));
  }
  void hear(std::string_view line, Instant at) {
    const auto json = parse_object(line, line.size());
    if (!json || json->contains("carried")) return;
    for (const char* what : {"verdict", "action"}) {
      if (const ReadJson* const said = find_field(*json, what)) {
        add(recorded_, at, said->get<std::string>());
      }
    }
  }
  static void add(std::vector<std::string>& to, Instant at, std::string_view which) {
    to.push_back(fmt::format("{} at {}", which, at.time_since_epoch().count()));
  }

  std::string text_;
  std::string_view left_;
  std::vector<std::string> recorded_;
  std::vector<std::string> replayed_;
};

class ReplaySame final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "replay"; }

  void on_settled() override {
    for (const auto& [name, agent] : world.truth().agents) {
      const std::string folder = world.folder_of(name);
      if (folder.empty()) continue;
      // Nobody has gone on with it since the power took something of it.
      const Duration since = agent.lives.empty() ? Duration{} : agent.lives.back().since;
      if (world.has_lost(name, kJournalFile, since)) continue;
      auto text = world.universe.disk.read(folder + "/" + std::string(kJournalFile));
      if (!text || text->empty()) continue;
      const std::string difference = JournalTwice(*std::move(text)).play();
      if (!difference.empty()) violated(fmt::format("{}: {}", name, difference));
    }
  }
};

}  // namespace

std::unique_ptr<Check> make_replay_check(SeededWorld& world) {
  return std::make_unique<ReplaySame>(world);
}

}  // namespace tend::sim
