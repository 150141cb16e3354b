// Several stores that all speak of one agent: what each of them says for itself, and whether they
// agree. One that is stale beside one that is fresh is a broken writer, not a stuck agent.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "judge/policy.h"
#include "judge/words.h"

namespace tend {

/// What is known of one store, with ages on the observer's own clock.
struct StoreSight {
  std::string name;
  std::optional<Duration> age;     // of the last sign; none: there never was one
  Duration limit{};                // stale from there on
  std::optional<SelfState> state;  // of the agent, by its own word
  Duration rests_for = kNoLimit;   // the word `idle` excuses it up to this age
  bool is_beat = true;             // a terminal is none: it may be quiet
  bool may_lag = false;            // that it alone is stale means nothing
  bool unread = false;             // it could not be looked at
  bool of_another = false;         // of an earlier life, or somebody else's
};

enum class StoreVerdict : std::uint8_t {
  fresh,
  stale,
  idle,
  exiting,
  stuck,
  none,        // no sign at all
  void_sign,   // of an earlier life, or somebody else's
  unreadable,  // nothing is known
};
inline constexpr std::array<std::string_view, 8> kStoreVerdictWords{
    "fresh", "stale", "idle", "exiting", "stuck", "none", "void", "unreadable"};

constexpr std::string_view word(StoreVerdict verdict) {
  return kStoreVerdictWords[static_cast<std::size_t>(verdict)];
}

StoreVerdict verdict_of(const StoreSight& store);

/// "session fresh (40s), file stale (26m)": each that takes part, the fresh ones first; "" if they
/// agree.
std::string divergence_of(std::span<const StoreSight> stores);
/// The same without ages, for what is kept for a while: "session fresh, file stale".
std::string sides_of(std::span<const StoreSight> stores);

/// Whether a fresh one was written later than it, by at least that: what it says of a process may
/// be of the past.
bool is_outrun(const StoreSight& store, std::span<const StoreSight> others, Duration by);

/// Remembers a divergence, so that it is told once. It is over when the stores have agreed for as
/// long as the slowest of them may take.
class DivergenceWatch {
 public:
  /// At the observer's time awake. True the first time of an episode.
  bool look(std::span<const StoreSight> stores, Duration awake);
  /// An episode that was told by an observer before this one: its sides.
  void go_on(const std::string& sides) { text_ = sides_ = sides; }
  /// As it was seen last; "" between episodes.
  [[nodiscard]] const std::string& text() const { return text_; }
  /// See sides_of().
  [[nodiscard]] const std::string& sides() const { return sides_; }

 private:
  std::string text_;
  std::string sides_;
  std::optional<Duration> agreed_since_;
};

/// Whether nothing can be said: no store is fresh, and one that might be cannot be looked at.
bool is_blind(std::span<const StoreSight> stores);

/// How long the word `idle` excuses an agent that shows no process.
constexpr Duration rest_unseen(Patience beats) { return 2 * beats.stalled; }

/// How an agent of another system is judged: by beats, told of and poked, and ended only if
/// `may_end`.
Policy policy_of_stores(Patience beats, std::optional<Duration> poke_after, bool may_end);

}  // namespace tend
