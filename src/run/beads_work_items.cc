// Every question is one run of the program, with a deadline and a bound on what it may say. What it
// answers is read as far as it is understood: an unknown field is passed over, a missing one is
// empty, and an answer that is none is an error in words. Nothing here reads its database.
#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/calendar.h"
#include "base/check.h"
#include "base/duration.h"
#include "base/quote.h"
#include "run/work_items.h"
#include "store/json.h"

namespace tend {
namespace {

using namespace std::chrono_literals;
using Did = TaskAnswer::Did;
using Words = std::vector<std::string>;

constexpr Duration kDeadline = 20s;
constexpr std::size_t kMostOutput = std::size_t{16} * 1024 * 1024;
constexpr std::size_t kLongestText = 4096;
/// What was heard of within the last minute is not taken from anybody, however old it was when it
/// was looked at.
constexpr Duration kFreshest = 1min;

// --- What it says -------------------------------------------------------------------------------

/// What a run came to: what was printed, and what was complained of.
struct Reply {
  ReadJson json;        // discarded: it printed none
  std::string problem;  // empty: all went well
};

/// The last line that is not empty, without the word that errors begin with.
std::string last_words(std::string_view text) {
  constexpr std::size_t kMost = 300;
  constexpr std::string_view kError = "Error: ";
  const auto end = text.find_last_not_of(" \t\r\n");
  if (end == std::string_view::npos) return "";
  text = text.substr(0, end + 1);
  const auto begin = text.find_last_of('\n');
  if (begin != std::string_view::npos) text.remove_prefix(begin + 1);
  if (text.starts_with(kError)) text.remove_prefix(kError.size());
  return one_line(text, kMost);
}

/// A warning may stand before it.
ReadJson json_in(std::string_view text) {
  ReadJson json = ReadJson::parse(text, nullptr, false);
  if (json.is_discarded()) {
    const auto begin = std::min(text.find("\n["), text.find("\n{"));
    if (begin != std::string_view::npos) {
      json = ReadJson::parse(text.substr(begin + 1), nullptr, false);
    }
  }
  // Some wrap all they say.
  if (json.is_object() && json.contains("schema_version") && json.contains("data")) {
    ReadJson inner = std::move(json["data"]);
    return inner;
  }
  return json;
}

std::string problem_in(const ReadJson& json, const Ran& ran) {
  if (json.is_object()) {
    if (std::string said = shown_text(json, "error", kLongestText); !said.empty()) return said;
  }
  if (ran.exit.value == 0) return "";
  for (const std::string& text : {ran.error, ran.output}) {
    if (std::string said = last_words(text); !said.empty()) return said;
  }
  return fmt::format("it exited with {}", ran.exit.value);
}

std::unexpected<Error> not_run(const std::string& name, const std::string& why) {
  return fail(fmt::format("{} could not be run: {}; [tasks] beads names it in the configuration",
                          name, why));
}

/// `name` is what was run: "bd heartbeat".
Result<Reply> reply_of(const std::string& name, const Result<Ran>& ran) {
  constexpr int kNotRun = 126;  // and one more: what a shell says of a program it has not run
  if (!ran) return not_run(name, ran.error().text);
  if (ran->timed_out) {
    return fail(fmt::format("{} did not answer within {}", name, format_seconds(kDeadline)));
  }
  if (ran->exit.how != ExitStatus::How::code) {
    return fail(fmt::format("{} died of signal {}", name, ran->exit.value));
  }
  if (ran->exit.value == kNotRun || ran->exit.value == kNotRun + 1) {
    return not_run(name, last_words(ran->error));
  }
  if (ran->output.size() >= kMostOutput) {
    return fail(fmt::format("{} said more than {} MiB", name, kMostOutput / 1024 / 1024));
  }
  Reply reply{.json = json_in(ran->output), .problem = {}};
  reply.problem = problem_in(reply.json, *ran);
  if (reply.problem.empty() && reply.json.is_discarded()) {
    const std::string said = last_words(ran->output);
    return fail(fmt::format("{} did not answer in JSON{}", name,
                            said.empty() ? "" : ", but with " + in_quotes(said)));
  }
  return reply;
}

std::optional<WallTime> time_in(const ReadJson& object, std::string_view key) {
  return parse_calendar(exact_text(object, key, kLongestText));
}

std::optional<std::string> text_in(const ReadJson& object, std::string_view key) {
  std::string text = exact_text(object, key, kLongestText);
  return text.empty() ? std::nullopt : std::optional(std::move(text));
}

/// In the words of either: what it calls `heartbeat_at`, the older protocol calls `last_heartbeat`.
Task task_of(const ReadJson& object) {
  constexpr std::uint64_t kLargestFence = std::uint64_t{1} << 62;
  Task task;
  task.id = text_in(object, "id").value_or("");
  task.title = shown_text(object, "title", kLongestText);
  task.status = text_in(object, "status").value_or("");
  task.assignee = text_in(object, "assignee");
  task.context =
      word_field<TaskContext>(object, "context", kTaskContextWords).value_or(TaskContext::active);
  task.created_at = time_in(object, "created_at").value_or(WallTime{});
  task.updated_at = time_in(object, "updated_at").value_or(task.created_at);
  task.last_heartbeat =
      std::max(time_in(object, "heartbeat_at"), time_in(object, "last_heartbeat"));
  task.heartbeat_message = text_in(object, "heartbeat_message");
  task.fence = static_cast<std::int64_t>(whole_number(object, "claim_fence", kLargestFence));
  task.lease_expires_at = time_in(object, "lease_expires_at");
  task.closed_at = time_in(object, "closed_at");
  task.close_reason = text_in(object, "close_reason");
  if (const ReadJson* const labels = find_field(object, "labels");
      labels != nullptr && labels->is_array()) {
    for (const ReadJson& label : *labels) {
      if (label.is_string()) task.labels.push_back(label.get<std::string>());
    }
    std::ranges::sort(task.labels);
  }
  return task;
}

/// An answer is one issue, or a list of them.
std::vector<Task> tasks_in(const ReadJson& json) {
  std::vector<Task> tasks;
  const auto take = [&](const ReadJson& object) {
    if (!object.is_object()) return;
    if (Task task = task_of(object); !task.id.empty()) tasks.push_back(std::move(task));
  };
  if (json.is_array()) {
    for (const ReadJson& object : json) take(object);
  } else {
    take(json);
  }
  return tasks;
}

std::optional<Task> task_in(const ReadJson& json, const std::string& id) {
  for (Task& task : tasks_in(json)) {
    if (task.id == id) return std::move(task);
  }
  return std::nullopt;
}

/// What stands behind `words` in `text`, up to the end of the line.
std::optional<std::string> behind(std::string_view text, std::string_view words) {
  const auto begin = text.find(words);
  if (begin == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(begin + words.size());
  return std::string(rest.substr(0, rest.find('\n')));
}

/// The refusals that it is known for; none: it failed.
std::optional<TaskAnswer> refusal_in(std::string_view problem, const std::string& id) {
  TaskAnswer answer;
  answer.task.id = id;
  const auto says = [&](std::string_view words) { return problem.contains(words); };
  if (says("already claimed")) {
    answer.did = Did::held_by_other;
    answer.task.status = kInProgress;
    answer.task.assignee = behind(problem, "already claimed by ");
  } else if (says("not claimable")) {
    answer.did = Did::not_claimable;
    answer.task.status = behind(problem, " status ").value_or("");
  } else if (says("not found") || says("no issue found") || says("no issues found")) {
    answer.did = Did::no_such_task;
  } else if (says("fence")) {
    answer.did = Did::lost;
  } else {
    return std::nullopt;
  }
  return answer;
}

/// What became of a change of the task; `otherwise` if all it says is that it went well.
Result<TaskAnswer> answer_of(const std::string& name, const Result<Reply>& reply,
                             const Task& otherwise) {
  if (!reply) return std::unexpected(reply.error());
  if (reply->problem.empty()) {
    return TaskAnswer{.did = Did::done,
                      .task = task_in(reply->json, otherwise.id).value_or(otherwise)};
  }
  if (auto refused = refusal_in(reply->problem, otherwise.id)) return *std::move(refused);
  return fail(fmt::format("{}: {}", name, reply->problem));
}

// --- What it is asked ---------------------------------------------------------------------------

/// The id where it cannot be taken for an option.
Words with_id(Words words, const std::string& id) {
  if (id.starts_with('-')) words.emplace_back("--");
  words.push_back(id);
  return words;
}

void add_words(Words& to, std::string_view option, const Words& values) {
  for (const std::string& value : values) {
    // It would read a comma as the end of a label.
    if (!value.contains(',')) to.push_back(fmt::format("{}={}", option, value));
  }
}

/// Narrows what is said; what it makes of these options is looked through once more.
Words list_words(const TaskFilter& filter) {
  Words words{"list", "--json", "--limit=0"};
  if (filter.status) {
    words.push_back("--status=" + *filter.status);
  } else if (!filter.stale && !filter.not_closed) {
    words.emplace_back("--all");
  }
  if (filter.assignee) words.push_back("--assignee=" + *filter.assignee);
  if (filter.unassigned) words.emplace_back("--no-assignee");
  if (filter.id) add_words(words, "--id", {*filter.id});
  add_words(words, "--label", filter.labels);
  if (std::ranges::none_of(filter.any_label, [](const auto& l) { return l.contains(','); })) {
    add_words(words, "--label-any", filter.any_label);
  }
  add_words(words, "--exclude-label", filter.without_labels);
  return words;
}

bool fits(const Task& task, const TaskFilter& filter, const TaskLimits& limits, WallTime now) {
  const auto has = [&](const std::string& label) {
    return std::ranges::find(task.labels, label) != task.labels.end();
  };
  const bool as_wanted =
      (!filter.id || task.id == *filter.id) && (!filter.status || task.status == *filter.status) &&
      (!filter.assignee || task.assignee == *filter.assignee) &&
      (!filter.unassigned || !task.assignee) && (!filter.not_closed || task.status != kClosed) &&
      (!filter.updated_before || task.updated_at < *filter.updated_before) &&
      (!filter.updated_after || task.updated_at > *filter.updated_after);
  const bool labelled = std::ranges::all_of(filter.labels, has) &&
                        std::ranges::none_of(filter.without_labels, has) &&
                        (filter.any_label.empty() || std::ranges::any_of(filter.any_label, has));
  if (!as_wanted || !labelled) return false;
  return !filter.stale ||
         task.last_sign() < now - filter.stale_for.value_or(limits.of(task.context));
}

std::vector<Task> filtered(std::vector<Task> tasks, const TaskFilter& filter, WallTime now) {
  const TaskLimits limits;
  std::erase_if(tasks, [&](const Task& task) { return !fits(task, filter, limits, now); });
  std::ranges::sort(tasks, [&](const Task& a, const Task& b) {
    const auto place = [&](const Task& task) {
      return std::pair(filter.stale ? task.last_sign() : task.created_at,
                       std::string_view(task.id));
    };
    return place(a) < place(b);
  });
  if (filter.most && tasks.size() > static_cast<std::size_t>(*filter.most)) {
    tasks.resize(static_cast<std::size_t>(*filter.most));
  }
  return tasks;
}

/// Whether `worker` may let it go or close it. The program itself does not always mind.
Did holder_check(const Task& task, const Worker& worker) {
  if (task.status == kClosed) return Did::not_claimable;
  if (task.status != kInProgress || !task.assignee) return Did::not_claimed;
  if (task.assignee != worker.name) return Did::held_by_other;
  if (worker.fence && task.fence != 0 && *worker.fence != task.fence) return Did::lost;
  return Did::done;
}

/// Questions that follow each other. It lives as long as somebody wants the answer.
class Asking final : public Subscription {
 public:
  using Then = std::function<void(const Result<Reply>&)>;

  Asking(Machine& machine, Words program) : machine_(machine), program_(std::move(program)) {}

  /// Asks `words` as `actor`; the one before has answered.
  void ask(const Words& words, const std::string& actor, Then then) {
    Run run;
    run.command = program_;
    run.command.insert(run.command.end(), words.begin(), words.end());
    // Whoever asks may itself run under the name of another.
    if (!actor.empty()) run.environment = {"BD_ACTOR=" + actor, "BEADS_ACTOR=" + actor};
    run.deadline = kDeadline;
    run.most_output = kMostOutput;
    running_ =
        machine_.processes.run(run, [name = name(words.front()), then = std::move(then)](
                                        const Result<Ran>& ran) { then(reply_of(name, ran)); });
  }
  /// "bd heartbeat", for complaints.
  [[nodiscard]] std::string name(std::string_view verb) const {
    return fmt::format("{} {}", on_one_line(program_.front()), verb);
  }

 private:
  Machine& machine_;
  Words program_;
  Subscribed running_;
};

class BeadsWorkItems final : public WorkItems {
 public:
  BeadsWorkItems(Machine& machine, Words program)
      : machine_(machine), program_(std::move(program)) {
    CHECK(!program_.empty());
  }

  Subscribed list(const TaskFilter& filter, Listed listed) override {
    auto asking = begin();
    const std::string name = asking->name("list");
    asking->ask(list_words(filter), "",
                [&machine = machine_, name, filter, listed](const Result<Reply>& reply) {
                  if (!reply) return listed(std::unexpected(reply.error()));
                  if (!reply->problem.empty())
                    return listed(fail(fmt::format("{}: {}", name, reply->problem)));
                  listed(filtered(tasks_in(reply->json), filter, machine.clock.wall()));
                });
    return asking;
  }

  Subscribed find(const std::string& id, Answered answered) override {
    auto asking = begin();
    show(*asking, id, std::move(answered));
    return asking;
  }

  Subscribed claim(const std::string& id, const Worker& worker, Answered answered) override {
    auto asking = begin();
    Task claimed;
    claimed.id = id;
    claimed.status = kInProgress;
    claimed.assignee = worker.name;
    asking->ask(with_id({"update", "--claim", "--json"}, id), worker.name,
                [name = asking->name("update"), claimed, answered](const Result<Reply>& reply) {
                  answered(answer_of(name, reply, claimed));
                });
    return asking;
  }

  Subscribed beat(const std::string& id, const Worker& worker,
                  const std::optional<std::string>& message, Answered answered) override {
    auto asking = begin();
    beat(*asking, id, worker.name, message, std::move(answered));
    return asking;
  }

  Subscribed release(const std::string& id, const Worker& worker, Answered answered) override {
    auto asking = begin();
    Asking* const self = asking.get();  // it holds what holds this
    show(*asking, id, [self, worker, answered](const Result<TaskAnswer>& shown) {
      if (!shown || shown->did != Did::done) return answered(shown);
      const Did may = holder_check(shown->task, worker);
      if (may != Did::done) return answered(TaskAnswer{.did = may, .task = shown->task});
      Words words{"update", "--status=open", "--assignee=", "--json"};
      if (shown->task.fence != 0) words.push_back(fmt::format("--if-fence={}", shown->task.fence));
      Task released = shown->task;
      released.status = kOpen;
      released.assignee.reset();
      self->ask(with_id(std::move(words), released.id), worker.name,
                [name = self->name("update"), released, answered](const Result<Reply>& reply) {
                  answered(answer_of(name, reply, released));
                });
    });
    return asking;
  }

  Subscribed close(const std::string& id, const Worker& worker,
                   const std::optional<std::string>& reason, Answered answered) override {
    auto asking = begin();
    Asking* const self = asking.get();
    show(*asking, id, [self, worker, reason, answered](const Result<TaskAnswer>& shown) {
      if (!shown || shown->did != Did::done) return answered(shown);
      if (shown->task.status == kClosed) {
        return answered(TaskAnswer{.did = Did::as_before, .task = shown->task});
      }
      const bool is_held = shown->task.status == kInProgress && shown->task.assignee;
      const Did may = is_held || worker.fence ? holder_check(shown->task, worker) : Did::done;
      if (may != Did::done) return answered(TaskAnswer{.did = may, .task = shown->task});
      Words words{"close", "--json"};
      if (reason && !reason->empty()) words.push_back("--reason=" + *reason);
      Task closed = shown->task;
      closed.status = kClosed;
      self->ask(with_id(std::move(words), closed.id), worker.name,
                [name = self->name("close"), closed, answered](const Result<Reply>& reply) {
                  answered(answer_of(name, reply, closed));
                });
    });
    return asking;
  }

  Subscribed reclaim(const Task& held, Answered answered) override {
    auto asking = begin();
    const WallTime now = machine_.clock.wall();
    // By its own account a claim is old from when it expired. If it was heard of since we looked,
    // it is younger than that.
    const auto since = held.lease_expires_at.value_or(held.last_sign());
    const Duration age = std::max(std::chrono::floor<Duration>(now - since), kFreshest);
    Task freed = held;
    freed.status = kOpen;
    freed.assignee.reset();
    asking->ask(
        {"reclaim", "--json", "--id=" + held.id, fmt::format("--older-than={}s", age / 1s)}, "",
        [name = asking->name("reclaim"), held, freed, answered](const Result<Reply>& reply) {
          auto answer = answer_of(name, reply, freed);
          if (answer && answer->did == Did::done && !has_reclaimed(reply->json, held.id)) {
            answer = TaskAnswer{.did = Did::as_before, .task = held};
          }
          answered(answer);
        });
    return asking;
  }

 private:
  std::unique_ptr<Asking> begin() { return std::make_unique<Asking>(machine_, program_); }

  static void show(Asking& asking, const std::string& id, Answered answered) {
    asking.ask(with_id({"show", "--json"}, id), "",
               [name = asking.name("show"), id,
                answered = std::move(answered)](const Result<Reply>& reply) {
                 Task asked_for;
                 asked_for.id = id;
                 auto answer = answer_of(name, reply, asked_for);
                 // It takes a part of an id for the whole.
                 if (answer && answer->did == Did::done && !task_in(reply->json, id)) {
                   answer->did = Did::no_such_task;
                 }
                 answered(answer);
               });
  }

  static void beat(Asking& asking, const std::string& id, const std::string& actor,
                   const std::optional<std::string>& message, Answered answered) {
    const bool says = message && !message->empty();
    Words words{"heartbeat", "--json"};
    if (says) words.push_back("--message=" + *message);
    Task beaten;
    beaten.id = id;
    beaten.status = kInProgress;
    beaten.assignee = actor;
    if (says) beaten.heartbeat_message = message;
    asking.ask(
        with_id(std::move(words), id), actor,
        [&asking, says, actor, beaten, answered = std::move(answered)](const Result<Reply>& reply) {
          if (says && reply && reply->problem.starts_with("unknown flag")) {
            return beat(asking, beaten.id, actor, std::nullopt, answered);
          }
          auto answer = answer_of(asking.name("heartbeat"), reply, beaten);
          if (answer && answer->did == Did::done) answer->task = beaten;
          const bool is_free =
              answer && answer->did == Did::not_claimable && answer->task.status != kClosed;
          if (is_free) answer->did = Did::not_claimed;
          answered(answer);
        });
  }

  /// {"reclaimed":[{"id":..},..],"count":1}
  static bool has_reclaimed(const ReadJson& json, const std::string& id) {
    if (!json.is_object()) return false;
    const ReadJson* const list = find_field(json, "reclaimed");
    if (list == nullptr || !list->is_array()) return false;
    return std::ranges::any_of(*list, [&](const ReadJson& one) {
      if (one.is_string()) return one.get_ref<const std::string&>() == id;
      if (!one.is_object()) return false;
      return exact_text(one, "id", kLongestText) == id ||
             exact_text(one, "issue_id", kLongestText) == id;
    });
  }

  Machine& machine_;
  Words program_;
};

}  // namespace

std::unique_ptr<WorkItems> beads_work_items(Machine& machine, std::vector<std::string> program) {
  return std::make_unique<BeadsWorkItems>(machine, std::move(program));
}

}  // namespace tend
