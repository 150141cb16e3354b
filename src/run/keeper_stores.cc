// An agent of another system, known by its stores: its signs become signals, its process is
// followed from life to life, it is poked. What the stores disagree about is told to a person, and
// to nobody else.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/duration.h"
#include "base/quote.h"
#include "judge/account.h"
#include "run/keeper.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr Duration kPokeDeadline = 30s;

std::string home_of_user(const std::vector<std::string>& environment) {
  constexpr std::string_view kName = "HOME=";
  const auto found = std::ranges::find_if(
      environment, [&](const std::string& each) { return each.starts_with(kName); });
  return found == environment.end() ? "" : found->substr(kName.size());
}

std::string poked_words(const Result<Ran>& ran) {
  if (!ran) return "not poked: " + ran.error().text;
  if (ran->timed_out) return "not poked: the command did not end";
  if (ran->exit == ExitStatus{ExitStatus::How::code, 0}) return "poked";
  const std::string said = on_one_line(ran->error.substr(0, ran->error.find('\n')));
  return fmt::format("not poked: {} {}{}",
                     ran->exit.how == ExitStatus::How::signal ? "signal" : "exit", ran->exit.value,
                     said.empty() ? "" : ", " + said);
}

}  // namespace

void Keeper::begin_stores() {
  const AgentFile& agent = settings_.agent;
  const std::string& name = agent.store.empty() ? agent.agent : agent.store;
  ForeignAgent foreign =
      foreign_agent(settings_.config, name, agent.role, home_of_user(settings_.environment));
  note_sinks(foreign.sinks);
  if (foreign.sources.empty()) return;
  stores_ = std::make_unique<StoreWatch>(machine_, std::move(foreign), [this] { look_soon(); });
  // What the keeper before us told is told: to the judge, and to people.
  const bool rests = watches_stores() && recorder_->judge().verdict() == Verdict::idle;
  if (rests) stores_->go_on(SelfState::idle);
  if (const std::string& sides = pulse_->says().divergence; !sides.empty()) {
    divergence_.go_on(sides);
    divergence_told_ = true;
  }
}

/// For those who beat: without the file they need not ask what the configuration says.
void Keeper::note_sinks(const std::vector<AgentStore>& sinks) {
  std::string names;
  for (const AgentStore& sink : sinks) names += sink.name + "\n";
  if (names.empty()) return;
  if (auto noted = folder_->replace(kSinksFile, names, Folder::Sync::no); !noted) {
    recorder_->remark("its beats go into no other store: " + noted.error().text);
  }
}

void Keeper::look_at_stores(Instant now) {
  if (!stores_ || stage_ >= Stage::leaving || record_.life == 0) return;
  if (now >= stores_->next()) stores_->look();
  if (stores_->take_round()) {
    follow_subject();
    const auto sights = stores_->sights();
    if (divergence_.look(sights, machine_.clock.awake())) divergence_untold_ = true;
  }
  for (const std::string& slow : stores_->take_slow()) {
    recorder_->remark(slow);
    event("note", slow, "", false);
  }
  stores_->tell(batch_, now + recorder_->shift());
  const bool blind = stores_->take_blindness();
  if (blind && watches_stores()) batch_.signals.push_back({.is = Kind::fault});
  tell_divergence();
  note_divergence();
}

/// For whoever looks at the heartbeat, and for the keeper after us. Without ages: they would be
/// another at every look.
void Keeper::note_divergence() {
  const bool is_told = divergence_told_ && !divergence_untold_;
  const std::string& sides = is_told ? divergence_.sides() : std::string();
  if (pulse_->says().divergence != sides) pulse_->change().divergence = sides;
}

/// A fresher store goes on without the process that an older one names: whoever that was, its end
/// is not the agent's. Where it was taken for that already, this is the next life.
void Keeper::let_go_of_process() {
  if (acting_ || stores_->says_ended()) return;
  const bool was_dead = !process_ && last_state_ && is_over(*last_state_);
  if (!was_dead && record_.process.pid == 0) return;
  const LifeRecord before = record_;
  record_.process = {};
  if (was_dead) ++record_.life;
  if (auto written = lock_->write(record_); !written) {
    recorder_->remark("its process could not be recorded: " + written.error().text);
    record_ = before;
    return;
  }
  recorder_->remark("a fresher store goes on without the process that was known");
  exit_watch_.reset();
  process_.reset();
  last_state_ = RunState::unknown;
  Heartbeat& says = pulse_->change();
  says.process = {};
  says.life = record_.life;
  if (!was_dead) {
    batch_.signals.push_back({.is = Kind::process, .process = ProcessState::unknown});
    return;
  }
  batch_.signals.push_back({.is = Kind::spawn, .life = record_.life});
  forget_chain("not done: a new life has begun");
  stores_->begin_life();
  exit_ = {};
  ended_by_.clear();
  note_begin();
  stage_ = Stage::living;
}

/// The process of the stores is the agent's; another one is its next life.
void Keeper::follow_subject() {
  if (!watches_stores() || stopping_) return;
  const auto& subject = stores_->subject();
  if (!process_ && stores_->says_ended()) stage_ = Stage::between;
  if (stores_->has_left(record_.process.pid)) return let_go_of_process();
  if (!subject) {
    const bool is_news = stores_->subject_is_gone() && !process_ && last_state_ != RunState::gone;
    if (!is_news) return;
    last_state_ = RunState::gone;
    batch_.signals.push_back({.is = Kind::process, .process = ProcessState::gone});
    stage_ = Stage::between;
    return;
  }
  if (acting_ || (process_ && record_.process == *subject)) return;
  const bool had_none = record_.process.pid == 0 && last_state_ != RunState::gone;
  const LifeRecord before = record_;
  record_.process = *subject;
  if (!had_none) ++record_.life;
  if (auto written = lock_->write(record_); !written) {
    recorder_->remark("its process could not be recorded: " + written.error().text);
    record_ = before;
    return;
  }
  if (!had_none) {
    batch_.signals.push_back({.is = Kind::spawn, .life = record_.life, .pid = subject->pid});
    forget_chain("not done: a new life has begun");
    stores_->begin_life();
  }
  exit_ = {};
  ended_by_.clear();
  note_begin();
  hold_process(machine_.processes.open(record_.process));
}

/// Once for as long as it lasts.
void Keeper::tell_divergence() {
  if (divergence_told_ && divergence_.text().empty()) {
    divergence_told_ = false;
    event("note", "its stores agree again", "", false);
    const Verdict verdict = recorder_->judge().verdict();
    const bool is_well = verdict == Verdict::working || verdict == Verdict::idle;
    if (herald_ && incident_open_ && is_well) close_incident("its stores agree again");
  }
  if (!divergence_untold_) return;
  divergence_untold_ = false;
  divergence_told_ = true;
  const std::string said = "its stores disagree: " + divergence_.text();
  recorder_->remark(said);
  event("note", said, "", true);
  if (!herald_) return;
  Incident incident = incident_of(Action::notify, said);
  incident.what_to_do =
      fmt::format("see `tend stores {}`: a writer may be broken", stores_->agent().name);
  const auto told = herald_->tell(incident);
  if (!told) {
    event("note", "no person can be told yet: " + told.error().text, "", true);
    divergence_untold_ = true;
    return;
  }
  incident_open_ = true;
  told_under_ = recorder_->judge().verdict();
}

/// How long nothing was seen of it.
Duration Keeper::silent_for() const {
  const Instant now = machine_.clock.now();
  const SignAge real = account(recorder_->judge(), now + recorder_->shift()).real;
  return real.seen ? real.age : now - stores_->began();
}

void Keeper::poke(const Ruling& ruling) {
  const ForeignAgent& agent = stores_->agent();
  if (agent.poke.empty()) return finish_act(ruling, "there is no poke");
  if (silent_for() < agent.poke_after) {
    return finish_act(ruling,
                      fmt::format("not poked before {}", format_duration(agent.poke_after)));
  }
  if (poking_) return finish_act(ruling, "the last poke is under way");
  Run run;
  run.command = agent.poke;
  run.environment = {"TEND_AGENT=" + settings_.agent.agent};
  run.deadline = kPokeDeadline;
  run.most_output = 4096;
  poking_ = machine_.processes.run(run, [this, ruling](const Result<Ran>& ran) {
    const Subscribed done = std::move(poking_);
    finish_act(ruling, poked_words(ran));
    look_soon();
  });
}

/// Why one that is only watched is not ended.
std::string Keeper::why_not_end_watched() const {
  if (!only_watches()) return "";
  if (!watches_stores() || !stores_ || !stores_->agent().kill) return "it is only watched";
  if (stores_->state() == SelfState::stuck) return "it says itself that it is stuck";
  const bool proven = process_ && stores_->subject() == record_.process && stores_->is_proven();
  return proven ? "" : "its process is not proven";
}

}  // namespace tend
