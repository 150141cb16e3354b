// tend.h for C++11 and later: a client that closes itself. Nothing throws; what failed is false,
// with the reason in why().
#ifndef TEND_HPP
#define TEND_HPP

#include <memory>
#include <string>

#include "tend.h"

namespace tend {

enum class State {
  working = TEND_WORKING,
  idle = TEND_IDLE,
  exiting = TEND_EXITING,
  stuck = TEND_STUCK
};

/// What a look found. A look that could not be made is unknown, never no.
enum class Answer { no = 0, yes = 1, unknown = -1 };

class Client {
 public:
  /// The client of the agent that this program is part of. Test it before use: outside an agent it
  /// is false.
  static Client open() { return Client(tend_open()); }
  static Client open_at(const std::string& folder, unsigned life) {
    return Client(tend_open_at(folder.c_str(), life));
  }

  explicit operator bool() const { return client_ != nullptr; }

  /// REQUIRES of all that follow: the client is true.
  bool beat() { return tend_beat(client_.get()) == 0; }
  bool state(State state, long until_seconds = 0) {
    return tend_state(client_.get(), static_cast<tend_state_word>(state), until_seconds) == 0;
  }
  bool ack() { return tend_ack(client_.get(), nullptr) == 0; }
  bool ack(const std::string& id) { return tend_ack(client_.get(), id.c_str()) == 0; }
  bool signal(const std::string& object) { return tend_signal(client_.get(), object.c_str()) == 0; }
  Answer parent_lives() { return static_cast<Answer>(tend_parent(client_.get())); }
  Answer life_is_current() { return static_cast<Answer>(tend_check_life(client_.get())); }
  bool has_sinks() const { return tend_has_sinks(client_.get()) == 1; }
  std::string agent() const { return tend_agent(client_.get()); }
  unsigned life() const { return tend_life(client_.get()); }

  /// What went wrong last in this thread; also after a failed open().
  static std::string why() { return tend_why(nullptr); }

 private:
  struct Closer {
    void operator()(tend_client* client) const { tend_close(client); }
  };
  explicit Client(tend_client* client) : client_(client) {}

  std::unique_ptr<tend_client, Closer> client_;
};

}  // namespace tend

#endif
