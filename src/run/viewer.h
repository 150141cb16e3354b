// `tend run` in the foreground: shows what the agent prints, byte for byte, and ends as it ends. It
// keeps nothing itself; but while it is there, a keeper that dies or hangs is replaced.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/time.h"
#include "os/machine.h"
#include "os/world.h"
#include "run/hire.h"
#include "run/keeper_watch.h"
#include "sense/tail.h"
#include "store/heartbeat.h"

namespace tend {

inline constexpr int kExitLooping = 75;  // held: try again later, or look at it
inline constexpr int kExitNoKeeper = 70;

class Viewer {
 public:
  enum class From : std::uint8_t { start, now };

  Viewer(Machine& machine, Folder& folder, KeeperProgram keeper, bool inherit_input, From from,
         Output& out, Output& err);
  ~Viewer();
  Viewer(const Viewer&) = delete;
  Viewer& operator=(const Viewer&) = delete;

  /// Runs the loop until the agent is over, held as looping, or the terminal went away. The exit
  /// code of `tend run`.
  int run();

 private:
  void tick();
  void show(Tail& tail, Output& to);
  void look_at_heartbeat();
  void look_at_keeper();
  void replace_keeper();
  void stop_agent(int signal);
  void attention(const Heartbeat& heartbeat);
  [[nodiscard]] int exit_code() const;
  void end(int code);
  void say(const std::string& text);

  Machine& machine_;
  Folder& folder_;
  KeeperProgram keeper_;
  bool inherit_input_;
  Output& out_;
  Output& err_;
  Tail stream_;
  Tail errors_;

  Heartbeat heartbeat_;
  std::uint64_t heartbeat_file_ = 0;
  bool over_ = false;
  bool said_staying_ = false;
  int stopping_ = 0;  // the signal that stops the agent; 0: none yet
  int code_ = 0;
  std::string told_;

  KeeperWatch watch_;

  Subscribed timer_;
  Subscribed change_;
  std::vector<Subscribed> orders_;
};

/// What a shell would say of this end.
int exit_code_of(const Heartbeat& heartbeat);

}  // namespace tend
