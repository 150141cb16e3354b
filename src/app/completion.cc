// Which script goes to which shell.
#include "app/completion.h"

namespace tend {

int completion_command(const Arguments& arguments, World& world) {
  const std::string& shell = arguments.positionals.at(0);
  const auto script = shell == "bash"  ? bash_completion
                      : shell == "zsh" ? zsh_completion
                                       : fish_completion;
  world.out.write(script(commands()));
  return kExitYes;
}

}  // namespace tend
