// From arguments to the gate's desk, and from its answers to a line or an object. With --json a no
// is an object on standard output, too: a bridge reads one thing.
#include "app/gate_commands.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "act/launch.h"
#include "app/actor.h"
#include "app/agent_json.h"
#include "app/columns.h"
#include "app/follow.h"
#include "app/gate_door.h"
#include "app/gate_json.h"
#include "app/gate_view.h"
#include "app/home_option.h"
#include "app/inside.h"
#include "app/number_option.h"
#include "app/order_commands.h"
#include "app/split_words.h"
#include "base/quote.h"
#include "judge/words.h"
#include "run/postman.h"
#include "run/probe_of.h"
#include "store/config_file.h"

namespace tend {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kMostShown = 1'000;
constexpr std::size_t kMostCounted = 100'000'000;  // bytes of standard input

GateNo bad_input(std::string text) {
  return {.kind = GateNo::Kind::bad_input, .code = "bad-input", .text = std::move(text)};
}

/// What the commands of the gate have open.
struct OpenGate {
  Home home;
  GateDesk desk;
};

/// Says no, as it was asked for.
int say_no(const Arguments& arguments, World& world, std::string_view command, const GateNo& no) {
  const int code = no.kind == GateNo::Kind::bad_input ? kExitUsage : kExitNo;
  if (!arguments.has("json")) return complain(world, command, no.text, code);
  world.out.write(json_line(refused_json(no)));
  return code;
}

/// A configuration that cannot be read is no reason to turn messages away.
GateSettings settings_of(World& world, std::string_view command) {
  auto config = user_config(world);
  if (config) {
    config->gate.mirror = path_of_user(config->gate.mirror, world.environment.all());
    return std::move(config->gate);
  }
  complain(world, command, config.error().text + "; the built-in settings of the gate are used",
           kExitYes);
  return Config{}.gate;
}

std::expected<OpenGate, int> open_gate(const Arguments& arguments, World& world,
                                       std::string_view command) {
  auto home = open_home(world);
  if (!home) {
    return std::unexpected(
        say_no(arguments, world, command,
               {.kind = GateNo::Kind::trouble, .code = "trouble", .text = home.error().text}));
  }
  GateDesk desk(home->machine, *home->folder, settings_of(world, command));
  return OpenGate{*std::move(home), std::move(desk)};
}

/// An agent that asks means itself.
std::optional<std::string> agent_typed_or_around(const Arguments& arguments, World& world) {
  auto typed = arguments.value("agent");
  if (typed) return typed;
  const auto inside = inside_of(world);
  return inside ? std::optional(inside->agent) : std::nullopt;
}

// --- Receiving ----------------------------------------------------------------------------------

/// What is too long is only counted.
GateResult<std::string> standard_input(World& world) {
  auto source = world.files.open("-");
  if (!source) return std::unexpected(bad_input(source.error().text));
  std::string text;
  std::size_t size = 0;
  std::array<char, 16'384> piece{};
  while (size < kMostCounted) {
    const auto got = (*source)->read(piece);
    if (!got) return std::unexpected(bad_input(got.error().text));
    if (*got == 0) break;
    size += *got;
    if (size <= kLongestContent) text.append(piece.data(), *got);
  }
  if (size <= kLongestContent) return text;
  return std::unexpected(
      GateNo{.kind = GateNo::Kind::bad_input,
             .code = "too-large",
             .text = fmt::format("the message has {}{} bytes; at most {} are allowed",
                                 size < kMostCounted ? "" : "more than ", size, kLongestContent)});
}

/// The words behind the content, or those of --reply-with.
GateResult<std::vector<std::string>> reply_words(const Arguments& arguments,
                                                 std::vector<std::string> behind) {
  const auto typed = arguments.values("reply-with");
  if (arguments.has("no-reply")) {
    if (typed.empty() && behind.empty()) return behind;
    return std::unexpected(bad_input("--no-reply and a command for replies: choose one"));
  }
  if (typed.empty()) return behind;
  if (typed.size() > 1 || !behind.empty()) {
    return std::unexpected(
        bad_input("--reply-with takes the whole command as one text; or put its words behind --"));
  }
  auto words = split_words(typed.front());
  if (!words) return std::unexpected(bad_input("--reply-with: " + words.error().text));
  return *std::move(words);
}

GateResult<ReceiveOrder> order_typed(const Arguments& arguments, World& world) {
  ReceiveOrder order;
  std::vector<std::string> behind = arguments.positionals;
  const auto content = arguments.value("content");
  if (!content && (behind.empty() || behind.front() != "-")) {
    return std::unexpected(bad_input("needs --content TEXT, or - for standard input"));
  }
  if (!content) behind.erase(behind.begin());
  auto words = reply_words(arguments, std::move(behind));
  if (!words) return std::unexpected(words.error());
  order.reply_with = *std::move(words);
  for (const char* const name : {"channel", "endpoint"}) {
    if (!arguments.value(name)) {
      return std::unexpected(bad_input(fmt::format("needs --{}: where it comes from", name)));
    }
  }
  order.agent = arguments.value("agent");
  order.draft.channel = *arguments.value("channel");
  order.draft.endpoint = *arguments.value("endpoint");
  order.draft.key = arguments.value("idempotency-key");
  order.language = arguments.value("language").value_or("");
  if (const auto typed = arguments.value("priority")) {
    const auto priority = number_from_1(*typed, "--priority is 1, 2 or 3");
    if (!priority || *priority > kLastPriority) {
      return std::unexpected(GateNo{.kind = GateNo::Kind::bad_input,
                                    .code = "bad-priority",
                                    .text = "--priority is 1, 2 or 3, not " + in_quotes(*typed)});
    }
    order.draft.priority = *priority;
  }
  auto text = content ? GateResult<std::string>(*content) : standard_input(world);
  if (!text) return std::unexpected(text.error());
  order.draft.content = *std::move(text);
  return order;
}

/// Runs the loop until the answer to this sender was sent, or not: the command of it has a
/// deadline.
ReplyDone reply_now(OpenGate& gate, const ReceiveAnswer& answer) {
  if (!answer.notice) return {.is = "none", .error = answer.no_reply_because};
  ReplyDone reply{.is = "waiting", .error = {}};
  Machine& machine = gate.home.machine;
  Postman postman(
      machine, *gate.home.folder, {}, outage_key(answer.outage),
      [&](const Postman::Delivery& delivery) {
        reply.is = delivery.told.heard ? "sent" : "waiting";
        reply.error = delivery.told.heard ? "" : delivery.told.words;
      },
      [&](const Postman::Round& round) {
        if (!round.problem.empty()) reply.error = round.problem;
        machine.loop.stop();
      });
  postman.send_only(*answer.notice);
  machine.loop.run();
  std::ignore = gate.desk.mirror(answer.message.agent);
  return reply;
}

// --- Working on them ----------------------------------------------------------------------------

GateResult<std::int64_t> message_number(const Arguments& arguments) {
  const auto id = number_from_1(arguments.positionals.front(),
                                "wants the number of a message (`tend gate list` shows them)");
  if (!id) return std::unexpected(bad_input(id.error().text));
  return *id;
}

/// Inside of a kept agent this life of it, else who is asked for in all commands.
GateResult<std::string> holder_of(World& world) {
  if (const auto inside = inside_of(world)) {
    return fmt::format("{} (life {})", inside->agent, inside->life);
  }
  auto actor = actor_or_else(std::nullopt, world);
  if (!actor) return std::unexpected(bad_input(actor.error().text));
  return std::move(actor->name);
}

struct Patience {
  bool waits = false;
  std::optional<Duration> most;  // none: for as long as it takes
};

GateResult<Patience> patience_of(const Arguments& arguments) {
  Patience patience{.waits = arguments.has("wait"), .most = {}};
  const auto most = time_option(arguments, "wait");
  if (!most) return std::unexpected(bad_input(most.error().text));
  patience.most = *most;
  return patience;
}

/// What a command that changes one message does with the answer.
template <class Ask>
int change_one(const Arguments& arguments, World& world, std::string_view command, Ask ask,
               std::string_view (*action)(const MessageAnswer&)) {
  const auto id = message_number(arguments);
  if (!id) return say_no(arguments, world, command, id.error());
  auto gate = open_gate(arguments, world, command);
  if (!gate) return gate.error();
  const GateResult<MessageAnswer> answer = ask(gate->desk, *id);
  if (!answer) return say_no(arguments, world, command, answer.error());
  const std::string_view did = action(*answer);
  if (arguments.has("json")) {
    world.out.write(json_line(changed_json(did, answer->message)));
  } else if (did == "given-up") {
    world.out.write(
        fmt::format("{0}: given up after {1} tries; `tend gate retry {0}` queues it "
                    "again\n",
                    *id, answer->message.tries));
  } else if (did == "done-before" || did == "as-before") {
    world.out.write(
        fmt::format("{}: is {} already\n", *id,
                    kMessageStateWords.at(static_cast<std::size_t>(answer->message.state))));
  } else {
    world.out.write(fmt::format("{}: {}\n", *id, did));
  }
  return kExitYes;
}

}  // namespace

int gate_receive_command(const Arguments& arguments, World& world) {
  const auto order = order_typed(arguments, world);
  if (!order) return say_no(arguments, world, "gate receive", order.error());
  auto gate = open_gate(arguments, world, "gate receive");
  if (!gate) return gate.error();
  const auto answer = gate->desk.receive(*order);
  if (!answer) return say_no(arguments, world, "gate receive", answer.error());
  const ReplyDone reply = reply_now(*gate, *answer);
  world.out.write(arguments.has("json") ? json_line(receive_json(*answer, reply))
                                        : received_in_words(*answer, reply));
  if (answer->warning.empty() || arguments.has("json")) return kExitYes;
  return complain(world, "gate receive", answer->warning, kExitYes);
}

int gate_next_command(const Arguments& arguments, World& world) {
  const auto patience = patience_of(arguments);
  if (!patience) return say_no(arguments, world, "gate next", patience.error());
  const auto holder = holder_of(world);
  if (!holder) return say_no(arguments, world, "gate next", holder.error());
  auto gate = open_gate(arguments, world, "gate next");
  if (!gate) return gate.error();
  const auto agent = agent_typed_or_around(arguments, world);
  auto taken = gate->desk.next(agent, *holder);
  if (patience->waits && taken && !*taken) {
    Machine& machine = gate->home.machine;
    const auto until =
        patience->most ? std::optional(machine.clock.now() + *patience->most) : std::nullopt;
    follow(machine, gate->home.folder->path(), OnInterrupt::end, until, [&] {
      taken = gate->desk.next(agent, *holder);
      return taken && !*taken;
    });
  }
  if (!taken) return say_no(arguments, world, "gate next", taken.error());
  if (arguments.has("json")) {
    world.out.write(json_line(next_json(*taken)));
  } else {
    world.out.write(*taken ? message_in_words(**taken, gate->home.machine.clock.wall())
                           : "nothing waits\n");
  }
  return *taken ? kExitYes : kExitNo;
}

int gate_done_command(const Arguments& arguments, World& world) {
  return change_one(
      arguments, world, "gate done", [](GateDesk& desk, std::int64_t id) { return desk.done(id); },
      action_of_done);
}

int gate_fail_command(const Arguments& arguments, World& world) {
  std::optional<std::int64_t> tries;
  if (const auto text = arguments.value("tries")) {
    const auto number = number_from_1(*text, "--tries wants the number that `next` gave");
    if (!number) return say_no(arguments, world, "gate fail", bad_input(number.error().text));
    tries = *number;
  }
  return change_one(
      arguments, world, "gate fail",
      [&](GateDesk& desk, std::int64_t id) {
        return desk.fail(id, tries, arguments.value("error").value_or(""));
      },
      action_of_fail);
}

int gate_retry_command(const Arguments& arguments, World& world) {
  return change_one(
      arguments, world, "gate retry",
      [](GateDesk& desk, std::int64_t id) { return desk.retry(id); }, action_of_retry);
}

int gate_list_command(const Arguments& arguments, World& world) {
  auto gate = open_gate(arguments, world, "gate list");
  if (!gate) return gate.error();
  const auto state = arguments.value("state");
  const auto messages = gate->desk.list(
      arguments.value("agent"),
      state ? from_word<MessageState>(kMessageStateWords, *state) : std::nullopt, kMostShown);
  if (!messages) return say_no(arguments, world, "gate list", messages.error());
  if (arguments.has("json")) {
    for (const Message& message : *messages) world.out.write(json_line(message_json(message)));
  } else if (messages->empty()) {
    world.out.write("no messages\n");
  } else {
    world.out.write(messages_for_people(*messages, Look(world.out, world.environment),
                                        screen_width(world.out), gate->home.machine.clock.wall()));
  }
  if (std::cmp_equal(messages->size(), kMostShown)) {
    return complain(world, "gate list", fmt::format("only the oldest {} are shown", kMostShown),
                    kExitYes);
  }
  return kExitYes;
}

int gate_show_command(const Arguments& arguments, World& world) {
  const auto id = message_number(arguments);
  if (!id) return say_no(arguments, world, "gate show", id.error());
  auto gate = open_gate(arguments, world, "gate show");
  if (!gate) return gate.error();
  const auto message = gate->desk.show(*id);
  if (!message) return say_no(arguments, world, "gate show", message.error());
  world.out.write(arguments.has("json")
                      ? json_line(message_json(*message))
                      : message_in_words(*message, gate->home.machine.clock.wall()));
  return kExitYes;
}

int gate_status_command(const Arguments& arguments, World& world) {
  auto gate = open_gate(arguments, world, "gate status");
  if (!gate) return gate.error();
  const auto all = gate->desk.status(arguments.value("agent"));
  if (!all) return say_no(arguments, world, "gate status", all.error());
  if (arguments.has("json")) {
    world.out.write(json_line(status_json(*all)));
  } else {
    const WallTime now = gate->home.machine.clock.wall();
    for (const GateStatus& status : *all) world.out.write(status_in_words(status, now));
    if (all->empty()) world.out.write("no agents, and no messages\n");
  }
  const bool needs_you = std::ranges::any_of(*all, &GateStatus::needs_person);
  return needs_you ? kExitNeedsYou : kExitYes;
}

int gate_resume_command(const Arguments& arguments, World& world) {
  auto gate = open_gate(arguments, world, "gate resume");
  if (!gate) return gate.error();
  const auto agent = gate->desk.who(arguments.value("agent"));
  if (!agent) return say_no(arguments, world, "gate resume", agent.error());
  if (agent->folder == nullptr) {
    return say_no(arguments, world, "gate resume",
                  {.kind = GateNo::Kind::refused,
                   .code = "no-such-agent",
                   .text = "there is no agent that could go on; see `tend status`"});
  }
  return unpause_agent(arguments, world, "gate resume", agent->folder->path());
}

int gate_release_command(const Arguments& arguments, World& world) {
  auto gate = open_gate(arguments, world, "gate release");
  if (!gate) return gate.error();
  const auto answer = gate->desk.release(arguments.value("agent"), arguments.has("force"));
  if (!answer) return say_no(arguments, world, "gate release", answer.error());
  std::int64_t heard = 0;
  std::string problem;
  if (answer->told > 0) {
    Machine& machine = gate->home.machine;
    Postman postman(
        machine, *gate->home.folder, {}, outage_key(answer->outage),
        [&](const Postman::Delivery& delivery) {
          heard += delivery.told.heard ? 1 : 0;
          if (!delivery.told.heard) problem = delivery.told.words;
        },
        [&](const Postman::Round& round) {
          if (!round.problem.empty()) problem = round.problem;
          machine.loop.stop();
        });
    postman.send();
    machine.loop.run();
    std::ignore = gate->desk.mirror(answer->agent);
  }
  if (arguments.has("json")) {
    Json json = release_json(*answer);
    json["heard"] = heard;
    if (!problem.empty()) json["reply_error"] = problem;
    world.out.write(json_line(json));
    return kExitYes;
  }
  world.out.write(fmt::format("{} {} released; {} of {} {} told that it is over\n",
                              answer->released,
                              answer->released == 1 ? "message is" : "messages are", heard,
                              answer->told, answer->told == 1 ? "sender is" : "senders are"));
  if (problem.empty()) return kExitYes;
  return complain(world, "gate release", problem + "; that is tried again", kExitYes);
}

int gate_serve_command(const Arguments& arguments, World& world) {
  auto gate = open_gate(arguments, world, "gate serve");
  if (!gate) return gate.error();
  Machine& machine = gate->home.machine;
  const auto program = machine.processes.own_program();
  if (!program) return complain(world, "gate serve", program.error().text, kExitNo);
  const auto typed = arguments.value("socket");
  const std::string socket = typed.value_or(gate->home.folder->path() + "/gate.sock");
  GateDoor door(machine, *gate->home.folder, gate->desk,
                {.socket = socket,
                 .program = {.program = *program,
                             .home = gate->home.folder->path(),
                             .environment = keeper_environment(world.environment.all())},
                 .say = [&](const std::string& line) {
                   complain(world, "gate serve", line, kExitYes);
                   world.err.flush();
                 }});
  if (auto opened = door.open(); !opened) {
    const bool is_long = !typed && socket.size() > 100;
    return complain(world, "gate serve",
                    opened.error().text + (is_long ? "; --socket names a shorter one" : ""),
                    kExitNo);
  }
  world.out.write(fmt::format("the gate is open at {}\n", on_one_line(socket)));
  world.out.flush();
  machine.loop.run();
  return kExitYes;
}

}  // namespace tend
