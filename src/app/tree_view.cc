// Depth first; below a row stand the lines that lead to its children.
#include "app/tree_view.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "app/agent_json.h"
#include "app/agent_look.h"
#include "app/columns.h"
#include "app/task_view.h"
#include "app/when.h"
#include "base/quote.h"
#include "store/home.h"

namespace tend {
namespace {

constexpr std::size_t kLongestName = 40;
constexpr std::size_t kLongestWord = 24;
constexpr std::size_t kMostNamed = 2;

bool waits_for_parent(const Entry& child, const Entry& parent) {
  return std::ranges::find(parent.asked_by, Name(child.known.heartbeat.agent)) !=
         parent.asked_by.end();
}

/// "which works", "which has no keeper".
std::string what_it_does(const Entry& entry) {
  if (entry.keeper != KeeperIs::alive && !entry.over()) return "which has " + entry.state;
  switch (entry.verdict) {
    case Verdict::starting:
      return "which starts";
    case Verdict::working:
      return "which works";
    case Verdict::waiting:
      return entry.phase == Phase::person ? "which waits for a person" : "which waits";
    default:
      break;
  }
  return fmt::format("which is {}", entry.state);
}

struct Branch {
  std::string_view last;   // of the lines to a parent's children
  std::string_view other;  // all before it
  std::string_view passes;
  std::string_view nothing;
};
constexpr Branch kDrawn{"└─ ", "├─ ", "│  ", "   "};
constexpr Branch kTyped{"`- ", "|- ", "|  ", "   "};

class Drawing {
 public:
  Drawing(const Forest& forest, const std::vector<bool>& shown, const Look& look, WallTime now)
      : forest_(forest),
        shown_(shown),
        look_(look),
        now_(now),
        branch_(look.unicode() ? kDrawn : kTyped) {}

  std::string draw(std::size_t width) {
    for (std::size_t i = 0; i < forest_.all().size(); ++i) {
      const auto parent = forest_.all()[i].parent;
      const bool is_root = !parent || !shown_[*parent];
      if (shown_[i] && is_root) add(i, "", "", 0);
    }
    return columns_.text(look_, width);
  }

 private:
  /// `before` leads to the row itself, `below` stands before the lines to its children.
  void add(std::size_t i, std::string_view before, const std::string& below, int depth) {
    const Entry& entry = forest_.all()[i];
    const Ink ink = ink_of_entry(entry);
    const std::string name = look_.cut(on_one_line(shown_name(entry)), kLongestName);
    columns_.add({{fmt::format("{}{} {}", before, sign_of(entry, look_), name)},
                  {word_of(entry.known.heartbeat.role)},
                  {state_words(entry), ink},
                  {entry.progressed ? age_label(*entry.progressed, now_) : "-"},
                  {budget_label(entry)},
                  {word_of(entry.known.heartbeat.work_phase)},
                  {about(i)}});
    std::vector<std::size_t> children = forest_.children(i);
    std::erase_if(children, [&](std::size_t child) { return !shown_[child]; });
    for (const std::size_t child : children) {
      const bool is_last = child == children.back();
      const std::string line = below + std::string(is_last ? branch_.last : branch_.other);
      // Whoever stands deeper than trees grow is drawn beside its parent.
      const bool fits = depth < kDeepestTree;
      const std::string_view side = is_last ? branch_.nothing : branch_.passes;
      add(child, line, fits ? below + std::string(side) : below, depth + 1);
    }
  }

  [[nodiscard]] std::string word_of(std::string_view text) const {
    return text.empty() ? "-" : look_.cut(on_one_line(text), kLongestWord);
  }

  /// What it waits for, or why it needs you; then its task.
  [[nodiscard]] std::string about(std::size_t i) const {
    std::string words = trouble_of(i);
    const auto& task = forest_.all()[i].task;
    if (!task) return words;
    return words + (words.empty() ? "task " : "; task ") + task_of_agent(*task, now_);
  }

  /// What it waits for; of one that needs you and waits for nobody, why.
  [[nodiscard]] std::string trouble_of(std::size_t i) const {
    const Entry& entry = forest_.all()[i];
    const WaitsFor& waits = forest_.waits(i);
    if (waits.only_ended) return "waits on children that have all ended";
    if (!waits.on.empty()) return "waits on " + named(waits, i);
    if (entry.group == Group::needs_you) return on_one_line(entry.why);
    return "";
  }

  [[nodiscard]] std::string named(const WaitsFor& waits, std::size_t i) const {
    std::string words;
    const std::size_t count = std::min(waits.on.size(), kMostNamed);
    for (std::size_t n = 0; n < count; ++n) {
      const std::size_t on = waits.on[n];
      const bool back = std::ranges::find(forest_.waits(on).on, i) != forest_.waits(on).on.end();
      const Entry& other = forest_.all()[on];
      if (n > 0) words += ", and ";
      words += on_one_line(shown_name(other)) + ", ";
      words += back ? "which waits on it: a circle" : what_it_does(other);
    }
    if (waits.on.size() > count) words += fmt::format(", and {} more", waits.on.size() - count);
    return words;
  }

  const Forest& forest_;
  const std::vector<bool>& shown_;
  const Look& look_;
  WallTime now_;
  Branch branch_;
  Columns columns_{
      {{"NAME"}, {"ROLE"}, {"STATE"}, {"PROGRESS", true}, {"RESTARTS", true}, {"WORK"}, {"WHY"}}};
};

nlohmann::ordered_json names_of(const Forest& forest, const std::vector<std::size_t>& places) {
  auto names = nlohmann::ordered_json::array();
  for (const std::size_t place : places) names.push_back(shown_name(forest.all()[place]));
  return names;
}

nlohmann::ordered_json one_json(const Forest& forest, std::size_t i, WallTime now) {
  using Json = nlohmann::ordered_json;
  const Entry& entry = forest.all()[i];
  const Heartbeat& says = entry.known.heartbeat;
  Json progressed = nullptr;
  if (entry.progressed) {
    progressed = seconds_json(std::chrono::duration_cast<Duration>(now - *entry.progressed));
  }
  const WaitsFor& waits = forest.waits(i);
  return {
      {"name", shown_name(entry)},
      {"folder", entry.known.folder ? Json(entry.known.folder->path()) : Json(nullptr)},
      {"role", says.role},
      {"parent", entry.parent ? Json(shown_name(forest.all()[*entry.parent])) : Json(nullptr)},
      {"depth", entry.depth},
      {"verdict", word(entry.verdict)},
      {"phase", word(entry.phase)},
      {"group", kGroupWords[static_cast<std::size_t>(entry.group)]},
      {"state", entry.state},
      {"since", calendar_json(entry.since)},
      {"progressed_seconds_ago", std::move(progressed)},
      {"budget", {{"spent", says.resumes_spent}, {"allowed", says.resumes_allowed}}},
      {"waits_for", names_of(forest, waits.on)},
      {"waits_only_for_ended", waits.only_ended},
      {"cycle", waits.in_circle},
      {"task", entry.task ? task_of_agent_json(*entry.task) : Json(nullptr)},
      {"work_phase", says.work_phase.empty() ? Json(nullptr) : Json(says.work_phase)},
      {"children", names_of(forest, forest.children(i))},
      {"children_unsettled", says.children},
  };
}

}  // namespace

Forest::Forest(std::span<const Entry> all) : all_(all), children_(all.size()) {
  std::vector<WaitingOne> waiting;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Entry& entry = all[i];
    WaitingOne& one = waiting.emplace_back();
    one.parent = entry.parent;
    one.verdict = entry.over() ? Verdict::finished : entry.verdict;
    one.phase = entry.phase;
    if (!entry.parent) continue;
    children_[*entry.parent].push_back(i);
    one.for_parent = waits_for_parent(entry, all[*entry.parent]);
  }
  waits_ = waits_among(waiting);
}

std::string tree_text(const Forest& forest, const std::vector<bool>& shown, const Look& look,
                      std::size_t width, WallTime now) {
  return Drawing(forest, shown, look, now).draw(width);
}

std::string tree_json(const Forest& forest, const std::vector<bool>& shown, WallTime now) {
  std::string lines;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    if (shown[i]) lines += json_line(one_json(forest, i, now));
  }
  return lines;
}

}  // namespace tend
