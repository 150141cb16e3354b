// Models of agents: what a real one shows of its work, its waits and its troubles, in its own
// language, and what is true of it meanwhile. What it has done survives it, as a session does.
#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "os/sim/sim_self.h"
#include "truth.h"

namespace tend::sim {

/// What a model may ask of the world around it.
class Surroundings {
 public:
  virtual ~Surroundings() = default;
  [[nodiscard]] virtual Duration elapsed() const = 0;  // since the world began
  [[nodiscard]] virtual Duration awake() const = 0;
  [[nodiscard]] virtual WallTime wall() const = 0;
  [[nodiscard]] virtual Truth& truth() = 0;
  [[nodiscard]] virtual std::uint64_t seed() const = 0;
  /// `tend WORDS` as a tool of this agent, soon. `done` hears its exit status, if the agent's
  /// process is still there.
  virtual void run_tend(SimSelf& self, std::vector<std::string> words,
                        std::function<void(SimSelf&, int)> done) = 0;
  /// Whether there is an agent of that name, and whether it is over, as everybody can see it.
  [[nodiscard]] virtual bool is_known(const std::string& agent) const = 0;
  [[nodiscard]] virtual bool is_over(const std::string& agent) const = 0;
  /// As `git commit -a` in its work tree.
  virtual void commit(const AgentTruth& agent) = 0;
  /// False while what is printed is lost.
  [[nodiscard]] virtual bool can_be_shown() const = 0;
  /// It answered a question, and that can be seen.
  virtual void on_answer(const std::string& /*agent*/) {}
  /// A new life of an agent began; nullptr if it is none of this world.
  virtual AgentTruth* begin_life(SimSelf& self) = 0;
};

/// What is typed to start one that speaks so.
std::vector<std::string> command_of(Voice voice);
/// The same for one that is spoken to on its input.
std::vector<std::string> chat_command();

/// The id of the question in what an agent is told; "" if there is none.
std::string question_in(std::string_view words);
/// The number of the message in it; 0 if there is none.
std::int64_t message_in(std::string_view words);

/// Lives one life: goes on with the first step that is not done.
void live(SimSelf& self, Surroundings& world);
/// The same behind the process that was started, which only waits for it (kInner).
void live_inside(SimSelf& self, Surroundings& world);
inline constexpr const char* kInner = "inner";

/// Commands of tools and of what is left behind; each says in its second word for how many seconds.
void live_as_helper(SimSelf& self);

}  // namespace tend::sim
