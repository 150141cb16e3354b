// A file in the agent's own folder, and a poke for its keeper.
#include "app/done_command.h"

#include <string>

#include <fmt/format.h>

#include "app/agent_json.h"
#include "app/home_option.h"
#include "app/inside.h"
#include "base/check.h"
#include "base/quote.h"
#include "run/hire.h"
#include "store/json.h"
#include "store/outcome.h"

namespace tend {
namespace {

constexpr std::size_t kLongestPhase = 80;
constexpr std::size_t kLongestNote = 400;  // what the file keeps of it

Result<OutcomeFile> outcome_in(const Arguments& arguments) {
  const auto word = arguments.value("outcome");
  const auto phase = arguments.value("phase");
  if (!word && !phase) return fail("needs --outcome done|withdrawn|escalated or --phase PHASE");
  OutcomeFile outcome;
  if (word) {
    const auto known = from_word<WorkOutcome>(kWorkOutcomeWords, *word);
    CHECK(known.has_value());  // the row has the choices
    outcome.outcome = *known;
  }
  if (phase && (phase->empty() || phase->size() > kLongestPhase)) {
    return fail(fmt::format("--phase wants 1 to {} bytes, not {}", kLongestPhase, phase->size()));
  }
  outcome.phase = on_one_line(phase.value_or(""));
  const std::string note = arguments.value("note").value_or("");
  outcome.note = on_one_line(cut_text(note, kLongestNote));
  return outcome;
}

/// "outcome done, phase tests".
std::string in_words(const OutcomeFile& outcome) {
  std::string words;
  if (outcome.outcome != WorkOutcome::none) {
    words = fmt::format("outcome {}", kWorkOutcomeWords[static_cast<std::size_t>(outcome.outcome)]);
  }
  if (!outcome.phase.empty()) {
    words += fmt::format("{}phase {}", words.empty() ? "" : ", ", outcome.phase);
  }
  return words;
}

std::string in_json(const OutcomeFile& outcome, const Inside& inside) {
  return json_line({{"said", "done"},
                    {"outcome", kWorkOutcomeWords[static_cast<std::size_t>(outcome.outcome)]},
                    {"phase", outcome.phase},
                    {"note", outcome.note},
                    {"agent", inside.agent},
                    {"life", inside.life}});
}

}  // namespace

int done_command(const Arguments& arguments, World& world) {
  auto outcome = outcome_in(arguments);
  if (!outcome) return complain(world, "done", outcome.error().text, kExitUsage);
  const auto inside = inside_of(world);
  if (!inside) return complain(world, "done", inside.error().text, inside.error().exit_code);
  outcome->at = calendar_seconds(inside->machine.clock.wall());
  outcome->life = inside->life;
  if (const auto written = write_outcome(*inside->folder, *outcome); !written) {
    return complain(world, "done", written.error().text, kExitUsage);
  }
  poke_keeper(inside->machine, *inside->folder);
  if (arguments.has("json")) {
    world.out.write(in_json(*outcome, *inside));
  } else if (!arguments.has("quiet")) {
    world.out.write(fmt::format("tend: {} for {}, life {}\n", in_words(*outcome),
                                on_one_line(inside->agent), inside->life));
  }
  return kExitYes;
}

}  // namespace tend
