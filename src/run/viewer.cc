// One tick does everything: copy what is new, look at the heartbeat, look at the keeper. Hints and
// a slow timer make it come.
#include "run/viewer.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/duration.h"
#include "run/roster.h"
#include "store/agent_file.h"
#include "store/intent.h"
#include "store/life_record.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr Duration kTick = 500ms;
constexpr Duration kTickWithoutHints = 50ms;
constexpr int kSignalled = 128;
constexpr int kHangUp = 1;
constexpr int kInterrupt = 2;
constexpr int kTerminate = 15;

std::uint64_t offset_for(Folder& folder, const char* name, Viewer::From from) {
  if (from == Viewer::From::start) return 0;
  const auto facts = folder.facts(name);
  return facts && *facts ? (*facts)->size : 0;
}

}  // namespace

int exit_code_of(const Heartbeat& heartbeat) {
  switch (heartbeat.exit.how) {
    case Exit::How::code:
      return heartbeat.exit.value;
    case Exit::How::signal:
      return kSignalled + heartbeat.exit.value;
    case Exit::How::unknown:
      break;
  }
  return heartbeat.outcome == WorkOutcome::done ? 0 : 1;
}

Viewer::Viewer(Machine& machine, Folder& folder, KeeperProgram keeper, bool inherit_input,
               From from, Output& out, Output& err)
    : machine_(machine),
      folder_(folder),
      keeper_(std::move(keeper)),
      inherit_input_(inherit_input),
      out_(out),
      err_(err),
      stream_(folder, kStreamFile, offset_for(folder, kStreamFile, from)),
      errors_(folder, kErrorFile, offset_for(folder, kErrorFile, from)),
      watch_(machine) {}

Viewer::~Viewer() = default;

int Viewer::run() {
  orders_.push_back(machine_.loop.on(Order::interrupt, [this] { stop_agent(kInterrupt); }));
  orders_.push_back(machine_.loop.on(Order::terminate, [this] { stop_agent(kTerminate); }));
  orders_.push_back(machine_.loop.on(Order::hang_up, [this] { end(kSignalled + kHangUp); }));
  orders_.push_back(machine_.loop.on(Order::look, [] {}));
  change_ = machine_.loop.on_change(folder_.path(), [this] { tick(); });
  watch_.expect_one();
  timer_ = machine_.loop.at(machine_.clock.now(), [this] { tick(); });
  machine_.loop.run();
  return code_;
}

void Viewer::tick() {
  if (over_) return;
  look_at_heartbeat();  // before the streams: what was printed before the end is shown
  const bool ended = is_terminal(heartbeat_.status);
  show(stream_, out_);
  show(errors_, err_);
  if (!out_.flush()) {
    // Nobody reads us any more; the agent works on.
    end(kSignalled + 13);
    return;
  }
  if (ended) {
    if (heartbeat_.outcome == WorkOutcome::failed && !heartbeat_.note.empty() &&
        heartbeat_.process.pid == 0) {
      say(heartbeat_.note);
    }
    end(exit_code());
    return;
  }
  if (heartbeat_.verdict == Verdict::looping && stopping_ == 0) {
    say(fmt::format(
        "{} is held: {}; see `tend explain {}`", heartbeat_.agent,
        heartbeat_.because.empty() ? "it ended the same way too often" : heartbeat_.because.front(),
        heartbeat_.agent));
    end(kExitLooping);
    return;
  }
  const bool stays = heartbeat_.outcome != WorkOutcome::none && heartbeat_.children > 0;
  if (stays && !std::exchange(said_staying_, true)) {
    say(fmt::format("{0} itself is over; {1} below it, see `tend tree {0}`", heartbeat_.agent,
                    heartbeat_.children == 1 ? "one is" : "others are"));
  }
  look_at_keeper();
  if (over_) return;
  const Duration wait = change_ ? kTick : kTickWithoutHints;
  timer_ = machine_.loop.at(machine_.clock.now() + wait, [this] { tick(); });
}

/// The agent's own. But whether it was asked by SIGINT or by SIGTERM on our order is no concern of
/// whoever gave us that: it sees the signal that it sent.
int Viewer::exit_code() const {
  const Exit& exit = heartbeat_.exit;
  const bool was_asked =
      exit == Exit{Exit::How::signal, kInterrupt} || exit == Exit{Exit::How::signal, kTerminate};
  return stopping_ != 0 && was_asked ? kSignalled + stopping_ : exit_code_of(heartbeat_);
}

void Viewer::show(Tail& tail, Output& to) {
  while (true) {
    const auto got = tail.read();
    if (!got || got->bytes.empty()) return;
    if (got->skipped) say("some of the output was dropped before it could be shown");
    to.write(got->bytes);
  }
}

void Viewer::look_at_heartbeat() {
  const auto facts = folder_.facts(std::string(kHeartbeatFile));
  if (!facts || !*facts || (*facts)->file == heartbeat_file_) return;
  auto heartbeat = read_heartbeat(folder_);
  if (!heartbeat || !*heartbeat) return;
  heartbeat_file_ = (*facts)->file;
  heartbeat_ = **std::move(heartbeat);
  attention(heartbeat_);
}

/// Bell and title: this one needs a person.
void Viewer::attention(const Heartbeat& heartbeat) {
  const bool needs = heartbeat.verdict == Verdict::stalled ||
                     heartbeat.verdict == Verdict::looping || heartbeat.phase == Phase::person ||
                     says_stuck(heartbeat.because);
  const std::string text = needs ? std::string(word(heartbeat.verdict)) : "";
  if (text == told_) return;
  told_ = text;
  if (!err_.is_terminal()) return;
  if (needs) {
    err_.write(fmt::format("\a\x1b]2;tend: {} is {}\x1b\\", heartbeat.agent, text));
  } else {
    err_.write(fmt::format("\x1b]2;tend: {}\x1b\\", heartbeat.agent));
  }
}

// --- The keeper ---------------------------------------------------------------------------------

void Viewer::look_at_keeper() {
  switch (watch_.look(folder_, [this] { tick(); })) {
    case KeeperWatch::Found::dead:
      return replace_keeper();
    case KeeperWatch::Found::hangs:
      return say(fmt::format("the keeper of {} hangs: it is ended and replaced", heartbeat_.agent));
    case KeeperWatch::Found::kept:
    case KeeperWatch::Found::starting:
    case KeeperWatch::Found::not_known:
      break;
  }
}

void Viewer::replace_keeper() {
  const auto replaced = watch_.replace(keeper_, folder_.path(), {.inherit_input = inherit_input_});
  if (replaced && !*replaced) {
    say(
        fmt::format("{} keepers died within {}: not replaced any more; see {}/keeper.log, then "
                    "`tend run -d --attach {}`",
                    KeeperWatch::kMostReplaced, format_duration(KeeperWatch::kReplacedWithin),
                    folder_.path(), folder_.path()));
    return end(kExitNoKeeper);
  }
  say(fmt::format("{}: its keeper died; a new one is put on", heartbeat_.agent));
  if (!replaced) say(replaced.error().text);
}

// --- Orders -------------------------------------------------------------------------------------

void Viewer::stop_agent(int signal) {
  Intent intent;
  intent.want = Want::stop;
  intent.now = stopping_ != 0;
  intent.tree = true;
  intent.by = signal == kInterrupt ? "Ctrl-C" : "SIGTERM";
  intent.at = calendar_seconds(machine_.clock.wall());
  if (auto written = write_intent(folder_, intent); !written) {
    say(written.error().text);
    return;
  }
  if (stopping_ == 0) {
    say(fmt::format("stopping {} (again: at once)", heartbeat_.agent));
    stopping_ = signal;
  }
  poke_keeper(machine_, folder_);
}

void Viewer::end(int code) {
  over_ = true;
  code_ = code;
  if (!told_.empty() && err_.is_terminal()) err_.write("\x1b]2;\x1b\\");
  machine_.loop.stop();
}

void Viewer::say(const std::string& text) { err_.write("tend: " + text + "\n"); }

}  // namespace tend
