// From arguments to a Speech, and from what came of it to a line or an object.
#include "app/speak_commands.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/hook_watched.h"
#include "app/quick.h"
#include "app/sinks.h"
#include "base/check.h"
#include "base/duration.h"
#include "base/quote.h"

namespace tend {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kHowWords[] = {"written", "left", "failed"};

Json json_of(const std::vector<SinkDone>& sinks) {
  Json all = Json::array();
  for (const SinkDone& each : sinks) {
    all.push_back({{"sink", each.sink},
                   {"result", kHowWords[static_cast<std::size_t>(each.how)]},
                   {"why", each.words.empty() ? Json() : Json(each.words)}});
  }
  return all;
}

/// What became of a speech, to the keeper and to other systems. `json` is what --json prints, for
/// whom it was said still missing.
class Report {
 public:
  Report(std::string command, const Arguments& arguments, World& world)
      : command_(std::move(command)), arguments_(arguments), world_(world) {}

  int tell(const Spoken& spoken, Json json) {
    if (spoken.exit_code != kExitYes) {
      world_.err.write(spoken.line);
      return spoken.exit_code;
    }
    json["agent"] = spoken.agent;
    if (spoken.life != 0) json["life"] = spoken.life;
    return tell(spoken.line, std::move(json));
  }

  int complain(const std::string& why, int exit_code) {
    world_.err.write(fmt::format("tend {}: {}\n", command_, why));
    return exit_code;
  }

  void add(std::vector<SinkDone> sinks) { sinks_ = std::move(sinks); }

 private:
  int tell(const std::string& line, Json json) {
    const bool failed = std::ranges::any_of(
        sinks_, [](const SinkDone& each) { return each.how == SinkDone::How::failed; });
    if (arguments_.has("json")) {
      if (!sinks_.empty()) json["sinks"] = json_of(sinks_);
      world_.out.write(json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
    } else if (!arguments_.has("quiet")) {
      world_.out.write(line);
      for (const SinkDone& each : sinks_) tell_good(each);
    }
    for (const SinkDone& each : sinks_) {
      if (each.how == SinkDone::How::failed) complain(each.sink + ": " + each.words, kExitNo);
    }
    return failed ? kExitNo : kExitYes;
  }
  void tell_good(const SinkDone& sink) {
    if (sink.how == SinkDone::How::failed) return;
    world_.out.write(fmt::format("  {}: {}\n", sink.sink,
                                 sink.words.empty() ? "written" : on_one_line(sink.words)));
  }

  std::string command_;
  const Arguments& arguments_;
  World& world_;
  std::vector<SinkDone> sinks_;
};

/// To the keeper, and then into the sinks of the agent; with --store into those of an agent that
/// Tend does not keep, and to nobody else.
int speak_everywhere(const std::string& command, const Speech& speech,
                     const std::optional<SelfState>& state, const Arguments& arguments, Json json,
                     World& world) {
  Report report(command, arguments, world);
  if (const auto store = arguments.value("store")) {
    auto done = beat_sinks_of(world, *store, state);
    if (!done) return report.complain(done.error().text, kExitUsage);
    report.add(*std::move(done));
    return report.tell(
        {.line = fmt::format("tend: {} for {}\n", in_words(speech), on_one_line(*store)),
         .agent = *store},
        std::move(json));
  }
  const Spoken spoken = speak(speech);
  if (spoken.has_sinks) {
    auto done = beat_own_sinks(world, state);
    if (!done) return report.complain("its sinks are not written: " + done.error().text, kExitNo);
    report.add(*std::move(done));
  }
  return report.tell(spoken, std::move(json));
}

}  // namespace

int beat_command(const Arguments& arguments, World& world) {
  return speak_everywhere("beat", {.kind = Speech::Kind::beat}, std::nullopt, arguments,
                          {{"said", "beat"}}, world);
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
  return speak_everywhere("state", speech, word, arguments, json, world);
}

int ack_command(const Arguments& arguments, World& world) {
  Speech speech{.kind = Speech::Kind::ack};
  Json json{{"said", "ack"}};
  if (!arguments.positionals.empty()) {
    speech.id = arguments.positionals.front();
    json["id"] = *speech.id;
  }
  Report report("ack", arguments, world);
  if (!world.environment.variable("TEND_INFRA")) {
    constexpr std::size_t kMostAncestors = 64;
    const auto above = world.caller.ancestors(kMostAncestors);
    const auto watched = find_watched(world.files, world.environment, above);
    if (watched) return report.tell(speak_for(watched->folder, speech), json);
  }
  return report.tell(speak(speech), json);
}

}  // namespace tend
