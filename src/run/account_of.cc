// The journal's clock is the machine's, shifted; a line's time by the calendar is reckoned back
// from now, or, for a journal of an earlier boot, from the time that its header names.
#include "run/account_of.h"

#include <algorithm>
#include <utility>

#include "run/past.h"
#include "store/agent_file.h"
#include "store/json.h"

namespace tend {
namespace {

constexpr std::size_t kLongestText = 1024;

/// Keeps the newest records, each result with its action.
class Memory {
 public:
  void hear(std::string_view line, Instant at) {
    const auto record = parse_object(line, line.size());
    if (!record) return;
    if (find_field(*record, "did") != nullptr) return note_result(*record);
    Remembered one;
    const auto text = [&](const char* key) { return shown_text(*record, key, kLongestText); };
    if (find_field(*record, "verdict") != nullptr) {
      one.kind = Remembered::Kind::verdict;
      one.what = text("verdict");
      one.phase = text("phase");
      const ReadJson* const because = find_field(*record, "because");
      if (because != nullptr && because->is_array() && !because->empty()) {
        one.why = shown_text(because->front(), kLongestText);
      }
    } else if (find_field(*record, "action") != nullptr) {
      if (flag_field(*record, "carried")) return;
      one.kind = Remembered::Kind::action;
      one.what = text("action");
      one.why = text("why");
      one.number = whole_number(*record, "n", std::uint64_t{1} << 53U);
    } else {
      one.what = text("note");
    }
    if (one.what.empty()) return;
    lately_.push_back({at, std::move(one)});
    if (lately_.size() > 2 * kMostRemembered) drop_oldest();
  }

  template <class ToCalendar>
  std::vector<Remembered> take(ToCalendar to_calendar) {
    drop_oldest();
    std::vector<Remembered> result;
    for (auto& [at, one] : lately_) {
      one.at = to_calendar(at);
      result.push_back(std::move(one));
    }
    return result;
  }

 private:
  void note_result(const ReadJson& record) {
    const std::uint64_t number = whole_number(record, "n", std::uint64_t{1} << 53U);
    for (auto& [at, one] : lately_) {
      if (one.kind == Remembered::Kind::action && one.number == number) {
        one.result = shown_text(record, "result", kLongestText);
      }
    }
  }

  void drop_oldest() {
    if (lately_.size() <= kMostRemembered) return;
    lately_.erase(lately_.begin(), lately_.end() - static_cast<std::ptrdiff_t>(kMostRemembered));
  }

  std::vector<std::pair<Instant, Remembered>> lately_;
};

/// What the keeper of this agent will leave undone, whatever its judge decides.
void temper(const AgentFile& agent, Account& account) {
  const bool only_watched = agent.command.empty();
  bool killed = false;
  for (Foreseen& one : account.next) {
    if (one.decision.kind != Decision::Kind::action) continue;
    switch (one.decision.action) {
      case Action::preserve:
        if (agent.worktree.empty()) one.but = "it has no work tree";
        break;
      case Action::kill:
        if (only_watched)
          one.but = "it is only watched";
        else if (agent.on_stall == OnStall::report && one.decision.verdict == Verdict::stalled)
          one.but = "--on-stall report";
        killed = one.but.empty();
        break;
      case Action::resume:
      case Action::restart:
        if (only_watched)
          one.but = "it is only watched";
        else if (killed && agent.on_stall == OnStall::kill)
          one.but = "--on-stall kill";
        else if (!killed && agent.restart == RestartPolicy::never)
          one.but = "--restart never";
        break;
      default:
        break;
    }
  }
  if (!killed) std::erase_if(account.next, [](const Foreseen& one) { return one.follows_kill; });
}

/// Whether its own file has a say in what comes next.
bool depends_on_agent(const Account& account) {
  return std::ranges::any_of(account.next, [](const Foreseen& one) {
    if (one.follows_kill) return true;
    if (one.decision.kind != Decision::Kind::action) return false;
    const Action action = one.decision.action;
    return action == Action::preserve || action == Action::kill || action == Action::resume ||
           action == Action::restart;
  });
}

WallTime calendar_of(double seconds) {
  return WallTime{std::chrono::nanoseconds{static_cast<std::int64_t>(seconds * 1e9)}};
}

}  // namespace

Result<std::optional<Standing>> account_of(Machine& machine, Folder& folder, Telling telling) {
  Memory memory;
  HearRecord hear;
  if (telling == Telling::all) {
    hear = [&](std::string_view line, Instant at) { memory.hear(line, at); };
  }
  const auto past = read_past(folder, hear);
  if (!past) return std::unexpected(past.error());
  if (!*past) return std::nullopt;
  const TraceHeader& header = (*past)->header;
  Standing standing;
  standing.policy = (*past)->judge.policy().name;
  standing.of_this_boot = header.boot == machine.processes.self().boot_id;
  // The clock is read after the file: no line of it is in the future.
  Instant now = machine.clock.now() + header.shift;
  WallTime wall = machine.clock.wall();
  if (!standing.of_this_boot) {
    now = header.at.value_or(Instant{});
    wall = calendar_of(header.wall);
  }
  standing.since_last_line = std::max(Duration{}, now - (*past)->last);
  standing.account = account((*past)->judge, standing.of_this_boot ? now : (*past)->last);
  std::vector<Foreseen>& next = standing.account.next;
  if (telling == Telling::now) {
    next.erase(next.begin() + static_cast<std::ptrdiff_t>(first_moment(next).size()), next.end());
  }
  if (depends_on_agent(standing.account)) {
    if (const auto agent = read_agent_file(folder)) temper(*agent, standing.account);
  }
  standing.lately = memory.take([&](Instant at) { return wall + (at - now); });
  return standing;
}

}  // namespace tend
