// An agent that is spoken to, on a simulated machine, for tests of the keeper: it reads its input,
// works a moment for everything that it is told, and answers questions as long as it is well.
#pragma once

#include <chrono>
#include <functional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "run/kept_test.h"

namespace tend {

inline constexpr const char* kTurn =
    R"({"type":"system","subtype":"init","session_id":"s-1"})"
    "\n"
    R"({"type":"assistant","message":{"id":"m%","content":[{"type":"text","text":"yes %"}]},"session_id":"s-1"})"
    "\n"
    R"({"type":"result","subtype":"success","is_error":false,"result":"%","session_id":"s-1"})"
    "\n";

inline std::string turn(int number) {
  std::string text = kTurn;
  for (std::size_t at = text.find('%'); at != std::string::npos; at = text.find('%')) {
    text.replace(at, 1, std::to_string(number));
  }
  return text;
}

/// The id of the question in a line of stream-json; "" if it has none.
inline std::string question_in(const std::string& line) {
  constexpr std::string_view kBefore = "`tend ack ";
  const std::size_t at = line.find(kBefore);
  if (at == std::string::npos) return "";
  const std::size_t from = at + kBefore.size();
  return line.substr(from, line.find('`', from) - from);
}

class ChatTest : public KeptTest {
 protected:
  ChatTest() {
    kept.agent.adapter = AdapterKind::claude;
    kept.agent.command = {"worker"};
    kept.agent.listens = true;
    kept.config.probes["worker-s1"] = {.channel = ProbeChannel::stdin_stream};
    kept.policy = *built_in_policy("agent");
    behave([this](SimSelf& self) { chat(self); });
  }

  void chat(SimSelf& self) {
    self.every(std::chrono::seconds{1}, [this](SimSelf& me) {
      if (deaf_) return;
      std::istringstream lines(me.read_fifo(kept.path("input")));
      for (std::string line; std::getline(lines, line);) hear(me, line);
    });
  }
  void hear(SimSelf& me, const std::string& line) {
    heard_.push_back(line);
    const std::string id = question_in(line);
    if (!id.empty()) asked_.push_back(id);
    if (!id.empty() && answers_) answer(id, *me.variable("TEND_LIFE"));
    me.print(turn_of_ ? turn_of_(line) : turn(++turns_));
  }
  void answer(const std::string& id, const std::string& life) {
    universe.disk.append(kept.path("signals.jsonl"),
                         R"({"is":"ack","id":")" + id + R"(","life":)" + life + "}\n");
  }
  [[nodiscard]] std::string verdict() const { return std::string(word(kept.heartbeat().verdict)); }

  bool deaf_ = false;                                            // it hangs: it reads nothing
  bool answers_ = true;                                          // it runs what it is told to
  std::function<std::string(const std::string& line)> turn_of_;  // what it says to that
  int turns_ = 0;
  std::vector<std::string> heard_;
  std::vector<std::string> asked_;
};

}  // namespace tend
