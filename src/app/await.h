// For commands that ask one thing which takes a while and have nothing else to do.
#pragma once

#include <optional>
#include <utility>

#include "base/result.h"
#include "os/machine.h"

namespace tend {

/// Runs the loop until `ask` got its answer. `ask` is given the function to answer with, and
/// returns what keeps the question alive.
template <class Answer, class Ask>
Result<Answer> await(Machine& machine, Ask ask) {
  std::optional<Result<Answer>> answer;
  const Subscribed asked = ask([&](Result<Answer> got) {
    answer = std::move(got);
    machine.loop.stop();
  });
  if (!answer) machine.loop.run();
  if (!answer) return fail("it was broken off before the answer came");
  return *std::move(answer);
}

}  // namespace tend
