// A command that waits for a child of the agent it runs in says so, for as long as it waits: the
// agent is silent then because of the child. One whose stream is heard shows that by itself. One
// that waits for its own parent is no excuse for it, so that is said in any case.
#pragma once

#include <memory>
#include <string>

#include "os/world.h"

struct tend_client;

namespace tend {

class Awaiting {
 public:
  /// `folder` is that of whoever is waited for, `parent_heartbeat` names its parent. Says nothing
  /// if it is neither child nor parent of the agent that `world` is in.
  Awaiting(World& world, const std::string& folder, const std::string& parent_heartbeat);
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
