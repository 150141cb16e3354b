// A file is read only to see whether it says so already.
#include "store/gate_mirror.h"

#include <chrono>
#include <cstdint>
#include <string>

#include "store/json.h"

namespace tend {
namespace {

constexpr std::size_t kLargestMirror = 64'000'000;

std::int64_t seconds_of(WallTime time) {
  return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
}

std::string degraded_text(const Outage& outage) {
  WriteJson json;
  json["since"] = seconds_of(outage.since);
  json["agent"] = outage.agent;
  json["why"] = outage.why;
  return to_line(json) + "\n";
}

std::string pending_text(const std::vector<PendingChannel>& pending) {
  WriteJson list = WriteJson::array();
  for (const PendingChannel& each : pending) {
    WriteJson json;
    json["channel"] = each.channel;
    json["endpoint"] = each.endpoint;
    json["since"] = seconds_of(each.since);
    json["agent"] = each.agent;
    list.push_back(std::move(json));
  }
  return to_line(list) + "\n";
}

Result<void> keep(Folder& folder, const std::string& name, const std::string& text) {
  const auto there = folder.read(name, kLargestMirror);
  if (there && *there == text) return {};
  return folder.replace(name, text, Folder::Sync::no);
}

}  // namespace

Result<void> mirror_gate(Folder& folder, const std::vector<Outage>& open,
                         const std::vector<PendingChannel>& pending) {
  auto degraded = open.empty() ? folder.remove(kDegradedFile)
                               : keep(folder, kDegradedFile, degraded_text(open.front()));
  auto channels = pending.empty() ? folder.remove(kPendingFile)
                                  : keep(folder, kPendingFile, pending_text(pending));
  return degraded ? channels : degraded;
}

}  // namespace tend
