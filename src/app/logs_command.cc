// The beginning of the last lines is looked for from the end backwards, so that a large file costs
// no more than what is shown of it.
#include "app/logs_command.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "app/follow.h"
#include "app/home_option.h"
#include "app/number_option.h"
#include "sense/tail.h"
#include "store/agent_file.h"
#include "store/home.h"
#include "store/life_record.h"

namespace tend {
namespace {

constexpr std::size_t kUsualLines = 100;
constexpr std::size_t kPiece = std::size_t{64} * 1024;

/// Where the last `lines` lines begin; a last line without a newline counts as one. Never before
/// the first byte that is still there.
Result<std::uint64_t> start_of_last(Folder& folder, const std::string& name, std::size_t lines) {
  const auto there = folder.facts(name);
  if (!there) return std::unexpected(there.error());
  if (!*there) return 0;
  const auto file = folder.open(name, Folder::Open::read);
  if (!file) return std::unexpected(file.error());
  const std::uint64_t size = (*there)->size;
  if (lines == 0) return size;
  const auto first = (*file)->data_from(0);
  const std::uint64_t begin = std::min(first.value_or(0), size);
  std::array<char, kPiece> piece{};
  std::size_t ends = 0;
  for (std::uint64_t end = size; end > begin;) {
    const std::uint64_t from = end - std::min<std::uint64_t>(kPiece, end - begin);
    const auto got = (*file)->read_at(from, std::span(piece).first(end - from));
    if (!got) return std::unexpected(got.error());
    for (std::size_t i = std::min<std::size_t>(*got, end - from); i-- > 0;) {
      const bool ends_line = piece[i] == '\n' && from + i + 1 < size;
      if (ends_line && ++ends == lines) return from + i + 1;
    }
    end = from;
  }
  return begin;
}

class Shower {
 public:
  Shower(World& world, Folder& folder, const std::string& name, std::uint64_t from)
      : world_(world), tail_(folder, name, from) {}

  /// False if nobody reads it any more or it cannot be read.
  bool show() {
    while (true) {
      const auto got = tail_.read();
      if (!got) {
        problem_ = got.error().text;
        return false;
      }
      if (got->cut) world_.err.write("tend logs: the output was cut; it goes on from its begin\n");
      if (got->skipped) world_.err.write("tend logs: some of the output was dropped as too old\n");
      if (got->bytes.empty()) return world_.out.flush();
      if (!world_.out.write(got->bytes)) return false;
    }
  }
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  World& world_;
  Tail tail_;
  std::string problem_;
};

/// Nothing more will be printed: it is over, or nobody is left who could print or begin again.
bool is_silent_for_good(Machine& machine, Folder& folder) {
  const auto heartbeat = read_heartbeat(folder);
  if (!heartbeat || !*heartbeat) return false;
  if (is_terminal((*heartbeat)->status)) return true;
  const auto lock = look_at_lock(folder);
  if (!lock || !*lock || (*lock)->held || (*heartbeat)->process.pid == 0) return false;
  const RunState state = machine.processes.open((*heartbeat)->process)->look().state;
  return state == RunState::gone || state == RunState::reused || state == RunState::zombie;
}

}  // namespace

int logs_command(const Arguments& arguments, World& world) {
  const auto lines = count_option(arguments, "lines", kUsualLines);
  if (!lines) return complain(world, "logs", lines.error().text, kExitUsage);
  auto home = open_home(world);
  if (!home) return complain(world, "logs", home.error().text, kExitUsage);
  Machine& machine = home->machine;
  const auto known = find_agent(machine.folders, *home->folder, arguments.positionals.front());
  if (!known) return complain(world, "logs", known.error().text, kExitNo);

  Folder& folder = *known->folder;
  const std::string name = arguments.has("stderr") ? kErrorFile : kStreamFile;
  const auto from = start_of_last(folder, name, *lines);
  if (!from) return complain(world, "logs", from.error().text, kExitUsage);
  Shower shower(world, folder, name, *from);
  if (!arguments.has("follow")) {
    (void)shower.show();
    if (const auto facts = folder.facts(name); facts && (!*facts || (*facts)->size == 0)) {
      world.err.write(fmt::format("tend logs: {} has printed nothing{}\n", known->heartbeat.agent,
                                  arguments.has("stderr") ? " to its standard error" : " yet"));
    }
  } else {
    follow(machine, folder.path(), OnInterrupt::end, std::nullopt, [&] {
      // The end first, then the output: what was printed before the end is shown.
      const bool over = is_silent_for_good(machine, folder);
      return shower.show() && !over;
    });
  }
  if (!shower.problem().empty()) return complain(world, "logs", shower.problem(), kExitUsage);
  return kExitYes;
}

}  // namespace tend
