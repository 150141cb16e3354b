// A trace is a row of scenes drawn from a table: single signals, and the short stories (a death and
// a new life, a hold, a silent fleet) that random signals alone would hardly ever tell.
#include "random_trace.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <ostream>
#include <utility>

#include "judge/policy.h"

namespace tend {

namespace {

using namespace std::chrono_literals;

class Dice {
 public:
  explicit Dice(const rc::Random& random) : random_(random) {}

  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_.next() % n); }
  bool one_in(std::size_t n) { return below(n) == 0; }

  template <class T>
  T of(std::initializer_list<T> choices) {
    return choices.begin()[below(choices.size())];
  }
  template <class T, std::size_t N>
  T of(const std::array<T, N>& choices) {
    return choices[below(N)];
  }
  template <class Enum>
  Enum any(Enum last) {
    return static_cast<Enum>(below(static_cast<std::size_t>(last) + 1));
  }

 private:
  rc::Random random_;
};

constexpr std::array<Duration, 10> kShortGaps{0s, 0s, 500ms, 1s, 1s, 5s, 5s, 30s, 59s, 60s};
constexpr std::array<Duration, 20> kGapsAtLimits{0s,   500ms, 1s,   5s,   59s,   60s,  61s,
                                                 90s,  119s,  120s, 121s, 300s,  599s, 600s,
                                                 660s, 720s,  840s, 900s, 1800s, 3600s};
constexpr std::array<Duration, 6> kLongGaps{300s, 720s, 840s, 1020s, 1800s, 3600s};

class Author {
 public:
  Author(const rc::Random& random, std::size_t length)
      : dice(random), length_(length), pace_(dice.below(4)) {}

  [[nodiscard]] bool done() const { return events.size() >= length_; }

  Duration gap() {
    if (pace_ == 0 && !dice.one_in(4)) return dice.of(kShortGaps);
    if (pace_ == 1 && dice.one_in(3)) return dice.of(kLongGaps);
    return dice.of(kGapsAtLimits);
  }
  Event& add(const Signal& signal) { return add(signal, gap()); }
  Event& add(const Signal& signal, Duration gap) {
    Event& event = events.emplace_back();
    event.gap = gap + away(signal);
    event.signal = signal;
    return event;
  }

  Dice dice;
  std::vector<Event> events;

 private:
  std::size_t length_;
  std::size_t pace_;
};

// ---- What is said of one signal

Signal process(ProcessState state, Exit exit = {}) {
  return {.is = Kind::process, .process = state, .exit = exit};
}

Exit random_exit(Dice& dice) {
  return dice.of<Exit>({{}, {Exit::How::code, 0}, {Exit::How::code, 1}, {Exit::How::signal, 9}});
}

void set_cause(Signal& signal, Cause cause) {
  signal.cause = cause;
  if (cause != Cause::none) signal.cause_word = cause == Cause::another ? "crash" : word(cause);
}

std::string_view tool_id(Dice& dice) { return dice.of<std::string_view>({"a", "a", "b", "c"}); }

Signal tool_open(Dice& dice) {
  Signal signal{.is = Kind::tool_open, .id = tool_id(dice)};
  signal.tool = dice.of<std::string_view>({"Bash", "Bash", "Read", "Task"});
  signal.child_tool = signal.tool == "Task" || dice.one_in(10);
  signal.background = dice.one_in(6);
  if (dice.one_in(3)) signal.limit = dice.of<Duration>({10s, 60s, 600s, 3600s});
  return signal;
}

Signal stream_signal(Dice& dice) {
  switch (dice.below(8)) {
    case 0:
      return tool_open(dice);
    case 1:
      return {.is = Kind::tool_close, .same = dice.of({0U, 0U, 0U, 2U}), .id = tool_id(dice)};
    case 2:
      return {.is = Kind::tool_beat, .id = tool_id(dice)};
    case 3:
      return {.is = Kind::turn_start};
    case 4:
      return {.is = dice.of({Kind::compact_start, Kind::compact_end})};
    case 5:
      return {.is = dice.of({Kind::ask, Kind::answer}),
              .id = dice.of<std::string_view>({"q", "r"})};
    default:
      return {.is = Kind::progress};
  }
}

// ---- Scenes

void life_begins(Author& a) {
  a.add({.is = Kind::spawn, .pid = 100}).life = a.dice.of(
      {Of::unsaid, Of::unsaid, Of::unsaid, Of::unsaid, Of::next, Of::next, Of::current, Of::older});
  if (!a.dice.one_in(3)) a.add(process(ProcessState::running), a.dice.of<Duration>({0s, 0s, 1s}));
}

void lead_works(Author& a) {
  Event& event = a.add(stream_signal(a.dice));
  if (a.dice.one_in(8)) event.life = Of::current;
}

void sub_agent_works(Author& a) {
  a.add(stream_signal(a.dice)).signal.task = a.dice.of<std::string_view>({"s1", "s2"});
}

void turn_ends(Author& a) {
  Signal signal{.is = Kind::turn_end, .count = a.dice.of({0U, 0U, 0U, 1U, 2U})};
  if (a.dice.one_in(4)) set_cause(signal, a.dice.any(Cause::another));
  a.add(signal);
}

void same_call_again(Author& a) {
  const std::string_view id = tool_id(a.dice);
  for (std::uint32_t n = 2; n < 2 + a.dice.of({2U, 3U}); ++n) {
    a.add({.is = Kind::tool_open, .id = id, .tool = "Bash"});
    a.add({.is = Kind::tool_close, .same = n, .id = id});
  }
}

void provider_holds(Author& a) {
  Signal signal{.is = Kind::retry};
  set_cause(signal, a.dice.of({Cause::overload, Cause::rate, Cause::quota, Cause::auth,
                               Cause::network, Cause::rate}));
  if (a.dice.one_in(6)) signal.task = "s1";
  const auto until = a.dice.of<Duration>({-10s, 60s, 600s, 1800s, 100'000s});
  const bool named = !a.dice.one_in(3);
  const std::size_t times = 1 + a.dice.below(3);
  for (std::size_t i = 0; i < times; ++i) {
    Event& event = a.add(signal);
    if (named) event.until = until;
  }
}

void agent_reports(Author& a) {
  Event& event = a.add({.is = Kind::state, .state = a.dice.any(SelfState::stuck)});
  if (a.dice.one_in(3)) event.until = a.dice.of<Duration>({-5s, 60s, 900s, 1800s, 7200s});
}

void weak_sign(Author& a) {
  Signal signal{.is = Kind::activity, .from = a.dice.any(ActivityFrom::tokens)};
  if (a.dice.one_in(3)) signal = {.is = Kind::tool_beat, .id = tool_id(a.dice)};
  if (a.dice.one_in(4)) signal = {.is = Kind::other};
  if (a.dice.one_in(4)) {
    signal = {.is = Kind::error, .final = a.dice.one_in(3)};
    set_cause(signal, a.dice.of({Cause::overload, Cause::another}));
  }
  a.add(signal);
}

void nothing_new(Author& a) {
  const Signal signal = a.dice.of<Signal>({{.is = Kind::noise},
                                           {.is = Kind::beat, .by = BeatBy::keeper},
                                           {.is = Kind::beat, .by = BeatBy::other},
                                           {.is = Kind::acted},
                                           {.is = Kind::clock_step, .seconds = -3600s},
                                           {.is = Kind::clock_step, .seconds = 86'400s}});
  a.add(signal);
}

void agent_beats(Author& a) {
  const std::size_t times = 1 + a.dice.below(3);
  for (std::size_t i = 0; i < times; ++i) a.add({.is = Kind::beat, .by = BeatBy::agent});
  if (a.dice.one_in(6)) a.add({.is = Kind::beat_failed});
}

void record_says(Author& a) {
  const auto status = a.dice.of({Status::starting, Status::running, Status::running, Status::paused,
                                 Status::completed, Status::withdrawn});
  a.add({.is = Kind::status, .status = status});
}

void probe(Author& a) {
  const auto state = a.dice.any(ProcessState::unknown);
  const bool gone = state == ProcessState::gone || state == ProcessState::zombie;
  a.add(process(state, gone ? random_exit(a.dice) : Exit{}));
}

/// The same end a few times over, with a new life after each.
void dies_again_and_again(Author& a) {
  const Exit exit = random_exit(a.dice);
  const std::size_t times = 1 + a.dice.below(5);
  const bool works = !a.dice.one_in(3);
  for (std::size_t i = 0; i < times; ++i) {
    if (works) a.add({.is = Kind::progress});
    a.add(process(ProcessState::gone, exit));
    if (!a.dice.one_in(6))
      a.add({.is = Kind::spawn, .pid = 100}, a.dice.of<Duration>({1s, 5s, 120s}));
  }
}

/// Killed for its silence, gone, and alive again: a few times over.
void stalls_again_and_again(Author& a) {
  const std::size_t times = 1 + a.dice.below(4);
  for (std::size_t i = 0; i < times; ++i) {
    if (a.dice.one_in(3)) a.add(tool_open(a.dice));
    a.add({.is = Kind::progress});
    a.add(process(ProcessState::running), a.dice.of(kLongGaps));
    a.add(process(ProcessState::running), a.dice.of(kLongGaps));
    if (!a.dice.one_in(4)) a.add(process(ProcessState::gone, {Exit::How::signal, 9}), 1s);
    if (!a.dice.one_in(4)) a.add({.is = Kind::spawn, .pid = 100}, 5s);
  }
}

void nothing_for_long(Author& a) {
  const std::size_t times = 1 + a.dice.below(3);
  const auto state =
      a.dice.of({ProcessState::running, ProcessState::running, ProcessState::unknown});
  for (std::size_t i = 0; i < times; ++i) a.add(process(state), a.dice.of(kLongGaps));
}

void child_tells(Author& a) {
  const auto child = a.dice.of<std::string_view>({"c1", "c2"});
  a.add({.is = Kind::child,
         .verdict = a.dice.any(Verdict::unknown),
         .for_parent = a.dice.one_in(6),
         .child = child});
}

void child_works_and_ends(Author& a) {
  a.add({.is = Kind::child, .verdict = Verdict::working, .child = "c1"});
  a.dice.one_in(2) ? turn_ends(a) : void(a.add(tool_open(a.dice)));
  const auto end = a.dice.of({Verdict::finished, Verdict::dead, Verdict::idle, Verdict::stalled});
  a.add({.is = Kind::child, .verdict = end, .child = "c1"});
}

void work_arrives(Author& a) {
  if (a.dice.one_in(3)) {
    a.add({.is = Kind::inbox, .count = a.dice.of({0U, 1U, 3U})});
    return;
  }
  const auto event = a.dice.of({TaskEvent::claim, TaskEvent::claim, TaskEvent::beat,
                                TaskEvent::advance, TaskEvent::close, TaskEvent::release});
  a.add({.is = Kind::task, .event = event, .task = a.dice.of<std::string_view>({"w1", "w2"})});
}

void parent_changes(Author& a) {
  a.add({.is = Kind::parent,
         .parent = a.dice.of(
             {ParentState::dead, ParentState::dead, ParentState::alive, ParentState::replaced})});
}

void operator_wants(Author& a) {
  const Want want = a.dice.any(Want::pause);
  a.add({.is = Kind::intent, .want = want});
  if (want != Want::pause && !a.dice.one_in(3)) return;
  probe(a);
  a.add({.is = Kind::intent, .want = a.dice.of({Want::run, Want::run, Want::run, Want::stop})});
}

void observer_is_away(Author& a) {
  const bool sleeps = a.dice.one_in(2);
  const auto slept = a.dice.of<Duration>({10s, 600s, 3600s, 28'800s});
  const auto lagged = a.dice.of<Duration>({5s, 30s, 31s, 120s, 600s});
  a.add({.is = sleeps ? Kind::suspend : Kind::lag, .seconds = sleeps ? slept : lagged});
}

void observer_is_broken(Author& a) {
  const bool fleet = a.dice.one_in(2);
  const std::size_t times = 1 + a.dice.below(fleet ? 16 : 4);
  for (std::size_t i = 0; i < times; ++i) {
    fleet ? a.add({.is = Kind::fleet, .count = 3, .of = a.dice.of({3U, 5U, 6U, 6U, 7U})}, 30s)
          : a.add({.is = Kind::fault}, 30s);
  }
}

void agent_is_asked(Author& a) {
  const auto id = a.dice.of<std::string_view>({"p1", "p2"});
  a.add({.is = Kind::ping, .id = id});
  const auto answer = a.dice.of({Kind::ack, Kind::ack, Kind::ping_failed, Kind::noise});
  a.add({.is = answer, .id = id});
}

void old_life_speaks(Author& a) {
  a.dice.one_in(2) ? lead_works(a) : probe(a);
  a.events.back().life = Of::older;
}

struct Scene {
  std::size_t weight;
  void (*play)(Author&);
};
constexpr std::array kScenes{
    Scene{6, life_begins},          Scene{16, lead_works},
    Scene{4, sub_agent_works},      Scene{5, turn_ends},
    Scene{2, same_call_again},      Scene{4, provider_holds},
    Scene{4, agent_reports},        Scene{4, weak_sign},
    Scene{4, nothing_new},          Scene{4, agent_beats},
    Scene{2, record_says},          Scene{5, probe},
    Scene{3, dies_again_and_again}, Scene{4, stalls_again_and_again},
    Scene{6, nothing_for_long},     Scene{3, child_tells},
    Scene{3, child_works_and_ends}, Scene{4, work_arrives},
    Scene{2, parent_changes},       Scene{4, operator_wants},
    Scene{3, observer_is_away},     Scene{2, observer_is_broken},
    Scene{3, agent_is_asked},       Scene{2, old_life_speaks},
};
constexpr std::size_t kAllWeights = [] {
  std::size_t sum = 0;
  for (const Scene& scene : kScenes) sum += scene.weight;
  return sum;
}();

void play_a_scene(Author& author) {
  std::size_t at = author.dice.below(kAllWeights);
  for (const Scene& scene : kScenes) {
    if (at < scene.weight) return scene.play(author);
    at -= scene.weight;
  }
}

// ---- Shrinking

std::vector<Event> simpler_events(const Event& event) {
  std::vector<Event> result;
  const Signal& signal = event.signal;
  const auto with = [&](auto change) {
    Event changed = event;
    change(changed);
    result.push_back(changed);
  };
  if (event.life != Of::unsaid) with([](Event& e) { e.life = Of::unsaid; });
  if (event.until) with([](Event& e) { e.until.reset(); });
  if (signal.limit) with([](Event& e) { e.signal.limit.reset(); });
  if (signal.background) with([](Event& e) { e.signal.background = false; });
  if (signal.child_tool && signal.tool != "Task") {
    with([](Event& e) { e.signal.child_tool = false; });
  }
  if (!signal.task.empty() && signal.is != Kind::task) with([](Event& e) { e.signal.task = {}; });
  for (const Duration gap : {Duration{0s}, Duration{1s}, Duration{60s}, Duration{300s},
                             Duration{720s}, Duration{900s}, Duration{1800s}}) {
    const Duration shorter = gap + away(signal);
    if (shorter < event.gap) with([&](Event& e) { e.gap = shorter; });
  }
  return result;
}

/// Each event taken out on its own, the others at their times.
std::vector<Trace> thinned(const Trace& trace) {
  std::vector<Trace> result;
  for (std::size_t i = 0; i < trace.events.size(); ++i) erase(result.emplace_back(trace), i);
  return result;
}

}  // namespace

Trace random_trace(const rc::Random& random, int size) {
  const auto length = 5 + static_cast<std::size_t>(std::clamp(size, 0, 100)) * 75 / 100;
  Author author(random, length);
  Trace trace;
  const bool of_agent = author.dice.one_in(2);
  trace.policy = of_agent ? "agent" : author.dice.of(kBuiltInPolicies);
  if (!author.dice.one_in(8)) author.add({.is = Kind::spawn, .pid = 100}, 0s);
  while (!author.done()) play_a_scene(author);
  trace.events = std::move(author.events);
  trace.tail = author.dice.of<Duration>({0s, 600s, 7200s});
  return trace;
}

rc::Seq<Trace> simpler(const Trace& trace) {
  const auto with_events = [trace](std::vector<Event> events) {
    Trace changed = trace;
    changed.events = std::move(events);
    return changed;
  };
  std::vector<Trace> as_a_whole;
  if (trace.policy != "agent") (as_a_whole.emplace_back(trace)).policy = "agent";
  if (trace.tail > 0s) (as_a_whole.emplace_back(trace)).tail = {};
  auto chunks = rc::seq::map(rc::shrink::removeChunks(trace.events), with_events);
  auto events = rc::seq::map(
      rc::shrink::eachElement(
          trace.events,
          [](const Event& event) { return rc::seq::fromContainer(simpler_events(event)); }),
      with_events);
  auto all = rc::seq::concat(std::move(chunks), rc::seq::fromContainer(thinned(trace)),
                             rc::seq::fromContainer(std::move(as_a_whole)), std::move(events));
  return rc::seq::filter(std::move(all), [](const Trace& t) { return !t.events.empty(); });
}

rc::Gen<std::vector<Event>> any_scene() {
  return [](const rc::Random& random, int) {
    Author author(random, 1);
    while (!author.done()) play_a_scene(author);
    return rc::shrinkable::just(std::move(author.events));
  };
}

std::ostream& operator<<(std::ostream& out, const Trace& trace) {
  return out << '\n' << to_json(trace);
}

std::ostream& operator<<(std::ostream& out, const Place& place) {
  return out << "after event " << place.after << ", at " << place.permille << " of 1000";
}

}  // namespace tend

rc::Gen<tend::Trace> rc::Arbitrary<tend::Trace>::arbitrary() {
  return [](const Random& random, int size) {
    return shrinkable::shrinkRecur(tend::random_trace(random, size),
                                   [](const tend::Trace& trace) { return tend::simpler(trace); });
  };
}

rc::Gen<tend::Place> rc::Arbitrary<tend::Place>::arbitrary() {
  return gen::construct<tend::Place>(gen::inRange<std::uint32_t>(0, 1000),
                                     gen::inRange<std::uint32_t>(0, 1001));
}
