// Cheap and large cuts first, again and again until none of them helps: switches of the machine,
// faults, agents with all below them, time, steps, and how often trouble comes.
#include "shrink.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

constexpr Duration kShortest = 10min;

std::size_t step_count(const Scenario& scenario) {
  std::size_t sum = 0;
  for (const AgentPlan& agent : scenario.agents) sum += agent.steps.size();
  return sum;
}

/// With all that they sent.
template <class IsGone>
void drop_senders(Scenario& scenario, const IsGone& is_gone) {
  std::set<std::string> gone;
  for (const SenderPlan& sender : scenario.senders) {
    if (is_gone(sender)) gone.insert(sender.name);
  }
  std::erase_if(scenario.senders, is_gone);
  std::erase_if(scenario.messages,
                [&](const MessagePlan& message) { return gone.contains(message.from); });
}

/// Without the agent, those below it, and all that names one of them.
Scenario without_agent(const Scenario& scenario, std::size_t index) {
  std::set<std::string> gone{scenario.agents[index].name};
  for (const AgentPlan& agent : scenario.agents) {  // parents stand before their children
    if (gone.contains(agent.parent)) gone.insert(agent.name);
  }
  Scenario less = scenario;
  std::erase_if(less.agents, [&](const AgentPlan& agent) { return gone.contains(agent.name); });
  std::erase_if(less.faults, [&](const Fault& fault) { return gone.contains(fault.whom); });
  drop_senders(less, [&](const SenderPlan& sender) { return gone.contains(sender.agent); });
  std::erase_if(less.services,
                [&](const ServicePlan& service) { return gone.contains(service.agent); });
  for (AgentPlan& agent : less.agents) {
    std::erase_if(agent.steps, [&](const Step& step) { return gone.contains(step.child); });
  }
  return less;
}

/// Places of the steps that may go alone: a dispatch goes with its child.
std::vector<std::size_t> removable(const AgentPlan& agent) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < agent.steps.size(); ++i) {
    if (agent.steps[i].kind != StepKind::dispatch) places.push_back(i);
  }
  return places;
}

/// How many steps from there on are nothing but time that an agent takes.
std::size_t run_of_work(const AgentPlan& agent, std::size_t from) {
  std::size_t to = from;
  while (to < agent.steps.size() && agent.steps[to].kind <= StepKind::ask) ++to;
  return to - from;
}

/// With words all the while in the place of these steps.
Scenario joined(const Scenario& scenario, std::size_t agent, std::size_t from, std::size_t many) {
  Scenario less = scenario;
  std::vector<Step>& steps = less.agents[agent].steps;
  const auto begin = steps.begin() + static_cast<std::ptrdiff_t>(from);
  Step one;
  for (std::size_t i = from; i < from + many; ++i) one.takes += steps[i].takes;
  steps.erase(begin + 1, begin + static_cast<std::ptrdiff_t>(many));
  steps[from] = std::move(one);
  return less;
}

Scenario within(const Scenario& scenario, Duration lasts) {
  Scenario less = scenario;
  less.lasts = lasts;
  std::erase_if(less.faults, [&](const Fault& fault) { return fault.at >= lasts; });
  for (Fault& fault : less.faults) fault.lasts = std::min(fault.lasts, lasts - fault.at);
  std::erase_if(less.messages, [&](const MessagePlan& message) { return message.at >= lasts; });
  for (ContenderPlan& each : less.contenders) each.ends = std::min(each.ends, lasts);
  return less;
}

class Shrinking {
 public:
  Shrinking(Scenario scenario, const StillFails& still_fails, const ShrinkSettings& settings)
      : best_(std::move(scenario)), still_fails_(still_fails), settings_(settings) {}

  Scenario run() {
    for (bool smaller = true; smaller && !stopped_;) {
      const Scenario before = best_;
      switch_off();
      drop_faults();
      drop_agents();
      drop_outsiders();
      drop_messages();
      drop_contenders();
      drop_services();
      shorten();
      drop_steps();
      join_steps();
      trouble_once();
      smaller = best_ != before;
    }
    settings_.progress(stopped_
                           ? fmt::format("stopped after {} plays: --plays gives it more", plays_)
                           : "nothing smaller fails");
    return std::move(best_);
  }

 private:
  /// Takes the smaller one if it can be read again and still fails.
  bool take(Scenario smaller, std::string_view what) {
    if (smaller == best_ || stopped_) return false;
    if (!parse_scenario(format_scenario(smaller))) return false;
    stopped_ = plays_ >= settings_.most_plays;
    if (stopped_) return false;
    ++plays_;
    if (!still_fails_(smaller)) return false;
    best_ = std::move(smaller);
    settings_.progress(fmt::format("play {}: {}: {} agents, {} steps, {} faults, {:.1f} h", plays_,
                                   what, best_.agents.size(), step_count(best_),
                                   best_.faults.size(),
                                   std::chrono::duration<double>(best_.lasts).count() / 3600));
    return true;
  }

  /// Tries to do without `count` things: all at once, then halves, then quarters, down to each.
  /// `without(from, many)` is a scenario without some of those that are there now.
  template <class Without>
  void drop_some(std::size_t count, std::string_view what, const Without& without) {
    for (std::size_t many = count; many > 0; many /= 2) {
      for (std::size_t from = 0; from < count;) {
        const std::size_t now = std::min(many, count - from);
        if (take(without(from, now), what)) {
          count -= now;
        } else {
          from += now;
        }
      }
    }
  }

  void switch_off() {
    const Scenario usual;
    const auto with_usual = [&](auto member) {
      Scenario less = best_;
      less.*member = usual.*member;
      take(std::move(less), "a simpler machine");
    };
    with_usual(&Scenario::lossy_hints);
    with_usual(&Scenario::groups);
    with_usual(&Scenario::saving_takes);
    with_usual(&Scenario::most_pid);
    with_usual(&Scenario::patrol);
    with_usual(&Scenario::outsiders);
  }

  void drop_faults() {
    drop_some(best_.faults.size(), "fewer faults", [&](std::size_t from, std::size_t many) {
      Scenario less = best_;
      const auto begin = less.faults.begin() + static_cast<std::ptrdiff_t>(from);
      less.faults.erase(begin, begin + static_cast<std::ptrdiff_t>(many));
      return less;
    });
  }

  void drop_outsiders() {
    drop_some(best_.outsiders.size(), "fewer outsiders", [&](std::size_t from, std::size_t many) {
      Scenario less = best_;
      const auto begin = less.outsiders.begin() + static_cast<std::ptrdiff_t>(from);
      less.outsiders.erase(begin, begin + static_cast<std::ptrdiff_t>(many));
      return less;
    });
  }

  void drop_contenders() {
    drop_some(best_.contenders.size(), "fewer contenders", [&](std::size_t from, std::size_t many) {
      Scenario less = best_;
      const auto begin = less.contenders.begin() + static_cast<std::ptrdiff_t>(from);
      less.contenders.erase(begin, begin + static_cast<std::ptrdiff_t>(many));
      return less;
    });
  }
  void drop_services() {
    drop_some(best_.services.size(), "fewer services", [&](std::size_t from, std::size_t many) {
      Scenario less = best_;
      const auto begin = less.services.begin() + static_cast<std::ptrdiff_t>(from);
      less.services.erase(begin, begin + static_cast<std::ptrdiff_t>(many));
      return less;
    });
  }
  void drop_messages() {
    drop_some(best_.messages.size(), "fewer messages", [&](std::size_t from, std::size_t many) {
      Scenario less = best_;
      const auto begin = less.messages.begin() + static_cast<std::ptrdiff_t>(from);
      less.messages.erase(begin, begin + static_cast<std::ptrdiff_t>(many));
      drop_senders(less, [&](const SenderPlan& sender) {
        return std::ranges::find(less.messages, sender.name, &MessagePlan::from) ==
               less.messages.end();
      });
      return less;
    });
  }

  void drop_agents() {
    for (std::size_t i = 0; i < best_.agents.size();) {
      Scenario less = without_agent(best_, i);
      const bool taken = !less.agents.empty() && take(std::move(less), "fewer agents");
      if (!taken) ++i;
    }
  }

  void shorten() {
    const auto to = [&](Duration lasts) {
      return lasts >= kShortest && take(within(best_, lasts), "less time");
    };
    while (to(best_.lasts / 2)) {
    }
    while (to(best_.lasts * 3 / 4)) {
    }
  }

  void drop_steps() {
    for (std::size_t agent = 0; agent < best_.agents.size(); ++agent) {
      const std::size_t count = removable(best_.agents[agent]).size();
      drop_some(count, "fewer steps", [&](std::size_t from, std::size_t many) {
        Scenario less = best_;
        const std::vector<std::size_t> places = removable(less.agents[agent]);
        std::vector<Step>& steps = less.agents[agent].steps;
        for (std::size_t i = from + many; i-- > from;) {
          steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(places[i]));
        }
        return less;
      });
    }
  }

  /// Time that has to pass, passes in one step as well as in many.
  void join_steps() {
    for (std::size_t agent = 0; agent < best_.agents.size(); ++agent) {
      for (std::size_t from = 0; from < best_.agents[agent].steps.size(); ++from) {
        for (std::size_t many = run_of_work(best_.agents[agent], from); many > 1; many /= 2) {
          if (take(joined(best_, agent, from, many), "fewer steps")) break;
        }
      }
    }
  }

  void trouble_once() {
    Scenario less = best_;
    for (AgentPlan& agent : less.agents) {
      for (Step& step : agent.steps) step.times = 1;
    }
    if (take(std::move(less), "less trouble")) return;
    for (std::size_t agent = 0; agent < best_.agents.size(); ++agent) {
      for (std::size_t step = 0; step < best_.agents[agent].steps.size(); ++step) {
        Scenario one_less = best_;
        one_less.agents[agent].steps[step].times = 1;
        take(std::move(one_less), "less trouble");
      }
    }
  }

  Scenario best_;
  const StillFails& still_fails_;
  const ShrinkSettings& settings_;
  std::size_t plays_ = 0;
  bool stopped_ = false;  // it wanted to play once more
};

}  // namespace

Scenario shrink(const Scenario& scenario, const StillFails& still_fails,
                const ShrinkSettings& settings) {
  return Shrinking(scenario, still_fails, settings).run();
}

}  // namespace tend::sim
