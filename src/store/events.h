// `events.jsonl` in the home: what happened to all agents, one line each, for people and tools that
// follow. Every keeper appends; a full file becomes `events.1.jsonl`.
//
//   {"at":1773002269.25,"agent":A,"session":S,"life":1,"kind":"verdict","verdict":"stalled",
//    "phase":"model","because":[...]}
//   {"at":...,"kind":"action","action":"kill","why":"...","result":"ended by SIGTERM"}
//   {"at":...,"kind":"note","text":"..."}
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/folder.h"

namespace tend {

inline constexpr std::string_view kEventsFile = "events.jsonl";
inline constexpr std::string_view kOldEventsFile = "events.1.jsonl";

struct Event {
  enum class Kind : std::uint8_t { verdict, action, note };
  Kind kind = Kind::note;
  double at = 0;
  std::string agent;
  std::string session;
  std::uint32_t life = 0;
  std::string verdict;  // kind verdict
  std::string phase;
  std::vector<std::string> because;
  std::string action;  // kind action
  std::string text;    // why, or the note
  std::string result;  // what came of the action
  bool needs_person = false;
};

std::string format_event(const Event& event);
Result<Event> parse_event(std::string_view line);

/// Appends one line; long texts are cut so that it stays under 4 KB.
Result<void> append_event(Folder& home, const Event& event);

}  // namespace tend
