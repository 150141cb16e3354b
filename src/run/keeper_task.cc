// The task that an agent works on: when its keeper claims it, what counts as getting on with it,
// and what becomes of it at the end.
#include <fmt/format.h>

#include "run/keeper.h"

namespace tend {

void Keeper::begin_task() {
  if (settings_.agent.task.empty() || only_watches()) return;
  TaskWork::Owner owner{.folder = *folder_,
                        .agent = settings_.agent.agent,
                        .task = settings_.agent.task,
                        .patrol = settings_.config.patrol,
                        .say =
                            [this](const std::string& text, bool needs_person) {
                              recorder_->remark(text);
                              event("note", text, "", needs_person);
                            },
                        .tell_judge =
                            [this](TaskEvent what) {
                              Signal signal{.is = Kind::task, .event = what};
                              signal.task = settings_.agent.task;
                              batch_.signals.push_back(signal);
                            },
                        .changed = [this] { look_soon(); }};
  task_ = std::make_unique<TaskWork>(machine_, work_items(machine_, *home_, settings_.config),
                                     std::move(owner));
}

/// Nobody begins what somebody else is at.
void Keeper::claim_task() {
  task_->begin([this](const std::string& why_not) {
    task_claimed_ = true;
    if (why_not.empty()) return begin_life();
    if (!stopping_ && stage_ < Stage::leaving) start_failed({.exit_code = 1, .text = why_not});
  });
}

/// That its process lives is no proof of work; to wait for something that has a name is none
/// against it. Who stays for its children waits for them; who is about to begin claims first.
bool Keeper::gets_on() const {
  if (staying_) return staying_->outcome == WorkOutcome::done;
  if (begins_by_order_) return false;
  const Verdict verdict = recorder_->judge().verdict();
  return verdict == Verdict::working || verdict == Verdict::waiting;
}

bool Keeper::settle_task() {
  // Who ends with the machine goes on with it, and its claim is still its own. Who only stayed for
  // a child does not.
  if (!task_ || ends_with_machine() || task_->is_settled()) return true;
  // A task whose worker was allowed nothing is still to be done.
  std::string why =
      fmt::format("{}, {}", kWorkOutcomeWords[static_cast<std::size_t>(outcome_)], ended_by_);
  if (was_denied_) why += ", " + pulse_->says().note;
  task_->end(outcome_ == WorkOutcome::done && !was_denied_, std::move(why), [this] {
    look_now();  // what became of it is written down before the end
    if (stage_ != Stage::replaced) write_end();
  });
  return false;
}

}  // namespace tend
