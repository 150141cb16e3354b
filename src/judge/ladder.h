// From a finding to actions. An episode begins with the first trouble and ends when the agent is
// well again; within it each rung is taken once, and the next follows by itself at its deadline.
// The ladder also says `looping`: when an agent's ends repeat or its budget is spent, it is held.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "judge/clocks.h"
#include "judge/decision.h"
#include "judge/evidence.h"
#include "judge/finding.h"
#include "judge/fitness.h"
#include "judge/horizon.h"
#include "judge/planes.h"
#include "judge/policy.h"
#include "judge/spending.h"

namespace tend {

/// The rungs taken since the trouble began.
struct Episode {
  bool open = false;
  bool warned = false;
  bool stall_counted = false;
  std::optional<ActiveTime> killed;
  bool kill_escalated = false;
  bool escalated_instead = false;  // fewer than two planes, a silent fleet, nothing promised
  std::optional<ActiveTime> resumed;
  bool resume_escalated = false;
  std::optional<ActiveTime> orphaned;
  bool reassigned = false;
};

/// Everything one moment's rungs are decided from.
struct Scene {
  Evidence& evidence;
  const Policy& policy;
  const Exiting& exiting;
  const Fitness& fitness;
  const Watch& watch;
  const Finding& finding;
  const Clocks& clocks;
  Horizon& horizon;
};

class Ladder {
 public:
  /// A new life: the hold of a loop and the episode end with it.
  void life_began();

  /// The verdict of this moment: the finding's, or looping. Counts ends and refills budgets.
  Verdict settle(const Scene& scene);

  /// Takes every rung that is due under `verdict`, in a fixed order.
  void climb(const Scene& scene, Verdict verdict, std::vector<Decision>& decisions);

  /// Why it is looping, for the verdict's reasons.
  [[nodiscard]] const Reason& looping_because() const { return looping_because_; }
  [[nodiscard]] const Spending& spending() const { return spending_; }
  [[nodiscard]] bool degraded() const { return degraded_; }
  [[nodiscard]] bool holds_loop() const { return looping_until_.has_value(); }

  template <class Fields>
  void fields(Fields& io);

 private:
  static Decision& act(const Scene& scene, Verdict verdict, Action action, const Reason& why,
                       std::vector<Decision>& out);

  void keep_account(const Scene& scene, Verdict found);
  Verdict settle_death(const Scene& scene);
  /// True if this death was not counted before.
  bool note_death(const Evidence& evidence);
  Verdict count_end(const Scene& scene, const Name& cause, Verdict found);
  Verdict loop_if_spent(const Scene& scene, Verdict found);
  void begin_loop(const Scene& scene, const Reason& because);

  void notices(const Scene& scene, Verdict verdict, std::vector<Decision>& decisions);
  void notice_person(const Scene& scene, std::vector<Decision>& decisions);
  void notice_provider(const Scene& scene, std::vector<Decision>& decisions);
  void notice_oddities(const Scene& scene, Verdict verdict, std::vector<Decision>& decisions);
  void configured_rungs(const Scene& scene, Verdict verdict, std::vector<Decision>& decisions);
  static bool is_down(const Scene& scene, Verdict verdict);
  static bool is_up(const Scene& scene, Verdict verdict);
  void gate(const Scene& scene, Verdict verdict, std::vector<Decision>& decisions);

  void suspect(const Scene& scene, std::vector<Decision>& decisions);
  void stalled(const Scene& scene, std::vector<Decision>& decisions);
  void dead(const Scene& scene, std::vector<Decision>& decisions);
  void tell_of_death(const Scene& scene, std::vector<Decision>& out);
  void orphaned(const Scene& scene, std::vector<Decision>& decisions);
  void looping(const Scene& scene, std::vector<Decision>& decisions);

  void kill(const Scene& scene, Verdict verdict, const Reason& why, std::vector<Decision>& out);
  void bring_back(const Scene& scene, Verdict verdict, const Reason& why,
                  std::vector<Decision>& out);
  void reassign(const Scene& scene, Verdict verdict, const Reason& why, std::vector<Decision>& out);
  void escalate_if_still_there(const Scene& scene, Verdict verdict, std::vector<Decision>& out);
  void escalate_if_not_started(const Scene& scene, Verdict verdict, std::vector<Decision>& out);

  Episode episode_;
  Spending spending_;
  std::optional<AwakeTime> healthy_since_;
  std::uint32_t refills_seen_ = 0;
  std::optional<std::uint32_t> dead_life_;  // the death that was counted last: of this life,
  ActiveTime dead_since_{};                 // at this time
  bool death_is_free_ = false;              // that death spends nothing
  bool death_answered_ = false;             // and was answered by resume or restart
  std::uint32_t failed_starts_ = 0;         // lives in a row that a resume brought up for nothing

  std::optional<ActiveTime> looping_until_;
  bool loop_told_ = false;
  bool granted_ = false;  // one further attempt after a loop
  Reason looping_because_;

  bool degraded_ = false;
  std::uint32_t adoptions_seen_ = 0;
  std::optional<ActiveTime> person_told_;  // the person_since this was told for
  std::uint32_t person_reminders_ = 0;
  bool unfit_told_ = false;
  bool stopped_told_ = false;
  bool stuck_told_ = false;
  std::optional<SilenceTime> lingers_since_;
  bool lingers_told_ = false;
  std::optional<SilenceTime> silence_told_;  // policy plain: the last sign this was told for
  std::uint32_t rungs_taken_ = 0;            // bit i: rung i of the configured ladder
  SilenceTime rungs_base_{};
};

}  // namespace tend
