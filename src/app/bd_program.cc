// The original takes some options before the command as well.
#include "app/bd_program.h"

#include <algorithm>
#include <array>
#include <vector>

#include "app/dispatch.h"

namespace tend {
namespace {

/// The words with the options that stand before the command right behind it, where the table has
/// them.
std::vector<std::string_view> command_first(std::span<const std::string_view> words) {
  constexpr std::array<std::string_view, 3> kFlags{"--json", "--quiet", "-q"};
  constexpr std::string_view kActor = "--actor";
  std::size_t before = 0;
  while (before < words.size()) {
    const std::string_view word = words[before];
    if (std::ranges::find(kFlags, word) != kFlags.end() || word.starts_with("--actor=")) {
      before += 1;
    } else if (word == kActor) {
      before += 2;
    } else {
      break;
    }
  }
  if (before >= words.size()) return {words.begin(), words.end()};
  std::vector<std::string_view> ordered{words[before]};
  const auto options = words.first(before);
  const auto rest = words.subspan(before + 1);
  ordered.insert(ordered.end(), options.begin(), options.end());
  ordered.insert(ordered.end(), rest.begin(), rest.end());
  return ordered;
}

/// A wish that cannot be met, said to those who see it and to no script.
void say_what_is_not_heeded(World& world) {
  const auto elsewhere = world.environment.variable("BEADS_DIR");
  if (!elsewhere || elsewhere->empty() || !world.err.is_terminal()) return;
  world.err.write("bd: BEADS_DIR is not heeded: this bd has the tasks of `tend`\n");
}

}  // namespace

bool is_called_bd(std::string_view path) { return path.substr(path.rfind('/') + 1) == kBd; }

int bd_program(std::span<const std::string_view> words, World& world) {
  say_what_is_not_heeded(world);
  const int code = dispatch(bd_commands(), command_first(words), world);
  return code == kExitYes ? kExitYes : kExitNo;
}

}  // namespace tend
