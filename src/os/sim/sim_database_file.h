// A database of the simulated machine: SQLite in memory, and what of it is on the disk. As of a
// write-ahead log, a commit that was to last is synced with all before it; others are once somebody
// syncs, or the last who had it open moves the log into the file. A power cut takes whole commits,
// the newest first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "os/database.h"

namespace tend {

class SimDatabaseFile {
 public:
  using Chance = std::function<std::uint64_t()>;

  SimDatabaseFile();
  ~SimDatabaseFile();
  SimDatabaseFile(const SimDatabaseFile&) = delete;
  SimDatabaseFile& operator=(const SimDatabaseFile&) = delete;

  /// One process runs at a time: all of them share it.
  [[nodiscard]] const std::shared_ptr<DatabaseConnection>& connection() const {
    return connection_;
  }
  /// Puts what is there into another one, for good.
  void copy_to(SimDatabaseFile& other) const;

  /// open() fails, as of a file that its owner may not read.
  bool unreadable = false;
  /// Somebody else writes, and does not come to an end.
  bool busy = false;

  // For processes.
  void open() { ++open_; }
  /// `moves_log`: if it was the last, and nobody else has it open.
  void close(bool moves_log);
  /// What SQLite was told last, by whoever is about to change something.
  [[nodiscard]] bool is_durable();
  /// Whoever is about to change something; `lasts`: what it commits is synced. False if another is
  /// in the middle of a change, or busy.
  [[nodiscard]] bool begin_write(const void* writer, bool lasts);
  /// What is committed next is none of its processes'.
  void forget_writer() { writer_ = nullptr; }

  // What lasts.
  void sync();
  [[nodiscard]] bool has_unsynced() const { return !unsynced_.empty(); }
  /// All that was not synced is taken back; a change that somebody is in the middle of, too.
  void cut_power();
  /// The same, of what was committed last some, as chance has it.
  void tear(const Chance& chance);

 private:
  using Image = std::string;

  static int on_commit(void* self);
  [[nodiscard]] Image image() const;
  void take_back_to(std::size_t unsynced);

  std::shared_ptr<DatabaseConnection> connection_;
  /// What was there before each commit that is not synced, the oldest first.
  std::vector<Image> unsynced_;
  bool is_last_ = false;  // the newest of them is what is there now
  const void* writer_ = nullptr;
  bool lasts_ = true;  // what the writer commits
  std::size_t open_ = 0;
};

/// For who looks from outside of the machine: it is no process, and changes nothing that lasts.
[[nodiscard]] std::unique_ptr<Database> look_into(const std::shared_ptr<SimDatabaseFile>& file,
                                                  const std::string& path);

}  // namespace tend
