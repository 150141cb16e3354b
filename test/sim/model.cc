// One life of a model: step after step, each arranging the next.
#include "model.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "voice.h"

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

/// Chance of its own, so that what the code under test draws changes nothing in what agents do.
class Dice {
 public:
  Dice(std::uint64_t seed, std::string_view name, std::uint64_t life)
      : state_(seed ^ (life << 48U)) {
    for (const char c : name) state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  std::uint64_t number() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  Duration between(Duration low, Duration high) {
    return low + Duration{static_cast<Duration::rep>(
                     number() % static_cast<std::uint64_t>((high - low).count() + 1))};
  }

 private:
  std::uint64_t state_;
};

constexpr Duration kJustBefore = 5s;  // its patience is over

// How long the programs wait before they try again, as they were seen to; then they give up.
constexpr Duration kClaudeLadder[] = {550ms,   1020ms,  2240ms,  4740ms,  9780ms,
                                      18320ms, 35810ms, 34780ms, 32170ms, 33970ms};
constexpr Duration kCodexLadder[] = {3370ms, 3430ms, 3850ms, 4380ms, 6180ms};
constexpr Duration kGeminiLadder[] = {210s};   // ten times, and not a word
constexpr Duration kOpencodeLadder[] = {75s};  // six times, the same
/// Of every OpenCode of a user, where each message of a sub-agent is kept: a weak sign of them all.
constexpr const char* kOpencodeLog = "/home/user/.local/share/opencode/opencode.db-wal";
constexpr Duration kWaitsItself = 60s;  // for what ends sooner
constexpr Duration kOwnTimeout = 600s;  // of a model that says nothing

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

class Model : public std::enable_shared_from_this<Model> {
 public:
  Model(SimSelf& self, Surroundings& world, AgentTruth& agent)
      : self_(self),
        world_(world),
        agent_(agent),
        plan_(*agent.plan),
        limits_(agent.policy.limits),
        shown_(shown_by(agent.plan->voice)),
        speech_(make_speech(agent.plan->voice)),
        dice_(world.seed(), agent.plan->name, agent.lives.back().number),
        number_(agent.lives.back().number) {}

  void begin() {
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

 private:
  // --- What is shown, and what is true
  // ------------------------------------------------------------

  [[nodiscard]] LifeTruth& life() { return agent_.lives.back(); }
  [[nodiscard]] bool speaks() const { return sim::speaks(plan_.voice); }

  /// It did something that can be seen. It may be ended only after this much silence.
  void shows(Duration patience) {
    ++world_.truth().progress;
    const Duration silent = world_.awake() - life().progressed;
    if (life().patience != kNoLimit && silent >= life().patience - kJustBefore) agent_.well.reset();
    life().progressed = world_.awake();
    life().patience = patience;
  }
  [[nodiscard]] Duration with_confirm(Duration limit) const {
    return limit == kNoLimit ? kNoLimit : limit + limits_.confirm;
  }
  [[nodiscard]] Duration silent_patience() const {
    return plan_.voice == Voice::lines ? kNoLimit : limits_.beats.stalled;
  }
  [[nodiscard]] Duration start_patience() const {
    return speaks() ? with_confirm(limits_.start) : silent_patience();
  }
  [[nodiscard]] Duration model_patience() const {
    return speaks() ? with_confirm(limits_.model) : silent_patience();
  }
  [[nodiscard]] Duration tool_patience(Duration declared) const {
    if (!speaks()) return silent_patience();
    if (!shown_.calls) return model_patience();
    const bool tells = shown_.declared && declared > Duration::zero();
    return with_confirm(tells ? declared + 60s : limits_.tool);
  }

  /// A worker that beats need not print.
  void print(const std::string& line) {
    if (plan_.voice == Voice::beats) return self_.touch(agent_.folder + "/.beat");
    put(line);
  }
  /// A line right behind one that was cut short can be told from it, unless that one waited for
  /// more.
  static bool is_legible(std::string_view stream, std::string_view line) {
    if (!stream.ends_with(line)) return false;
    stream.remove_suffix(line.size());
    return stream.empty() || !std::string_view(":[,").contains(stream.back());
  }
  /// For which its language may have no word: then nothing is shown.
  void tell(const std::string& line, Duration patience) {
    if (line.empty()) return;
    print(line);
    shows(patience);
  }
  /// A disk may be full and have room for this.
  void put(const std::string& line) {
    if (line.empty()) return;
    self_.print(line);
    if (world_.can_be_shown() && !is_cut_) return;
    is_cut_ = !is_legible(self_.read(agent_.folder + "/stream.jsonl").value_or(""), line);
    if (!is_cut_) return;
    life().unheard = true;
    life().lost = world_.awake();
  }
  void say() {
    print(speech_->say(++said_));
    shows(model_patience());
  }

  // --- Going on
  // -----------------------------------------------------------------------------------

  void after(Duration wait, std::function<void()> then) {
    self_.after(wait, [me = shared_from_this(), then = std::move(then)](SimSelf&) { then(); });
  }
  [[nodiscard]] bool chance_of(std::uint64_t these, std::uint64_t of) {
    return dice_.number() % of < these;
  }
  void go_on() {
    after(dice_.between(1s, 5s), [this] { step(); });
  }
  /// What it does now is done: a session remembers it.
  void done() {
    ++agent_.next_step;
    go_on();
  }
  [[nodiscard]] bool now_troubled(StepKind kind) {
    const std::size_t at = agent_.next_step;
    if (at >= plan_.steps.size() || plan_.steps[at].kind != kind) return false;
    return trouble_left();
  }
  [[nodiscard]] bool trouble_left() {
    std::uint32_t& had = agent_.troubled[agent_.next_step];
    if (had >= plan_.steps[agent_.next_step].times) return false;
    ++had;
    return true;
  }

  void step() {
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

  void work(const Step& step) {
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

  void finish() {
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

  // --- Work
  // ---------------------------------------------------------------------------------------

  void talk(Duration left) {
    say();
    const Duration pause = dice_.between(20s, 90s);
    if (pause >= left) return done();
    after(pause, [this, left, pause] { talk(left - pause); });
  }
  /// A worker that beats, or a program that prints: at a quarter of what it may be silent for.
  void work_with_beats(Duration left) {
    say();
    const Duration most = std::min(silent_patience(), Duration{40min}) / 3;
    const Duration pause = std::min(dice_.between(most / 8, most), left);
    after(pause, [this, left, pause] { left > pause ? work_with_beats(left - pause) : done(); });
  }
  std::string open(Duration takes) {
    const std::string call = fmt::format("t{}-{}", number_, ++calls_);
    const bool declares = takes < 10min && dice_.number() % 3 == 0;
    const Duration declared = declares ? std::max(takes, Duration{2min}) : Duration{};
    const std::string line = speech_->open(call, declared);
    life().in_call = !line.empty();
    tell(line, tool_patience(declared));
    return call;
  }
  void close(const std::string& call) {
    print(speech_->close(call));
    life().in_call = false;
    shows(model_patience());
  }
  void use_tool(Duration takes) {
    const std::string call = open(takes);
    self_.compute(dice_.number() % 4 == 0 ? 0 : 50);  // some only wait for a network
    after(takes, [this, call] {
      self_.compute(0);
      close(call);
      done();
    });
  }
  void use_subagent(Duration takes) {
    const std::string call = fmt::format("s{}-{}", number_, ++calls_);
    const std::string line = speech_->open_subagent(call);
    life().in_call = !line.empty();
    tell(line, tool_patience({}));
    speak_as_subagent(call, takes);
  }
  void speak_as_subagent(const std::string& call, Duration left) {
    const Duration pause = dice_.between(20s, 200s);
    if (pause >= left) {
      put(speech_->close_subagent(call));
      life().in_call = false;
      shows(model_patience());
      return done();
    }
    after(pause, [this, call, left, pause] {
      tell(speech_->say_as_subagent(call, ++said_), tool_patience({}));
      if (plan_.voice == Voice::opencode) self_.write(kOpencodeLog, std::to_string(said_));
      speak_as_subagent(call, left - pause);
    });
  }
  void leave_in_background(Duration takes) {
    const std::string call = fmt::format("b{}-{}", number_, ++calls_);
    put(speech_->open_background(call));
    shows(shown_.background ? with_confirm(limits_.background) : tool_patience({}));
    be_done_with_messages();
    after(takes, [this, call] {
      put(speech_->wake_from_background(call));
      shows(model_patience());
      done();
    });
  }
  void compact(Duration takes) {
    tell(speech_->begin_compaction(), with_confirm(limits_.compact));
    after(takes, [this] {
      put(speech_->end_compaction());
      say();
      done();
    });
  }
  void be_held_until(Duration takes) {
    if (!shown_.holds) return be_held(takes);
    print(speech_->hold_until(world_.wall() + takes));
    shows(with_confirm(takes + 120s));
    if (dice_.number() % 2 == 0) return wait_to(world_.elapsed() + takes);
    after(takes, [this] {  // by a timer that stands still while the machine sleeps
      say();
      done();
    });
  }
  /// By one that does not.
  void wait_to(Duration elapsed) {
    after(30s, [this, elapsed] {
      if (world_.elapsed() < elapsed) return wait_to(elapsed);
      say();
      done();
    });
  }
  void be_held(Duration left) {
    const Duration pause = dice_.between(30s, 120s);
    tell(speech_->hold(pause), with_confirm(shown_.holds ? pause + 120s : limits_.retry));
    after(pause, [this, left, pause] {
      if (left > pause) return be_held(left - pause);
      say();
      done();
    });
  }
  void ask(Duration takes) {
    const std::string call = fmt::format("q{}-{}", number_, ++calls_);
    tell(speech_->ask(call), kNoLimit);
    after(takes, [this] {
      say();
      done();
    });
  }
  void write_file() {
    const std::string call = open(10s);
    after(10s, [this, call] {
      if (!agent_.worktree.empty()) {
        std::string name = fmt::format("{}-{}", plan_.name, agent_.next_step);
        if (!agent_.wrote.empty() && dice_.number() % 4 == 0) name = agent_.wrote.begin()->first;
        const std::string text = fmt::format("step {} of life {}\n", agent_.next_step, number_);
        self_.write(agent_.worktree + "/" + name, text);
        agent_.wrote.erase(name);
        if (self_.read(agent_.worktree + "/" + name) == text) agent_.wrote[name] = text;
        if (dice_.number() % 3 == 0) world_.commit(agent_);
      }
      close(call);
      done();
    });
  }
  void leave_helper(Duration takes) {
    const std::string call = open(10s);
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(takes).count();
    const bool apart = dice_.number() % 2 == 0;
    const auto pid = self_.spawn({.command = {"helper", std::to_string(seconds)},
                                  .environment = {},
                                  .own_session = apart,
                                  .orphan = apart});
    life().helpers.push_back(pid);
    after(10s, [this, call] {
      close(call);
      done();
    });
  }

  // --- Being spoken to
  // ----------------------------------------------------------------------------

  [[nodiscard]] std::vector<std::string> heard() {
    std::vector<std::string> lines;
    std::istringstream words(self_.read_fifo(agent_.folder + "/input"));
    for (std::string line; std::getline(words, line);) lines.push_back(line);
    return lines;
  }
  /// Silent until then.
  void await_words() {
    after(dice_.between(1s, 4s), [this] {
      const auto lines = heard();
      if (lines.empty()) return await_words();
      begin_turn();
      take_in(lines);
      go_on();
    });
  }
  void begin_turn() {
    life().rests = false;
    print(speech_->begin("session-of-" + plan_.name));
    shows(model_patience());
  }
  void end_turn() {
    print(speech_->end_turn());
    shows(kNoLimit);
    life().rests = true;
    be_done_with_messages();
  }
  /// Its turn is over, and with it what it was given to do.
  void be_done_with_messages() {
    for (const std::int64_t id : std::exchange(in_hand_, {})) {
      world_.truth().got.try_emplace(id, world_.wall());
    }
  }
  void take_in(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
      if (const std::int64_t id = message_in(line); id > 0) in_hand_.push_back(id);
      const std::string question = question_in(line);
      if (!question.empty()) answer(question);
    }
    if (!lines.empty()) say();
  }
  /// False if it could not be written; a disk may be full and have room for this.
  bool write_answer(const std::string& question) {
    const std::string path = agent_.folder + "/signals.jsonl";
    const std::string line = fmt::format(R"({{"is":"ack","id":"{}","life":{}}})"
                                         "\n",
                                         question, number_);
    self_.append(path, line);
    return world_.can_be_shown() || self_.read(path).value_or("").ends_with(line);
  }
  /// What an earlier life was asked, as somebody who was left behind by it would.
  void answer_late() {
    if (agent_.last_question.empty() || dice_.number() % 2 == 0) return;
    after(dice_.between(0s, 2s),
          [this, question = agent_.last_question] { write_answer(question); });
  }
  void answer(const std::string& question) {
    agent_.last_question = question;
    if (plan_.probe.mute) return;
    const bool is_written = write_answer(question);
    life().questions.clear();
    if (!is_written) return;
    life().answered = true;
    world_.on_answer(plan_.name);
  }
  void rest(Duration left) {
    take_in(heard());
    end_turn();
    listen(left);
  }
  void listen(Duration left) {
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
  void have_a_turn(const std::vector<std::string>& lines, Duration left) {
    begin_turn();
    take_in(lines);
    after(dice_.between(1s, 40s), [this, left] { rest(left); });
  }

  // --- Children
  // -----------------------------------------------------------------------------------

  void dispatch(const std::string& child) {
    // Whose dispatch was cut off asks for nobody anew who came to an end meanwhile.
    if (world_.is_known(child) && world_.is_over(child)) return done();
    const AgentPlan& plan = *world_.truth().agents.at(child).plan;
    const std::string call = open(2min);
    std::vector<std::string> words{"dispatch", "--name",    child,      "--role",       "coding",
                                   "--policy", plan.policy, "--notify", "tell-a-person"};
    if (plan.own_worktree) words.insert(words.end(), {"--worktree", "new"});
    if (plan.task) words.insert(words.end(), {"--task", child});
    words.emplace_back("--");
    std::ranges::copy(command_of(plan.voice), std::back_inserter(words));
    world_.truth().agents.at(child).asked_for = true;
    world_.run_tend(self_, std::move(words), keep([this, call, child](int exit) {
                      close(call);
                      // A name that is taken is that of a child which was asked for before; one
                      // that came to its end meanwhile has it no more, and is not asked for again.
                      const bool is_done = world_.is_known(child) && world_.is_over(child);
                      if (exit != 0 && !is_done && ++failed_dispatches_ < 3) return go_on();
                      AgentTruth& asked = world_.truth().agents.at(child);
                      asked.asked_for = exit == 0 || world_.is_known(child);
                      done();
                    }));
  }
  /// Who brings the work of others home has none of its own lying about.
  void await() {
    world_.commit(agent_);
    const std::string call = open(1h);
    look_at_children(call);
  }
  void look_at_children(const std::string& call) {
    const bool over = std::ranges::all_of(agent_.children, [this](const std::string& child) {
      return !world_.truth().agents.at(child).asked_for || world_.is_over(child);
    });
    if (over || agent_.hurries) {
      close(call);
      return done();
    }
    after(30s, [this, call] { look_at_children(call); });
  }
  void merge(const std::string& child) {
    world_.commit(agent_);
    const std::string call = open(2min);
    world_.run_tend(self_, {"merge", child}, keep([this, call](int exit) {
                      close(call);
                      if (exit != 0 && ++failed_merges_ < 3) return go_on();
                      done();
                    }));
  }
  std::function<void(SimSelf&, int)> keep(std::function<void(int)> then) {
    return [me = shared_from_this(), then = std::move(then)](SimSelf&, int exit) { then(exit); };
  }

  // --- Trouble
  // ------------------------------------------------------------------------------------

  void get_into_trouble(const Step& step) {
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
  void be_refused(const Step& step) {
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
  void try_again_after(Duration wait) {
    print(speech_->retry(1, wait, 429));
    shows(with_confirm(wait + 120s));
    after(wait, [this] {
      say();
      done();
    });
  }
  void climb(std::size_t n, Duration until, bool is_busy) {
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
  void give_up(std::optional<int> status, std::optional<Duration> until) {
    print(speech_->give_up(status));
    shows(kNoLimit);
    life().leaving = true;
    agent_.given_up = {number_, world_.elapsed(), until};
    const int code = exit_code_of(plan_.voice, status);
    after(dice_.between(20ms, 300ms), [this, code] { self_.exit(code); });
  }
  /// Whoever may do nothing at all gives up politely; another one finds another way.
  void be_denied() {
    print(speech_->deny(fmt::format("d{}-{}", number_, ++calls_)));
    life().was_denied = true;
    if (plan_.voice == Voice::opencode) return end_without_a_word();
    say();
    if (number_ > 1 || agent_.next_step > 0) return done();
    after(dice_.between(1s, 20s), [this] { end_without_work({}); });
  }

  /// It says that all went well, and has not used a single tool.
  void end_without_work(Duration wait) {
    leave_after(wait, [this] {
      put(speech_->end_turn());
      agent_.did_nothing = true;
      self_.exit(0);
    });
  }
  void end_without_a_word() {
    shows(kNoLimit);
    life().leaving = true;
    agent_.did_nothing = true;
    after(200ms, [this] { self_.exit(0); });
  }
  void wake_after(Duration wait) {
    after(wait, [this] { wake(); });
  }
  /// As if nothing had been.
  void wake() {
    if (!life().hang) return;
    HangTruth& hang = world_.truth().hangs[*life().hang];
    hang.over = world_.elapsed();
    life().hang.reset();
    if (hang.kind == StepKind::hang_input && plan_.voice != Voice::beats) put("y\n");
    say();
    done();
  }
  void leave_after(Duration wait, std::function<void()> how) {
    say();
    after(wait, [this, how = std::move(how)] {
      life().leaving = true;
      how();
    });
  }
  void hang(StepKind kind) {
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
  Duration begin_hang(StepKind kind) {
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
  void chatter(std::uint64_t n) {
    if (!speaks()) return;  // a worker's chatter would be beats, and those are what it promised
    put(speech_->chatter(n));
    if (n < 3) shows(model_patience());
    after(dice_.between(10s, 30s), [this, n] { chatter(n + 1); });
  }
  /// What others write there is a weak sign of each.
  [[nodiscard]] bool shares_worktree() const {
    if (!plan_.parent.empty() && !plan_.own_worktree) return true;
    return std::ranges::any_of(agent_.children, [this](const std::string& child) {
      return !world_.truth().agents.at(child).plan->own_worktree;
    });
  }
  /// Weak signs put the last word off, up to twice the limit.
  [[nodiscard]] Duration bound_of(StepKind kind, Duration patience) const {
    if (kind == StepKind::hang_idle) return idle_bound();
    if (patience == kNoLimit) return kNoLimit;
    const bool weak = kind == StepKind::spin || kind == StepKind::chatter ||
                      kind == StepKind::hang_child || kind == StepKind::hang_tool ||
                      shares_worktree() || plan_.voice == Voice::opencode;
    Duration bound = weak ? 2 * patience : patience;
    if (shares_worktree())
      bound += patience;  // the last thing that another did there before its end
    if (kind == StepKind::hang_start) bound = 600s + limits_.confirm;
    if (!speaks()) bound = 2 * limits_.beats.stalled;
    return bound + slack();
  }
  /// It is asked after an interval, and has until the deadline: once more if it never answers, or
  /// if others write to its work tree.
  [[nodiscard]] Duration idle_bound() const {
    if (!plan_.is_asked()) return kNoLimit;
    const int deadlines = 1 + (plan_.probe.mute ? 1 : 0) + (shares_worktree() ? 1 : 0);
    return plan_.probe.interval + deadlines * plan_.probe.deadline + limits_.confirm + slack();
  }
  /// Where many are silent together, the channel is in doubt first.
  [[nodiscard]] Duration slack() const {
    const bool has_fleet = world_.truth().agents.size() >= 3;
    return 3min + (has_fleet ? 6min + limits_.confirm : Duration{});
  }

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

}  // namespace

std::vector<std::string> command_of(Voice voice) {
  const std::string program(kVoiceWords[static_cast<std::size_t>(voice)]);
  if (voice == Voice::codex) return {program, "exec", "do it"};
  return {program, voice == Voice::opencode ? "run" : "-p", "do it"};
}

std::vector<std::string> chat_command() {
  return {"claude", "-p", "--input-format", "stream-json"};
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
