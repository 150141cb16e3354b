// Many keepers append to one file, each line in one write. Who finds it full moves it away, one at
// a time; whoever had it open still ends its line in the old one.
#include "store/events.h"

#include <algorithm>
#include <limits>
#include <memory>

#include "store/json.h"
#include "store/lines.h"

namespace tend {
namespace {

constexpr std::string_view kEventsLock = ".events.lock";
constexpr std::uint64_t kFullEvents = std::uint64_t{8} * 1024 * 1024;
constexpr std::uint64_t kMostEvents = 2 * kFullEvents;
constexpr std::size_t kLongestEvent = 4095;  // with its newline
constexpr std::size_t kLongestName = 128;
constexpr std::size_t kMostBecause = 8;
constexpr std::array<std::string_view, 3> kEventKindWords{"verdict", "action", "note"};

/// The event with no text longer than `most`.
WriteJson event_json(const Event& event, std::size_t most) {
  WriteJson json{{"at", rounded_seconds(event.at)}};
  const auto add = [&](const char* key, const std::string& text, std::size_t bound) {
    if (!text.empty()) json[key] = cut_text(text, std::min(most, bound));
  };
  add("agent", event.agent, kLongestName);
  add("session", event.session, kLongestName);
  if (event.life != 0) json["life"] = event.life;
  json["kind"] = kEventKindWords[static_cast<std::size_t>(event.kind)];
  switch (event.kind) {
    case Event::Kind::verdict:
      add("verdict", event.verdict, kLongestName);
      add("phase", event.phase, kLongestName);
      json["because"] = WriteJson::array();
      for (const std::string& each : event.because) {
        if (json["because"].size() < kMostBecause) json["because"].push_back(cut_text(each, most));
      }
      break;
    case Event::Kind::action:
      add("action", event.action, kLongestName);
      add("why", event.text, most);
      add("result", event.result, most);
      break;
    case Event::Kind::note:
      add("text", event.text, most);
      break;
  }
  if (event.needs_person) json["needs_person"] = true;
  return json;
}

Result<std::uint64_t> size_of_events(Folder& home) {
  const auto facts = home.facts(std::string(kEventsFile));
  if (!facts) return std::unexpected(facts.error());
  return *facts ? (*facts)->size : 0;
}

/// Moves a full file away, unless somebody else does it meanwhile.
Result<void> move_away(Folder& home) {
  const auto lock = home.open(std::string(kEventsLock), Folder::Open::update);
  if (!lock) return std::unexpected(lock.error());
  const auto locked = (*lock)->lock();
  if (!locked) return std::unexpected(locked.error());
  if (!*locked) return fail("somebody else holds the lock of the events");
  const auto size = size_of_events(home);
  if (!size) return std::unexpected(size.error());
  if (*size <= kFullEvents) return {};
  return home.rename(std::string(kEventsFile), std::string(kOldEventsFile));
}

/// A file that cannot be moved is no reason to lose an event: it grows on for a while, and the next
/// one tries again.
Result<void> make_room(Folder& home) {
  const auto size = size_of_events(home);
  if (!size) return std::unexpected(size.error());
  if (*size <= kFullEvents) return {};
  auto moved = move_away(home);
  if (moved || *size <= kMostEvents) return {};
  return moved;
}

}  // namespace

std::string format_event(const Event& event) {
  std::string line;
  for (std::size_t most = 1024; most > 0; most /= 2) {
    line = to_line(event_json(event, most));
    if (line.size() < kLongestEvent) break;
  }
  return line;
}

Result<Event> parse_event(std::string_view line) {
  const auto object = parse_object(line, kLongestEvent * 4);
  if (!object) return fail("the event is no JSON object");
  const auto kind = word_field<Event::Kind>(*object, "kind", kEventKindWords);
  Event event{
      .kind = kind.value_or(Event::Kind::note),
      .at = calendar_field(*object, "at"),
      .agent = shown_text(*object, "agent", kLongestName),
      .session = shown_text(*object, "session", kLongestName),
      .life = static_cast<std::uint32_t>(
          whole_number(*object, "life", std::numeric_limits<std::uint32_t>::max())),
      .verdict = shown_text(*object, "verdict", kLongestName),
      .phase = shown_text(*object, "phase", kLongestName),
      .action = shown_text(*object, "action", kLongestName),
      .text = shown_text(*object, kind == Event::Kind::action ? "why" : "text", kLongestEvent),
      .result = shown_text(*object, "result", kLongestEvent),
      .needs_person = flag_field(*object, "needs_person"),
  };
  const ReadJson* const because = find_field(*object, "because");
  if (because == nullptr || !because->is_array()) return event;
  for (const ReadJson& each : *because) {
    if (event.because.size() < kMostBecause) {
      event.because.push_back(shown_text(each, kLongestEvent));
    }
  }
  return event;
}

Result<void> append_event(Folder& home, const Event& event) {
  if (auto room = make_room(home); !room) return room;
  return append_line(home, kEventsFile, format_event(event), Folder::Sync::no);
}

}  // namespace tend
