// Where the tasks are, for whoever keeps or patrols: in the home's own database, or with another
// program that is asked through its command line and never behind its back. An answer comes through
// the machine's loop, never from within the call; to drop the subscription is to want none.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/machine.h"
#include "store/config.h"
#include "store/tasks.h"

namespace tend {

class WorkItems {
 public:
  using Answered = std::function<void(const Result<TaskAnswer>&)>;
  using Listed = std::function<void(const Result<std::vector<Task>>&)>;

  virtual ~WorkItems() = default;
  /// As Tasks::list().
  [[nodiscard]] virtual Subscribed list(const TaskFilter& filter, Listed listed) = 0;
  [[nodiscard]] virtual Subscribed find(const std::string& id, Answered answered) = 0;
  [[nodiscard]] virtual Subscribed claim(const std::string& id, const Worker& worker,
                                         Answered answered) = 0;
  [[nodiscard]] virtual Subscribed beat(const std::string& id, const Worker& worker,
                                        const std::optional<std::string>& message,
                                        Answered answered) = 0;
  [[nodiscard]] virtual Subscribed release(const std::string& id, const Worker& worker,
                                           Answered answered) = 0;
  [[nodiscard]] virtual Subscribed close(const std::string& id, const Worker& worker,
                                         const std::optional<std::string>& reason,
                                         Answered answered) = 0;
  /// As Tasks::reclaim(): `held` as it was seen.
  [[nodiscard]] virtual Subscribed reclaim(const Task& held, Answered answered) = 0;
};

/// Those of the home, in `tend.db`. The database is open only while it is asked.
std::unique_ptr<WorkItems> home_work_items(Machine& machine, Folder& home);
/// Those of a real `bd`; `program` is its command.
std::unique_ptr<WorkItems> beads_work_items(Machine& machine, std::vector<std::string> program);
/// Whichever the configuration says.
std::unique_ptr<WorkItems> work_items(Machine& machine, Folder& home, const Config& config);

}  // namespace tend
