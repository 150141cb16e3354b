// How words reach an agent that is kept: questions, and the messages of its gate. One at a time;
// whatever way they take, it is known afterwards whether they arrived there, not whether they were
// heard.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "os/machine.h"

namespace tend {

/// Its standard input, where it takes stream-json.
struct ToInput {
  std::string fifo;
};
/// Typed into a pane of tmux, as one paste and Enter.
struct ToTerminal {
  std::string pane;
};
/// A program that passes it on. {agent}, {id}, {line} and {text} are replaced in each word; the
/// text is its input, too.
struct ToCommand {
  std::vector<std::string> command;
};
/// A file with the last words, as JSON: {"agent","id","line","text"}.
struct ToFile {
  std::string path;
};
using Address = std::variant<ToInput, ToTerminal, ToCommand, ToFile>;

struct Saying {
  std::string id;    // of the question or the message
  std::string line;  // what the agent is to run; "" if nothing
  std::string text;
};

/// A line of stream-json that says this to the agent.
std::string input_line(std::string_view text);
/// What `{NAME}` stands for in each word.
std::vector<std::string> filled_in(const std::vector<std::string>& command,
                                   const std::string& agent, const Saying& saying);

class Speaker {
 public:
  using Said = std::function<void(const Result<void>&)>;

  Speaker(Machine& machine, std::string agent, Address address);
  Speaker(const Speaker&) = delete;
  Speaker& operator=(const Speaker&) = delete;

  /// `said` is called once, from the loop, and `first` right before anything is written. REQUIRES
  /// that nothing is being said.
  void say(Saying saying, Said said, Callback first = {});
  [[nodiscard]] bool busy() const { return said_ != nullptr; }
  /// Whether a text fits on the way.
  [[nodiscard]] bool fits(std::string_view text) const;

 private:
  void by_input();
  void by_terminal();
  void by_command();
  void by_file();
  void run(std::vector<std::string> command, std::string input, Callback then);
  void press_enter(const std::string& pane);
  void finish(Result<void> result);

  Machine& machine_;
  std::string agent_;
  Address address_;
  Saying saying_;
  Said said_;
  Subscribed step_;
};

}  // namespace tend
