// One real process, held by its pidfd.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "os/linux/fd.h"
#include "os/linux/linux_loop.h"
#include "os/linux/linux_proc_files.h"
#include "os/linux/linux_reaper.h"
#include "os/process.h"

namespace tend {

class LinuxProcess final : public Process {
 public:
  /// Takes hold of it if it is still there. `place` is where we are.
  LinuxProcess(LinuxLoop& loop, Reaper& reaper, const Result<Place>& place, const ProcessId& id);
  /// A child that was just made.
  LinuxProcess(LinuxLoop& loop, Reaper& reaper, const ProcessId& id, Fd pidfd);

  [[nodiscard]] const ProcessId& id() const override { return held_.id(); }
  Condition look() override;
  [[nodiscard]] Subscribed on_exit(Callback callback) override;
  Result<void> signal(Kill kill) override;

  /// Kills it, waits a moment for its end and reaps it. For a child of ours.
  void finish_off();

 private:
  /// What is wrong where the place or the identity makes holding it impossible for ever.
  [[nodiscard]] std::optional<Condition> misplaced(const Result<Place>& place) const;
  void hold();
  std::optional<Condition> look_alive();
  Condition look_over();
  Condition settle(RunState state, ExitStatus exit = {});

  LinuxLoop& loop_;
  Reaper::Held held_;
  std::shared_ptr<const Fd> pidfd_;   // shared with those who wait for its end
  std::optional<Condition> settled_;  // the last word
  ExitStatus as_zombie_;
  std::string problem_;  // why it could not be held the last time
};

}  // namespace tend
