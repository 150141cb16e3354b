// {"task":"web:3","fence":2,"state":"held"}
#include "store/task_claim.h"

#include "judge/words.h"
#include "store/json.h"

namespace tend {
namespace {

constexpr std::size_t kLargest = 4096;
constexpr std::size_t kLongestTask = 1024;
constexpr std::uint64_t kHighestFence = std::uint64_t{1} << 53U;

}  // namespace

Result<void> write_task_claim(Folder& folder, const TaskClaim& claim) {
  const std::string text = to_line({
      {"task", claim.task},
      {"fence", claim.fence},
      {"state", kTaskClaimWords.at(static_cast<std::size_t>(claim.state))},
  });
  return folder.replace(std::string(kTaskClaimFile), text + "\n", Folder::Sync::yes);
}

Result<std::optional<TaskClaim>> read_task_claim(Folder& folder) {
  const auto text = folder.read(std::string(kTaskClaimFile), kLargest);
  if (!text) return std::unexpected(text.error());
  if (!*text) return std::nullopt;
  const auto object = parse_object(**text, kLargest);
  if (!object) return std::nullopt;
  const auto state = from_word<TaskClaim::State>(kTaskClaimWords, exact_text(*object, "state", 16));
  TaskClaim claim;
  claim.task = exact_text(*object, "task", kLongestTask);
  claim.fence = static_cast<std::int64_t>(whole_number(*object, "fence", kHighestFence));
  if (!state || claim.task.empty()) return std::nullopt;
  claim.state = *state;
  return claim;
}

}  // namespace tend
