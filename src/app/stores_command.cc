// Every store is read once, by whoever asks: no keeper is needed, and none is asked.
#include "app/stores_command.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/agent_json.h"
#include "app/agent_options.h"
#include "app/columns.h"
#include "app/home_option.h"
#include "app/look.h"
#include "app/when.h"
#include "base/quote.h"
#include "run/store_watch.h"
#include "store/config_file.h"
#include "store/foreign/foreign_agent.h"
#include "store/home.h"

namespace tend {
namespace {

using Json = nlohmann::ordered_json;

Ink ink_of(StoreVerdict verdict) {
  switch (verdict) {
    case StoreVerdict::fresh:
    case StoreVerdict::idle:
      return Ink::green;
    case StoreVerdict::stale:
    case StoreVerdict::exiting:
      return Ink::yellow;
    case StoreVerdict::stuck:
    case StoreVerdict::unreadable:
      return Ink::red;
    case StoreVerdict::none:
    case StoreVerdict::void_sign:
      break;
  }
  return Ink::faint;
}

/// What the store says, in its own words.
std::string said_by(const StoreReading& reading) {
  std::string text = reading.state;
  const auto add = [&](const std::string& more) {
    if (more.empty()) return;
    if (!text.empty()) text += ", ";
    text += more;
  };
  if (reading.released) add("given back");
  if (!reading.task.empty()) add("on " + reading.task);
  if (reading.pid != 0) add(fmt::format("pid {}", reading.pid));
  if (!reading.id.empty()) add(reading.id);
  if (reading.epoch) add(fmt::format("epoch {}", *reading.epoch));
  add(reading.context);
  return on_one_line(text);
}

/// What is wrong with the agent as a whole; "" if nothing is.
std::string finding_of(const StoreWatch& watch, const std::vector<StoreSight>& sights) {
  if (watch.subject_is_gone()) return "the process that its stores name is gone";
  if (watch.state() == SelfState::stuck) return "it says itself that it is stuck";
  if (const std::string differ = divergence_of(sights); !differ.empty()) {
    return "its stores disagree: " + differ;
  }
  if (is_blind(sights)) return "its stores cannot be read";
  const bool lives = std::ranges::any_of(sights, [](const StoreSight& sight) {
    const StoreVerdict verdict = verdict_of(sight);
    return sight.is_beat && (verdict == StoreVerdict::fresh || verdict == StoreVerdict::idle ||
                             verdict == StoreVerdict::exiting);
  });
  return lives ? "" : "no store is fresh";
}

/// One round of looking at all of them.
void look_at_all(Machine& machine, StoreWatch& watch) {
  if (!watch.look()) machine.loop.run();
}

Json json_of(const StoreWatch& watch) {
  const auto sights = watch.sights();
  Json stores = Json::array();
  for (std::size_t i = 0; i < sights.size(); ++i) {
    const StoreReading& reading = watch.reading(i);
    const AgentStore& store = watch.agent().sources[i];
    const auto age = sights[i].age;
    const auto text = [](const std::string& words) { return words.empty() ? Json() : Json(words); };
    stores.push_back({{"store", store.name},
                      {"kind", word(store.store.kind)},
                      {"age_s", age ? Json(static_cast<double>(age->count()) / 1000) : Json()},
                      {"stale_after_s", static_cast<double>(sights[i].limit.count()) / 1000},
                      {"verdict", word(verdict_of(sights[i]))},
                      {"may_lag", store.may_lag},
                      {"from_mtime", reading.from_mtime},
                      {"state", text(reading.state)},
                      {"task", text(reading.task)},
                      {"context", text(reading.context)},
                      {"id", text(reading.id)},
                      {"pid", reading.pid == 0 ? Json() : Json(reading.pid)},
                      {"problem", text(reading.problem)}});
  }
  const std::string finding = finding_of(watch, sights);
  const auto& subject = watch.subject();
  return {{"agent", watch.agent().name},
          {"pid", subject ? Json(subject->pid) : Json()},
          {"diverges", !divergence_of(sights).empty()},
          {"finding", finding.empty() ? Json() : Json(finding)},
          {"stores", std::move(stores)}};
}

std::string text_of(const StoreWatch& watch, const Look& look, std::size_t width) {
  const auto sights = watch.sights();
  Columns columns({{"STORE"}, {"KIND"}, {"AGE", true}, {"VERDICT"}, {"SAYS"}, {"PROBLEM"}});
  for (std::size_t i = 0; i < sights.size(); ++i) {
    const StoreReading& reading = watch.reading(i);
    const AgentStore& store = watch.agent().sources[i];
    const StoreVerdict verdict = verdict_of(sights[i]);
    const std::string said = said_by(reading);
    columns.add({{store.name},
                 {std::string(word(store.store.kind))},
                 {sights[i].age ? short_age(*sights[i].age) : "-"},
                 {std::string(word(verdict)), ink_of(verdict)},
                 {said.empty() ? "-" : look.cut(said, 40)},
                 {reading.problem.empty() ? "-" : on_one_line(reading.problem)}});
  }
  const std::string finding = finding_of(watch, sights);
  return fmt::format("{}: {}\n{}", look.in(Ink::bold, on_one_line(watch.agent().name)),
                     finding.empty() ? "all well" : finding, columns.text(look, width));
}

/// The role of a kept agent of that name; "" if there is none.
std::string role_of(Home& home, const std::string& name) {
  const auto known = find_agent(home.machine.folders, *home.folder, name);
  return known ? known->heartbeat.role : "";
}

}  // namespace

int stores_command(const Arguments& arguments, World& world) {
  auto home = open_home(world);
  if (!home) return complain(world, "stores", home.error().text, kExitUsage);
  const auto config = user_config(world);
  if (!config) return complain(world, "stores", config.error().text, kExitUsage);
  const std::string user_home = world.environment.variable("HOME").value_or("");
  std::vector<std::string> names = foreign_names(*config);
  if (!arguments.positionals.empty()) {
    const std::string& wanted = arguments.positionals.front();
    if (auto stores = stores_of(wanted, role_of(*home, wanted), world); !stores) {
      return complain(world, "stores", stores.error().text, kExitNo);
    }
    names = {wanted};
  }
  const Look look(world.out, world.environment);
  Json all = Json::array();
  bool needs_you = false;
  for (const std::string& name : names) {
    ForeignAgent agent = foreign_agent(*config, name, role_of(*home, name), user_home);
    if (agent.sources.empty()) continue;
    StoreWatch watch(home->machine, std::move(agent), [&home] { home->machine.loop.stop(); });
    look_at_all(home->machine, watch);
    needs_you = needs_you || !finding_of(watch, watch.sights()).empty();
    if (arguments.has("json")) {
      all.push_back(json_of(watch));
    } else {
      if (name != names.front()) world.out.write("\n");
      world.out.write(text_of(watch, look, screen_width(world.out)));
    }
  }
  if (arguments.has("json")) {
    world.out.write(json_line({{"agents", std::move(all)}}));
  } else if (names.empty()) {
    world.out.write(
        fmt::format("no agents of other systems in {}\n",
                    config->file.empty() ? "the configuration" : on_one_line(config->file)));
  }
  return needs_you ? kExitNeedsYou : kExitYes;
}

}  // namespace tend
