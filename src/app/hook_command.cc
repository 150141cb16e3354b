// Whose hook it is, how much of what it says is news, and the C library to say it with.
#include "app/hook_command.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/hook_signals.h"
#include "app/hook_watched.h"
#include "app/inside.h"
#include "base/quote.h"
#include "client/tend.h"
#include "judge/words.h"

namespace tend {
namespace {

constexpr std::size_t kMostInput = std::size_t{16} * 1024 * 1024;
constexpr Duration kInputPatience = std::chrono::seconds{1};
constexpr std::size_t kMostAncestors = 64;
constexpr std::string_view kKeeper = "tend";

struct Closer {
  void operator()(tend_client* client) const { tend_close(client); }
};
using Client = std::unique_ptr<tend_client, Closer>;

/// Who the hook speaks for, and which processes are between the two, the hook's parent first.
struct Subject {
  Client client;
  std::vector<Ancestor> between;
  Hearing hearing = Hearing::all;
};

class Complaints {
 public:
  Complaints(World& world, bool verbose) : world_(world), verbose_(verbose) {}
  void say(std::string_view text) {
    if (verbose_) world_.err.write("tend hook: " + std::string(text) + "\n");
  }

 private:
  World& world_;
  bool verbose_;
};

/// What the processes of known agents are called.
std::string_view agent_named(std::string_view process) {
  constexpr std::array<std::string_view, 4> kAgents{"claude", "codex", "gemini", "opencode"};
  if (process.ends_with(".exe")) process.remove_suffix(4);
  const auto* const found = std::ranges::find(kAgents, process);
  return found == kAgents.end() ? std::string_view{} : *found;
}

/// A session that a tool call of the agent's session started: another agent is above it, or the
/// same one again with the tool's processes between.
bool is_nested(std::string_view agent, std::span<const Ancestor> between) {
  std::size_t sessions = 0;
  bool in_session = false;
  for (const Ancestor& process : between) {
    const std::string_view named = agent_named(process.name);
    if (!named.empty() && named != agent) return true;
    if (!named.empty() && !in_session) ++sessions;
    in_session = !named.empty();
  }
  return sessions > 1;
}

Subject find_subject(World& world) {
  Subject subject{.client = Client(tend_open()), .between = world.caller.ancestors(kMostAncestors)};
  const bool outside = subject.client == nullptr && errno == ESRCH;
  if (subject.client != nullptr && stream_is_heard(world.environment)) {
    subject.hearing = Hearing::beside_stream;
  }
  if (!outside) {
    const auto keeper = std::ranges::find(subject.between, kKeeper, &Ancestor::name);
    subject.between.erase(keeper, subject.between.end());
    return subject;
  }
  const auto watched = find_watched(world.files, world.environment, subject.between);
  if (!watched) return subject;
  subject.client.reset(tend_open_at(watched->folder.c_str(), 1));
  subject.between.resize(watched->distance + 1);
  return subject;
}

void hear(HookAgent agent, Complaints& complaints, World& world) {
  auto input = world.caller.input(kMostInput, kInputPatience);
  if (!input) complaints.say(input.error().text);
  Subject subject = find_subject(world);
  if (subject.client == nullptr) return complaints.say(tend_why(nullptr));
  const std::string_view name = kHookAgents[static_cast<std::size_t>(agent)];
  if (is_nested(name, subject.between)) subject.hearing = Hearing::nested;
  for (const auto& signal : hook_signals(agent, input ? *std::move(input) : "", subject.hearing)) {
    if (tend_signal(subject.client.get(), signal.c_str()) != 0) complaints.say(tend_why(nullptr));
  }
}

}  // namespace

int hook_command(const Arguments& arguments, World& world) {
  Complaints complaints(world, arguments.has("verbose"));
  const auto agent = from_word<HookAgent>(kHookAgents, arguments.positionals.at(0));
  if (agent) hear(*agent, complaints, world);
  return kExitYes;
}

std::optional<int> hook_quickly(std::span<const std::string_view> words, World& world) {
  if (words.empty() || words[0] != "hook") return std::nullopt;
  bool verbose = false;
  std::string_view agent;
  for (const std::string_view one : words.subspan(1)) {
    if (one == "--help" || one == "-h") return std::nullopt;
    if (one == "--verbose") {
      verbose = true;
    } else {
      agent = one;
    }
  }
  const auto known = from_word<HookAgent>(kHookAgents, agent);
  // An agent would take any other exit status for a refusal.
  if (!known) {
    world.err.write("tend hook: AGENT is claude, codex or gemini, not " + in_quotes(agent) + "\n");
    return kExitYes;
  }
  Complaints complaints(world, verbose);
  hear(*known, complaints, world);
  return kExitYes;
}

}  // namespace tend
