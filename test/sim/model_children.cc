// What a model does with agents of its own: it dispatches them, awaits them, merges their work.
#include "model_of_agent.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tend::sim {

using namespace std::chrono_literals;

void Model::dispatch(const std::string& child) {
  // Whose dispatch was cut off asks for nobody anew who came to an end meanwhile.
  if (world_.is_known(child) && world_.is_over(child)) return done();
  const AgentPlan& plan = *world_.truth().agents.at(child).plan;
  const std::string call = open(2min);
  std::vector<std::string> words{"dispatch", "--name",    child,      "--role",       "coding",
                                 "--policy", plan.policy, "--notify", "tell-a-person"};
  if (plan.own_worktree) words.insert(words.end(), {"--worktree", "new"});
  if (plan.task) words.insert(words.end(), {"--task", child});
  words.emplace_back("--");
  std::ranges::copy(command_of(plan.voice), std::back_inserter(words));
  world_.truth().agents.at(child).asked_for = true;
  world_.run_tend(self_, std::move(words), keep([this, call, child](int exit) {
                    close(call);
                    // A name that is taken is that of a child which was asked for before; one
                    // that came to its end meanwhile has it no more, and is not asked for again.
                    const bool is_done = world_.is_known(child) && world_.is_over(child);
                    if (exit != 0 && !is_done && ++failed_dispatches_ < 3) return go_on();
                    AgentTruth& asked = world_.truth().agents.at(child);
                    asked.asked_for = exit == 0 || world_.is_known(child);
                    done();
                  }));
}

/// Who brings the work of others home has none of its own lying about.
void Model::await() {
  world_.commit(agent_);
  const std::string call = open(1h);
  look_at_children(call);
}

void Model::look_at_children(const std::string& call) {
  const bool over = std::ranges::all_of(agent_.children, [this](const std::string& child) {
    return !world_.truth().agents.at(child).asked_for || world_.is_over(child);
  });
  if (over || agent_.hurries) {
    close(call);
    return done();
  }
  after(30s, [this, call] { look_at_children(call); });
}

void Model::merge(const std::string& child) {
  world_.commit(agent_);
  const std::string call = open(2min);
  world_.run_tend(self_, {"merge", child}, keep([this, call](int exit) {
                    close(call);
                    if (exit != 0 && ++failed_merges_ < 3) return go_on();
                    done();
                  }));
}

std::function<void(SimSelf&, int)> Model::keep(std::function<void(int)> then) {
  return [me = shared_from_this(), then = std::move(then)](SimSelf&, int exit) { then(exit); };
}

}  // namespace tend::sim
