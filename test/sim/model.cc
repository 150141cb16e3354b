// A model's life: how it is started, and goes from one step to the next until it ends.
#include "model.h"

#include <charconv>
#include <utility>

#include "model_of_agent.h"

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

/// As a script of Node does that starts the program: it ends as that one ended. Gemini's hears of
/// no signal, and tells its program of none.
void wrap(SimSelf& self, Voice voice) {
  if (voice == Voice::gemini) {
    for (const Kill kill : {Kill::interrupt, Kill::terminate, Kill::hang_up}) self.ignore(kill);
  }
  const std::int64_t inner = self.spawn({.command = {kInner}, .environment = {}});
  self.when_child_ends([inner](SimSelf& me, std::int64_t pid, const ExitStatus& exit) {
    if (pid != inner) return;
    exit.how == ExitStatus::How::code ? me.exit(exit.value) : me.crash(exit.value);
  });
}

}  // namespace

Model::Model(SimSelf& self, Surroundings& world, AgentTruth& agent)
    : self_(self),
      world_(world),
      agent_(agent),
      plan_(*agent.plan),
      limits_(agent.policy.limits),
      shown_(shown_by(agent.plan->voice)),
      speech_(make_speech(agent.plan->voice)),
      dice_(world.seed(), agent.plan->name, agent.lives.back().number),
      number_(agent.lives.back().number) {}

void Model::begin() {
  if (plan_.voice == Voice::claude) heed_signals();
  shows(start_patience());
  if (number_ == 1) agent_.well = world_.elapsed();
  if (now_troubled(StepKind::hang_start)) return hang(StepKind::hang_start);
  if (plan_.is_asked()) {
    answer_late();
    return await_words();
  }
  after(dice_.between(1s, 20s), [this] {
    print(speech_->begin("session-of-" + plan_.name));
    shows(model_patience());
    go_on();
  });
}

/// Claude Code is not ended by them, but ends: and with what looks like a good end, where they
/// break its turn off.
void Model::heed_signals() {
  self_.on(Kill::interrupt, [me = shared_from_this()](SimSelf& self) {
    if (!me->life().rests) me->put(me->speech_->break_off());
    self.exit(0);
  });
  self_.on(Kill::terminate, [](SimSelf& self) { self.exit(143); });
  self_.on(Kill::hang_up, [](SimSelf& self) { self.exit(129); });
}

void Model::after(Duration wait, std::function<void()> then) {
  self_.after(wait, [me = shared_from_this(), then = std::move(then)](SimSelf&) { then(); });
}

bool Model::chance_of(std::uint64_t these, std::uint64_t of) { return dice_.number() % of < these; }

void Model::go_on() {
  after(dice_.between(1s, 5s), [this] { step(); });
}

/// What it does now is done: a session remembers it.
void Model::done() {
  ++agent_.next_step;
  go_on();
}

bool Model::now_troubled(StepKind kind) {
  const std::size_t at = agent_.next_step;
  if (at >= plan_.steps.size() || plan_.steps[at].kind != kind) return false;
  return trouble_left();
}

bool Model::trouble_left() {
  std::uint32_t& had = agent_.troubled[agent_.next_step];
  if (had >= plan_.steps[agent_.next_step].times) return false;
  ++had;
  return true;
}

void Model::step() {
  if (plan_.is_asked()) take_in(heard());
  if (agent_.next_step >= plan_.steps.size()) return finish();
  Step step = plan_.steps[agent_.next_step];
  // What is tried again takes another time.
  const bool again = std::exchange(agent_.begun, agent_.next_step) == agent_.next_step;
  if (again) step.takes = dice_.between(step.takes / 10, step.takes);
  life().doing = step.kind;
  if (step.kind == StepKind::limit_exit || step.kind == StepKind::retry_ladder) {
    return be_refused(step);
  }
  if (is_trouble(step.kind)) {
    if (step.kind == StepKind::hang_start || !trouble_left()) return done();
    return get_into_trouble(step);
  }
  if (!speaks() && step.kind <= StepKind::ask) return work_with_beats(step.takes);
  work(step);
}

void Model::work(const Step& step) {
  switch (step.kind) {
    case StepKind::talk:
      return talk(step.takes);
    case StepKind::tool:
      return use_tool(step.takes);
    case StepKind::subagent:
      return use_subagent(step.takes);
    case StepKind::background:
      return leave_in_background(step.takes);
    case StepKind::compact:
      return compact(step.takes);
    case StepKind::rate_limit:
      return be_held_until(step.takes);
    case StepKind::overload:
      return be_held(step.takes);
    case StepKind::ask:
      return ask(step.takes);
    case StepKind::write:
      return write_file();
    case StepKind::dispatch:
      return dispatch(step.child);
    case StepKind::await:
      return await();
    case StepKind::merge:
      return merge(step.child);
    case StepKind::helper:
      return leave_helper(step.takes);
    case StepKind::rest:
      return rest(step.takes);
    default:
      break;
  }
  after(step.takes, [this] {
    say();
    done();
  });
}

void Model::finish() {
  if (plan_.is_asked()) {
    life().doing = StepKind::rest;
    life().idle_since = world_.elapsed();
    return rest(kNoLimit);
  }
  agent_.done = true;
  if (!agent_.children.empty()) world_.commit(agent_);
  say();
  print(speech_->end_turn());
  shows(kNoLimit);
  life().leaving = true;
  after(1s, [this] { self_.exit(0); });
}

std::vector<std::string> command_of(Voice voice) {
  const std::string program(kVoiceWords[static_cast<std::size_t>(voice)]);
  if (voice == Voice::codex) return {program, "exec", "do it"};
  return {program, voice == Voice::opencode ? "run" : "-p", "do it"};
}

std::vector<std::string> chat_command() {
  return {"claude", "-p", "--input-format", "stream-json"};
}

void live(SimSelf& self, Surroundings& world) {
  AgentTruth* const agent = world.begin_life(self);
  if (agent == nullptr) return;
  if (agent->plan->wrapped) return wrap(self, agent->plan->voice);
  std::make_shared<Model>(self, world, *agent)->begin();
}

void live_inside(SimSelf& self, Surroundings& world) {
  AgentTruth& agent = world.truth().agents.at(*self.variable("TEND_AGENT"));
  agent.lives.back().inner = self.id();
  std::make_shared<Model>(self, world, agent)->begin();
}

void live_as_helper(SimSelf& self) {
  const auto words = self.command();
  std::int64_t seconds = 0;
  if (words.size() > 1) {
    std::from_chars(words[1].data(), words[1].data() + words[1].size(), seconds);
  }
  if (seconds > 0) self.exit_after(std::chrono::seconds{seconds}, 0);
}

}  // namespace tend::sim
