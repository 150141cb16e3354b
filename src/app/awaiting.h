// A command that waits for a child of the agent it runs in says so, for as long as it waits: the
// agent is silent then because of the child. One whose stream is heard shows that by itself.
#pragma once

#include <memory>
#include <string>

#include "os/world.h"

struct tend_client;

namespace tend {

class Awaiting {
 public:
  /// Says nothing if the child is not one of the agent that `world` is in, or there is none.
  Awaiting(World& world, const std::string& child, const std::string& parent_heartbeat);
  ~Awaiting();
  Awaiting(const Awaiting&) = delete;
  Awaiting& operator=(const Awaiting&) = delete;

 private:
  struct Closer {
    void operator()(tend_client* client) const;
  };
  std::unique_ptr<tend_client, Closer> client_;  // nullptr: nothing was said
  std::string id_;
};

}  // namespace tend
