// The account is that of a sweep made now, from what the patrol remembers, which changes nothing:
// so it says what is true, and the patrol's next sweep will say the same.
#include "app/explain_task.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/agent_json.h"
#include "app/await.h"
#include "app/home_option.h"
#include "app/patrol_view.h"
#include "app/task_view.h"
#include "app/when.h"
#include "base/quote.h"
#include "run/patrol.h"
#include "run/patrol_process.h"
#include "run/work_items.h"
#include "store/config_file.h"

namespace tend {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 3> kHeldWords{"no", "unfit", "incident"};

/// Everything that is told of a task.
struct ExplainedTask {
  Task task;
  PatrolDecision decision;
  std::vector<PatrolRung> done;          // in this episode
  std::optional<PatrolDecided> decided;  // the last of them
  SeenPatrol patrol;
  WallTime now{};
};

std::vector<PatrolRung> rungs_done(const PatrolMemory& memory, const PatrolDecision& decision) {
  std::vector<PatrolRung> done;
  for (std::size_t i = 0; i < kPatrolRungs; ++i) {
    const auto rung = static_cast<PatrolRung>(i);
    if (memory.took(rung) && std::ranges::find(decision.rungs, rung) == decision.rungs.end()) {
      done.push_back(rung);
    }
  }
  return done;
}

std::string words_of(const std::vector<PatrolRung>& rungs) {
  std::string words;
  for (const PatrolRung rung : rungs)
    words += (words.empty() ? "" : ", ") + std::string(word(rung));
  return words;
}

/// A task that no sweep looks at.
PatrolDecision left_alone(const Task& task) {
  PatrolDecision decision;
  decision.task = task.id;
  decision.because.push_back("it is " + on_one_line(task.status) + ": it is left alone");
  return decision;
}

void sweep_for(ExplainedTask& explained, Home& home, WorkItems& items, const Config& config) {
  PatrolSettings settings{
      .policy = config.patrol, .channels = {}, .program = {}, .gate = {}, .dry = true};
  settings.policy = with_interval(settings.policy, explained.patrol.interval);
  Patrol patrol(home.machine, *home.folder, items, std::move(settings));
  std::ignore = patrol.remember();
  const auto decided = patrol.past().decided.find(explained.task.id);
  const auto before =
      decided == patrol.past().decided.end() ? std::nullopt : std::optional(decided->second);
  patrol.sweep([&](const Sweep&) { home.machine.loop.stop(); });
  home.machine.loop.run();
  explained.decision = left_alone(explained.task);
  const auto place = std::ranges::find(patrol.tasks(), explained.task.id, &Task::id);
  if (place == patrol.tasks().end() || patrol.plan().tasks.size() != patrol.tasks().size()) return;
  explained.task = *place;
  explained.decision =
      patrol.plan().tasks[static_cast<std::size_t>(std::distance(patrol.tasks().begin(), place))];
  const auto memory = patrol.past().state.tasks.find(explained.task.id);
  if (memory == patrol.past().state.tasks.end()) return;
  explained.done = rungs_done(memory->second, explained.decision);
  if (!explained.done.empty()) explained.decided = before;
}

std::string sign_words(const ExplainedTask& explained) {
  const Task& task = explained.task;
  const bool is_held = task.status == kInProgress;
  std::string words = age_label(is_held ? task.last_sign() : task.updated_at, explained.now);
  words += is_held && task.last_heartbeat ? " ago, a beat" : " ago, a change";
  if (explained.decision.missed > 0) {
    words += fmt::format("; {} missed", explained.decision.missed == 1
                                            ? "1 beat"
                                            : fmt::format("{} beats", explained.decision.missed));
  }
  return words;
}

std::string in_words(const ExplainedTask& explained) {
  const Task& task = explained.task;
  const PatrolDecision& decision = explained.decision;
  std::string text = fmt::format("task {}: {}", on_one_line(task.id), on_one_line(task.status));
  if (task.assignee)
    text += fmt::format(", {} (claim {})", on_one_line(*task.assignee), task.fence);
  text += "\n  " + on_one_line(task.title) + "\n";
  const auto row = [&](std::string_view name, std::string_view words) {
    if (!words.empty()) text += fmt::format("  {:<11}{}\n", name, words);
  };
  row("says", on_one_line(task.heartbeat_message.value_or("")));
  row("last sign", sign_words(explained));
  if (!explained.done.empty()) {
    std::string done = words_of(explained.done);
    if (explained.decided) {
      done += fmt::format("; the last {} ago", age_label(explained.decided->at, explained.now));
    }
    row("done", done);
  }
  for (std::size_t i = 0; i < decision.because.size(); ++i) {
    row(i == 0 ? "because" : "", on_one_line(decision.because[i]));
  }
  if (!decision.rungs.empty()) row("due", words_of(decision.rungs) + ", with the next sweep");
  row("next", decision.next ? decision.next->words : "nothing, until something changes");
  row("patrol", patrol_words(explained.patrol, explained.now));
  return text;
}

Json rungs_json(const std::vector<PatrolRung>& rungs) {
  Json list = Json::array();
  for (const PatrolRung rung : rungs) list.push_back(word(rung));
  return list;
}

Json in_json(const ExplainedTask& explained) {
  const PatrolDecision& decision = explained.decision;
  Json next = nullptr;
  if (decision.next) {
    next = {{"rung", word(decision.next->rung)},
            {"in_s", seconds_json(decision.next->in)},
            {"words", decision.next->words}};
  }
  Json decided = nullptr;
  if (explained.decided) {
    decided = {{"at", calendar_json(explained.decided->at)},
               {"rungs", rungs_json(explained.decided->rungs)},
               {"because", explained.decided->because}};
  }
  return {{"task", task_json(explained.task)},
          {"silence_s", seconds_json(decision.silence)},
          {"missed", decision.missed},
          {"in_episode", decision.on_ladder},
          {"done", rungs_json(explained.done)},
          {"decided", std::move(decided)},
          {"due", rungs_json(decision.rungs)},
          {"held_back", kHeldWords.at(static_cast<std::size_t>(decision.held))},
          {"because", decision.because},
          {"next", std::move(next)},
          {"patrol", patrol_json(explained.patrol)}};
}

}  // namespace

int explain_task(const Arguments& arguments, World& world, const std::string& id) {
  if (auto ok = check_task_id(id); !ok) {
    return complain(world, "explain", ok.error().text, kExitUsage);
  }
  auto home = open_home(world);
  if (!home) return complain(world, "explain", home.error().text, kExitUsage);
  const auto config = user_config(world);
  if (!config) return complain(world, "explain", config.error().text, kExitUsage);
  const auto items = work_items(home->machine, *home->folder, *config);
  const auto found = await<TaskAnswer>(home->machine, [&](auto answer) {
    return items->find(id, [answer](const Result<TaskAnswer>& got) { answer(got); });
  });
  if (!found) return complain(world, "explain", found.error().text, kExitNo);
  if (found->did == TaskAnswer::Did::no_such_task) {
    return complain(world, "explain", why_not(*found, id, "", home->machine.clock.wall()), kExitNo);
  }
  ExplainedTask explained;
  explained.task = found->task;
  explained.now = home->machine.clock.wall();
  explained.patrol = see_patrol(*home).value_or(SeenPatrol{});
  sweep_for(explained, *home, *items, *config);
  world.out.write(arguments.has("json") ? json_line(in_json(explained)) : in_words(explained));
  return kExitYes;
}

}  // namespace tend
