// From arguments to the desk of leases, and from its answers to a line or an object. With --json a
// no is an object on standard output, too.
#include "app/lease_commands.h"

#include <charconv>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/agent_json.h"
#include "app/columns.h"
#include "app/follow.h"
#include "app/home_option.h"
#include "app/inside.h"
#include "app/lease_view.h"
#include "app/look.h"
#include "app/number_option.h"
#include "app/quick.h"
#include "base/duration.h"
#include "base/quote.h"
#include "run/lease_desk.h"
#include "run/lease_runner.h"
#include "run/lease_voice.h"
#include "run/probe_of.h"
#include "store/config_file.h"
#include "store/home.h"
#include "store/lease_files.h"

namespace tend {
namespace {

using Json = nlohmann::ordered_json;

/// What all commands of leases have open.
struct OpenLeases {
  Home home;
  std::unique_ptr<LeaseFiles> files;
  std::unique_ptr<LeaseDesk> desk;
};

/// One invocation: says yes and no as it was asked for.
class Asked {
 public:
  Asked(std::string_view command, const Arguments& arguments, World& world)
      : command_(command), arguments_(arguments), world_(world) {}

  int no(const LeaseNo& why, int code = kExitNo) const {
    if (!arguments_.has("json")) return complain(world_, command_, why.why, code);
    world_.out.write(json_line(refused_json(why)));
    return code;
  }
  int usage(std::string text) const {
    if (!arguments_.has("json")) return complain(world_, command_, text, kExitUsage);
    world_.out.write(json_line(
        {{"ok", false}, {"error", {{"code", "bad-input"}, {"message", std::move(text)}}}}));
    return kExitUsage;
  }
  int trouble(const Error& error, int code = kExitNo) const {
    return no({.refusal = LeaseRefusal::failed, .why = error.text, .again_in = {}, .seen = {}},
              code);
  }
  int yes(std::string_view words, Json json) const {
    if (!arguments_.has("json")) {
      world_.out.write(fmt::format("{}\n", words));
      return kExitYes;
    }
    Json all{{"ok", true}};
    all.update(json);
    world_.out.write(json_line(all));
    return kExitYes;
  }
  void note(std::string_view text) const { complain(world_, command_, text, kExitYes); }

  [[nodiscard]] const Arguments& arguments() const { return arguments_; }
  [[nodiscard]] World& world() const { return world_; }

 private:
  std::string_view command_;
  const Arguments& arguments_;
  World& world_;
};

Result<OpenLeases> open_leases(World& world) {
  auto home = open_home(world);
  if (!home) return std::unexpected(home.error());
  OpenLeases open{*std::move(home), nullptr, nullptr};
  open.files = std::make_unique<LeaseFiles>(*open.home.folder);
  open.desk = std::make_unique<LeaseDesk>(open.home.machine, *open.home.folder, *open.files);
  return open;
}

// --- What was typed -----------------------------------------------------------------------------

Result<std::string> name_typed(const Asked& asked) {
  auto name = asked.arguments().value("name");
  if (!name) name = asked.world().environment.variable("TEND_LEASE");
  if (!name) return fail("needs --name NAME, the lease that is meant");
  if (auto fits = check_lease_name(*name); !fits) return std::unexpected(fits.error());
  return *name;
}

Result<std::uint64_t> fence_typed(const Asked& asked) {
  auto text = asked.arguments().value("fence");
  if (!text) text = asked.world().environment.variable("TEND_FENCE");
  if (!text) return fail("needs --fence F, the number that came with the grant");
  const auto number = number_from_1(*text, "a fence is a number from 1 on");
  if (!number) return std::unexpected(number.error());
  return static_cast<std::uint64_t>(*number);
}

Result<Duration> ttl_typed(const Asked& asked, const LeaseSettings& settings) {
  const auto typed = time_option(asked.arguments(), "ttl");
  if (!typed) return std::unexpected(typed.error());
  const Duration ttl = typed->value_or(settings.ttl.value_or(kUsualLease));
  if (ttl >= kShortestLease && ttl <= kLongestLease) return ttl;
  return fail(fmt::format("--ttl is {} to {}, not {}", format_duration(kShortestLease),
                          format_duration(kLongestLease), format_duration(ttl)));
}

Result<std::string> mirror_typed(const Asked& asked, Machine& machine,
                                 const LeaseSettings& settings) {
  const auto typed = asked.arguments().value("mirror");
  if (!typed) return path_of_user(settings.mirror, asked.world().environment.all());
  if (typed->starts_with('/')) return *typed;
  const auto folder = machine.folders.working_folder();
  if (!folder) return std::unexpected(folder.error());
  return *folder + "/" + *typed;
}

Result<LeaseSettings> settings_of(World& world, const std::string& name) {
  const auto config = user_config(world);
  if (!config) return std::unexpected(config.error());
  const auto found = config->leases.find(name);
  return found == config->leases.end() ? LeaseSettings{} : found->second;
}

/// The agent that is typed, configured or around us; nullopt if there is none.
Result<std::optional<KnownAgent>> agent_meant(const Asked& asked, Home& home,
                                              const LeaseSettings& settings) {
  std::string text = asked.arguments().value("agent").value_or(settings.agent);
  if (text.empty()) {
    const auto inside = inside_of(asked.world());
    if (!inside) return std::nullopt;
    text = inside->folder->path();
  }
  auto known = find_agent(home.machine.folders, *home.folder, text);
  if (!known) return std::unexpected(known.error());
  return *std::move(known);
}

/// nullopt if none is.
Result<std::optional<std::int64_t>> pid_typed(const Asked& asked) {
  const auto typed = asked.arguments().value("pid");
  if (!typed) return std::nullopt;
  if (asked.arguments().has("agent")) return fail("--pid and --agent: choose one");
  const auto pid = number_from_1(*typed, "--pid wants the number of a process");
  if (!pid) return std::unexpected(pid.error());
  return *pid;
}

LeaseNo not_there(std::string why) {
  return {.refusal = LeaseRefusal::not_alive, .why = std::move(why), .again_in = {}, .seen = {}};
}

LeaseNo failed(const Error& error) {
  return {.refusal = LeaseRefusal::failed, .why = error.text, .again_in = {}, .seen = {}};
}

std::expected<ProcessId, LeaseNo> process_of(Machine& machine, std::int64_t pid) {
  const auto id = machine.processes.identify(pid);
  if (!id) return std::unexpected(failed(id.error()));
  if (!*id) return std::unexpected(not_there(fmt::format("there is no process {}", pid)));
  return **id;
}

/// Whoever called us, unless it went away meanwhile.
std::expected<ProcessId, LeaseNo> caller_of(const Asked& asked, Machine& machine) {
  const auto ancestors = asked.world().caller.ancestors(1);
  if (ancestors.empty() || ancestors.front().pid <= 1) {
    return std::unexpected(not_there("nobody is there who could hold it: choose one with --pid N"));
  }
  auto id = process_of(machine, ancestors.front().pid);
  if (id && id->start_ticks != ancestors.front().start_ticks) {
    return std::unexpected(not_there("who called us is gone; choose a holder with --pid N"));
  }
  return id;
}

/// The process that a command speaks for: --pid, an agent's, else whoever called us.
std::expected<LeaseHolder, LeaseNo> holder_meant(const Asked& asked, Home& home,
                                                 const LeaseSettings& settings,
                                                 std::optional<std::int64_t> pid) {
  if (!pid) {
    const auto agent = agent_meant(asked, home, settings);
    if (!agent) return std::unexpected(failed(agent.error()));
    if (*agent) {
      const Heartbeat& says = (*agent)->heartbeat;
      if (says.process.pid == 0) {
        return std::unexpected(not_there(says.agent + " has no process that could hold it"));
      }
      return LeaseDesk::holder_of(says.process, says.agent, (*agent)->folder->path());
    }
  }
  const auto id = pid ? process_of(home.machine, *pid) : caller_of(asked, home.machine);
  if (!id) return std::unexpected(id.error());
  return LeaseDesk::holder_of(*id);
}

// --- Asking -------------------------------------------------------------------------------------

/// All that an order about a lease needs, made from what was typed.
struct Meant {
  OpenLeases leases;
  LeaseRequest request;
};

std::expected<Meant, int> meant_by(const Asked& asked, bool for_ourselves) {
  const auto name = name_typed(asked);
  if (!name) return std::unexpected(asked.usage(name.error().text));
  const auto settings = settings_of(asked.world(), *name);
  if (!settings) return std::unexpected(asked.usage(settings.error().text));
  const auto ttl = ttl_typed(asked, *settings);
  if (!ttl) return std::unexpected(asked.usage(ttl.error().text));
  const auto pid = pid_typed(asked);
  if (!pid) return std::unexpected(asked.usage(pid.error().text));
  auto leases = open_leases(asked.world());
  if (!leases) return std::unexpected(asked.trouble(leases.error()));
  Machine& machine = leases->home.machine;
  auto mirror = mirror_typed(asked, machine, *settings);
  if (!mirror) return std::unexpected(asked.trouble(mirror.error()));
  LeaseRequest request{.name = *name, .holder = {}, .ttl = *ttl, .mirror = *std::move(mirror)};
  if (for_ourselves) {
    const auto agent = agent_meant(asked, leases->home, *settings);
    if (!agent) return std::unexpected(asked.trouble(agent.error()));
    request.holder =
        LeaseDesk::holder_of(machine.processes.self(), *agent ? (*agent)->heartbeat.agent : "",
                             *agent ? (*agent)->folder->path() : "");
  } else {
    auto holder = holder_meant(asked, leases->home, *settings, *pid);
    if (!holder) return std::unexpected(asked.no(holder.error()));
    request.holder = *std::move(holder);
  }
  return Meant{*std::move(leases), std::move(request)};
}

int granted(const Asked& asked, LeaseDesk& desk, const LeaseGrant& grant, std::string_view words) {
  if (!grant.problem.empty()) asked.note(grant.problem);
  const auto look = desk.look(grant.record.name);
  if (!look) return asked.trouble(look.error());
  return asked.yes(words, lease_json(*look));
}

/// A configuration that cannot be read was refused before.
LeaseVoice voice_of(const Asked& asked, LeaseDesk& desk, const std::string& name) {
  const auto config = user_config(asked.world());
  return {desk.machine(), desk.home(), name,
          config ? config->channels : std::vector<NotifyChannel>{},
          [asked](const std::string& text) { asked.note(text); }};
}

void tell_of_flapping(const Asked& asked, LeaseVoice& voice, const LeaseRecord& record) {
  asked.note(words_of_flapping(record.name) + "; " + to_do_about(record.name));
  voice.flaps(record);
}

}  // namespace

int lease_acquire_command(const Arguments& arguments, World& world) {
  const Asked asked("lease acquire", arguments, world);
  const auto meant = meant_by(asked, false);
  if (!meant) return meant.error();
  LeaseDesk& desk = *meant->leases.desk;
  std::optional<LeaseAnswer> answer;
  const Subscribed asking = desk.acquire(meant->request, [&](const LeaseAnswer& got) {
    answer = got;
    desk.machine().loop.stop();
  });
  desk.machine().loop.run();
  if (!answer) return asked.trouble({"it was broken off before the answer came"});
  if (!*answer) return asked.no(answer->error());
  const LeaseGrant& grant = **answer;
  if (grant.flapping && !is_clean(grant.because)) {
    LeaseVoice voice = voice_of(asked, desk, grant.record.name);
    tell_of_flapping(asked, voice, grant.record);
  }
  return granted(
      asked, desk, grant,
      fmt::format("{} is held under fence {} by {}; renew it within {}", grant.record.name,
                  grant.record.fence, grant.record.holder.id, format_duration(grant.record.ttl)));
}

int lease_renew_command(const Arguments& arguments, World& world) {
  const Asked asked("lease renew", arguments, world);
  const auto meant = meant_by(asked, false);
  if (!meant) return meant.error();
  LeaseDesk& desk = *meant->leases.desk;
  const auto answer = desk.renew(meant->request.name, meant->request.holder.process);
  if (!answer) return asked.no(answer.error());
  if (!answer->flapping && answer->record.takeovers.size() >= kFlapping) {
    voice_of(asked, desk, answer->record.name).is_calm();
  }
  return granted(asked, desk, *answer,
                 fmt::format("{} is renewed under fence {}, for {}", answer->record.name,
                             answer->record.fence, format_duration(answer->record.ttl)));
}

int lease_release_command(const Arguments& arguments, World& world) {
  const Asked asked("lease release", arguments, world);
  const auto meant = meant_by(asked, false);
  if (!meant) return meant.error();
  LeaseDesk& desk = *meant->leases.desk;
  const auto seen = desk.look(meant->request.name);
  if (!seen) return asked.trouble(seen.error());
  if (seen->record.held && seen->record.run.first.pid != 0) {
    return asked.no(
        {.refusal = LeaseRefusal::not_the_holder,
         .why = fmt::format("{} is held by `tend lease run` (process {}), which gives it "
                            "back when its program ends",
                            seen->record.name, seen->record.holder.process.pid),
         .again_in = {},
         .seen = seen->record});
  }
  const auto answer = desk.release(meant->request.name, meant->request.holder.process);
  if (!answer) return asked.no(answer.error());
  return granted(asked, desk, *answer,
                 fmt::format("{} is given back; its last fence is {}", answer->record.name,
                             answer->record.fence));
}

int lease_check_command(const Arguments& arguments, World& world) {
  const Asked asked("lease check", arguments, world);
  const auto name = name_typed(asked);
  if (!name) return asked.usage(name.error().text);
  const auto fence = fence_typed(asked);
  if (!fence) return asked.usage(fence.error().text);
  const auto leases = open_leases(world);
  if (!leases) return asked.trouble(leases.error());
  const auto answer = leases->desk->check(*name, *fence);
  if (!answer) return asked.no(answer.error());
  return asked.yes(fmt::format("{}: fence {} is in force", *name, *fence),
                   {{"name", *name}, {"fence", *fence}, {"holder", answer->record.holder.id}});
}

int lease_status_command(const Arguments& arguments, World& world) {
  const Asked asked("lease status", arguments, world);
  const auto leases = open_leases(world);
  if (!leases) return asked.trouble(leases.error(), kExitNeedsYou);
  if (arguments.has("name")) {
    const auto name = name_typed(asked);
    if (!name) return asked.usage(name.error().text);
    const auto look = leases->desk->look(*name);
    if (!look) return asked.trouble(look.error(), kExitNeedsYou);
    std::ignore = asked.yes(lease_words(*look), lease_json(*look));
    return look->in_force.may ? kExitYes : kExitNo;
  }
  std::vector<std::string> problems;
  const auto all = leases->desk->look_at_all(problems);
  if (!all) return asked.trouble(all.error(), kExitNeedsYou);
  for (const std::string& problem : problems) asked.note(problem);
  if (arguments.has("json")) {
    for (const LeaseLook& each : *all) world.out.write(json_line(lease_json(each)));
  } else if (!all->empty()) {
    world.out.write(lease_table(*all, Look(world.out, world.environment), screen_width(world.out)));
  } else if (problems.empty()) {
    world.out.write("there are no leases\n");
  }
  return problems.empty() ? kExitYes : kExitNeedsYou;
}

int lease_watch_command(const Arguments& arguments, World& world) {
  const Asked asked("lease watch", arguments, world);
  const auto name = name_typed(asked);
  if (!name) return asked.usage(name.error().text);
  const auto leases = open_leases(world);
  if (!leases) return asked.trouble(leases.error());
  std::string said;
  std::string problem;
  const auto look = [&] {
    const auto seen = leases->desk->look(*name);
    if (!seen) {
      if (std::exchange(problem, seen.error().text) != seen.error().text) asked.note(problem);
      return true;
    }
    problem.clear();
    const std::string now = fmt::format("{} {}", lease_state(*seen), seen->record.fence);
    if (std::exchange(said, now) == now) return true;
    std::ignore = asked.yes(lease_words(*seen), lease_json(*seen));
    return world.out.flush();
  };
  const std::string folder =
      fmt::format("{}/{}/{}", leases->home.folder->path(), kLeasesFolder, *name);
  follow(leases->home.machine, folder, OnInterrupt::end, std::nullopt, look);
  return kExitYes;
}

/// A program that waits for its turn is not taken for one that hangs. Where the agent's own stream
/// is read it says itself what it waits for: a call.
void say_queued(const Asked& asked, World& world, bool waits) {
  if (stream_is_heard(world.environment) || !inside_of(world)) return;
  const Spoken spoken =
      speak({.kind = Speech::Kind::state, .state = waits ? SelfState::idle : SelfState::working});
  if (spoken.exit_code != kExitYes) {
    asked.note("its keeper was not told: " + spoken.line.substr(0, spoken.line.find('\n')));
  }
}

int lease_run_command(const Arguments& arguments, World& world) {
  const Asked asked("lease run", arguments, world);
  if (arguments.has("wait") && arguments.has("no-wait")) {
    return asked.usage("--wait and --no-wait: choose one");
  }
  if (arguments.positionals.empty()) {
    return asked.usage("needs a program behind --: tend lease run --name NAME -- CMD");
  }
  const auto meant = meant_by(asked, true);
  if (!meant) return meant.error();
  LeaseDesk& desk = *meant->leases.desk;
  Machine& machine = desk.machine();
  const auto folder = machine.folders.working_folder();
  if (!folder) return asked.trouble(folder.error());
  LeaseVoice voice = voice_of(asked, desk, meant->request.name);
  std::optional<LeaseRunner::End> end;
  LeaseRunner runner(
      desk,
      {.request = meant->request,
       .waits = !arguments.has("no-wait"),
       .command = arguments.positionals,
       .environment = world.environment.all(),
       .working_folder = *folder,
       .say = [&](const std::string& text) { asked.note(text); },
       .flaps = [&](const LeaseRecord& record) { tell_of_flapping(asked, voice, record); },
       .calm = [&] { voice.is_calm(); },
       .queued = [&](bool waits) { say_queued(asked, world, waits); }},
      [&](const LeaseRunner::End& got) {
        end = got;
        machine.loop.stop();
      });
  machine.loop.run();
  if (!end) return asked.trouble({"it was broken off"});
  if (end->how == LeaseRunner::End::How::refused) {
    return asked.no({.refusal = end->refusal, .why = end->why, .again_in = {}, .seen = {}});
  }
  if (!end->why.empty()) asked.note(end->why);
  return end->exit_code;
}

}  // namespace tend
