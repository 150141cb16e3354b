// An agent's word is read without trust, and so is the other system's.
#include "store/outcome.h"

#include <limits>
#include <utility>

#include "store/json.h"

namespace tend {
namespace {

constexpr std::size_t kLargestOutcome = std::size_t{16} * 1024;
constexpr std::size_t kLargestForeign = std::size_t{1024} * 1024;  // it holds more than we read
constexpr std::size_t kLongestPhase = 128;
constexpr std::size_t kLongestNote = 400;

/// The other words are what a keeper finds, not what an agent says.
bool may_be_said(WorkOutcome outcome) {
  return outcome == WorkOutcome::none || outcome == WorkOutcome::done ||
         outcome == WorkOutcome::withdrawn || outcome == WorkOutcome::escalated;
}

WorkOutcome outcome_of_state(std::string_view state) {
  if (state == "DONE" || state == "COMPLETED_WORK") return WorkOutcome::done;
  if (state == "WITHDRAWN") return WorkOutcome::withdrawn;
  if (state == "FAILURE" || state == "ESCALATED") return WorkOutcome::escalated;
  return WorkOutcome::none;
}

}  // namespace

std::string format_outcome(const OutcomeFile& outcome) {
  return to_line({
             {"outcome", kWorkOutcomeWords[static_cast<std::size_t>(outcome.outcome)]},
             {"phase", one_line(outcome.phase, kLongestPhase)},
             {"note", one_line(outcome.note, kLongestNote)},
             {"at", rounded_seconds(outcome.at)},
             {"life", outcome.life},
         }) +
         "\n";
}

std::optional<OutcomeFile> parse_outcome(std::string_view text) {
  const auto object = parse_object(text, kLargestOutcome);
  if (!object) return std::nullopt;
  const auto outcome = word_field<WorkOutcome>(*object, "outcome", kWorkOutcomeWords);
  if (!outcome || !may_be_said(*outcome)) return std::nullopt;
  return OutcomeFile{
      .outcome = *outcome,
      .phase = shown_text(*object, "phase", kLongestPhase),
      .note = shown_text(*object, "note", kLongestNote),
      .at = calendar_field(*object, "at"),
      .life = static_cast<std::uint32_t>(
          whole_number(*object, "life", std::numeric_limits<std::uint32_t>::max())),
  };
}

Result<void> write_outcome(Folder& folder, const OutcomeFile& outcome) {
  if (!may_be_said(outcome.outcome)) {
    return fail("an agent may say done, withdrawn or escalated of its work, nothing else");
  }
  return folder.replace(std::string(kOutcomeFile), format_outcome(outcome), Folder::Sync::yes);
}

Result<std::optional<OutcomeFile>> read_outcome(Folder& folder) {
  const auto text = folder.read(std::string(kOutcomeFile), kLargestOutcome);
  if (!text) return std::unexpected(text.error());
  return *text ? parse_outcome(**text) : std::nullopt;
}

std::optional<OutcomeFile> parse_foreign_state(std::string_view text) {
  const auto object = parse_object(text, kLargestForeign);
  if (!object) return std::nullopt;
  std::string state = shown_text(*object, "state", kLongestPhase);
  if (state.empty()) return std::nullopt;
  OutcomeFile outcome;
  outcome.outcome = outcome_of_state(state);
  outcome.phase = std::move(state);
  return outcome;
}

Result<std::optional<OutcomeFile>> read_foreign_state(Folder& folder) {
  const auto text = folder.read(std::string(kForeignStateFile), kLargestForeign);
  if (!text) return std::unexpected(text.error());
  return *text ? parse_foreign_state(**text) : std::nullopt;
}

Result<std::optional<OutcomeFile>> read_any_outcome(Folder& folder) {
  auto ours = read_outcome(folder);
  if (!ours || *ours) return ours;
  return read_foreign_state(folder);
}

}  // namespace tend
