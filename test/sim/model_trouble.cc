// What goes wrong with a model: it crashes, is refused, is denied, hangs; and by when a hang has to
// be found.
#include "model_of_agent.h"

#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

// How long the programs wait before they try again, as they were seen to; then they give up.
constexpr Duration kClaudeLadder[] = {550ms,   1020ms,  2240ms,  4740ms,  9780ms,
                                      18320ms, 35810ms, 34780ms, 32170ms, 33970ms};
constexpr Duration kCodexLadder[] = {3370ms, 3430ms, 3850ms, 4380ms, 6180ms};
constexpr Duration kGeminiLadder[] = {210s};   // ten times, and not a word
constexpr Duration kOpencodeLadder[] = {75s};  // six times, the same
constexpr Duration kWaitsItself = 60s;         // for what ends sooner
constexpr Duration kOwnTimeout = 600s;         // of a model that says nothing

std::span<const Duration> ladder_of(Voice voice) {
  switch (voice) {
    case Voice::codex:
      return kCodexLadder;
    case Voice::gemini:
      return kGeminiLadder;
    case Voice::opencode:
      return kOpencodeLadder;
    default:
      return kClaudeLadder;
  }
}

/// Of one whose last answer had that status. Gemini's is the status, as far as it fits.
int exit_code_of(Voice voice, std::optional<int> status) {
  return voice == Voice::gemini && status ? *status % 256 : 1;
}

}  // namespace

void Model::get_into_trouble(const Step& step) {
  switch (step.kind) {
    case StepKind::crash:
      return leave_after(step.takes, [this] { self_.exit(1); });
    case StepKind::fault:
      return leave_after(step.takes, [this] { self_.crash(11); });
    case StepKind::early_exit:
      if (speaks() && number_ == 1 && agent_.next_step == 0) return end_without_work(step.takes);
      // Nobody could tell a worker's from a good end.
      return leave_after(step.takes, [this] { self_.exit(speaks() ? 0 : 1); });
    case StepKind::timeout_exit:
      say();
      return after(kOwnTimeout, [this] { give_up(std::nullopt, std::nullopt); });
    case StepKind::denied:
      return be_denied();
    default:
      hang(step.kind);
      if (step.takes > Duration::zero()) wake_after(life().patience + step.takes);
      if (step.kind == StepKind::hang_stream || step.kind == StepKind::hang_input) {
        life().wake = [me = shared_from_this()] { me->wake(); };
      }
  }
}

/// By the provider, for as long as that lasts; then it goes on.
void Model::be_refused(const Step& step) {
  const auto [refused, is_new] = agent_.refused.try_emplace(agent_.next_step);
  RefusalTruth& refusal = refused->second;
  if (is_new) refusal = {world_.elapsed() + plan_.steps[agent_.next_step].takes, chance_of(2, 3)};
  if (world_.elapsed() >= refusal.until) return done();
  if (step.kind == StepKind::retry_ladder) return climb(0, refusal.until, chance_of(1, 2));
  const Duration left = refusal.until - world_.elapsed();
  if (left < kWaitsItself) return try_again_after(left);
  if (!refusal.named) return give_up(429, std::nullopt);
  print(speech_->hold_until(world_.wall() + left));
  give_up(429, refusal.until);
}

void Model::try_again_after(Duration wait) {
  print(speech_->retry(1, wait, 429));
  shows(with_confirm(wait + 120s));
  after(wait, [this] {
    say();
    done();
  });
}

void Model::climb(std::size_t n, Duration until, bool is_busy) {
  const std::span<const Duration> ladder = ladder_of(plan_.voice);
  const int status = is_busy ? 529 : 500;
  if (world_.elapsed() >= until) {
    say();
    return done();
  }
  if (n == ladder.size()) return give_up(status, std::nullopt);
  tell(speech_->retry(static_cast<int>(n + 1), ladder[n], status),
       with_confirm(shown_.holds ? ladder[n] + 120s : limits_.retry));
  after(ladder[n] + dice_.between(1ms, 30ms),
        [this, n, until, is_busy] { climb(n + 1, until, is_busy); });
}

void Model::give_up(std::optional<int> status, std::optional<Duration> until) {
  print(speech_->give_up(status));
  shows(kNoLimit);
  life().leaving = true;
  agent_.given_up = {number_, world_.elapsed(), until};
  const int code = exit_code_of(plan_.voice, status);
  after(dice_.between(20ms, 300ms), [this, code] { self_.exit(code); });
}

/// Whoever may do nothing at all gives up politely; another one finds another way.
void Model::be_denied() {
  print(speech_->deny(fmt::format("d{}-{}", number_, ++calls_)));
  life().was_denied = true;
  if (plan_.voice == Voice::opencode) return end_without_a_word();
  say();
  if (number_ > 1 || agent_.next_step > 0) return done();
  after(dice_.between(1s, 20s), [this] { end_without_work({}); });
}

/// It says that all went well, and has not used a single tool.
void Model::end_without_work(Duration wait) {
  leave_after(wait, [this] {
    put(speech_->end_turn());
    agent_.did_nothing = true;
    self_.exit(0);
  });
}

void Model::end_without_a_word() {
  shows(kNoLimit);
  life().leaving = true;
  agent_.did_nothing = true;
  after(200ms, [this] { self_.exit(0); });
}

void Model::wake_after(Duration wait) {
  after(wait, [this] { wake(); });
}

/// As if nothing had been.
void Model::wake() {
  if (!life().hang) return;
  HangTruth& hang = world_.truth().hangs[*life().hang];
  hang.over = world_.elapsed();
  life().hang.reset();
  if (hang.kind == StepKind::hang_input && plan_.voice != Voice::beats) put("y\n");
  say();
  done();
}

void Model::leave_after(Duration wait, std::function<void()> how) {
  say();
  after(wait, [this, how = std::move(how)] {
    life().leaving = true;
    how();
  });
}

void Model::hang(StepKind kind) {
  agent_.well.reset();
  Duration patience = start_patience();
  if (kind != StepKind::hang_start) patience = begin_hang(kind);
  HangTruth hang;
  hang.kind = kind;
  hang.agent = plan_.name;
  hang.life = number_;
  hang.since = world_.elapsed();
  hang.bound = bound_of(kind, patience);
  if (life().over) hang.over = hang.since;  // what is left of a life is nobody's to find
  if (dice_.number() % 3 == 0) {            // nothing polite reaches it any more
    self_.ignore(Kill::interrupt);
    self_.ignore(Kill::terminate);
  }
  life().hang = world_.truth().hangs.size();
  world_.truth().hangs.push_back(std::move(hang));
}

Duration Model::begin_hang(StepKind kind) {
  switch (kind) {
    case StepKind::hang_tool:
      open(1h);
      return tool_patience({});
    case StepKind::hang_child:
      open(1h);
      life().helpers.push_back(self_.spawn({.command = {"helper", "0"}, .environment = {}}));
      return tool_patience({});
    case StepKind::spin:
      say();
      self_.compute(90);
      return model_patience();
    case StepKind::chatter:
      say();
      chatter(0);
      return model_patience();
    case StepKind::hang_input:  // behind a question that nobody sees, in the middle of a line
      say();
      if (plan_.voice != Voice::beats) put("Do you want to go on? [y/N] ");
      return model_patience();
    case StepKind::hang_idle:
      take_in(heard());
      say();
      end_turn();
      life().rests = false;
      return kNoLimit;
    default:
      say();
      return model_patience();
  }
}

void Model::chatter(std::uint64_t n) {
  if (!speaks()) return;  // a worker's chatter would be beats, and those are what it promised
  put(speech_->chatter(n));
  if (n < 3) shows(model_patience());
  after(dice_.between(10s, 30s), [this, n] {
    if (life().hang) chatter(n + 1);  // else it goes on with its work
  });
}

/// What others write there is a weak sign of each.
bool Model::shares_worktree() const {
  if (!plan_.parent.empty() && !plan_.own_worktree) return true;
  return std::ranges::any_of(agent_.children, [this](const std::string& child) {
    return !world_.truth().agents.at(child).plan->own_worktree;
  });
}

/// Weak signs put the last word off, up to twice the limit.
Duration Model::bound_of(StepKind kind, Duration patience) const {
  if (kind == StepKind::hang_idle) return idle_bound();
  if (patience == kNoLimit) return kNoLimit;
  const bool weak = kind == StepKind::spin || kind == StepKind::chatter ||
                    kind == StepKind::hang_child || kind == StepKind::hang_tool ||
                    shares_worktree() || plan_.voice == Voice::opencode;
  Duration bound = weak ? 2 * patience : patience;
  if (shares_worktree()) bound += patience;  // the last thing that another did there before its end
  if (kind == StepKind::hang_start) bound = 600s + limits_.confirm;
  if (!speaks()) bound = 2 * limits_.beats.stalled;
  return bound + slack();
}

/// It is asked after an interval, and has until the deadline: once more if it never answers, or
/// if others write to its work tree.
Duration Model::idle_bound() const {
  if (!plan_.is_asked()) return kNoLimit;
  const int deadlines = 1 + (plan_.probe.mute ? 1 : 0) + (shares_worktree() ? 1 : 0);
  return plan_.probe.interval + deadlines * plan_.probe.deadline + limits_.confirm + slack();
}

/// Where many are silent together, the channel is in doubt first.
Duration Model::slack() const {
  const bool has_fleet = world_.truth().agents.size() >= 3;
  return 3min + (has_fleet ? 6min + limits_.confirm : Duration{});
}

}  // namespace tend::sim
