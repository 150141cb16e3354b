// What an agent's journal says of it: the judge's account of now, and what was decided lately. For
// readers: nothing is written, no lock is taken, and a keeper at work is not disturbed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "judge/account.h"
#include "os/machine.h"

namespace tend {

/// One line of the journal that tells what was thought or done.
struct Remembered {
  enum class Kind : std::uint8_t { verdict, action, note };
  Kind kind = Kind::note;
  WallTime at{};
  std::string what;          // the verdict, the action, or the note
  std::string phase;         // of a verdict
  std::string why;           // the decisive reason
  std::string result;        // of an action: what came of it; "" as long as nothing is known
  std::uint64_t number = 0;  // of an action
};

inline constexpr std::size_t kMostRemembered = 12;

struct Standing {
  Account account;
  std::string policy;              // its name
  Duration since_last_line{};      // how long ago the keeper wrote anything
  bool of_this_boot = true;        // if not, the account is that of the last line
  std::vector<Remembered> lately;  // the newest, oldest of them first
};

/// How much is told.
enum class Telling : std::uint8_t {
  all,
  now,  // nothing of lately, and of what comes next only the first moment: cheaper
};

/// nullopt if there is no journal yet.
Result<std::optional<Standing>> account_of(Machine& machine, Folder& folder,
                                           Telling telling = Telling::all);

}  // namespace tend
