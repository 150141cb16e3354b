// The same world as in seeded_world.h, the same agents and the same truth, with a rival in the
// place of our keepers. It is spared what only ours suffer: it never dies, its disk is whole and
// fast, and it is there again as soon as the machine is.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "model.h"
#include "os/sim/sim_universe.h"
#include "rival.h"
#include "scenario.h"
#include "seeded_world.h"
#include "truth.h"

namespace tend::sim {

/// What a rival does wrong beside false kills and missed stalls: `check` of a Violation.
inline constexpr const char* kFalseAlarm = "false alarm";  // a report of one that was not stuck
inline constexpr const char* kGaveUp = "gave up";          // its attempts were used up

class RivalWorld final : public Surroundings, SimObserver {
 public:
  RivalWorld(const Scenario& scenario, const Rival& rival);
  ~RivalWorld() override;
  RivalWorld(const RivalWorld&) = delete;
  RivalWorld& operator=(const RivalWorld&) = delete;

  /// Plays the scenario from its beginning to its end.
  Outcome play();

  // For models.
  [[nodiscard]] Duration elapsed() const override;
  [[nodiscard]] Duration awake() const override { return universe_.awake(); }
  [[nodiscard]] WallTime wall() const override { return universe_.wall(); }
  [[nodiscard]] Truth& truth() override { return truth_; }
  [[nodiscard]] std::uint64_t seed() const override { return scenario_.seed; }
  /// Dispatches begin at once, merges succeed.
  void run_tend(SimSelf& self, std::vector<std::string> words,
                std::function<void(SimSelf&, int)> done) override;
  [[nodiscard]] bool is_known(const std::string& agent) const override;
  [[nodiscard]] bool is_over(const std::string& agent) const override;
  [[nodiscard]] bool can_be_shown() const override { return true; }
  void commit(const AgentTruth& /*agent*/) override {}
  AgentTruth* begin_life(SimSelf& self) override;

 private:
  /// Something that happened, by both clocks.
  struct Stamp {
    Duration awake{};
    WallTime wall{};
  };
  /// What a rival keeps in mind of an agent.
  struct Ward {
    AgentTruth* truth = nullptr;
    ProcessId process;
    std::string stream;      // the file of its output
    std::uint32_t life = 0;  // 0: never started
    bool over = false;       // it is done, or nobody starts it again
    Duration began{};        // awake
    WallTime beat{};
    Stamp printed;
    Stamp turn;
    Duration asked{};  // awake
    bool answered = false;
    bool reported = false;
    std::uint32_t attempts = 0;
    std::uint32_t attempts_here = 0;
    std::size_t step = 0;  // where it was at the last attempt
    std::vector<Duration> attempted;
  };

  // SimObserver.
  void on_end(const SimFacts& process) override;

  // Starting.
  void set_up();
  void begin_watch();
  void start(const std::string& name);
  void start_beater(const std::string& name, const Ward& ward);
  void beat_beside(SimSelf& self);
  void beat_within(SimSelf& self);

  // Looking.
  [[nodiscard]] bool lives(const Ward& ward) const;
  [[nodiscard]] bool is_idle(const Ward& ward) const;
  [[nodiscard]] Stamp now() const { return {awake(), wall()}; }
  [[nodiscard]] Duration age(WallTime of) const;
  void note_signs();
  void note_output(Ward& ward) const;
  void note_turn(Ward& ward) const;
  void ask(Ward& ward) const;
  [[nodiscard]] RivalSight sight_of(const Ward& ward) const;

  // Acting.
  void look();
  void carry_out(RivalWord word, const std::string& name, Ward& ward);
  void restart(const std::string& name, Ward& ward);
  void end_stale_children(const Ward& ward);
  void end(Ward& ward);
  void report(Ward& ward);
  [[nodiscard]] bool may_try_again(Ward& ward) const;
  void find_hang(const LifeTruth& life);
  void note_overdue();
  void finish();

  // Faults.
  void post_faults();
  void strike(const Fault& fault);
  void kill(const std::string& name);
  void pause(const std::string& name, Duration lasts);
  void stop(const std::string& name, bool tree);
  void restart_machine();

  const Scenario scenario_;
  const Rival& rival_;
  SimUniverse universe_;
  std::minstd_rand chance_;  // of what only a rival needs
  Truth truth_;
  Outcome outcome_;
  std::map<std::string, Ward> wards_;
  std::vector<std::size_t> faults_left_;
  std::vector<bool> overdue_;  // beside the hangs
  std::int64_t watchdog_ = 0;
  Duration base_{};
  Instant origin_{};
  Duration last_fault_{};
  bool rebooted_ = false;
};

}  // namespace tend::sim
