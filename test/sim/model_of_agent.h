// One life of a model: step after step, each arranging the next. Only the files of the model see
// it; others start one with what model.h offers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "dice.h"
#include "judge/policy.h"
#include "model.h"
#include "os/sim/sim_self.h"
#include "scenario.h"
#include "truth.h"
#include "voice.h"

namespace tend::sim {

class Model : public std::enable_shared_from_this<Model> {
 public:
  Model(SimSelf& self, Surroundings& world, AgentTruth& agent);
  void begin();

 private:
  // model.cc
  void heed_signals();
  void after(Duration wait, std::function<void()> then);
  [[nodiscard]] bool chance_of(std::uint64_t these, std::uint64_t of);
  void go_on();
  void done();
  [[nodiscard]] bool now_troubled(StepKind kind);
  [[nodiscard]] bool trouble_left();
  void step();
  void work(const Step& step);
  void finish();

  // model_shown.cc
  [[nodiscard]] LifeTruth& life() { return agent_.lives.back(); }
  [[nodiscard]] bool speaks() const { return sim::speaks(plan_.voice); }
  void shows(Duration patience);
  [[nodiscard]] Duration with_confirm(Duration limit) const;
  [[nodiscard]] Duration silent_patience() const;
  [[nodiscard]] Duration start_patience() const;
  [[nodiscard]] Duration model_patience() const;
  [[nodiscard]] Duration tool_patience(Duration declared) const;
  void print(const std::string& line);
  void tell(const std::string& line, Duration patience);
  void put(const std::string& line);
  void say();

  // model_work.cc
  void talk(Duration left);
  void work_with_beats(Duration left);
  std::string open(Duration takes);
  void close(const std::string& call);
  void use_tool(Duration takes);
  void use_subagent(Duration takes);
  void speak_as_subagent(const std::string& call, Duration left);
  void leave_in_background(Duration takes);
  void compact(Duration takes);
  void be_held_until(Duration takes);
  void wait_to(Duration elapsed);
  void be_held(Duration left);
  void ask(Duration takes);
  void write_file();
  void leave_helper(Duration takes);

  // model_words.cc
  [[nodiscard]] std::vector<std::string> heard();
  void await_words();
  void begin_turn();
  void end_turn();
  void be_done_with_messages();
  void take_in(const std::vector<std::string>& lines);
  bool write_answer(const std::string& question);
  void answer_late();
  void answer(const std::string& question);
  void rest(Duration left);
  void listen(Duration left);
  void have_a_turn(const std::vector<std::string>& lines, Duration left);

  // model_children.cc
  void dispatch(const std::string& child);
  void await();
  void look_at_children(const std::string& call);
  void merge(const std::string& child);
  std::function<void(SimSelf&, int)> keep(std::function<void(int)> then);

  // model_trouble.cc
  void get_into_trouble(const Step& step);
  void be_refused(const Step& step);
  void try_again_after(Duration wait);
  void climb(std::size_t n, Duration until, bool is_busy);
  void give_up(std::optional<int> status, std::optional<Duration> until);
  void be_denied();
  void end_without_work(Duration wait);
  void end_without_a_word();
  void wake_after(Duration wait);
  void wake();
  void leave_after(Duration wait, std::function<void()> how);
  void hang(StepKind kind);
  Duration begin_hang(StepKind kind);
  void chatter(std::uint64_t n);
  [[nodiscard]] bool shares_worktree() const;
  [[nodiscard]] Duration bound_of(StepKind kind, Duration patience) const;
  [[nodiscard]] Duration idle_bound() const;
  [[nodiscard]] Duration slack() const;

  SimSelf& self_;
  Surroundings& world_;
  AgentTruth& agent_;
  const AgentPlan& plan_;
  const Limits& limits_;
  const Shown shown_;
  std::unique_ptr<Speech> speech_;
  Dice dice_;
  std::uint32_t number_;
  std::uint64_t said_ = 0;
  std::uint64_t calls_ = 0;
  bool is_cut_ = false;  // the last line of its stream
  int failed_dispatches_ = 0;
  int failed_merges_ = 0;
  std::vector<std::int64_t> in_hand_;  // messages that it was given in this turn
};

}  // namespace tend::sim
