// What /proc says of processes: who they are, what state they are in, what their environment holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace tend {

/// The fields of /proc/PID/stat that matter here.
struct ProcStat {
  std::int64_t pid = 0;
  char state = '?';
  std::int64_t parent = 0;
  std::int64_t job = 0;  // its process group
  std::int64_t session = 0;
  std::uint64_t start_ticks = 0;  // since boot
  std::uint64_t cpu_ticks = 0;    // its own and its reaped children's
  std::int64_t threads = 0;
  int wait_status = 0;      // of a zombie, if it was ours to see
  bool has_memory = false;  // no kernel thread, and not past its end
  bool has_empty_environment = false;

  /// Over and not reaped. A first thread that left others behind reads Z too, and works on.
  [[nodiscard]] bool is_zombie() const { return (state == 'Z' || state == 'X') && threads <= 1; }
};

/// nullopt if the line is not one of /proc/PID/stat. The command name, second field, is in brackets
/// and may hold anything, brackets too.
std::optional<ProcStat> parse_stat(std::string_view line);

/// nullopt if /proc shows no such process, which may also mean that it is hidden from us.
Result<std::optional<ProcStat>> read_stat(std::int64_t pid);

/// Whether what /proc says of this process's exit is true and not a zero for strangers.
bool may_see_exit(std::int64_t pid);

/// What makes a pid of ours different from the same number elsewhere.
struct Place {
  std::uint64_t pid_ns = 0;
  std::string boot_id;
};

/// Where this process is. Fails if /proc is missing or shows another pid namespace than ours.
Result<Place> read_place();

/// One process of a pass over /proc. The folder stays bound to this process.
struct Listed {
  ProcStat stat;
  int folder = -1;
};

/// Calls `visit` for every process that can be seen and is still there when it is its turn.
Result<void> list_processes(const std::function<void(const Listed&)>& visit);

/// The value of a variable in a listed process's environment as it was at its exec. nullopt if it
/// is not set, beyond the first MiB, or not ours to read.
std::optional<std::string> read_variable(const Listed& process, std::string_view variable);

/// The whole environment of a process as it was at its exec, NAME=VALUE. nullopt if it is gone,
/// over or not ours to read, or has more than can be read.
std::optional<std::vector<std::string>> read_environment(std::int64_t pid);

/// At most `most` bytes of a file. The errno where it failed.
std::expected<std::string, int> read_file(const char* path, std::size_t most);

/// What /proc/PID/io says of the disk, read and written together; 0 if it says nothing to us.
std::uint64_t read_disk_bytes(std::int64_t pid);

Duration as_duration(std::uint64_t ticks);
/// Seconds since 1970.
double calendar_time(std::uint64_t start_ticks);

}  // namespace tend
