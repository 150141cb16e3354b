// A plain file of this user, open, and how such files are told from all else.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "os/folder.h"
#include "os/linux/fd.h"

namespace tend {

/// What the kernel says of a file, in one call.
Result<struct statx> look_at(int descriptor, const std::string& path);
FileFacts facts_of(const struct statx& seen);
/// Fails unless it is a plain file of this user.
Result<void> prove_ours(const struct statx& seen, const std::string& path);

/// "cannot read PATH: WORDS", with the words of the system for the last failed call.
std::unexpected<Error> cannot(std::string_view what, const std::string& path);

/// Writes all of it, from `offset`. What was written before a failure stays.
Result<void> write_all(int descriptor, std::string_view bytes, std::uint64_t offset,
                       const std::string& path);
timespec timespec_of(WallTime time);
WallTime time_of(const timespec& time);

class LinuxFile final : public File {
 public:
  /// Takes a descriptor that was proven ours; `path` is for words only.
  LinuxFile(Fd descriptor, std::string path, Folder::Open how)
      : descriptor_(std::move(descriptor)), path_(std::move(path)), how_(how) {}

  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) override;
  Result<void> append(std::string_view bytes) override;
  Result<void> overwrite(std::string_view bytes) override;
  Result<FileFacts> facts() override;
  Result<void> touch() override;
  Result<void> touch(WallTime modified) override;
  Result<void> punch(std::uint64_t end) override;
  Result<std::uint64_t> data_from(std::uint64_t offset) override;
  Result<void> cut(std::uint64_t size) override;
  Result<void> sync() override;
  Result<bool> lock() override;
  Result<bool> is_locked() override;

 private:
  Result<void> set_modified(timespec modified);
  Result<void> append_in_one_write(std::string_view bytes);
  void take_back(std::uint64_t size);

  Fd descriptor_;
  std::string path_;
  Folder::Open how_;
};

}  // namespace tend
