// A heading, then sections of one word in the first column and what it says in the second.
#include "app/explain_view.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "app/task_view.h"
#include "app/when.h"
#include "base/duration.h"
#include "base/quote.h"
#include "store/journal.h"

namespace tend {
namespace {

constexpr std::size_t kTermColumn = 2;
constexpr std::size_t kTextColumn = 14;

/// Ages grow while they are read: whole seconds are enough.
std::string shown(Duration age) {
  return time_label(std::chrono::floor<std::chrono::seconds>(age));
}

/// "12 s ago, limit 720 s", or "none in this life".
std::string sign_words(const SignAge& sign, std::string_view no_limit) {
  if (!sign.seen) return "none in this life";
  std::string words = fmt::format("{} ago", shown(sign.age));
  words += sign.limit >= kNoLimit / 2 ? fmt::format(", {}", no_limit)
                                      : fmt::format(", limit {}", time_label(sign.limit));
  return words;
}

std::string agreeing(bool agrees) { return agrees ? "; agrees that it is stalled" : ""; }

std::string counted(std::size_t n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

std::string_view turn_in(Phase phase) {
  switch (phase) {
    case Phase::start:
      return "its own: it has just begun";
    case Phase::model:
      return "the model's: an answer is awaited";
    case Phase::tool:
      return "a tool's: a call is open";
    case Phase::compact:
      return "its own: it compacts its context";
    case Phase::retry:
      return "the provider's: it holds the agent up";
    case Phase::person:
      return "yours: it waits for a person";
    case Phase::children:
      return "a child's: it waits for one";
    case Phase::background:
      return "its background tasks'";
    case Phase::idle:
      return "nobody's: it has nothing to do";
    case Phase::exiting:
      return "its own: it has to end";
    case Phase::beats:
      return "its own: it is known by its beats";
  }
  return "";
}

class Page {
 public:
  explicit Page(const Look& look) : look_(look) {}

  void heading(const std::string& plain, const std::string& coloured, std::string_view rest) {
    text_ += coloured + (rest.empty() ? "" : " ");
    look_.flow(text_, width_of(plain) + 1, kTermColumn, rest);
  }
  void section(std::string_view title) { text_ += "\n" + look_.in(Ink::bold, title) + "\n"; }
  void line(std::string_view term, std::string_view words) {
    if (words.empty()) return;
    text_ += std::string(kTermColumn, ' ') +
             look_.in(Ink::faint, left_aligned(term, kTextColumn - kTermColumn));
    look_.flow(text_, kTextColumn, kTextColumn, words);
  }
  std::string take() { return std::move(text_); }

 private:
  const Look& look_;
  std::string text_;
};

/// Whoever reads this needs no advice to read it.
std::string what_to_do(const Entry& entry) {
  if (entry.verdict == Verdict::looping) {
    return on_one_line(
        fmt::format("tend logs {0} shows what it printed, tend unpause {0} begins "
                    "its next life now, tend stop {0} ends it",
                    entry.handle));
  }
  if (!entry.to_do.starts_with("tend explain")) return on_one_line(entry.to_do);
  return on_one_line(
      fmt::format("tend logs {0} shows what it printed, tend stop {0} ends it", entry.handle));
}

void put_heading(const Explained& e, const Look& look, Page& page) {
  const Entry& entry = e.entry;
  const std::string name = on_one_line(entry.handle);
  const Ink ink = entry.group == Group::needs_you ? Ink::red : ink_of(entry.verdict);
  const std::string plain = name + ": " + entry.state;
  std::string rest;
  if (entry.since != WallTime{}) {
    rest = fmt::format("for {}, since {} {} UTC", age_label(entry.since, e.now),
                       date_label(entry.since), clock_label(entry.since));
  }
  page.heading(plain, look.in(Ink::bold, name) + ": " + look.in(ink, entry.state), rest);
  const bool judged = entry.keeper == KeeperIs::alive && !entry.over();
  page.line("turn", turn_words(entry));
  if (entry.because.empty()) page.line("because", on_one_line(entry.why));
  for (std::size_t i = 0; i < entry.because.size(); ++i) {
    page.line(i == 0 ? "because" : "", on_one_line(entry.because[i]));
  }
  if (!judged && !entry.because.empty()) page.line("ended", on_one_line(entry.why));
  if (entry.task) page.line("task", task_of_agent(*entry.task, e.now));
  page.line("note", on_one_line(entry.known.heartbeat.note));
  if (entry.group == Group::needs_you) page.line("to do", what_to_do(entry));
}

void put_process(const Explained& e, Page& page) {
  const Heartbeat& says = e.entry.known.heartbeat;
  const Account& account = e.standing->account;
  std::string words = "not looked at yet";
  if (account.process) words = word(*account.process);
  const bool there =
      account.process == ProcessState::running || account.process == ProcessState::stopped;
  if (there && says.process.pid != 0) words += fmt::format(", pid {}", says.process.pid);
  if (says.life > 0) words += fmt::format(", life {}", says.life);
  page.line("process", words + agreeing(account.planes.process));
}

void put_self(const Account& account, Page& page) {
  std::string words = "it said nothing of itself";
  if (account.self) {
    words =
        fmt::format("it said {} {} ago", kSelfStateWords[static_cast<std::size_t>(*account.self)],
                    shown(account.self_age));
  }
  if (account.quiet_for) {
    words += fmt::format(", silent for {} more by its own word", shown(*account.quiet_for));
  }
  if (account.pings_open > 0) {
    words += fmt::format("; {} unanswered for {}", counted(account.pings_open, "question"),
                         shown(account.ping_age));
  }
  page.line("self", words + agreeing(account.planes.self));
}

void put_tools(const Account& account, Page& page) {
  if (account.tools.empty()) page.line("tools", "none open");
  for (std::size_t i = 0; i < account.tools.size(); ++i) {
    const OpenTool& tool = account.tools[i];
    std::string words =
        fmt::format("{} open for {}", on_one_line(tool.tool.shown()), shown(tool.age));
    if (tool.limit < kNoLimit / 2) words += " of " + time_label(tool.limit);
    if (tool.background) words += ", in the background";
    if (!tool.task.empty()) words += ", of sub-agent " + on_one_line(tool.task.shown());
    page.line(i == 0 ? "tools" : "", words);
  }
}

void put_waits(const Account& account, Page& page) {
  std::string questions = "none open";
  if (!account.questions.empty()) {
    questions =
        fmt::format("{} for a person, for {}", counted(account.questions.size(), "question"),
                    shown(account.person_age));
  } else if (account.credentials_refused) {
    questions = fmt::format("its credentials are refused, for {}", shown(account.person_age));
  }
  page.line("questions", questions);
  if (account.hold && !account.credentials_refused) {
    std::string words =
        fmt::format("holds it up ({}) for {}", word(account.hold->cause), shown(account.hold->age));
    if (account.hold->to_go) words += fmt::format(", {} to go", shown(*account.hold->to_go));
    if (account.hold->over) words += ", and that is over";
    page.line("provider", words);
  }
  if (account.children.empty()) page.line("children", "none");
  for (std::size_t i = 0; i < account.children.size(); ++i) {
    const KnownChild& child = account.children[i];
    page.line(
        i == 0 ? "children" : "",
        fmt::format("{} {}, told {} ago{}", on_one_line(child.name.shown()), word(child.verdict),
                    shown(child.told), child.for_parent ? ", waits for this one" : ""));
  }
  if (account.background > 0) page.line("background", counted(account.background, "task"));
  if (account.inbox > 0) page.line("inbox", counted(account.inbox, "message") + " unread");
  if (account.tasks > 0) page.line("work", counted(account.tasks, "task") + " claimed");
  if (account.want != Want::run) {
    page.line("order", kWantWords[static_cast<std::size_t>(account.want)]);
  }
  if (!account.unfit.empty()) {
    page.line("observer", fmt::format("not fit to judge ({}), looks again", account.unfit));
  }
}

void put_planes(const Account& account, Page& page) {
  const Planes& planes = account.planes;
  std::vector<std::string_view> names;
  if (planes.process) names.emplace_back("process");
  if (planes.stream) names.emplace_back("stream");
  if (planes.beats) names.emplace_back("beats");
  if (planes.self) names.emplace_back("self");
  if (planes.children) names.emplace_back("children");
  std::string words = "none says it is stalled";
  if (!names.empty()) {
    words = fmt::format("{} of the {} needed agree that it is stalled: {}", names.size(),
                        account.planes_needed, fmt::join(names, ", "));
  }
  page.line("planes", words);
}

void put_signs(const Explained& e, Page& page) {
  const Account& account = e.standing->account;
  page.section("signs");
  page.line("real", "last " + sign_words(account.real, "no limit in this phase") +
                        (account.excused ? "; its silence is excused" : ""));
  page.line("stream",
            sign_words(account.stream, "no limit in this phase") + agreeing(account.planes.stream));
  page.line("beats", sign_words(account.beats, "no limit") +
                         (account.beats_fail ? "; they cannot be written" : "") +
                         agreeing(account.planes.beats));
  if (account.weak) page.line("weak", fmt::format("last {} ago", shown(*account.weak)));
  put_process(e, page);
  put_self(account, page);
  put_tools(account, page);
  put_waits(account, page);
  put_planes(account, page);
}

void put_budget(const Account& account, std::uint32_t life, Page& page) {
  const std::uint32_t done = std::max(life, 1U) - 1;  // what was judged right may be left undone
  page.section("restarts");
  page.line("budget", fmt::format("{} of {} used since the last refill, {} of {} over all lives",
                                  std::min(account.spent, done), account.allowed,
                                  std::min(account.spent_ever, done), account.allowed_ever));
}

void put_next(const Explained& e, Page& page) {
  const Account& account = e.standing->account;
  page.section("if nothing new is seen");
  std::span<const Foreseen> left = account.next;
  bool said = false;
  while (!left.empty()) {
    const auto together = first_moment(left);
    left = left.subspan(together.size());
    const std::string words = describe(together);
    if (words.empty()) continue;
    said = true;
    const Foreseen& first = together.front();
    std::string when = first.in <= Duration{} ? "now" : "in " + shown(first.in);
    if (first.follows_kill) when = "then";
    const bool begins = std::ranges::any_of(together, [](const Foreseen& one) {
      return one.decision.action == Action::resume || one.decision.action == Action::restart;
    });
    std::string rest = words;
    if (begins && account.spent < account.allowed) {
      rest += fmt::format(" (attempt {} of {})", account.spent + 1, account.allowed);
    }
    page.line(when, rest);
  }
  if (!said) page.line("", "nothing is due: only a new sign changes anything");
  if (account.more) page.line("", "and so on");
}

void put_lately(const Explained& e, Page& page) {
  if (e.standing->lately.empty()) return;
  page.section("lately (UTC)");
  for (const Remembered& one : e.standing->lately) {
    std::string words;
    switch (one.kind) {
      case Remembered::Kind::verdict:
        words = fmt::format("{} ({})", one.what, one.phase);
        break;
      case Remembered::Kind::action:
        words = one.what;
        break;
      case Remembered::Kind::note:
        words = one.what;
        break;
    }
    if (!one.why.empty()) words += ": " + one.why;
    if (one.kind == Remembered::Kind::action) {
      words += one.result.empty() ? " (under way)" : fmt::format(" ({})", one.result);
    }
    page.line(clock_label(one.at), on_one_line(words));
  }
}

void put_files(const Explained& e, Page& page) {
  page.section("files");
  page.line("folder", on_one_line(e.entry.known.folder->path()));
  page.line("output", fmt::format("{}, {}", kStreamFile, kErrorFile));
  page.line("journal", fmt::format("{} (tend replay plays it)", kJournalFile));
  if (!e.agent) return;
  page.line("policy", on_one_line(e.agent->policy));
  if (!e.agent->worktree.empty()) page.line("work tree", on_one_line(e.agent->worktree));
  if (!e.agent->command.empty()) {
    page.line("command", on_one_line(fmt::format("{}", fmt::join(e.agent->command, " "))));
  }
}

}  // namespace

std::string_view turn_words(const Entry& entry) {
  const bool judged = entry.keeper == KeeperIs::alive && !entry.over();
  if (!judged || entry.known.heartbeat.life == 0) return "";
  if (entry.stuck) return "yours: it says that it is stuck";
  switch (entry.verdict) {
    case Verdict::dead:
      return "its keeper's: it is to be brought back";
    case Verdict::looping:
      return "yours: it is held until its time has come, or until you say go on";
    case Verdict::orphaned:
      return "its parent's: nobody took its place yet";
    case Verdict::finished:
    case Verdict::unknown:
      return "";
    default:
      return turn_in(entry.phase);
  }
}

std::string explain_text(const Explained& e, const Look& look) {
  Page page(look);
  put_heading(e, look, page);
  if (!e.problem.empty()) page.line("journal", on_one_line(e.problem));
  const bool judged = e.standing && !e.entry.over();
  if (judged && e.entry.keeper != KeeperIs::alive) {
    page.line("void",
              fmt::format("the last word of its keeper is {} old; what follows was true then",
                          short_age(e.standing->since_last_line)));
  }
  if (judged) put_signs(e, page);
  if (e.standing) put_budget(e.standing->account, e.entry.known.heartbeat.life, page);
  if (judged && e.entry.keeper == KeeperIs::alive) put_next(e, page);
  if (e.standing) put_lately(e, page);
  put_files(e, page);
  return page.take();
}

}  // namespace tend
