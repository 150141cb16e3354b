// Everything an agent's own table says (act/agents.h), put to use for one agent.
#include "run/dialogue.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/quote.h"

namespace tend {
namespace {

std::string variable_in(const std::vector<std::string>& environment, std::string_view name) {
  if (name.empty()) return "";
  for (const std::string& entry : environment) {
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') {
      return entry.substr(name.size() + 1);
    }
  }
  return "";
}

}  // namespace

Dialogue::Dialogue(Machine& machine, Folder& folder, const AgentFile& agent,
                   std::vector<std::string> environment)
    : machine_(machine),
      folder_(folder),
      agent_(agent),
      environment_(std::move(environment)),
      start_(agent_of(agent.command)) {
  if (const auto file = read_conversation(folder_); file && *file) file_ = **file;
}

std::optional<std::uint64_t> Dialogue::stream_from(std::uint32_t life) const {
  if (file_.life != life || life == 0) return std::nullopt;
  return file_.stream_from;
}

Dialogue::Start Dialogue::next_life(bool resume, std::string_view news) {
  Start start{.command = agent_.command, .environment = {}, .remark = ""};
  if (!start_) return start;
  const Dressing dressing = agent_.as_is ? Dressing::as_is : Dressing::added;
  Dressed dressed = dress(*start_, agent_.command, environment_, dressing);
  const std::vector<std::string> first = std::move(dressed.command);
  start.command = file_.life > 0 ? anew_command(*start_, first) : first;
  start.environment = std::move(dressed.environment);
  if (std::exchange(session_unknown_, false)) {
    start.remark = fmt::format("it does not know its session {} any more and is begun anew",
                               in_quotes(file_.session));
    file_.session.clear();
    return start;
  }
  if (!resume) return start;
  if (file_.session.empty()) {
    start.remark = "it had not named a session yet and is begun anew";
    return start;
  }
  std::string prompt(kResumePrompt);
  if (!news.empty()) prompt.append("\n\n").append(news);
  const bool on_input = agent_.listens && dressed.input_is_stream;
  auto resumed = resume_command(*start_, first, file_.session, on_input ? "" : prompt);
  if (resumed) {
    start.command = *std::move(resumed);
    if (on_input) start.first_words = std::move(prompt);
  } else {
    start.remark =
        "its session cannot be taken up again, it is begun anew: " + resumed.error().text;
  }
  return start;
}

void Dialogue::begin_life(std::uint32_t life, std::uint64_t stream_from) {
  file_.life = life;
  file_.stream_from = stream_from;
  was_named_ = false;
  if (start_) write();
}

void Dialogue::hear(const Conversation& conversation) {
  session_unknown_ = conversation.session_unknown;
  was_named_ = !conversation.session.empty();
  if (conversation.session.empty() || conversation.session == file_.session) return;
  file_.session = conversation.session;
  write();
}

/// A file that cannot be written costs at most a resume by another keeper.
void Dialogue::write() { std::ignore = write_conversation(folder_, file_); }

bool Dialogue::was_denied(const Conversation& conversation) {
  return conversation.tools > 0 && conversation.denied >= conversation.tools;
}

std::string Dialogue::doubt(const Conversation& conversation, std::uint32_t life) {
  if (conversation.failed) return "its last turn ended in an error";
  if (was_denied(conversation)) return "everything it wanted to do was denied";
  if (conversation.denied > 0) {
    return fmt::format("{} of what it wanted to do was denied", conversation.denied);
  }
  // What lives before this one did is in its session, not in this stream.
  if (conversation.tools == 0 && life == 1) return "it used no tool, so it changed nothing";
  return "";
}

/// Where its session grows, worked out once a session. REQUIRES start_.
const Transcripts& Dialogue::transcripts() {
  if (!transcripts_ || transcripts_of_ != file_.session) {
    transcripts_ = transcripts_of(start_->kind, file_.session, agent_.working_folder,
                                  variable_in(environment_, "HOME"),
                                  variable_in(environment_, folder_variable_of(start_->kind)));
    transcripts_of_ = file_.session;
  }
  return *transcripts_;
}

bool Dialogue::transcripts_grew() {
  if (!start_ || file_.session.empty()) return false;
  const Transcripts& where = transcripts();
  WallTime newest{};
  for (const std::string& file : where.files) {
    newest = std::max(newest, machine_.folders.newest_below(file, "", 0).value_or(newest));
  }
  for (const std::string& folder : where.folders) {
    newest = std::max(
        newest,
        machine_.folders.newest_below(folder, where.containing, where.depth).value_or(newest));
  }
  const bool grew = newest > grew_ && grew_ != WallTime{};
  grew_ = std::max(newest, grew_);
  return grew;
}

}  // namespace tend
