// {"want":"stop","now":false,"by":"tend stop","at":1773002269.25,"keep_running":false,"tree":false}
#include "store/intent.h"

#include "store/json.h"

namespace tend {
namespace {

constexpr std::size_t kLargestIntent = 4096;
constexpr std::size_t kLongestBy = 128;

}  // namespace

Result<void> write_intent(Folder& folder, const Intent& intent) {
  const std::string text = to_line({
      {"want", kWantWords[static_cast<std::size_t>(intent.want)]},
      {"now", intent.now},
      {"by", cut_text(intent.by, kLongestBy)},
      {"at", intent.at},  // not rounded: it tells two intents apart
      {"keep_running", intent.keep_running},
      {"tree", intent.tree},
  });
  // A stop that a power cut could undo would be no stop.
  return folder.replace(std::string(kIntentFile), text + "\n", Folder::Sync::yes);
}

Result<std::optional<Intent>> read_intent(Folder& folder) {
  const auto text = folder.read(std::string(kIntentFile), kLargestIntent);
  if (!text) return std::unexpected(text.error());
  if (!*text) return std::nullopt;
  const auto object = parse_object(**text, kLargestIntent);
  if (!object) return std::nullopt;
  const auto want = word_field<Want>(*object, "want", kWantWords);
  if (!want) return std::nullopt;
  const ReadJson* const at = find_field(*object, "at");
  return Intent{*want,
                flag_field(*object, "now"),
                shown_text(*object, "by", kLongestBy),
                at != nullptr && at->is_number() ? at->get<double>() : 0,
                flag_field(*object, "keep_running"),
                flag_field(*object, "tree")};
}

}  // namespace tend
