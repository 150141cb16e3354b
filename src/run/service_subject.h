// Whom a service beats for: one process, an agent of this home across its lives, or the one that a
// registry of another system names and that is proven to live. A beat vouches for somebody, so
// everything here answers one question: who is it now, and is it at work?
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/machine.h"
#include "run/lease_desk.h"
#include "store/foreign/foreign_store.h"

namespace tend {

/// Exactly one of them is given.
struct SubjectSettings {
  std::string agent;                     // the folder of an agent of this home
  ProcessId process;                     // pid 0: none
  std::optional<ForeignStore> registry;  // one whose field means the entries of a role
};

/// By the calendar.
WallTime process_began(Machine& machine, const ProcessId& process);

/// What a registry says of a process: the entry is of this very one if that was there before it.
bool is_entry_of(const StoreReading& entry, const ProcessId& process, WallTime process_began);

class ServiceSubject {
 public:
  enum class Is : std::uint8_t {
    at_work,
    none,   // nobody is there yet, or between two lives: nothing to vouch for
    unfit,  // it is there, and nobody can say that it works
    over,   // it is gone for good
  };
  struct Look {
    Is is = Is::none;
    std::string words;                 // why, for people
    std::optional<ProcessId> process;  // whom it is about, if that is known
    std::string id;                    // how its registry calls it
  };

  ServiceSubject(LeaseDesk& desk, SubjectSettings settings);

  Look look();
  /// The system said that this process is gone: that holds also while nothing can be looked at.
  void hear_end(const ProcessId& process) { ended_ = process; }
  /// In words, as it was asked for.
  [[nodiscard]] std::string asked() const;

 private:
  Look look_at_agent();
  Look look_in_registry();
  /// A process that is known: whether it runs, and what its keeper says if it has one.
  Look look_at(const ProcessId& process, const std::string& id);
  /// The folder of the agent of this home whose process it is; "" if there is none.
  [[nodiscard]] Result<std::string> agent_of(const ProcessId& process);

  LeaseDesk& desk_;
  Machine& machine_;
  SubjectSettings settings_;
  std::optional<ProcessId> bound_;  // the one of the registry that was found
  std::string bound_id_;
  std::optional<ProcessId> ended_;
};

}  // namespace tend
