// What a judge could say for itself if it were asked: every sign with its age and its limit, which
// planes agree, what is spent, and what would follow if nothing new were seen. Asking changes
// nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/name.h"
#include "base/time.h"
#include "judge/decision.h"
#include "judge/judge.h"
#include "judge/planes.h"
#include "judge/policy.h"
#include "judge/words.h"

namespace tend {

/// Something that happens again, and until when it has to.
struct SignAge {
  bool seen = false;  // in this life; if not, the ages say nothing
  Duration age{};
  Duration limit = kNoLimit;
};

struct OpenTool {
  Name tool;
  Name task;  // the sub-agent whose call it is; empty: the lead's
  Duration age{};
  Duration limit = kNoLimit;
  bool background = false;
};

struct KnownChild {
  Name name;
  Verdict verdict = Verdict::unknown;
  Duration told{};  // since it was heard of
  bool for_parent = false;
};

struct HeldUp {
  Cause cause = Cause::none;
  Duration age{};
  std::optional<Duration> to_go;  // none: nobody said
  bool over = false;              // its time came, and nothing followed yet
};

/// One thing that would happen, if nothing new were seen.
struct Foreseen {
  Duration in{};              // from now; not above zero: it is due
  Decision decision;          // reasons as they would be then
  bool follows_kill = false;  // only once the kill before it is proven to have worked
  std::string_view but{};     // why whoever acts will not do it; the judge leaves it empty
};

struct Account {
  Verdict verdict = Verdict::unknown;
  Phase phase = Phase::start;
  std::vector<Reason> because;  // with the ages of now, in whole seconds

  // The silence of this phase.
  SignAge real;                        // the last real sign, and the limit of this phase
  bool excused = false;                // someone else's turn: a person, the provider, a child
  std::optional<Duration> suspect_in;  // below zero: past it; none: this phase has no limit
  std::optional<Duration> weak;        // since the last weak sign

  // The planes.
  SignAge stream;
  SignAge beats;
  bool beats_fail = false;  // its beats cannot be written
  std::optional<ProcessState> process;
  Exit exit;
  std::optional<SelfState> self;
  Duration self_age{};
  std::optional<Duration> quiet_for;  // it said how long it will be silent: what is left of that
  bool stuck = false;
  std::uint32_t pings_open = 0;
  Duration ping_age{};  // of the oldest
  Planes planes;        // none agrees while the silence is within its limit
  std::uint32_t planes_needed = kPlanesNeeded;

  // What it waits for, and what waits for it.
  std::vector<OpenTool> tools;
  std::vector<Name> questions;
  bool credentials_refused = false;
  Duration person_age{};  // since a person is waited for
  std::optional<HeldUp> hold;
  std::vector<KnownChild> children;
  std::uint32_t background = 0;
  std::uint32_t inbox = 0;
  std::uint32_t tasks = 0;
  std::optional<ParentState> parent;
  Want want = Want::run;
  std::string_view unfit;  // why the observer is not fit to judge; empty: it is

  // Budgets.
  std::uint32_t spent = 0;
  std::uint32_t allowed = 0;
  std::uint32_t spent_ever = 0;
  std::uint32_t allowed_ever = 0;

  /// In the order of time. Ends with the first new life, or when only a signal can change anything.
  std::vector<Foreseen> next;
  bool more = false;  // the list was cut
};

/// Bounds of the look ahead.
inline constexpr std::size_t kMostForeseen = 16;
inline constexpr int kMostStepsAhead = 256;

/// What would be done at one moment, in words: "stalled: work is saved, it is ended". Actions that
/// nobody outside sees are left out; "" if nothing is left.
std::string describe(std::span<const Foreseen> together);
/// The first of `next` that are of one moment.
std::span<const Foreseen> first_moment(std::span<const Foreseen> next);

/// The account at `now`, on the judge's own clock; a `now` before its last step counts as that.
Account account(const Judge& judge, Instant now);

}  // namespace tend
