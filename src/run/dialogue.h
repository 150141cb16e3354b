// What is special about an agent whose language we know: it is started so that we understand it,
// and brought back into its own session instead of being begun anew.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "act/agents.h"
#include "base/time.h"
#include "os/machine.h"
#include "sense/adapter.h"
#include "store/agent_file.h"
#include "store/conversation.h"

namespace tend {

class Dialogue {
 public:
  /// `environment` is what the agent is started with, NAME=VALUE.
  Dialogue(Machine& machine, Folder& folder, const AgentFile& agent,
           std::vector<std::string> environment);

  /// Where in the stream the life that is being kept began, if a keeper before us wrote it down.
  [[nodiscard]] std::optional<std::uint64_t> stream_from(std::uint32_t life) const;

  struct Start {
    std::vector<std::string> command;
    std::vector<std::string> environment;  // to be added
    std::string remark;                    // for the person; "" if there is nothing to say
    std::string first_words;               // to be said on its input; "" if there are none
  };
  /// How the next life is started. With `resume` it goes on in its session, where that is known and
  /// can be done, and is told `news` there.
  Start next_life(bool resume, std::string_view news = {});
  void begin_life(std::uint32_t life, std::uint64_t stream_from);
  /// What its stream told so far.
  void hear(const Conversation& conversation);
  /// The last life said in which session it was.
  [[nodiscard]] bool was_named() const { return was_named_; }
  /// The life ended well; why that is in doubt, "" if it is not.
  static std::string doubt(const Conversation& conversation, std::uint32_t life);
  /// It wanted to do something, and nothing of it was allowed.
  static bool was_denied(const Conversation& conversation);

  /// Whether its session grew on disk since this was asked last.
  bool transcripts_grew();

 private:
  void write();
  const Transcripts& transcripts();

  Machine& machine_;
  Folder& folder_;
  const AgentFile& agent_;
  std::vector<std::string> environment_;
  std::optional<AgentStart> start_;
  ConversationFile file_;
  std::optional<Transcripts> transcripts_;
  std::string transcripts_of_;  // the session that they are of
  bool session_unknown_ = false;
  bool was_named_ = false;
  WallTime grew_{};
};

}  // namespace tend
