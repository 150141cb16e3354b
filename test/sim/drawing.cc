// Draws a scenario: in which order its parts are drawn, and the machine of its world.
#include "drawing.h"

#include <algorithm>
#include <utility>

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

constexpr Duration kSettles = 4h;

constexpr Weight kWork[] = {
    {StepKind::think, 300, true},      {StepKind::talk, 100, true},
    {StepKind::tool, 350, true},       {StepKind::subagent, 50, false},
    {StepKind::background, 40, false}, {StepKind::compact, 25, false},
    {StepKind::rate_limit, 4, false},  {StepKind::overload, 10, false},
    {StepKind::ask, 4, false},         {StepKind::write, 120, true},
    {StepKind::helper, 8, false},
};

}  // namespace

Drawing::Drawing(std::uint64_t seed, const Wishes& wishes) : chance_(seed), wishes_(wishes) {
  scenario_.seed = seed;
  scenario_.lasts = wishes.hours;
}

Scenario Drawing::plain() {
  draw_plain_tree();
  for (std::size_t i = 0; i < places_.size(); ++i) {
    draw_plain_work(i, chance_.share(left_for(i), 30, 80));
    add_children(i, 0);
  }
  return std::move(scenario_);
}

Scenario Drawing::anything() {
  draw_world();
  draw_trees();
  for (std::size_t i = 0; i < places_.size(); ++i) {
    draw_work(i, chance_.share(left_for(i), 30, 100));
    add_children(i, 66);
    add_trouble(i);
  }
  draw_faults();
  draw_tasks();
  draw_patrol();
  draw_awakenings();
  draw_meetings();
  draw_moments();
  draw_rare_moments();
  draw_gate();
  draw_lease();
  draw_rare_lease();
  draw_services();
  draw_voices();
  draw_refusals();
  draw_database();
  const bool has_guests =
      !scenario_.messages.empty() || !scenario_.contenders.empty() || !scenario_.services.empty();
  if (!scenario_.faults.empty() || has_trouble() || has_guests) scenario_.settles = kSettles;
  return std::move(scenario_);
}

Duration Drawing::left_for(std::size_t i) const {
  return std::max(scenario_.lasts - places_[i].begins, scenario_.lasts / 10);
}

std::size_t Drawing::drawn_count() {
  return wishes_.agents > 0 ? wishes_.agents : chance_.within(1, kMostAgents);
}

void Drawing::draw_world() {
  scenario_.lossy_hints = chance_.percent(20);
  scenario_.groups = chance_.percent(40);
  scenario_.saving_takes = chance_.mostly_short(0s, 20s);
  if (chance_.percent(10)) {
    scenario_.most_pid = std::max(static_cast<std::int64_t>(chance_.within(2000, 3000)),
                                  fewest_pids(wishes_.agents));
  }
  for (const Weight& work : kWork) {
    if (work.everywhere || chance_.percent(50)) work_.push_back(work);
  }
  if (chance_.percent(35)) return;
  const std::uint64_t in_this_world = chance_.within(10, 70);
  for (std::size_t i = 0; i < kStepWords.size(); ++i) {
    const auto kind = static_cast<StepKind>(i);
    if (!is_trouble(kind) || is_refusal(kind)) continue;  // those are drawn apart
    if (kind == StepKind::hang_idle) continue;            // only who is asked has that
    if (chance_.percent(in_this_world)) troubles_.push_back(kind);
  }
  troubled_percent_ = chance_.within(5, 50);
}

Scenario draw_scenario(std::uint64_t seed, const Wishes& wishes) {
  Drawing drawing(seed, wishes);
  return wishes.plain ? drawing.plain() : drawing.anything();
}

}  // namespace tend::sim
