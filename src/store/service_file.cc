// A status is for people and their tools: what cannot be understood of it is left out.
#include "store/service_file.h"

#include <fmt/format.h>

#include <limits>

#include "base/name.h"
#include "store/json.h"

namespace tend {
namespace {

constexpr std::string_view kServiceLock = ".lock";
constexpr std::size_t kRecordSize = 512;
constexpr std::size_t kLongestStart = 64;
constexpr std::uint64_t kMostU64 = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kMostPid = std::numeric_limits<std::int32_t>::max();
constexpr std::uint64_t kMostTime = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kLongestStatus = std::size_t{256} * 1024;
constexpr std::size_t kLongestWords = 1024;
constexpr std::size_t kLongestPath = 4096;
constexpr std::size_t kMostParts = 64;
constexpr int kVersion = 1;

void put_process(WriteJson& json, const ProcessId& process) {
  json["boot_id"] = process.boot_id;
  json["pid_ns"] = process.pid_ns;
  json["pid"] = process.pid;
  json["start_ticks"] = process.start_ticks;
}

ProcessId process_in(const ReadJson& json) {
  return {static_cast<std::int64_t>(whole_number(json, "pid", kMostPid)),
          whole_number(json, "start_ticks", kMostU64), whole_number(json, "pid_ns", kMostU64),
          exact_text(json, "boot_id", kRecordSize)};
}

ServiceRecord parse_record(std::string_view text) {
  const auto object = parse_object(text, kRecordSize);
  if (!object) return {};
  return {.process = process_in(*object),
          .start = exact_text(*object, "start", kLongestStart),
          .ready = flag_field(*object, "ready")};
}

WallTime time_in(const ReadJson& json, std::string_view key) {
  const auto ns = static_cast<std::int64_t>(whole_number(json, key, kMostTime));
  return WallTime{std::chrono::nanoseconds{ns}};
}

WriteJson part_json(const ServicePart& part) {
  return {{"name", part.name},
          {"success", part.success},
          {"failure", part.failure},
          {"last_error", cut_text(part.last_error, kLongestWords)}};
}

std::vector<ServicePart> parts_in(const ReadJson& json) {
  std::vector<ServicePart> parts;
  const ReadJson* const field = find_field(json, "parts");
  if (field == nullptr || !field->is_array()) return parts;
  for (const ReadJson& each : *field) {
    if (!each.is_object() || parts.size() == kMostParts) continue;
    parts.push_back({.name = shown_text(each, "name", kLongestWords),
                     .success = whole_number(each, "success", kMostU64),
                     .failure = whole_number(each, "failure", kMostU64),
                     .last_error = shown_text(each, "last_error", kLongestWords)});
  }
  return parts;
}

}  // namespace

std::string service_folder_name(std::string_view pidfile) {
  return fmt::format("{:016x}", Name(pidfile).hash());
}

// --- The lock -----------------------------------------------------------------------------------

Result<std::unique_ptr<ServiceLock>> ServiceLock::take(Folder& folder) {
  auto file = LockedRecord::take(folder, kServiceLock, kRecordSize);
  if (!file) return std::unexpected(file.error());
  if (*file == nullptr) return nullptr;
  std::unique_ptr<ServiceLock> lock(new ServiceLock(*std::move(file)));
  lock->record_ = parse_record(lock->file_->found());
  return lock;
}

Result<void> ServiceLock::write(const ServiceRecord& record) {
  WriteJson json;
  put_process(json, record.process);
  json["start"] = cut_text(record.start, kLongestStart);
  json["ready"] = record.ready;
  auto written = file_->write(to_line(json));
  if (written) record_ = record;
  return written;
}

Result<std::optional<ServiceLockState>> look_at_service(Folder& folder) {
  const auto seen = look_at_record(folder, kServiceLock, kRecordSize);
  if (!seen) return std::unexpected(seen.error());
  if (!*seen) return std::nullopt;
  return ServiceLockState{(*seen)->held, parse_record((*seen)->text)};
}

// --- The status ---------------------------------------------------------------------------------

std::string format_service_status(const ServiceStatus& status) {
  const auto ns = [](WallTime at) { return at.time_since_epoch().count(); };
  const auto words = [](const std::string& text) { return cut_text(text, kLongestWords); };
  WriteJson json{{"version", kVersion},
                 {"pidfile", cut_text(status.pidfile, kLongestPath)},
                 {"state", kServiceStateWords.at(static_cast<std::size_t>(status.state))}};
  put_process(json, status.process);
  json["began_ns"] = ns(status.began);
  json["interval_ms"] = status.interval.count();
  WriteJson subject{
      {"asked", words(status.subject)}, {"id", status.subject_id}, {"words", words(status.words)}};
  put_process(subject, status.subject_process);
  json["subject"] = std::move(subject);
  json["success"] = status.success;
  json["failure"] = status.failure;
  json["skipped"] = status.skipped;
  json["failed_in_row"] = status.failed_in_row;
  json["last_success_ns"] = ns(status.last_success);
  json["last_failure_ns"] = ns(status.last_failure);
  json["last_error"] = words(status.last_error);
  json["parts"] = WriteJson::array();
  for (const ServicePart& part : status.parts) {
    if (json["parts"].size() < kMostParts) json["parts"].push_back(part_json(part));
  }
  json["log"] = cut_text(status.log, kLongestPath);
  json["log_problem"] = words(status.log_problem);
  json["skipped_because"] = words(status.skipped_because);
  json["ended_because"] = words(status.ended_because);
  return to_line(json) + "\n";
}

Result<ServiceStatus> parse_service_status(std::string_view text) {
  const auto json = parse_object(text, kLongestStatus);
  if (!json) return fail("status.json of a service is no JSON object");
  ServiceStatus status;
  status.pidfile = exact_text(*json, "pidfile", kLongestPath);
  status.state =
      word_field<ServiceState>(*json, "state", kServiceStateWords).value_or(ServiceState::waiting);
  status.process = process_in(*json);
  status.began = time_in(*json, "began_ns");
  const auto longest = static_cast<std::uint64_t>(kLongestTime.count());
  status.interval =
      Duration{static_cast<Duration::rep>(whole_number(*json, "interval_ms", longest))};
  const ReadJson* const subject = find_field(*json, "subject");
  if (subject != nullptr && subject->is_object()) {
    status.subject = shown_text(*subject, "asked", kLongestWords);
    status.subject_id = shown_text(*subject, "id", kLongestWords);
    status.words = shown_text(*subject, "words", kLongestWords);
    status.subject_process = process_in(*subject);
  }
  status.success = whole_number(*json, "success", kMostU64);
  status.failure = whole_number(*json, "failure", kMostU64);
  status.skipped = whole_number(*json, "skipped", kMostU64);
  status.failed_in_row = whole_number(*json, "failed_in_row", kMostU64);
  status.last_success = time_in(*json, "last_success_ns");
  status.last_failure = time_in(*json, "last_failure_ns");
  status.last_error = shown_text(*json, "last_error", kLongestWords);
  status.parts = parts_in(*json);
  status.log = exact_text(*json, "log", kLongestPath);
  status.log_problem = shown_text(*json, "log_problem", kLongestWords);
  status.skipped_because = shown_text(*json, "skipped_because", kLongestWords);
  status.ended_because = shown_text(*json, "ended_because", kLongestWords);
  return status;
}

Result<std::optional<ServiceStatus>> read_service_status(Folder& folder) {
  const auto text = folder.read(std::string(kServiceStatusFile), kLongestStatus);
  if (!text) return std::unexpected(text.error());
  if (!*text) return std::nullopt;
  return parse_service_status(**text);
}

Result<void> write_service_status(Folder& folder, const ServiceStatus& status) {
  return folder.replace(std::string(kServiceStatusFile), format_service_status(status),
                        Folder::Sync::no);
}

}  // namespace tend
