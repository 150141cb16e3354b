// What a model shows of itself, and for how long it may be silent after that.
#include "model_of_agent.h"

#include <string_view>

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

constexpr Duration kJustBefore = 5s;  // its patience is over

/// A line right behind one that was cut short can be told from it, unless that one waited for
/// more.
bool is_legible(std::string_view stream, std::string_view line) {
  if (!stream.ends_with(line)) return false;
  stream.remove_suffix(line.size());
  return stream.empty() || !std::string_view(":[,").contains(stream.back());
}

}  // namespace

/// It did something that can be seen. It may be ended only after this much silence.
void Model::shows(Duration patience) {
  ++world_.truth().progress;
  const Duration silent = world_.awake() - life().progressed;
  if (life().patience != kNoLimit && silent >= life().patience - kJustBefore) agent_.well.reset();
  life().progressed = world_.awake();
  life().patience = patience;
}

Duration Model::with_confirm(Duration limit) const {
  return limit == kNoLimit ? kNoLimit : limit + limits_.confirm;
}

Duration Model::silent_patience() const {
  return plan_.voice == Voice::lines ? kNoLimit : limits_.beats.stalled;
}

Duration Model::start_patience() const {
  return speaks() ? with_confirm(limits_.start) : silent_patience();
}

Duration Model::model_patience() const {
  return speaks() ? with_confirm(limits_.model) : silent_patience();
}

Duration Model::tool_patience(Duration declared) const {
  if (!speaks()) return silent_patience();
  if (!shown_.calls) return model_patience();
  const bool tells = shown_.declared && declared > Duration::zero();
  return with_confirm(tells ? declared + 60s : limits_.tool);
}

/// A worker that beats need not print.
void Model::print(const std::string& line) {
  if (plan_.voice == Voice::beats) return self_.touch(agent_.folder + "/.beat");
  put(line);
}

/// For which its language may have no word: then nothing is shown.
void Model::tell(const std::string& line, Duration patience) {
  if (line.empty()) return;
  print(line);
  shows(patience);
}

/// A disk may be full and have room for this.
void Model::put(const std::string& line) {
  if (line.empty()) return;
  self_.print(line);
  if (world_.can_be_shown() && !is_cut_) return;
  is_cut_ = !is_legible(self_.read(agent_.folder + "/stream.jsonl").value_or(""), line);
  if (!is_cut_) return;
  life().unheard = true;
  life().lost = world_.awake();
}

void Model::say() {
  print(speech_->say(++said_));
  shows(model_patience());
}

}  // namespace tend::sim
