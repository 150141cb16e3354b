// How a scenario comes from a seed, swarm style: every world has its own few kinds of trouble and
// of faults, so that those which are rare together meet, and those which hide each other do not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "chance.h"
#include "scenario.h"

namespace tend::sim {

struct Weight {
  StepKind kind;
  std::uint32_t weight;
  bool everywhere;  // else in every second world
};

struct FaultRow {
  FaultKind kind;
  bool of_agent;       // it strikes one
  bool counts_calls;   // its number is that of a call
  std::uint32_t most;  // in one world
  Duration shortest;
  Duration longest;
};

/// Good for one scenario. The wishes must outlive it.
class Drawing {
 public:
  Drawing(std::uint64_t seed, const Wishes& wishes);
  Scenario plain();
  Scenario anything();

 private:
  static constexpr std::size_t kMostAgents = 12;

  /// What a plan does not say of an agent's place.
  struct Place {
    std::uint32_t depth = 1;
    Duration begins{};
    std::vector<std::size_t> children;
  };
  using Manner = std::pair<Voice, std::string>;

  AgentPlan& plan(std::size_t i) { return scenario_.agents[i]; }
  [[nodiscard]] Duration left_for(std::size_t i) const;
  std::size_t drawn_count();

  // The machine.
  void draw_world();

  // Trees.
  void draw_trees();
  void draw_plain_tree();
  [[nodiscard]] bool may_dispatch() const;
  Manner draw_manner(bool dispatches);
  std::size_t draw_parent();
  AgentPlan& add_agent(const Manner& manner);
  void add_root(const Manner& manner);
  void add_child(std::size_t parent, const Manner& manner, bool own_worktree);

  // Work.
  [[nodiscard]] bool can(const AgentPlan& plan, StepKind kind) const;
  StepKind draw_work_of(const AgentPlan& plan);
  void draw_work(std::size_t i, Duration fills);
  void draw_plain_work(std::size_t i, Duration fills);

  // Children.
  void add_children(std::size_t i, std::uint64_t within_percent);
  void add_merges(std::size_t i, std::size_t after);
  void note_begins(std::size_t i);
  [[nodiscard]] bool has_children(const AgentPlan& agent) const;
  static std::vector<Step>::iterator position(std::vector<Step>& steps, std::size_t at);
  static void insert_anywhere(AgentPlan& agent, Step step, Chance& chance);

  // Trouble.
  void add_trouble(std::size_t i);
  std::uint32_t draw_times();
  [[nodiscard]] bool has_trouble() const;

  // Faults.
  void draw_faults();
  void sort_faults();
  [[nodiscard]] bool is_wished(FaultKind kind) const;
  std::vector<FaultRow> draw_fault_kinds();
  Fault draw_fault(const FaultRow& row, Chance& chance);
  void draw_tasks();
  void draw_awakenings();
  void draw_meetings();
  void draw_kinds(bool (*is_one)(FaultKind), std::uint64_t percent, Chance& chance);
  void draw_stops(Chance& chance);
  [[nodiscard]] bool has_one_kind_of_fault() const;
  void draw_moments();
  void draw_rare_moments();
  void draw_database();

  // The patrol.
  void draw_patrol();
  void draw_outsiders(Chance& chance);

  // The probe and the gate.
  void draw_gate();
  void draw_chat(Chance& chance);
  [[nodiscard]] std::vector<std::string> asked_agents() const;
  void draw_probe(AgentPlan& agent, Chance& chance);
  void draw_senders(Chance& chance);
  void draw_messages(Chance& chance);

  // The lease.
  void draw_lease();
  void draw_rare_lease();
  void strike_within(bool (*is_one)(FaultKind), Duration begins, Duration stays, Chance& chance);
  void draw_contender(Duration begins, Duration ends, Chance& chance);

  // The service.
  void draw_services();
  void draw_service(Chance& chance);

  // Other languages.
  void draw_voices();
  static void translate(Step& step, Voice to);

  // What others refuse.
  void draw_refusals();
  static void draw_refusal(AgentPlan& agent, Chance& chance);
  static bool was_seen(Voice voice, StepKind kind);

  Chance chance_;
  const Wishes& wishes_;
  Scenario scenario_;
  std::vector<Place> places_;  // beside the plans
  std::size_t roots_ = 0;
  std::vector<Weight> work_;
  std::vector<StepKind> troubles_;  // that there are in this world
  std::uint64_t troubled_percent_ = 0;
};

}  // namespace tend::sim
