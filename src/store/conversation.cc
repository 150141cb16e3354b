// {"life":2,"stream_from":18230,"session":"4ae045cd-5686-452c-a75d-2891b5ca8bd5"}
#include "store/conversation.h"

#include <limits>

#include "base/session_id.h"
#include "store/json.h"

namespace tend {
namespace {

constexpr std::size_t kLargest = 4096;
constexpr std::uint64_t kFarthest = std::uint64_t{1} << 53U;

}  // namespace

Result<void> write_conversation(Folder& folder, const ConversationFile& file) {
  const std::string text = to_line({
      {"life", file.life},
      {"stream_from", file.stream_from},
      {"session", file.session},
  });
  return folder.replace(std::string(kConversationFile), text + "\n", Folder::Sync::no);
}

Result<std::optional<ConversationFile>> read_conversation(Folder& folder) {
  const auto text = folder.read(std::string(kConversationFile), kLargest);
  if (!text) return std::unexpected(text.error());
  if (!*text) return std::nullopt;
  const auto object = parse_object(**text, kLargest);
  if (!object) return std::nullopt;
  ConversationFile file;
  file.life = static_cast<std::uint32_t>(
      whole_number(*object, "life", std::numeric_limits<std::uint32_t>::max()));
  file.stream_from = whole_number(*object, "stream_from", kFarthest);
  const std::string session = exact_text(*object, "session", kLongestSession);
  if (is_session_id(session)) file.session = session;
  return file;
}

}  // namespace tend
