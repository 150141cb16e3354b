// What a child does between fork and exec, decided to the last byte before the fork: the child may
// not allocate, and says what went wrong over its line to us.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "os/linux/fd.h"
#include "os/process.h"

namespace tend {

enum class Step : std::uint8_t { session, input, output, error, extra, folder, interpreter, exec };

/// What went wrong in a child, as it comes over the line.
struct Trouble {
  Step step = Step::exec;
  int error = 0;
};

/// A program with its arguments, environment and all the places where it may be.
class Program {
 public:
  /// Requires a command that is not empty.
  Program(std::vector<std::string> command, std::vector<std::string> environment);
  Program(Program&&) = default;  // the texts stay where they are, and so the pointers hold
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// Returns only if it could not be run. Allocates nothing.
  Trouble exec();
  [[nodiscard]] const std::string& name() const { return command_.front(); }

 private:
  std::vector<std::string> command_;
  std::vector<std::string> environment_;
  std::vector<std::string> candidates_;
  std::vector<char*> arguments_;
  std::vector<char*> as_script_;  // the same through a shell: for a script without a first line
  std::vector<char*> variables_;
};

/// Where a child's standard input, output or error comes from: a descriptor of ours, else a file.
/// Neither: as it is.
struct Stream {
  int descriptor = -1;
  std::string path;
};

struct Plan {
  Program program;
  std::string working_folder;  // empty: ours
  Stream input, output, error;
  int input_flags = 0;  // of open()
  std::vector<std::pair<int, std::string>> extra;
  std::pair<std::string, std::uint64_t> sign;
};

/// Why this can never be started, found without trying.
std::optional<NotStarted> refused(const std::vector<std::string>& command,
                                  const std::vector<std::string>& environment);

/// A pair of ends that close at exec, ours and the child's; an errno if the system has none left.
struct Line {
  Fd ours;
  Fd theirs;
};
std::expected<Line, int> make_line();

/// In the child: does it all and does not return. If `gated` it waits for a byte on the line before
/// it runs the program, and leaves at the end of file.
[[noreturn]] void follow(Plan& plan, int line, bool gated);

/// Lets a gated child go on.
void open_gate(int line);
/// Waits until the child runs its program, or says why not. One that takes longer than some seconds
/// counts as running: it will end by itself if it fails.
std::optional<Trouble> hear(int line);

/// Trouble in words.
NotStarted not_started(const Plan& plan, const Trouble& trouble);

/// The same descriptor, or a copy of it above the standard ones if it is one of those.
Fd above_standard(Fd descriptor);

}  // namespace tend
