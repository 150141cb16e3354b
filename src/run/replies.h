// What senders of the gate are told, sent in the machine's loop: a Postman for each outage, there
// while something of that outage waits, and sent again when its time has come.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "os/machine.h"
#include "run/postman.h"

namespace tend {

class Replies {
 public:
  struct Owner {
    /// What became of each.
    Postman::Delivered delivered;
    /// The outbox could not be asked, in words; "": all that was due was tried.
    std::function<void(const std::string& problem)> tried;
  };
  Replies(Machine& machine, Folder& home, Owner owner);
  Replies(const Replies&) = delete;
  Replies& operator=(const Replies&) = delete;

  /// All that is due of this outage now, and the rest later.
  void send(std::int64_t outage);

 private:
  void plan(const std::string& key, const Postman::Round& round);

  struct One {
    std::unique_ptr<Postman> postman;
    Subscribed again;
  };
  Machine& machine_;
  Folder& home_;
  Owner owner_;
  std::map<std::string, One> all_;  // by the key of an outage
};

}  // namespace tend
