// What the beating service of a pid file keeps in the home, in `services/HASH`, where HASH is of
// the absolute path of the pid file. `.lock` is the lock of the one service, and in the same file a
// record of who it is; `status.json` is what it did so far. The pid file is a mirror for other
// tools.
//
//   .lock        {"boot_id":B,"pid_ns":N,"pid":P,"start_ticks":T,"start":S,"ready":true}
//   status.json  {"version":1,"pidfile":F,"state":"beating","boot_id":B,..,"began_ns":W,
//                 "interval_ms":60000,"subject":{..},"success":12,"failure":0,"skipped":1,
//                 "last_success_ns":W,"last_error":"","parts":[{"name":N,"success":12,..}]}
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "os/folder.h"
#include "os/process.h"
#include "store/locked_record.h"

namespace tend {

inline constexpr std::string_view kServicesFolder = "services";
inline constexpr std::string_view kServiceStatusFile = "status.json";
/// In the environment of every service: the absolute path of its pid file.
inline constexpr std::string_view kServiceMark = "TEND_SERVICE";

/// The name of its folder in `services`.
std::string service_folder_name(std::string_view pidfile);

struct ServiceRecord {
  ProcessId process;  // who took the lock last; pid 0: nobody, as far as can be understood
  std::string start;  // which start it was that began it; "" if it was none
  bool ready = false;
};

/// The lock, held as long as this object lives.
class ServiceLock {
 public:
  /// nullptr if another service holds it.
  static Result<std::unique_ptr<ServiceLock>> take(Folder& folder);
  [[nodiscard]] const ServiceRecord& record() const { return record_; }
  Result<void> write(const ServiceRecord& record);
  /// Whether the name still stands for the file that is locked.
  Result<bool> is_in_place(Folder& folder) { return file_->is_in_place(folder); }

 private:
  explicit ServiceLock(std::unique_ptr<LockedRecord> file) : file_(std::move(file)) {}

  std::unique_ptr<LockedRecord> file_;
  ServiceRecord record_;
};

struct ServiceLockState {
  bool held = false;
  ServiceRecord record;
};
/// Looks without taking. nullopt if there never was one.
Result<std::optional<ServiceLockState>> look_at_service(Folder& folder);

enum class ServiceState : std::uint8_t {
  waiting,  // for its subject to be there
  beating,
  failing,  // the last beat failed
  ended,
};
inline constexpr std::array<std::string_view, 4> kServiceStateWords{"waiting", "beating", "failing",
                                                                    "ended"};

/// One thing that each beat writes.
struct ServicePart {
  std::string name;
  std::uint64_t success = 0;
  std::uint64_t failure = 0;
  std::string last_error;

  bool operator==(const ServicePart&) const = default;
};

struct ServiceStatus {
  std::string pidfile;
  ServiceState state = ServiceState::waiting;
  ProcessId process;
  WallTime began{};
  Duration interval{};

  std::string subject;        // what was asked for, in words
  ProcessId subject_process;  // pid 0: none is known
  std::string subject_id;     // by which others know it; ""
  std::string words;          // the last that is known of it

  std::uint64_t success = 0;
  std::uint64_t failure = 0;
  std::uint64_t skipped = 0;
  std::uint64_t failed_in_row = 0;
  WallTime last_success{};  // 1970: never
  WallTime last_failure{};
  std::string last_error;
  std::vector<ServicePart> parts;
  std::string log;
  std::string log_problem;
  std::string skipped_because;  // the last time
  std::string ended_because;

  bool operator==(const ServiceStatus&) const = default;
};

std::string format_service_status(const ServiceStatus& status);
/// Any JSON object is accepted; wrong types and hostile values count as missing.
Result<ServiceStatus> parse_service_status(std::string_view text);

/// nullopt if there is none.
Result<std::optional<ServiceStatus>> read_service_status(Folder& folder);
Result<void> write_service_status(Folder& folder, const ServiceStatus& status);

}  // namespace tend
