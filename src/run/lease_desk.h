// Where leases are asked for: gathers what is known of a lease and its holder, asks the rules
// (judge/lease.h), and writes what they allow. Before it grants what somebody did not give back, it
// ends what still acts under the old grant, so that no two ever act at once. Nobody is granted or
// renewed anything for a process that is not proven to be alive and at work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "judge/lease.h"
#include "os/machine.h"
#include "store/leases.h"

namespace tend {

/// Marks what acts under grants: one or several of lease_mark(), the innermost last, with ';'
/// between them.
inline constexpr std::string_view kLeaseMarkVariable = "TEND_LEASE_MARK";
std::string lease_mark(const Folder& home, std::string_view name, std::uint64_t fence);
/// Whether what carries `marks` acts under a grant of that lease up to `fence`.
bool acts_under(std::string_view marks, const Folder& home, std::string_view name,
                std::uint64_t fence);

struct LeaseRequest {
  std::string name;
  LeaseHolder holder;
  Duration ttl = kUsualLease;
  std::string mirror;  // absolute path of a file that other tools read; "": none
};

struct LeaseGrant {
  /// `record.renewed` is from when on it counts for its holder, on this machine's awake clock.
  LeaseRecord record;
  LeaseFree because = LeaseFree::given_back;  // of an acquire
  bool flapping = false;                      // it changes hands too often, this time included
  std::string problem;  // what could not be done beside it, as the mirror; "" if all was
};

struct LeaseNo {
  LeaseRefusal refusal = LeaseRefusal::failed;
  std::string why;      // one line for people
  Duration again_in{};  // when it may be free if nothing else happens; 0: not known
  std::optional<LeaseRecord> seen;
};
using LeaseAnswer = std::expected<LeaseGrant, LeaseNo>;

/// A lease as it is right now.
struct LeaseLook {
  LeaseRecord record;  // version 0: there never was one
  LeaseFacts facts;
  LeaseTaking taking;      // whether it could be taken by somebody else
  LeaseRenewing in_force;  // whether what is written under its fence counts
};

class LeaseDesk {
 public:
  /// All of them outlive it.
  LeaseDesk(Machine& machine, Folder& home, Leases& leases)
      : machine_(machine), home_(home), leases_(leases) {}

  /// Who a process is as a holder; for people it is `id`, or "pid N@start" if that is empty.
  [[nodiscard]] static LeaseHolder holder_of(const ProcessId& process, std::string id = {},
                                             std::string agent = {});

  Result<LeaseLook> look(const std::string& name);
  /// All leases of the home, by name; one that cannot be read is left out, with its problem in
  /// `problems`.
  Result<std::vector<LeaseLook>> look_at_all(std::vector<std::string>& problems);
  /// Those that this very process holds.
  Result<std::vector<LeaseRecord>> held_by(const ProcessId& process);
  /// A process as the holder of a lease: whether it lives, and what its agent's keeper says.
  [[nodiscard]] HolderIs holder_is(const ProcessId& process) const;
  [[nodiscard]] LeaseAgent agent_is(const std::string& agent) const;

  using Answered = std::function<void(const LeaseAnswer&)>;
  /// Answers once, through the loop; to drop the subscription is to want none, and may leave it
  /// granted. Who has it already gets it again, under the same fence.
  [[nodiscard]] Subscribed acquire(const LeaseRequest& request, Answered answered);
  /// By or for its holder. `fence` 0: whichever it is.
  LeaseAnswer renew(const std::string& name, const ProcessId& holder, std::uint64_t fence = 0);
  /// The same, and from then on `run` acts under it.
  LeaseAnswer renew_with(const std::string& name, const ProcessId& holder, std::uint64_t fence,
                         const LeaseRun& run);
  /// REQUIRES that nothing acts under it any more.
  LeaseAnswer release(const std::string& name, const ProcessId& holder, std::uint64_t fence = 0,
                      const std::string& why = "given back");
  /// Whether what is written under that fence counts right now.
  LeaseAnswer check(const std::string& name, std::uint64_t fence);

  [[nodiscard]] Machine& machine() { return machine_; }
  [[nodiscard]] Folder& home() { return home_; }

 private:
  class Acquiring;
  using Change = std::function<void(LeaseRecord&)>;

  [[nodiscard]] LeaseFacts facts_of(const LeaseRecord& record);
  [[nodiscard]] Duration age_of(const LeaseRecord& record);
  /// Unclean ones within the time that counts. REQUIRES that it was written on this boot.
  [[nodiscard]] std::size_t takeovers_of(const LeaseRecord& record) const;
  LeaseAnswer change_own(const std::string& name, const ProcessId& holder, std::uint64_t fence,
                         bool renews, const Change& change);
  LeaseAnswer mirrored(LeaseRecord record);

  Machine& machine_;
  Folder& home_;
  Leases& leases_;
  /// Of records whose clock is not ours: which version was seen, and since when, awake.
  std::map<std::string, std::pair<std::uint64_t, Duration>> first_seen_;
};

}  // namespace tend
