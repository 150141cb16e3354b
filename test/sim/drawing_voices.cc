// Draws which agents speak other languages, and what others refuse to each of them.
#include <algorithm>
#include <utility>

#include "drawing.h"

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kRefused = 20;      // percent of worlds
constexpr std::uint64_t kOtherVoices = 20;  // the same

}  // namespace

// --- Other languages -----------------------------------------------------------------------------

/// From chance of its own, too. Who is compared with others speaks as ever.
void Drawing::draw_voices() {
  Chance chance(~scenario_.seed ^ 0x766f'6963'65ULL);
  if (!wishes_.policy.empty() || !chance.percent(kOtherVoices)) return;
  constexpr Voice kOthers[] = {Voice::gemini, Voice::gemini, Voice::opencode, Voice::codex};
  for (AgentPlan& agent : scenario_.agents) {
    if (!speaks(agent.voice) || agent.is_asked() || !chance.percent(60)) continue;
    agent.voice = chance.one_of<Voice>(kOthers);
    // Of a call in which it waits for its children it would not speak.
    if (agent.voice == Voice::opencode && has_children(agent)) agent.voice = Voice::gemini;
    agent.wrapped = agent.voice == Voice::gemini || agent.voice == Voice::codex;
    for (Step& step : agent.steps) translate(step, agent.voice);
  }
}

/// Nobody asks people but Claude Code, and who does not show that it tries again gives up soon.
void Drawing::translate(Step& step, Voice to) {
  constexpr Duration kLongestThought = 5min;
  if (step.kind == StepKind::ask) {
    step.kind = StepKind::think;
    step.takes = std::min(step.takes, kLongestThought);
  }
  const bool is_held = step.kind == StepKind::rate_limit || step.kind == StepKind::overload;
  const bool gives_up = to == Voice::gemini || to == Voice::opencode;
  if (is_held && gives_up) step.kind = StepKind::retry_ladder;
}

// --- What others refuse --------------------------------------------------------------------------

/// From chance of its own, too. Who is compared with others is not refused: they do not wait.
void Drawing::draw_refusals() {
  Chance chance(~scenario_.seed ^ 0x7265'6675'7365ULL);
  if (!wishes_.policy.empty() || !chance.percent(kRefused)) return;
  const std::uint64_t in_this_world = chance.within(20, 90);
  for (AgentPlan& agent : scenario_.agents) {
    if (!speaks(agent.voice) || agent.is_asked() || !chance.percent(in_this_world)) continue;
    const std::uint64_t many = chance.mostly_small(1, 4);
    for (std::uint64_t n = 0; n < many; ++n) draw_refusal(agent, chance);
  }
}

void Drawing::draw_refusal(AgentPlan& agent, Chance& chance) {
  using enum StepKind;
  constexpr StepKind kKinds[] = {limit_exit, limit_exit, retry_ladder, timeout_exit, denied};
  const StepKind kind = chance.one_of<StepKind>(kKinds);
  if (!was_seen(agent.voice, kind)) return;
  Step step{.kind = kind, .child = {}};
  if (kind == limit_exit) step.takes = chance.mostly_short(61s, 5h);
  if (kind == retry_ladder) step.takes = chance.mostly_short(1s, 40min);
  if (kind == timeout_exit) step.times = static_cast<std::uint32_t>(chance.mostly_small(1, 4));
  // With OpenCode that is the end, whatever came before.
  const bool at_once = kind == denied && (chance.percent(50) || agent.voice == Voice::opencode);
  if (!at_once) return insert_anywhere(agent, std::move(step), chance);
  agent.steps.insert(agent.steps.begin(), std::move(step));
}

/// With that agent.
bool Drawing::was_seen(Voice voice, StepKind kind) {
  const bool may_be_denied = voice == Voice::gemini || voice == Voice::opencode;
  return voice == Voice::claude || kind == StepKind::retry_ladder ||
         (kind == StepKind::denied && may_be_denied);
}

}  // namespace tend::sim
