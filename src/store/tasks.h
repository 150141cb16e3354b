// Work that must not be forgotten, in `tend.db`. A claim is a lease with a number, the fence: it
// rises with every new holder, and who comes with an older one has lost the task. A heartbeat is a
// sign of the holder and no change of the task.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "os/database.h"

namespace tend {

/// How soon somebody is missed.
enum class TaskContext : std::uint8_t { active, overnight, critical };
inline constexpr std::array<std::string_view, 3> kTaskContextWords{"active", "overnight",
                                                                   "critical"};
inline constexpr std::size_t kTaskContexts = kTaskContextWords.size();

inline constexpr std::string_view kOpen = "open";
inline constexpr std::string_view kInProgress = "in_progress";
inline constexpr std::string_view kBlocked = "blocked";
inline constexpr std::string_view kClosed = "closed";

/// Silence after which a task is stale, by context; also how long a claim holds without a sign.
struct TaskLimits {
  std::array<Duration, kTaskContexts> stale{std::chrono::minutes{10}, std::chrono::minutes{30},
                                            std::chrono::minutes{5}};
  [[nodiscard]] Duration of(TaskContext context) const {
    return stale.at(static_cast<std::size_t>(context));
  }
};

struct Task {
  std::string id;
  std::string title;
  std::string status{kOpen};
  std::optional<std::string> assignee;
  TaskContext context = TaskContext::active;
  WallTime created_at{};
  WallTime updated_at{};
  std::optional<WallTime> last_heartbeat;
  std::optional<std::string> heartbeat_message;
  std::int64_t fence = 0;  // of the last claim; 0: there was none
  std::optional<WallTime> lease_expires_at;
  std::optional<std::string> worker;  // the folder of the kept agent that holds it
  std::optional<WallTime> closed_at;
  std::optional<std::string> close_reason;
  std::vector<std::string> labels;  // sorted

  /// When its holder was last heard of. One that never beat counts from its last change.
  [[nodiscard]] WallTime last_sign() const { return last_heartbeat.value_or(updated_at); }
};

/// Who comes for a task.
struct Worker {
  std::string name;
  std::optional<std::string> folder;  // of a kept agent
  std::optional<std::int64_t> fence;  // of the claim it knows of
};

/// What became of a change that was asked for, and the task as it is now.
struct TaskAnswer {
  enum class Did : std::uint8_t {
    done,
    as_before,  // it was so already
    no_such_task,
    exists_already,
    held_by_other,  // task.assignee
    lost,           // the same name holds it, by a later claim
    not_claimed,    // by anybody
    not_claimable,  // for its status
  };
  Did did = Did::done;
  Task task;
};

struct TaskWish {
  std::optional<std::string> title;
  std::optional<std::string> status;
  std::optional<std::string> assignee;  // "": nobody
  std::optional<TaskContext> context;
  std::vector<std::string> add_labels;
  std::vector<std::string> remove_labels;
  std::optional<std::vector<std::string>> labels{};  // these alone, before the two above
  std::optional<std::int64_t> if_fence{};            // only if this is the last claim
};

struct TaskFilter {
  std::optional<std::string> id;
  std::optional<std::string> status;
  std::optional<std::string> assignee;
  std::vector<std::string> labels;          // all of them
  std::vector<std::string> any_label;       // one of them
  std::vector<std::string> without_labels;  // none of them
  bool unassigned = false;
  bool not_closed = false;
  std::optional<WallTime> updated_before{};
  std::optional<WallTime> updated_after{};
  bool stale = false;
  std::optional<Duration> stale_for;  // none: by the context of each
  std::optional<std::int64_t> most;
};

inline constexpr std::size_t kLongestTaskWord = 256;  // bytes
/// Of a key that is made of what it is about and the id of a task.
inline constexpr std::size_t kLongestKey = 2 * kLongestTaskWord;

/// A task id is any printable text of up to 256 bytes, and never a path. The error says what is
/// wrong with it.
Result<void> check_task_id(std::string_view id);
/// A status, a label or a name: printable, without spaces at its ends, of up to `most` bytes.
Result<void> check_task_word(std::string_view what, std::string_view word,
                             std::size_t most = kLongestTaskWord);

class Tasks {
 public:
  Tasks(Database& database, const TaskLimits& limits) : database_(database), limits_(limits) {}

  Result<TaskAnswer> add(const Task& task, WallTime now);
  Result<std::optional<Task>> find(std::string_view id);
  /// Ordered by their last sign if they are to be stale, oldest first; else as they were made.
  /// Stale ones are those in progress, unless another status is asked for.
  Result<std::vector<Task>> list(const TaskFilter& filter, WallTime now);

  Result<TaskAnswer> claim(std::string_view id, const Worker& worker, WallTime now);
  Result<TaskAnswer> beat(std::string_view id, const Worker& worker,
                          const std::optional<std::string>& message, WallTime now);
  /// Back to `open`, held by nobody.
  Result<TaskAnswer> release(std::string_view id, const Worker& worker, WallTime now);
  /// By its holder, or by anybody if nobody holds it. `by_force`: whoever holds it.
  Result<TaskAnswer> close(std::string_view id, const Worker& worker,
                           const std::optional<std::string>& reason, bool by_force, WallTime now);
  Result<TaskAnswer> reopen(std::string_view id, WallTime now);
  Result<TaskAnswer> update(std::string_view id, const TaskWish& wish, WallTime now);
  /// Takes the claim of `held`, as it was seen, from its holder: nothing happens if it was beaten
  /// or changed hands since.
  Result<TaskAnswer> reclaim(const Task& held, WallTime now);

 private:
  using Change = std::function<Result<TaskAnswer::Did>(Task&)>;
  /// Reads the task and writes back what `change` made of it, all in one.
  Result<TaskAnswer> with(std::string_view id, const Change& change);
  Result<void> write(const Task& task);
  Result<void> write_labels(const std::string& id, const std::vector<std::string>& before,
                            const std::vector<std::string>& after);
  Result<std::vector<Task>> list_stale(TaskFilter filter, WallTime now);
  /// One of `labels` that few tasks have; nullptr if there is none.
  Result<const std::string*> rare_label(const TaskFilter& filter);
  Result<TaskAnswer> why_not_beaten(std::string_view id, const Worker& worker);

  Database& database_;
  TaskLimits limits_;
};

}  // namespace tend
