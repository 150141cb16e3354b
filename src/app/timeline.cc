// The columns of the timeline: time, verdict, phase, reasons; actions stand in the verdict's place.
#include "app/timeline.h"

#include <fmt/format.h>

#include "base/quote.h"
#include "judge/reason.h"

namespace tend {
namespace {

// time | verdict | phase | reasons
constexpr std::size_t kTimeWidth = 9;
constexpr std::size_t kVerdictColumn = kTimeWidth + 2;
constexpr std::size_t kPhaseColumn = kVerdictColumn + 10;
constexpr std::size_t kReasonColumn = kPhaseColumn + 12;

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string joined(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// JSON with a blank after every comma and colon outside its texts, so that lines can break there.
std::string airy(std::string_view json) {
  std::string text;
  bool quoted = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    text += json[i];
    if (quoted && json[i] == '\\' && i + 1 < json.size()) {
      text += json[++i];
    } else if (json[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && (json[i] == ',' || json[i] == ':')) {
      text += ' ';
    }
  }
  return text;
}

}  // namespace

std::string title_lines(const Look& look, const TraceTitle& title) {
  const std::string id = on_one_line(title.id);
  std::string text = look.in(Ink::bold, id) + "  ";
  const std::size_t indent = width_of(id) + 2;
  const std::string about = title.about.empty() ? "" : on_one_line(title.about) + " ";
  look.flow(text, indent, indent, about + "(policy " + on_one_line(title.policy) + ")");
  return text;
}

std::string reasons_of(const Decision& decision) {
  std::string text;
  for (const Reason& reason : decision.because()) {
    text += text.empty() ? "" : "; ";
    text += on_one_line(describe(reason));
  }
  return text;
}

std::string action_words(const Decision& decision) {
  std::string text(word(decision.action));
  if (decision.action == Action::reassign) text += " " + on_one_line(decision.task.shown());
  return text;
}

void Timeline::begin(const TraceTitle& title) {
  out_.write((first_ ? "" : "\n") + title_lines(look_, title));
  first_ = false;
  last_ = Instant::min();
  if (const auto& from = title.first) {
    put_verdict(from->at, from->verdict, from->phase, "when the journal was begun");
  }
}

void Timeline::decided(Instant at, const Decision& decision) {
  if (decision.kind == Decision::Kind::action) return add_action(at, decision);
  put_actions();
  put_verdict(at, decision.verdict, decision.phase, reasons_of(decision));
}

void Timeline::put_verdict(Instant at, Verdict verdict, Phase phase, const std::string& why) {
  const std::string time = at == last_ ? "" : time_label(at.time_since_epoch());
  std::string line = look_.in(Ink::faint, right_aligned(time, kTimeWidth)) + "  ";
  line += look_.in(ink_of(verdict), word(verdict));
  line.append(kPhaseColumn - kVerdictColumn - word(verdict).size(), ' ');
  line += left_aligned(word(phase), kReasonColumn - kPhaseColumn);
  look_.flow(line, kReasonColumn, kReasonColumn, why);
  out_.write(line);
  last_ = at;
}

void Timeline::add_action(Instant at, const Decision& decision) {
  const std::string why = reasons_of(decision);
  if (at != actions_at_ || why != why_) put_actions();
  actions_at_ = at;
  why_ = why;
  actions_.push_back(action_words(decision));
}

void Timeline::put_actions() {
  if (actions_.empty()) return;
  const std::string time = actions_at_ == last_ ? "" : time_label(actions_at_.time_since_epoch());
  const std::string words = fmt::format("{} {}", look_.arrow(), joined(actions_));
  std::string line = look_.in(Ink::faint, right_aligned(time, kTimeWidth)) + "  ";
  line += look_.in(Ink::bold, words);
  const std::size_t column = kVerdictColumn + width_of(words);
  if (column + 1 < kReasonColumn) {
    line.append(kReasonColumn - column, ' ');
  } else {
    line.append("\n").append(kReasonColumn, ' ');
  }
  look_.flow(line, kReasonColumn, kReasonColumn, why_);
  out_.write(line);
  last_ = actions_at_;
  actions_.clear();
}

void Timeline::end(const TraceResult& result) {
  put_actions();
  const std::size_t held = result.expected - result.failed.size();
  if (result.expected == 0) {
    out_.write(look_.in(Ink::faint, "  no expectations to check") + "\n");
  } else if (result.failed.empty()) {
    out_.write(fmt::format("  {} {} held\n", look_.in(Ink::green, look_.tick()),
                           counted(held, "expectation")));
  } else {
    out_.write(fmt::format("  {} {} of {} held\n", look_.in(Ink::red, look_.cross()), held,
                           counted(result.expected, "expectation")));
  }
  for (const FailedClause& failed : result.failed) {
    std::string line = "    expected ";
    look_.flow(line, line.size(), line.size(), airy(failed.clause));
    line += look_.in(Ink::red, "         saw ");
    look_.flow(line, 13, 13, failed.saw);
    out_.write(line);
  }
}

void Timeline::sum(const ReplaySum& sum) {
  const std::size_t held = sum.traces - sum.failed.size();
  std::string line = fmt::format("\n{}: ", counted(sum.traces, "trace"));
  const std::size_t column = line.size() - 1;
  if (sum.failed.empty()) {
    line += "all held\n";
  } else {
    look_.flow(line, column, column,
               fmt::format("{} held, {} failed: {}", held, sum.failed.size(),
                           on_one_line(joined(sum.failed))));
  }
  out_.write(line);
}

}  // namespace tend
