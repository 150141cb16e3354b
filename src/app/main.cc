// The program: the words that were typed, the short way for what hooks say all the time, else the
// real world and the command table of the name that it was called by.
#include <optional>
#include <string_view>
#include <vector>

#include "app/bd_program.h"
#include "app/command.h"
#include "app/dispatch.h"
#include "app/gt_program.h"
#include "app/hook_command.h"
#include "app/quick.h"
#include "os/linux/linux_world.h"

namespace {

constexpr int kStandardOutput = 1;
constexpr int kStandardError = 2;

bool write(int descriptor, std::string_view text) {
  return tend::LinuxOutput(descriptor, tend::LinuxOutput::Buffering::none).write(text);
}

int print(const tend::Spoken& spoken) {
  const bool heard = spoken.exit_code == tend::kExitYes;
  if (write(heard ? kStandardOutput : kStandardError, spoken.line) || !heard) {
    return spoken.exit_code;
  }
  write(kStandardError, "tend: standard output could not be written to its end\n");
  return tend::kExitUsage;
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string_view> words(arguments + (count > 0 ? 1 : 0), arguments + count);
  const bool is_bd = count > 0 && tend::is_called_bd(*arguments);
  const bool is_gt = count > 0 && tend::is_called_gt(*arguments);
  if (const auto spoken = is_bd || is_gt ? std::nullopt : tend::speak_quickly(words)) {
    return print(*spoken);
  }

  tend::LinuxWorld machine;
  tend::World world = machine.world();
  if (is_bd) return tend::bd_program(words, world);
  if (is_gt) return tend::gt_program(words, world);
  if (const auto heard = tend::hook_quickly(words, world)) return *heard;
  return tend::dispatch(tend::commands(), words, world);
}
