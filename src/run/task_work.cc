// One question at a time, and every answer sets when the next is due. What is told to people comes
// before it is remembered that it was told: a keeper that is killed between the two tells it again.
#include "run/task_work.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "act/backoff.h"
#include "base/quote.h"
#include "store/heartbeat.h"
#include "store/inbox.h"
#include "store/json.h"

namespace tend {
namespace {

using namespace std::chrono_literals;
using Did = TaskAnswer::Did;

constexpr PatrolPace kUsualPace = patrol_pace(10min);  // nobody beats more seldom
constexpr Duration kShortestBeat = 5s;                 // each is a write to the database
constexpr std::uint32_t kMostEndTries = 8;             // some three minutes
constexpr std::size_t kLongestMessage = 1000;

std::string holder_of(const Task& task) { return on_one_line(task.assignee.value_or("nobody")); }

/// Why it is not this worker's.
std::string why_not(const TaskAnswer& answer, const std::string& id) {
  const std::string task = in_quotes(id);
  if (answer.task.status == kClosed) return fmt::format("task {} is closed", task);
  switch (answer.did) {
    case Did::no_such_task:
      return fmt::format("there is no task {}", task);
    case Did::held_by_other:
      return fmt::format("task {} is held by {}", task, holder_of(answer.task));
    case Did::lost:
      return fmt::format("task {} is held by {}, by a later claim", task, holder_of(answer.task));
    case Did::not_claimed:
      return fmt::format("task {} is held by nobody any more", task);
    default:
      return fmt::format("task {} is {}", task, on_one_line(answer.task.status));
  }
}

bool is_closed(const TaskAnswer& answer) {
  return answer.did == Did::not_claimable && answer.task.status == kClosed;
}

}  // namespace

TaskWork::TaskWork(Machine& machine, std::unique_ptr<WorkItems> items, Owner owner)
    : machine_(machine), items_(std::move(items)), owner_(std::move(owner)) {
  const auto known = read_task_claim(owner_.folder);
  if (!known || !*known || (*known)->task != owner_.task) return;
  switch ((*known)->state) {
    case TaskClaim::State::held:
      state_ = State::held;
      may_be_taken_ = true;  // while nobody kept its agent
      fence_ = (*known)->fence;
      owner_.tell_judge(TaskEvent::claim);  // the keeper before us may have died before it could
      break;
    case TaskClaim::State::given_back:
      state_ = State::given_back;
      break;
    case TaskClaim::State::lost:
      state_ = State::lost;
      break;
    case TaskClaim::State::closed:
      state_ = State::closed;
      break;
  }
}

Worker TaskWork::worker() const {
  return {.name = owner_.agent, .folder = owner_.folder.path(), .fence = fence_};
}

std::optional<Instant> TaskWork::next() const {
  // What waits for the agent to get on is not waited for by looking at the clock.
  if (ending_ || asked_ || is_out_of_hand() || due_ <= machine_.clock.now()) return std::nullopt;
  return state_ == State::given_back ? std::nullopt : std::optional(due_);
}

// --- The claim ----------------------------------------------------------------------------------

void TaskWork::begin(std::function<void(const std::string&)> begun) {
  begun_ = std::move(begun);
  claim();
}

void TaskWork::goes_on() {
  keep_all_the_same("it goes on");
  settled_ = false;
  given_up_ = false;
  if (state_ == State::given_back) state_ = State::unclaimed;
  if (asked_) return;
  if (state_ == State::unclaimed && failures_ == 0) claim();
  if (state_ != State::held || std::exchange(just_claimed_, false)) return;
  may_be_taken_ = true;
  look_whether_it_was_taken();
}

/// Whoever patrols takes it from one that is gone. What nobody else has since, it takes again.
void TaskWork::look_whether_it_was_taken() {
  asked_ = items_->find(owner_.task, [this](const Result<TaskAnswer>& answer) {
    const Subscribed done = std::move(asked_);
    if (!answer) {
      failed(answer.error());
    } else if (answer->did == Did::done && answer->task.status == kOpen) {
      claim();
    } else {
      may_be_taken_ = false;
    }
    owner_.changed();
  });
}

void TaskWork::claim() {
  asked_ = items_->claim(owner_.task, worker(), [this](const Result<TaskAnswer>& answer) {
    const Subscribed done = std::move(asked_);
    on_claim(answer);
    owner_.changed();
  });
}

void TaskWork::on_claim(const Result<TaskAnswer>& answer) {
  const auto begun = std::exchange(begun_, nullptr);
  std::string why;
  if (!answer) {
    failed(answer.error());
  } else if (answer->did == Did::done || answer->did == Did::as_before || is_own_claim(*answer)) {
    hold(answer->task);
    just_claimed_ = begun != nullptr;
  } else if (begun) {
    why = why_not(*answer, owner_.task);
  } else {
    lose(*answer);
  }
  if (begun) begun(why);
}

void TaskWork::hold(const Task& task) {
  succeeded();
  state_ = State::held;
  may_be_taken_ = false;
  fence_ = task.fence;
  remember(TaskClaim::State::held);
  owner_.tell_judge(TaskEvent::claim);
  beat_later(task.context);
}

/// By a later claim of this very agent, which a power cut took from what its keeper knew: nobody
/// but the agent and who keeps it claims for its folder.
bool TaskWork::is_own_claim(const TaskAnswer& answer) const {
  return answer.did == Did::lost && answer.task.worker == owner_.folder.path() &&
         answer.task.fence != fence_;
}

void TaskWork::take_up(const Task& task) {
  if (fence_ == task.fence) return;
  fence_ = task.fence;
  remember(TaskClaim::State::held);
}

/// A claim that is remembered too late is only claimed once more.
void TaskWork::remember(TaskClaim::State state) {
  const TaskClaim claim{.task = owner_.task, .fence = fence_.value_or(0), .state = state};
  const auto written = write_task_claim(owner_.folder, claim);
  unwritten_ = written ? std::nullopt : std::optional(claim);
}

/// Somebody else has it now, or nobody: the agent works on, and a person decides.
void TaskWork::lose(const TaskAnswer& answer) {
  const std::string text =
      fmt::format("it has lost its task: {}; nothing more is said there in its name",
                  why_not(answer, owner_.task));
  owner_.say(text, true);
  InboxMessage message;
  message.at = calendar_seconds(machine_.clock.wall());
  message.kind = "task-lost";
  message.text = text;
  if (auto told = append_message(owner_.folder, std::move(message)); !told) {
    owner_.say(told.error().text, true);
  }
  state_ = State::lost;
  remember(TaskClaim::State::lost);
  owner_.tell_judge(TaskEvent::release);
}

/// By the agent itself, or by somebody who knows better.
void TaskWork::note_closed() {
  owner_.say(fmt::format("its task {} is closed", in_quotes(owner_.task)), false);
  state_ = State::closed;
  remember(TaskClaim::State::closed);
  owner_.tell_judge(TaskEvent::close);
}

// --- Beats --------------------------------------------------------------------------------------

void TaskWork::judged(bool at_work, Instant now) {
  if (ending_ || asked_ || is_out_of_hand() || state_ == State::given_back || now < due_) return;
  if (state_ == State::unclaimed) {
    claim();
  } else if (may_be_taken_) {
    look_whether_it_was_taken();
  } else if (at_work) {
    beat();
  }
}

void TaskWork::beat() {
  asked_ =
      items_->beat(owner_.task, worker(), std::nullopt, [this](const Result<TaskAnswer>& answer) {
        const Subscribed done = std::move(asked_);
        on_beat(answer);
        owner_.changed();
      });
}

void TaskWork::on_beat(const Result<TaskAnswer>& answer) {
  if (!answer) return failed(answer.error());
  if (is_closed(*answer)) return note_closed();
  if (is_own_claim(*answer)) {
    take_up(answer->task);
    return beat();
  }
  if (answer->did != Did::done && answer->did != Did::as_before) return lose(*answer);
  succeeded();
  if (unwritten_) remember(unwritten_->state);
  beat_later(answer->task.context);
}

/// No later than the patrol expects it, and those that began together not together.
void TaskWork::beat_later(TaskContext context) {
  const PatrolPace& pace = owner_.patrol.of(static_cast<PatrolContext>(context));
  const Duration interval = std::max(std::min(pace.interval, kUsualPace.interval), kShortestBeat);
  const Duration spread = std::min({pace.tolerance, kUsualPace.tolerance, interval / 2});
  const auto jitter = static_cast<std::int64_t>(machine_.entropy.number() %
                                                static_cast<std::uint64_t>(2 * spread.count() + 1));
  due_ = machine_.clock.now() + interval - spread + Duration{jitter};
}

/// Each kind of failure is said once; that others write just now is no news to anybody.
void TaskWork::failed(const Error& error) {
  if (std::exchange(problem_, error.text) != error.text) {
    owner_.say(fmt::format("its task {} could not be {}: {}", in_quotes(owner_.task),
                           state_ == State::held ? "beaten" : "claimed", error.text),
               false);
  }
  due_ = machine_.clock.now() + backoff(++failures_, machine_.entropy.number());
}

void TaskWork::succeeded() {
  if (!problem_.empty()) {
    owner_.say(fmt::format("its task {} can be reached again", in_quotes(owner_.task)), false);
  }
  problem_.clear();
  failures_ = 0;
}

void TaskWork::give_back(const std::string& why,
                         std::function<void(const std::string& result)> done) {
  if (state_ != State::held || ending_) return done("noted");
  giving_back_ = std::move(done);
  asked_ = items_->release(owner_.task, worker(), [this, why](const Result<TaskAnswer>& answer) {
    const Subscribed asked = std::move(asked_);
    if (answer) {
      let_go();
      owner_.say(fmt::format("its task {} is given back: {}", in_quotes(owner_.task), why), true);
      std::exchange(giving_back_, nullptr)("its task is given back");
      return owner_.changed();
    }
    failed(answer.error());
    asked_ = machine_.loop.at(due_, [this, why] {
      const Subscribed waited = std::move(asked_);
      give_back(why, std::exchange(giving_back_, nullptr));
    });
  });
}

void TaskWork::keep_all_the_same(const std::string& why) {
  if (!giving_back_) return;
  asked_.reset();
  std::exchange(giving_back_, nullptr)("not done: " + why);
}

// --- The end ------------------------------------------------------------------------------------

void TaskWork::end(bool done, std::string why, std::function<void()> settled) {
  keep_all_the_same("it is over");
  const std::uint32_t tries = given_up_ ? kMostEndTries : 0;
  ending_ =
      Ending{.done = done, .why = std::move(why), .settled = std::move(settled), .tries = tries};
  ending_->done ? close() : release();
}

void TaskWork::close() {
  asked_ = items_->close(owner_.task, worker(), fmt::format("{}: {}", owner_.agent, ending_->why),
                         [this](const Result<TaskAnswer>& answer) {
                           const Subscribed done = std::move(asked_);
                           if (!answer) return end_failed(answer.error());
                           if (is_own_claim(*answer)) {
                             take_up(answer->task);
                             return close();
                           }
                           const bool is_free =
                               answer->did == Did::not_claimed && answer->task.status == kOpen;
                           if (is_free && may_be_taken_) return claim_to_close();
                           if (answer->did == Did::done || answer->did == Did::as_before) {
                             note_closed();
                           } else {
                             lose(*answer);
                           }
                           settle();
                         });
}

/// It was taken while its agent was gone, and nobody could be asked before all was done.
void TaskWork::claim_to_close() {
  asked_ = items_->claim(owner_.task, worker(), [this](const Result<TaskAnswer>& answer) {
    const Subscribed done = std::move(asked_);
    if (!answer) return end_failed(answer.error());
    on_claim(answer);
    if (state_ == State::held) return close();
    settle();
  });
}

/// Why it is given back stands behind what the worker said last, for whoever takes it next.
void TaskWork::release() {
  asked_ = items_->find(owner_.task, [this](const Result<TaskAnswer>& answer) {
    const Subscribed done = std::move(asked_);
    if (!answer) return end_failed(answer.error());
    const Task& task = answer->task;
    const bool is_known = !fence_ || task.fence == *fence_ || task.worker == owner_.folder.path();
    const bool is_ours = answer->did == Did::done && task.status == kInProgress &&
                         task.assignee == owner_.agent && is_known;
    if (is_ours) {
      take_up(task);
      return say_last_words(task);
    }
    let_go();
    settle();
  });
}

void TaskWork::say_last_words(const Task& task) {
  const std::string why = fmt::format("given back: {}", ending_->why);
  std::string message = task.heartbeat_message.value_or("");
  if (!message.ends_with(why)) message += message.empty() ? why : "; " + why;
  if (message.size() > kLongestMessage) message = cut_text(why, kLongestMessage);
  asked_ = items_->beat(owner_.task, worker(), message, [this](const Result<TaskAnswer>& said) {
    const Subscribed done = std::move(asked_);
    if (!said) return end_failed(said.error());
    asked_ = items_->release(owner_.task, worker(), [this](const Result<TaskAnswer>& answer) {
      const Subscribed asked = std::move(asked_);
      if (!answer) return end_failed(answer.error());
      owner_.say(fmt::format("its task {} is given back: {}", in_quotes(owner_.task), ending_->why),
                 false);
      let_go();
      settle();
    });
  });
}

void TaskWork::let_go() {
  state_ = State::given_back;
  given_up_ = false;
  remember(TaskClaim::State::given_back);
  fence_.reset();
  owner_.tell_judge(TaskEvent::release);
}

/// Who waits for the agent's end waits for this, so it has a bound; whoever patrols finds the claim
/// of an agent that is over.
void TaskWork::end_failed(const Error& error) {
  const bool is_last = ++ending_->tries > kMostEndTries;
  const std::string text = fmt::format("its task {} could not be {}: {}", in_quotes(owner_.task),
                                       ending_->done ? "closed" : "given back", error.text);
  if (is_last && !given_up_) {
    owner_.say(fmt::format("{}; `tend task {} {} --actor {}` does it", text,
                           ending_->done ? "close" : "release", on_one_line(owner_.task),
                           on_one_line(owner_.agent)),
               true);
  } else if (std::exchange(problem_, error.text) != error.text) {
    owner_.say(text, false);
  }
  if (is_last) {
    given_up_ = true;
    return settle();
  }
  const Instant again = machine_.clock.now() + backoff(ending_->tries, machine_.entropy.number());
  asked_ = machine_.loop.at(again, [this] {
    const Subscribed done = std::move(asked_);
    ending_->done ? close() : release();
  });
}

void TaskWork::settle() {
  settled_ = true;
  const auto settled = std::move(ending_->settled);
  ending_.reset();
  settled();
}

}  // namespace tend
