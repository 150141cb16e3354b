// What a keeper has to tell people about its agent, or who leads about its lease. A notice counts
// as told once it is in the outbox of the home, on every channel: from then on a crash loses
// nothing. All that is told about one agent until it is well again is one incident: opened,
// updated, closed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "act/tell.h"
#include "base/result.h"
#include "os/machine.h"
#include "run/postman.h"
#include "store/config.h"

namespace tend {

/// What all that is told about one agent goes by in the outbox.
std::string trouble_key(const Folder& home, const std::string& folder, const std::string& agent);

class Herald {
 public:
  struct About {
    std::string agent;
    std::string folder;
    std::vector<NotifyChannel> channels;  // of the configuration
    bool own = false;                     // the agent has a --notify
    std::string key = {};                 // of the incident; "": the trouble of the agent
  };
  /// `not_heard` gets a line for what did not arrive; `idle` is called when nothing is on its way
  /// any more, what has to wait excepted. Both are called from the loop.
  Herald(Machine& machine, Folder& home, const About& about,
         std::function<void(const std::string&)> not_heard, Callback idle);

  /// Without a channel there is nobody to tell.
  [[nodiscard]] bool has_channel() const { return !names_.empty(); }

  /// Puts it into the outbox and sends it. The words for what was done.
  Result<std::string> tell(const Incident& incident);
  /// Whoever heard of the incident hears that it is over. If the outbox cannot be written, it is
  /// tried again, unless there is something to tell before.
  void close(const Incident& incident);
  /// Why the end of an incident is not in the outbox yet; "" if there is none, or it is.
  [[nodiscard]] const std::string& owed_because() const { return owed_because_; }
  /// Sends what a keeper before us left.
  void go_on() { postman_.send(); }

  /// Something can be sent now, or is being sent.
  [[nodiscard]] bool busy() const { return postman_.busy(); }

 private:
  Result<void> put(const std::string& payload);
  void try_to_close();
  void plan(const Postman::Round& round);
  void hear(const Postman::Delivery& delivery);

  Machine& machine_;
  Folder& home_;
  std::vector<std::string> names_;  // of its channels
  std::string key_;
  std::function<void(const std::string&)> not_heard_;
  Callback idle_;
  std::string problem_;               // the last one that was said
  std::optional<std::string> close_;  // how, if that is still to be written
  std::string owed_because_;
  Postman postman_;
  Subscribed again_;
  Subscribed close_again_;
};

}  // namespace tend
