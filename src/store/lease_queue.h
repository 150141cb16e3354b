// Who waits for a lease, in the order of coming: numbered tickets in `leases/NAME/queue/`, each
// locked by its owner for as long as it waits. A ticket whose lock is free is of one that is gone.
// It is a courtesy and no right: whose turn it is decides who tries first, never who gets it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "os/folder.h"
#include "store/locked_record.h"

namespace tend {

/// A place in the queue, held as long as it exists.
class LeaseTicket {
 public:
  static Result<std::unique_ptr<LeaseTicket>> take(Folder& home, const std::string& lease);
  LeaseTicket(const LeaseTicket&) = delete;
  LeaseTicket& operator=(const LeaseTicket&) = delete;

  /// The last thing that is done with it. Without, the next who counts puts it away.
  void leave();

  /// How many came before and still wait. Removes the tickets of those that are gone.
  Result<std::size_t> ahead();

 private:
  LeaseTicket(std::unique_ptr<Folder> queue, std::uint64_t number,
              std::unique_ptr<LockedRecord> lock);

  std::unique_ptr<Folder> queue_;
  std::uint64_t number_;
  std::unique_ptr<LockedRecord> lock_;
};

}  // namespace tend
