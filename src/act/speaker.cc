// Each way is a few steps; whichever fails ends it with its reason.
#include "act/speaker.h"

#include <chrono>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/quote.h"

namespace tend {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::ordered_json;

constexpr Duration kDeadline = 30s;
constexpr Duration kAfterPaste = 300ms;  // a terminal program takes Enter within a paste for text
constexpr std::size_t kMostPasted = 20'000;
constexpr std::size_t kMostPassed = 100'000;  // an argument of a program has at most 128 KiB

std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Keys and what begins one, as U+009B does in UTF-8, are spaces; lines and tabs are text.
std::string without_keys(std::string text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const bool is_text = c == '\n' || c == '\t';
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0U;
    const bool is_c1 = c == 0xc2 && next >= 0x80 && next < 0xa0;
    if ((c < 0x20 && !is_text) || c == 0x7f || is_c1) text[i] = ' ';
    if (is_c1) text[i + 1] = ' ';
  }
  return text;
}

Result<void> came_to(const std::string& program, const Result<Ran>& ran) {
  if (!ran) return std::unexpected(ran.error());
  if (ran->timed_out) return fail(fmt::format("{} did not end", in_quotes(program)));
  if (ran->exit == ExitStatus{ExitStatus::How::code, 0}) return {};
  const std::string said = on_one_line(ran->error.substr(0, ran->error.find('\n')));
  return fail(fmt::format("{} ended with {} {}{}", in_quotes(program),
                          ran->exit.how == ExitStatus::How::signal ? "signal" : "exit",
                          ran->exit.value, said.empty() ? "" : ": " + said));
}

}  // namespace

std::string input_line(std::string_view text) {
  const Json content = Json::array({{{"type", "text"}, {"text", text}}});
  const Json message{{"role", "user"}, {"content", content}};
  return dumped({{"type", "user"}, {"message", message}}) + "\n";
}

/// In one pass: what is put in for one name is not searched for the next.
std::vector<std::string> filled_in(const std::vector<std::string>& command,
                                   const std::string& agent, const Saying& saying) {
  const std::pair<std::string_view, const std::string&> known[] = {
      {"{agent}", agent}, {"{id}", saying.id}, {"{line}", saying.line}, {"{text}", saying.text}};
  std::vector<std::string> filled;
  filled.reserve(command.size());
  for (const std::string& word : command) {
    std::string& into = filled.emplace_back();
    for (std::size_t at = 0; at < word.size();) {
      bool is_name = false;
      for (const auto& [name, value] : known) {
        if (word.compare(at, name.size(), name) != 0) continue;
        into += value;
        at += name.size();
        is_name = true;
        break;
      }
      if (!is_name) into += word[at++];
    }
  }
  return filled;
}

Speaker::Speaker(Machine& machine, std::string agent, Address address)
    : machine_(machine), agent_(std::move(agent)), address_(std::move(address)) {}

bool Speaker::fits(std::string_view text) const {
  if (std::holds_alternative<ToInput>(address_)) return input_line(text).size() <= kMostInFifo;
  return text.size() <= (std::holds_alternative<ToTerminal>(address_) ? kMostPasted : kMostPassed);
}

void Speaker::say(Saying saying, Said said, Callback first) {
  CHECK(!busy() && said);
  saying_ = std::move(saying);
  said_ = std::move(said);
  step_ = machine_.loop.at(machine_.clock.now(), [this, first = std::move(first)] {
    const Subscribed done = std::move(step_);
    if (first) first();
    if (std::holds_alternative<ToInput>(address_)) return by_input();
    if (std::holds_alternative<ToTerminal>(address_)) return by_terminal();
    if (std::holds_alternative<ToCommand>(address_)) return by_command();
    by_file();
  });
}

void Speaker::by_input() {
  const std::string line = input_line(saying_.text);
  if (line.size() > kMostInFifo) return finish(fail("it is too long for its input"));
  finish(machine_.sockets.write_fifo(std::get<ToInput>(address_).fifo, line));
}

/// As a paste, so that nothing in the text is taken for a key.
void Speaker::by_terminal() {
  const std::string& pane = std::get<ToTerminal>(address_).pane;
  const std::string buffer = "tend-" + saying_.id;
  run({"tmux", "load-buffer", "-b", buffer, "-"}, without_keys(saying_.text), [this, pane, buffer] {
    run({"tmux", "paste-buffer", "-d", "-p", "-b", buffer, "-t", pane}, "", [this, pane] {
      step_ = machine_.loop.at(machine_.clock.now() + kAfterPaste, [this, pane] {
        const Subscribed done = std::move(step_);
        press_enter(pane);
      });
    });
  });
}

void Speaker::press_enter(const std::string& pane) {
  run({"tmux", "send-keys", "-t", pane, "Enter"}, "", [this] { finish({}); });
}

void Speaker::by_command() {
  run(filled_in(std::get<ToCommand>(address_).command, agent_, saying_), saying_.text,
      [this] { finish({}); });
}

void Speaker::by_file() {
  const Json json{
      {"agent", agent_}, {"id", saying_.id}, {"line", saying_.line}, {"text", saying_.text}};
  finish(machine_.files.replace(std::get<ToFile>(address_).path, dumped(json) + "\n"));
}

void Speaker::run(std::vector<std::string> command, std::string input, Callback then) {
  Run run;
  run.command = std::move(command);
  run.environment = {"TEND_AGENT=" + agent_, "TEND_QUESTION=" + saying_.id};
  run.input = std::move(input);
  run.deadline = kDeadline;
  run.most_output = 4096;
  const std::string program = run.command.front();
  step_ = machine_.processes.run(run, [this, program, then = std::move(then)](const auto& ran) {
    const Subscribed done = std::move(step_);
    if (auto came = came_to(program, ran); !came) return finish(std::move(came));
    then();
  });
}

/// Whoever hears of it may destroy this, or say the next.
void Speaker::finish(Result<void> result) {
  const Said said = std::exchange(said_, nullptr);
  said(result);
}

}  // namespace tend
