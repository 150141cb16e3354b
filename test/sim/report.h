// How often ours is wrong, and others in the same worlds: measured over many seeds, and written for
// people. The text depends on the seeds alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "players.h"
#include "tally.h"

namespace tend::sim {

struct ReportSettings {
  std::uint64_t first = 1;
  std::uint64_t count = 0;  // of worlds, for each subject
  Duration hours = std::chrono::hours{8};
  std::size_t jobs = 1;
};

/// One watchdog, and what came of all its worlds.
struct Subject {
  std::string name;  // of a policy, or of a rival
  std::string title;
  Tally tally;
};

struct Reliability {
  ReportSettings settings;
  std::vector<Subject> ours;    // one a policy, `agent` first
  std::vector<Subject> others;  // in the worlds of `agent`
};

/// Hears of every world as it ends: of whom, that world, and all of this subject so far.
using ReportListener =
    std::function<void(const std::string& subject, const Played& one, const Tally& so_far)>;

Reliability measure(const ReportSettings& settings, const ReportListener& listener);

std::string format_report(const Reliability& measured);
/// The few lines of it that a README has room for.
std::string format_report_table(const Reliability& measured);

inline constexpr std::string_view kTableBegins = "<!-- reliability -->";
inline constexpr std::string_view kTableEnds = "<!-- /reliability -->";
/// The text with another table between its marks; nothing if it has none.
std::optional<std::string> with_table(std::string_view text, std::string_view table);

/// Whether publish() will be able to write where it is to: asked before an hour of worlds is
/// played.
Result<void> can_publish(const std::string& path);
/// Writes the report, and the table into the README of the current folder if that wants one.
Result<void> publish(const Reliability& measured, const std::string& path);

}  // namespace tend::sim
