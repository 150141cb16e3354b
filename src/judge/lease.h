// Who may lead: pure, from what is known of a lease and its holder to whether it may be taken,
// renewed or acted under, with the reason and with when to look again.
//
// All ages are on the clock that stands still while the machine sleeps, which is one and the same
// for all processes of a boot. A holder counts from the moment before it began to write the last
// renewal that was confirmed, so for itself it is never younger than for those who wait. It
// renews after a third of its time; not renewed for two thirds of it, it asks its program to end;
// for five sixths, it insists; for all of it, it is free for others, and not before.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.h"
#include "judge/words.h"

namespace tend {

inline constexpr Duration kShortestLease = std::chrono::seconds{3};
inline constexpr Duration kLongestLease = std::chrono::hours{24};
inline constexpr Duration kUsualLease = std::chrono::minutes{3};

// The life of one renewal, by its age.
constexpr Duration lease_renews_after(Duration ttl) { return ttl / 3; }
constexpr Duration lease_asks_after(Duration ttl) { return ttl * 2 / 3; }
constexpr Duration lease_insists_after(Duration ttl) { return ttl * 5 / 6; }

/// How late a renewal is that comes at that age, or has not come by then.
constexpr Duration lease_lateness(Duration age, Duration ttl) {
  return std::max(Duration{}, age - lease_renews_after(ttl));
}
/// The lag of a lease: all of what is measured counts at once, and is forgotten by an eighth with
/// every renewal that comes in time.
constexpr Duration lease_lag(Duration before, Duration late) {
  return std::max(late, before - (before + Duration{7}) / 8);
}

/// That many takeovers from holders that did not give it back, within that many of its times, are
/// too many: the next one has to wait until two of its times have passed since the last renewal.
/// Where holders are late its time counts as longer by the lag, up to twice as long: who was that
/// late before is back before anybody takes it.
inline constexpr std::size_t kFlapping = 3;
inline constexpr int kFlappingWithin = 10;
inline constexpr int kFlappingHolds = 2;
constexpr Duration lease_time_with_lag(Duration ttl, Duration lag) {
  return ttl + std::min(lag, ttl);
}
constexpr Duration lease_flaps_within(Duration ttl, Duration lag) {
  return lease_time_with_lag(ttl, lag) * kFlappingWithin;
}
constexpr Duration lease_holds_until(Duration ttl, Duration lag) {
  return lease_time_with_lag(ttl, lag) * kFlappingHolds;
}

enum class HolderIs : std::uint8_t {
  running,
  stopped,  // it lives, and does nothing
  dead,     // proven: gone, a zombie, its number is another's, or its boot is over
  unknown,  // never counts as dead
};

/// What the keeper of an agent says, where the holder is one or acts for one.
struct LeaseAgent {
  bool meant = false;  // the lease names an agent
  bool known = false;  // it was found in this home and could be looked at
  bool kept = false;   // its keeper is alive: only then its verdict counts
  bool over = false;   // its work has ended
  Verdict verdict = Verdict::unknown;
};

struct LeaseFacts {
  bool held = false;
  HolderIs holder = HolderIs::unknown;
  LeaseAgent agent;
  Duration ttl = kUsualLease;
  Duration age{};             // of the last renewal, as the one who asks can know it
  std::size_t takeovers = 0;  // unclean ones within the time that counts
  Duration lag{};             // that was measured of its holders
};
/// Whether it changes hands too often.
constexpr bool is_flapping(const LeaseFacts& facts) { return facts.takeovers >= kFlapping; }

/// Why a lease was or can be taken; the first two are clean.
enum class LeaseFree : std::uint8_t {
  never_held,
  given_back,
  holder_dead,
  expired,
  demoted,  // its agent is alive and does not work: stalled, looping, or dead by its keeper's word
};
inline constexpr std::array<std::string_view, 5> kLeaseFreeWords{
    "never-held", "given-back", "holder-dead", "expired", "demoted"};
constexpr std::string_view word(LeaseFree free) {
  return kLeaseFreeWords[static_cast<std::size_t>(free)];
}
constexpr bool is_clean(LeaseFree free) { return free <= LeaseFree::given_back; }

struct LeaseTaking {
  bool may = false;
  LeaseFree because = LeaseFree::given_back;  // if it may
  bool flapping = false;                      // it changes hands too often: people are to be told
  Duration again_in{};  // if it may not: when that changes if nothing else happens
  std::string why;      // one line for people
};
/// Whether somebody else than the holder may take it. What acts under the old grant has to be gone
/// before it is.
LeaseTaking may_take(const LeaseFacts& facts);

/// Why somebody was told no.
enum class LeaseRefusal : std::uint8_t {
  held,            // somebody else has it
  not_the_holder,  // ... and the one who asked never had it
  lost,            // it had it: it ran out, or another grant was made since
  not_alive,       // its process is not proven to be running
  demoted,         // its agent is not proven to be working
  stale_fence,     // another grant was made since
  free,            // nobody has it
  busy,            // others wrote at the same time, again and again
  failed,          // of the world
};
inline constexpr std::array<std::string_view, 9> kLeaseRefusalWords{
    "held",        "not-the-holder", "lost", "not-alive", "demoted",
    "stale-fence", "free",           "busy", "failed"};
constexpr std::string_view word(LeaseRefusal refusal) {
  return kLeaseRefusalWords[static_cast<std::size_t>(refusal)];
}

struct LeaseRenewing {
  bool may = false;
  LeaseRefusal refusal = LeaseRefusal::lost;
  std::string why;
};
/// Whether its own holder may renew it. One that ran out is lost, though nobody took it: whoever
/// looked meanwhile saw it free.
LeaseRenewing may_renew(const LeaseFacts& facts);

/// Whether a holder is proven to be alive and at work, so that somebody may vouch for it.
LeaseRenewing may_vouch(HolderIs holder, const LeaseAgent& agent);

/// Whether what is written under the current fence counts right now.
LeaseRenewing is_in_force(const LeaseFacts& facts);

}  // namespace tend
