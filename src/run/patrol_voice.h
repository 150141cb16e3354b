// What a patrol says: events for people who follow, letters to workers, notices on the channels
// that leave the machine. The database is open only while something is said.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "os/machine.h"
#include "store/events.h"
#include "store/heartbeat.h"
#include "store/mail.h"
#include "store/outbox.h"
#include "store/tasks.h"

namespace tend {

/// Who letters and events of the patrol are from.
inline constexpr std::string_view kPatrolName = "patrol";

/// Something that people should know of until it is over.
struct Concern {
  std::string key;
  std::string text;
  std::string to_do;         // the command to type; "" if there is none
  bool needs_person = true;  // else it is a note
  bool leaves = true;        // it is told on the channels
};

/// The key that a task's notices have.
std::string task_key(std::string_view id);

class PatrolVoice {
 public:
  PatrolVoice(Machine& machine, Folder& home, std::vector<std::string> channels)
      : machine_(machine), home_(home), channels_(std::move(channels)) {}

  /// `who`, `at` and nothing else is filled in.
  Result<void> event(Event event);

  struct Pinged {
    std::int64_t letter = 0;
    bool is_new = true;  // else the one before was not acknowledged yet
  };
  /// Asks the worker of a task whether it is there: once for each time that it went silent.
  Result<Pinged> ping(const Task& task, const std::vector<std::string>& because);
  /// When this worker last acknowledged a letter; none: never, or it is not known.
  Result<std::optional<WallTime>> last_answer(const std::string& worker);

  /// On all channels; nothing is said anew where it is said already.
  Result<void> notice(const Concern& concern, const std::vector<std::string>& because);
  Result<void> is_over(const std::string& key, const std::string& text);

  struct Told {
    std::string why;
    bool by_patrol = false;
  };
  /// All that was told and is not over, whoever told it, by key.
  Result<std::map<std::string, Told, std::less<>>> open_incidents();
  /// Says for a keeper what it could not say any more: what was told of its agent is over.
  Result<void> is_over_of(const std::string& key, const Heartbeat& agent, const std::string& folder,
                          const std::string& why);

  Result<std::vector<Notice>> dead_notices();
  /// Those that could not be sent since then.
  Result<std::vector<Notice>> waiting_since(WallTime then);
  Result<std::vector<Letter>> unanswered_since(WallTime then);

  /// Drops letters, notices and messages that nobody needs any more.
  Result<void> tidy();

  /// Lets go of the database.
  void rest() { database_.reset(); }

 private:
  Result<Database*> database();
  [[nodiscard]] std::string payload(std::string_view action, const std::string& text,
                                    const std::vector<std::string>& because,
                                    const std::string& to_do);

  Machine& machine_;
  Folder& home_;
  std::vector<std::string> channels_;
  std::unique_ptr<Database> database_;
};

}  // namespace tend
