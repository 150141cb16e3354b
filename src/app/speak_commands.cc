// From arguments to a Speech, and from what came of it to a line or an object.
#include "app/speak_commands.h"

#include <string>

#include <nlohmann/json.hpp>

#include "app/quick.h"
#include "base/check.h"
#include "base/duration.h"

namespace tend {
namespace {

using Json = nlohmann::ordered_json;

/// `json` is what --json prints, for whom it was said still missing.
int report(const Spoken& spoken, const Arguments& arguments, Json json, World& world) {
  if (spoken.exit_code != kExitYes) {
    world.err.write(spoken.line);
  } else if (arguments.has("json")) {
    json["agent"] = spoken.agent;
    json["life"] = spoken.life;
    world.out.write(json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  } else if (!arguments.has("quiet")) {
    world.out.write(spoken.line);
  }
  return spoken.exit_code;
}

}  // namespace

int beat_command(const Arguments& arguments, World& world) {
  return report(speak({.kind = Speech::Kind::beat}), arguments, {{"said", "beat"}}, world);
}

int state_command(const Arguments& arguments, World& world) {
  const std::string& state = arguments.positionals.at(0);
  const auto word = from_word<SelfState>(kSelfStateWords, state);
  CHECK(word.has_value());  // the row has the choices
  Speech speech{.kind = Speech::Kind::state, .state = *word};
  Json json{{"said", "state"}, {"state", state}};
  if (const auto until = arguments.value("until")) {
    const auto lasts = parse_duration(*until);
    const bool usable = lasts && *lasts > Duration::zero();
    if (!usable) {
      world.err.write("tend state: --until " + (lasts ? "must be above 0" : lasts.error().text) +
                      "\n");
      return kExitUsage;
    }
    speech.lasts = *lasts;
    json["lasts_ms"] = lasts->count();
  }
  return report(speak(speech), arguments, json, world);
}

int ack_command(const Arguments& arguments, World& world) {
  Speech speech{.kind = Speech::Kind::ack};
  Json json{{"said", "ack"}};
  if (!arguments.positionals.empty()) {
    speech.id = arguments.positionals.front();
    json["id"] = *speech.id;
  }
  return report(speak(speech), arguments, json, world);
}

}  // namespace tend
