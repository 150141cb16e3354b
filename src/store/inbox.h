// `inbox.jsonl` in an agent's folder: what it should know, above all what became of its children.
// Its keeper appends, the agent reads with `tend inbox`; `.inbox-read` says how far.
//
//   {"id":3,"at":1773002269.25,"kind":"child-done","from":"coder","text":"coder finished: …"}
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/folder.h"

namespace tend {

inline constexpr std::string_view kInboxFile = "inbox.jsonl";
inline constexpr std::string_view kInboxReadFile = ".inbox-read";

struct InboxMessage {
  std::uint64_t id = 0;    // counts from 1
  double at = 0;           // by the calendar
  std::string kind;        // "child-done", "child-gone", "child-unmerged", "note"
  std::string from;        // an agent's name, or ""
  std::string text;        // at most 3 KB
  std::string folder;      // of the agent that it is about, or "": a name may be given again
  std::uint32_t life = 0;  // of that agent; 0 if it is about none
};

/// Appends one line, with the next id, and returns that. Survives a power cut. A message whose
/// kind, from, text, folder and life are those of one that is there is not appended again: its id
/// is returned.
Result<std::uint64_t> append_message(Folder& folder, InboxMessage message);

struct Inbox {
  std::vector<InboxMessage> messages;  // all, oldest first; at most the newest 1,000
  std::uint64_t read_to = 0;           // the id of the last one that was read
  [[nodiscard]] std::uint64_t unread() const;
};
Result<Inbox> read_inbox(Folder& folder);
/// Never moves back.
Result<void> mark_read(Folder& folder, std::uint64_t id);

}  // namespace tend
