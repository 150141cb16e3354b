// The same questions that the C library asks before it speaks, asked through the World.
#include "app/inside.h"

#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "app/command.h"
#include "base/quote.h"
#include "store/heartbeat.h"
#include "store/life_record.h"

namespace tend {
namespace {

std::unexpected<NotInside> refused(std::string text, int exit_code = kExitUsage) {
  return std::unexpected(NotInside{std::move(text), exit_code});
}

/// 0 if the text is no number of a life.
std::uint32_t life_in(const std::string& text) {
  std::uint32_t life = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), life);
  return error == std::errc{} && end == text.data() + text.size() ? life : 0;
}

}  // namespace

std::expected<Inside, NotInside> inside_of(World& world) {
  const std::string path = world.environment.variable("TEND_INFRA").value_or("");
  if (path.empty()) {
    return refused(
        "not inside a kept agent: TEND_INFRA is not set (start the program with `tend run -- "
        "CMD`)");
  }
  const std::uint32_t life = life_in(world.environment.variable("TEND_LIFE").value_or(""));
  if (life == 0) return refused("TEND_LIFE is not set to the number of a life");
  Machine& machine = world.machines.machine();
  auto folder = machine.folders.open(path);
  if (!folder) return refused(folder.error().text);
  const auto lock = look_at_lock(**folder);
  if (!lock) return refused(lock.error().text);
  if (!*lock) return refused(on_one_line(path) + " is not the folder of a kept agent");
  const auto heartbeat = read_heartbeat(**folder);
  if (!heartbeat) return refused(heartbeat.error().text);

  std::string agent = world.environment.variable("TEND_AGENT").value_or("");
  if (*heartbeat && !(*heartbeat)->agent.empty()) agent = (*heartbeat)->agent;
  const std::uint32_t now = (*lock)->record.life;
  if (now != life) {
    return refused(
        fmt::format("life {} of {} is over; life {} runs now", life, on_one_line(agent), now),
        kExitNo);
  }
  if (*heartbeat && is_terminal((*heartbeat)->status)) {
    return refused(fmt::format("{} has ended: its status is {}", on_one_line(agent),
                               kStatusWords[static_cast<std::size_t>((*heartbeat)->status)]),
                   kExitNo);
  }
  return Inside{machine, *std::move(folder), std::move(agent), life};
}

bool stream_is_heard(const Environment& environment) {
  const std::string adapter = environment.variable("TEND_ADAPTER").value_or("");
  return !adapter.empty() && adapter != "lines" && adapter != "none";
}

}  // namespace tend
