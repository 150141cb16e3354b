// What a model is told, and what it does then: it takes turns, answers questions, and is done with
// messages.
#include "model_of_agent.h"

#include <charconv>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace tend::sim {

using namespace std::chrono_literals;

std::vector<std::string> Model::heard() {
  std::vector<std::string> lines;
  std::istringstream words(self_.read_fifo(agent_.folder + "/input"));
  for (std::string line; std::getline(words, line);) lines.push_back(line);
  return lines;
}

/// Silent until then.
void Model::await_words() {
  after(dice_.between(1s, 4s), [this] {
    const auto lines = heard();
    if (lines.empty()) return await_words();
    begin_turn();
    take_in(lines);
    go_on();
  });
}

void Model::begin_turn() {
  life().rests = false;
  print(speech_->begin("session-of-" + plan_.name));
  shows(model_patience());
}

void Model::end_turn() {
  print(speech_->end_turn());
  shows(kNoLimit);
  life().rests = true;
  be_done_with_messages();
}

/// Its turn is over, and with it what it was given to do.
void Model::be_done_with_messages() {
  for (const std::int64_t id : std::exchange(in_hand_, {})) {
    world_.truth().got.try_emplace(id, world_.wall());
  }
}

void Model::take_in(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    if (const std::int64_t id = message_in(line); id > 0) in_hand_.push_back(id);
    const std::string question = question_in(line);
    if (!question.empty()) answer(question);
  }
  if (!lines.empty()) say();
}

/// False if it could not be written; a disk may be full and have room for this.
bool Model::write_answer(const std::string& question) {
  const std::string path = agent_.folder + "/signals.jsonl";
  const std::string line = fmt::format(R"({{"is":"ack","id":"{}","life":{}}})"
                                       "\n",
                                       question, number_);
  self_.append(path, line);
  return world_.can_be_shown() || self_.read(path).value_or("").ends_with(line);
}

/// What an earlier life was asked, as somebody who was left behind by it would.
void Model::answer_late() {
  if (agent_.last_question.empty() || dice_.number() % 2 == 0) return;
  after(dice_.between(0s, 2s), [this, question = agent_.last_question] { write_answer(question); });
}

void Model::answer(const std::string& question) {
  agent_.last_question = question;
  if (plan_.probe.mute) return;
  const bool is_written = write_answer(question);
  life().questions.clear();
  if (!is_written) return;
  life().answered = true;
  world_.on_answer(plan_.name);
}

void Model::rest(Duration left) {
  take_in(heard());
  end_turn();
  listen(left);
}

void Model::listen(Duration left) {
  const Duration pause = dice_.between(1s, 6s);
  after(pause, [this, left, pause] {
    const auto lines = heard();
    if (!lines.empty()) return have_a_turn(lines, left);
    if (left == kNoLimit) return listen(left);
    if (left > pause) return listen(left - pause);
    begin_turn();
    done();
  });
}

void Model::have_a_turn(const std::vector<std::string>& lines, Duration left) {
  begin_turn();
  take_in(lines);
  after(dice_.between(1s, 40s), [this, left] { rest(left); });
}

std::string question_in(std::string_view words) {
  constexpr std::string_view kBefore = "`tend ack ";
  const std::size_t at = words.find(kBefore);
  if (at == std::string_view::npos) return "";
  const std::size_t from = at + kBefore.size();
  return std::string(words.substr(from, words.find('`', from) - from));
}

std::int64_t message_in(std::string_view words) {
  constexpr std::string_view kBefore = "[message ";
  const std::size_t at = words.find(kBefore);
  if (at == std::string_view::npos) return 0;
  std::int64_t id = 0;
  std::from_chars(words.data() + at + kBefore.size(), words.data() + words.size(), id);
  return id;
}

}  // namespace tend::sim
