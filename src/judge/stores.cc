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

void add(std::string& text, const StoreSight& store) {
  if (!text.empty()) text += ", ";
  text += store.name + " " + std::string(word(verdict_of(store))) + " (" +
          format_duration(std::chrono::floor<std::chrono::seconds>(*store.age)) + ")";
}

}  // namespace

StoreVerdict verdict_of(const StoreSight& store) {
  if (store.unread) return StoreVerdict::unreadable;
  if (store.of_another) return StoreVerdict::void_sign;
  if (store.state == SelfState::stuck) return StoreVerdict::stuck;
  if (store.state == SelfState::exiting) return StoreVerdict::exiting;
  if (store.state == SelfState::idle) return StoreVerdict::idle;
  if (!store.age) return StoreVerdict::none;
  return *store.age < store.limit ? StoreVerdict::fresh : StoreVerdict::stale;
}

std::string divergence_of(std::span<const StoreSight> stores) {
  // Whoever rests need not write anywhere.
  if (std::ranges::any_of(stores, rests)) return "";
  if (std::ranges::none_of(stores, is_fresh) || std::ranges::none_of(stores, is_late)) return "";
  std::string text;
  for (const StoreSight& store : stores) {
    if (is_fresh(store)) add(text, store);
  }
  for (const StoreSight& store : stores) {
    if (is_late(store)) add(text, store);
  }
  return text;
}

bool DivergenceWatch::look(std::span<const StoreSight> stores, Duration awake) {
  std::string now = divergence_of(stores);
  if (!now.empty()) {
    const bool is_new = text_.empty();
    text_ = std::move(now);
    agreed_since_.reset();
    return is_new;
  }
  if (text_.empty()) return false;
  if (!agreed_since_) agreed_since_ = awake;
  Duration slowest{};
  for (const StoreSight& store : stores) slowest = std::max(slowest, store.limit);
  if (awake - *agreed_since_ >= slowest) text_.clear();
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
  if (poke_after) policy.ladder = {{.after = *poke_after, .missed = 0, .action = Action::ping}};
  return policy;
}

}  // namespace tend
