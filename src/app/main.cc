// The program: the real world, the command table, the words that were typed.
#include <string_view>
#include <vector>

#include "app/command.h"
#include "app/dispatch.h"
#include "os/linux/linux_world.h"

int main(int count, char** arguments) {
  tend::LinuxWorld machine;
  tend::World world = machine.world();
  const std::vector<std::string_view> words(arguments + (count > 0 ? 1 : 0), arguments + count);
  return tend::dispatch(tend::commands(), words, world);
}
