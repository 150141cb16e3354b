// Whose beat it is comes from the processes above us: an entry of another process, or of one that
// had the same number before, is never refreshed.
#include "app/sinks.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "app/agent_options.h"
#include "app/inside.h"
#include "app/label_beat.h"
#include "app/when.h"
#include "base/duration.h"
#include "base/quote.h"
#include "base/suggest.h"
#include "os/machine.h"
#include "run/store_watch.h"
#include "store/config_file.h"
#include "store/foreign/foreign_write.h"
#include "store/heartbeat.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMostAncestors = 64;
constexpr Duration kLockPatience = 2s;  // others hold it while they write one file
constexpr Duration kLookAtLock = 20ms;
constexpr std::int64_t kInit = 1;  // it is above everybody, and nobody's life

/// The word of a registry for what an agent says of itself; it has none for an announced end.
std::optional<std::string> registry_word(SelfState state) {
  switch (state) {
    case SelfState::working:
      return "working";
    case SelfState::idle:
      return "idle";
    case SelfState::stuck:
      return "blocked";
    case SelfState::exiting:
      break;
  }
  return std::nullopt;
}

/// `agents[agent_id=a1]` says whose the entry is.
std::string id_in_field(const ForeignStore& store) {
  const auto path = time_path(store);
  if (!path) return "";
  for (const JsonPath::Step& step : path->steps) {
    const auto found = std::ranges::find(step.where, "agent_id", &JsonPath::Where::field);
    if (found != step.where.end()) return found->value;
  }
  return "";
}

class SinkBeats {
 public:
  SinkBeats(World& world, const ForeignAgent& agent, const std::optional<ProcessId>& kept,
            const std::optional<SelfState>& state)
      : machine_(world.machines.machine()), agent_(agent), state_(state) {
    if (kept && kept->pid != 0) kept_ = process(*kept);
    for (const Ancestor& above : world.caller.ancestors(kMostAncestors)) {
      if (above.pid == kInit) continue;
      const auto id = machine_.processes.identify(above.pid);
      if (id && *id) above_.push_back(process(**id));
    }
  }

  std::vector<SinkDone> all() {
    std::vector<SinkDone> done;
    done.reserve(agent_.sinks.size());
    for (const AgentStore& sink : agent_.sinks) done.push_back(beat(sink));
    return done;
  }

 private:
  StoreBeat::Process process(const ProcessId& id) {
    return {.pid = id.pid, .started = calendar_time(machine_.processes.started(id))};
  }

  SinkDone beat(const AgentStore& sink) {
    return sink.store.kind == StoreKind::label ? beat_its_label(sink) : beat_file(sink);
  }

  SinkDone beat_its_label(const AgentStore& sink) {
    const auto beat = beat_label(machine_, sink.store, sink.refresh_after);
    if (!beat) return failed(sink, beat.error().text);
    return beat->fresh > Duration::zero() ? left(sink, beat->fresh) : written(sink);
  }

  SinkDone beat_file(const AgentStore& sink) {
    const TimeContext context{.now = machine_.clock.wall()};
    const ProcessLives lives = [this](std::int64_t pid, const std::optional<WallTime>& started) {
      return process_lives(machine_, pid, started);
    };
    const StoreReading there = read_store(machine_.files, sink.store, context, lives);
    learn_id(there);
    const StoreBeat beat = beat_for(sink);
    if (const auto fresh = fresh_for(sink, there, beat, context); fresh > Duration::zero()) {
      return left(sink, fresh);
    }
    const auto done = write_store(machine_.files, sink.store, beat, context, lives);
    return done ? written(sink) : failed(sink, done.error().text);
  }

  /// How much longer it may be left alone; a state that it does not know yet is written at once.
  static Duration fresh_for(const AgentStore& sink, const StoreReading& there,
                            const StoreBeat& beat, const TimeContext& context) {
    if (!there.last_sign || *there.last_sign > context.now) return {};
    if (beat.state && *beat.state != there.state) return {};
    const auto age = std::chrono::floor<Duration>(context.now - *there.last_sign);
    return std::max(sink.refresh_after - age, Duration::zero());
  }

  /// The registry of a system tells under which name its process holds a lease.
  void learn_id(const StoreReading& there) {
    const auto is_it = [&](const StoreBeat::Process& each) { return each.pid == there.pid; };
    const bool ours = std::ranges::any_of(above_, is_it) || (kept_ && is_it(*kept_));
    if (there.pid != 0 && ours && !there.id.empty()) learnt_id_ = there.id;
  }

  [[nodiscard]] StoreBeat beat_for(const AgentStore& sink) {
    StoreBeat beat;
    if (kept_) {
      beat.pid = kept_->pid;
      beat.started = kept_->started;
    }
    beat.also = above_;
    beat.id = !sink.id.empty() ? sink.id : id_in_field(sink.store);
    if (beat.id.empty() && sink.store.kind == StoreKind::lease_file) beat.id = learnt_id_;
    beat.counter = sink.counter;
    if (state_ && sink.store.kind == StoreKind::session_state) {
      beat.state = kSelfStateWords[static_cast<std::size_t>(*state_)];
    } else if (state_ && sink.store.kind == StoreKind::registry) {
      beat.state = registry_word(*state_);
    }
    beat.writer = {.id = agent_.name,
                   .pid = machine_.processes.self().pid,
                   .patience = [this, until = machine_.clock.now() + kLockPatience] {
                     return wait_a_moment(until);
                   }};
    return beat;
  }

  bool wait_a_moment(Instant until) {
    const Instant now = machine_.clock.now();
    if (now >= until) return false;
    const Subscribed over = machine_.loop.at(now + kLookAtLock, [this] { machine_.loop.stop(); });
    machine_.loop.run();
    return true;
  }

  static SinkDone written(const AgentStore& sink) {
    return {.sink = sink.name, .how = SinkDone::How::written, .words = ""};
  }
  static SinkDone left(const AgentStore& sink, Duration fresh) {
    return {.sink = sink.name,
            .how = SinkDone::How::left,
            .words = "fresh for " + format_duration(fresh)};
  }
  static SinkDone failed(const AgentStore& sink, std::string why) {
    return {.sink = sink.name, .how = SinkDone::How::failed, .words = std::move(why)};
  }

  Machine& machine_;
  const ForeignAgent& agent_;
  std::optional<SelfState> state_;
  std::optional<StoreBeat::Process> kept_;
  std::vector<StoreBeat::Process> above_;
  std::string learnt_id_;
};

std::string user_home(World& world) { return world.environment.variable("HOME").value_or(""); }

}  // namespace

std::vector<SinkDone> beat_sinks(World& world, const ForeignAgent& agent,
                                 const std::optional<ProcessId>& kept,
                                 const std::optional<SelfState>& state) {
  return SinkBeats(world, agent, kept, state).all();
}

Result<std::vector<SinkDone>> beat_own_sinks(World& world, const std::optional<SelfState>& state) {
  const auto inside = inside_of(world);
  if (!inside) return fail(inside.error().text);
  const auto config = user_config(world);
  if (!config) return std::unexpected(config.error());
  const auto says = read_heartbeat(*inside->folder);
  if (!says) return std::unexpected(says.error());
  const Heartbeat heartbeat = says->value_or(Heartbeat{});
  const ForeignAgent agent =
      foreign_agent(*config, inside->agent, heartbeat.role, user_home(world));
  return beat_sinks(world, agent, heartbeat.process, state);
}

Result<std::vector<SinkDone>> beat_sinks_of(World& world, const std::string& name,
                                            const std::optional<SelfState>& state) {
  const auto config = user_config(world);
  if (!config) return std::unexpected(config.error());
  const ForeignAgent agent = foreign_agent(*config, name, "", user_home(world));
  if (!agent.sinks.empty()) return beat_sinks(world, agent, std::nullopt, state);
  const std::vector<std::string> names = foreign_names(*config);
  const std::vector<std::string_view> known(names.begin(), names.end());
  const bool is_known = std::ranges::find(names, name) != names.end();
  return fail(fmt::format("the configuration has no sinks of {}{}", in_quotes(name),
                          is_known ? "" : did_you_mean(name, known)));
}

}  // namespace tend
