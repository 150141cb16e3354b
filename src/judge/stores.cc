// See stores.h. Everything here is a function of what was seen.
#include "judge/stores.h"

#include <algorithm>

#include "base/duration.h"

namespace tend {
namespace {

bool is_fresh(const StoreSight& store) { return verdict_of(store) == StoreVerdict::fresh; }

bool is_late(const StoreSight& store) {
  return store.is_beat && !store.may_lag && verdict_of(store) == StoreVerdict::stale;
}

bool rests(const StoreSight& store) { return verdict_of(store) == StoreVerdict::idle; }

void add(std::string& text, const StoreSight& store, bool with_age) {
  if (!text.empty()) text += ", ";
  text += store.name + " " + std::string(word(verdict_of(store)));
  if (!with_age) return;
  text += " (" + format_duration(std::chrono::floor<std::chrono::seconds>(*store.age)) + ")";
}

std::string differ(std::span<const StoreSight> stores, bool with_ages) {
  // Whoever rests need not write anywhere.
  if (std::ranges::any_of(stores, rests)) return "";
  if (std::ranges::none_of(stores, is_fresh) || std::ranges::none_of(stores, is_late)) return "";
  std::string text;
  for (const StoreSight& store : stores) {
    if (is_fresh(store)) add(text, store, with_ages);
  }
  for (const StoreSight& store : stores) {
    if (is_late(store)) add(text, store, with_ages);
  }
  return text;
}

/// Whether it tells of a beat of this agent that is within the limit, whatever its word.
bool beats(const StoreSight& store) {
  return store.is_beat && !store.unread && !store.of_another && store.age &&
         *store.age < store.limit;
}

}  // namespace

StoreVerdict verdict_of(const StoreSight& store) {
  if (store.unread) return StoreVerdict::unreadable;
  if (store.of_another) return StoreVerdict::void_sign;
  if (store.state == SelfState::stuck) return StoreVerdict::stuck;
  if (store.state == SelfState::exiting) return StoreVerdict::exiting;
  const bool rests = !store.age || *store.age < store.rests_for;
  if (store.state == SelfState::idle && rests) return StoreVerdict::idle;
  if (!store.age) return StoreVerdict::none;
  return *store.age < store.limit ? StoreVerdict::fresh : StoreVerdict::stale;
}

std::string divergence_of(std::span<const StoreSight> stores) { return differ(stores, true); }

std::string sides_of(std::span<const StoreSight> stores) { return differ(stores, false); }

bool is_outrun(const StoreSight& store, std::span<const StoreSight> others, Duration by) {
  return std::ranges::any_of(others, [&](const StoreSight& other) {
    return beats(other) && (!store.age || *store.age - *other.age >= by);
  });
}

bool DivergenceWatch::look(std::span<const StoreSight> stores, Duration awake) {
  std::string now = divergence_of(stores);
  if (!now.empty()) {
    const bool is_new = text_.empty();
    text_ = std::move(now);
    sides_ = sides_of(stores);
    agreed_since_.reset();
    return is_new;
  }
  if (text_.empty()) return false;
  if (!agreed_since_) agreed_since_ = awake;
  Duration slowest{};
  for (const StoreSight& store : stores) slowest = std::max(slowest, store.limit);
  if (awake - *agreed_since_ >= slowest) {
    text_.clear();
    sides_.clear();
  }
  return false;
}

bool is_blind(std::span<const StoreSight> stores) {
  const auto says_something = [](const StoreSight& store) {
    const StoreVerdict verdict = verdict_of(store);
    return store.is_beat && verdict != StoreVerdict::stale && verdict != StoreVerdict::none &&
           verdict != StoreVerdict::void_sign && verdict != StoreVerdict::unreadable;
  };
  return std::ranges::none_of(stores, says_something) &&
         std::ranges::any_of(stores, [](const StoreSight& store) {
           return store.is_beat && store.unread && !store.may_lag;
         });
}

Policy policy_of_stores(Patience beats, std::optional<Duration> poke_after, bool may_end) {
  Policy policy = *built_in_policy("worker");
  policy.name = "store";
  policy.promise = may_end ? Promise::beats : Promise::watched;
  policy.limits.beats = beats;
  policy.limits.start = beats.suspect;
  policy.limits.confirm = std::min(policy.limits.confirm, beats.stalled - beats.suspect);
  policy.unseen_rest = rest_unseen(beats);
  if (poke_after) policy.ladder = {{.after = *poke_after, .missed = 0, .action = Action::ping}};
  return policy;
}

}  // namespace tend
