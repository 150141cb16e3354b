// `conversation.json`: by which name the agent can go on with what it began, and where in its
// stream the life at hand begins. Whoever keeps it next reads the stream of this life again from
// there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/folder.h"

namespace tend {

inline constexpr std::string_view kConversationFile = "conversation.json";

struct ConversationFile {
  std::uint32_t life = 0;
  std::uint64_t stream_from = 0;
  std::string session;  // "" if none is known

  bool operator==(const ConversationFile&) const = default;
};

Result<void> write_conversation(Folder& folder, const ConversationFile& file);
/// nullopt if there is none, or what stands there cannot be understood.
Result<std::optional<ConversationFile>> read_conversation(Folder& folder);

}  // namespace tend
