// A file that one process at a time holds by its lock, and in it that one's record, at a fixed size
// and written in place, so that it also fits on a full disk. Whoever does not hold it may look.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "os/folder.h"

namespace tend {

class LockedRecord {
 public:
  /// Makes the file if there is none. nullptr if another process holds it.
  static Result<std::unique_ptr<LockedRecord>> take(Folder& folder, std::string_view name,
                                                    std::size_t size);
  /// What stood in the file when it was taken.
  [[nodiscard]] const std::string& found() const { return found_; }
  /// A line, filled up with spaces. Requires that it is shorter than the record.
  Result<void> write(std::string text);
  /// Whether the name still stands for the file that is locked.
  Result<bool> is_in_place(Folder& folder);
  /// Its time becomes that of now.
  Result<void> touch() { return file_->touch(); }

 private:
  LockedRecord(std::unique_ptr<File> file, std::string_view name, std::size_t size)
      : file_(std::move(file)), name_(name), size_(size) {}

  std::unique_ptr<File> file_;
  std::string name_;
  std::size_t size_;
  std::string found_;
  std::optional<std::uint64_t> identity_;  // of the file, once it was asked for
};

struct SeenRecord {
  bool held = false;
  std::string text;
  FileFacts file;
};
/// Looks without taking. nullopt if there is no such file.
Result<std::optional<SeenRecord>> look_at_record(Folder& folder, std::string_view name,
                                                 std::size_t size);

}  // namespace tend
