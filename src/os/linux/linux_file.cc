// System calls on an open file, tried again where a signal broke in.
#include "os/linux/linux_file.h"

#include <unistd.h>

#include <chrono>

#include "base/check.h"
#include "base/quote.h"

namespace tend {
namespace {

constexpr unsigned kFacts = STATX_TYPE | STATX_MODE | STATX_NLINK | STATX_UID | STATX_INO |
                            STATX_SIZE | STATX_MTIME | STATX_BTIME;

constexpr std::int64_t kNanoseconds = 1'000'000'000;

}  // namespace

std::unexpected<Error> cannot(std::string_view what, const std::string& path) {
  const int error = errno;
  std::string text = "cannot ";
  text.append(what).append(" ").append(on_one_line(path)).append(": ").append(system_says(error));
  return fail(std::move(text));
}

Result<struct statx> look_at(int descriptor, const std::string& path) {
  struct statx seen{};
  if (::statx(descriptor, "", AT_EMPTY_PATH, kFacts, &seen) != 0) return cannot("look at", path);
  return seen;
}

// Numbers of files are used again once a file is deleted; with its time of birth it is another.
FileFacts facts_of(const struct statx& seen) {
  constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15;
  std::uint64_t file = seen.stx_ino;
  if ((seen.stx_mask & STATX_BTIME) != 0) {
    const auto born =
        static_cast<std::uint64_t>(seen.stx_btime.tv_sec * kNanoseconds) + seen.stx_btime.tv_nsec;
    file ^= born * kSpread;
  }
  const std::chrono::nanoseconds modified = std::chrono::seconds{seen.stx_mtime.tv_sec} +
                                            std::chrono::nanoseconds{seen.stx_mtime.tv_nsec};
  return {.size = seen.stx_size, .file = file, .modified = WallTime{modified}};
}

Result<void> prove_ours(const struct statx& seen, const std::string& path) {
  if (!S_ISREG(seen.stx_mode)) return fail(on_one_line(path) + " is not a plain file");
  if (seen.stx_uid != ::geteuid()) return fail(on_one_line(path) + " belongs to another user");
  return {};
}

Result<void> write_all(int descriptor, std::string_view bytes, std::uint64_t offset,
                       const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t wrote = retried([&] {
      return ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    });
    if (wrote < 0) return cannot("write", path);
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
    offset += static_cast<std::uint64_t>(wrote);
  }
  return {};
}

WallTime time_of(const timespec& time) {
  return WallTime{std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec}};
}

timespec timespec_of(WallTime time) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(time.time_since_epoch());
  return {.tv_sec = whole.count(), .tv_nsec = (time.time_since_epoch() - whole).count()};
}

Result<std::size_t> LinuxFile::read_at(std::uint64_t offset, std::span<char> into) {
  const ssize_t got = retried([&] {
    return ::pread(descriptor_.get(), into.data(), into.size(), static_cast<off_t>(offset));
  });
  if (got < 0) return cannot("read", path_);
  return static_cast<std::size_t>(got);
}

Result<void> LinuxFile::append(std::string_view bytes) {
  if (how_ == Folder::Open::append) return append_in_one_write(bytes);
  const auto now = facts();
  if (!now) return std::unexpected(now.error());
  auto written = write_all(descriptor_.get(), bytes, now->size, path_);
  if (!written) take_back(now->size);
  return written;
}

// The kernel puts each write at the end, whoever else appends. Only a full disk or a limit makes
// one short; then what came of it is taken back, unless somebody wrote behind it.
Result<void> LinuxFile::append_in_one_write(std::string_view bytes) {
  const auto write = [&] { return ::write(descriptor_.get(), bytes.data(), bytes.size()); };
  const ssize_t wrote = retried(write);
  if (wrote < 0) return cannot("write", path_);
  if (static_cast<std::size_t>(wrote) == bytes.size()) return {};
  off_t end = ::lseek(descriptor_.get(), 0, SEEK_CUR);
  const off_t start = end - wrote;
  bytes.remove_prefix(static_cast<std::size_t>(wrote));
  const ssize_t rest = retried(write);
  if (rest >= 0 && static_cast<std::size_t>(rest) == bytes.size()) return {};
  if (rest >= 0) errno = ENOSPC;
  if (rest > 0) end += rest;
  auto failure = cannot("write", path_);
  const auto now = facts();
  if (now && now->size == static_cast<std::uint64_t>(end)) {
    take_back(static_cast<std::uint64_t>(start));
  }
  return failure;
}

Result<void> LinuxFile::overwrite(std::string_view bytes) {
  CHECK(how_ != Folder::Open::append);  // there the kernel would ignore the offset
  return write_all(descriptor_.get(), bytes, 0, path_);
}

Result<FileFacts> LinuxFile::facts() {
  const auto seen = look_at(descriptor_.get(), path_);
  if (!seen) return std::unexpected(seen.error());
  return facts_of(*seen);
}

Result<void> LinuxFile::touch() { return set_modified({.tv_sec = 0, .tv_nsec = UTIME_NOW}); }

Result<void> LinuxFile::touch(WallTime modified) { return set_modified(timespec_of(modified)); }

Result<void> LinuxFile::set_modified(timespec modified) {
  // The time of the last reading too: inotify calls the one alone a change of the contents, both
  // together one of the attributes, and a keeper would wake up from each of its own beats.
  const timespec times[] = {modified, modified};
  if (::futimens(descriptor_.get(), times) != 0) return cannot("touch", path_);
  return {};
}

Result<void> LinuxFile::punch(std::uint64_t end) {
  if (end == 0) return {};
  const int done = retried([&] {
    return ::fallocate(descriptor_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                       static_cast<off_t>(end));
  });
  if (done != 0) return cannot("free the front of", path_);
  return {};
}

Result<std::uint64_t> LinuxFile::data_from(std::uint64_t offset) {
  const off_t at = ::lseek(descriptor_.get(), static_cast<off_t>(offset), SEEK_DATA);
  if (at >= 0) return static_cast<std::uint64_t>(at);
  if (errno != ENXIO) return cannot("find data in", path_);
  const auto now = facts();
  if (!now) return std::unexpected(now.error());
  return now->size;
}

Result<void> LinuxFile::cut(std::uint64_t size) {
  const auto now = facts();
  if (!now) return std::unexpected(now.error());
  if (now->size <= size) return {};
  const int done =
      retried([&] { return ::ftruncate(descriptor_.get(), static_cast<off_t>(size)); });
  if (done != 0) return cannot("cut", path_);
  return {};
}

// A torn last line stays if even that fails; the caller is told of the write.
void LinuxFile::take_back(std::uint64_t size) {
  const auto cut_back = cut(size);
  static_cast<void>(cut_back);
}

Result<void> LinuxFile::sync() {
  if (::fsync(descriptor_.get()) != 0) return cannot("sync", path_);
  return {};
}

namespace {
struct flock whole_file() {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}
}  // namespace

Result<bool> LinuxFile::lock() {
  struct flock wanted = whole_file();
  if (::fcntl(descriptor_.get(), F_OFD_SETLK, &wanted) == 0) return true;
  if (errno == EAGAIN || errno == EACCES) return false;
  return cannot("lock", path_);
}

Result<bool> LinuxFile::is_locked() {
  struct flock asked = whole_file();
  if (::fcntl(descriptor_.get(), F_OFD_GETLK, &asked) != 0)
    return cannot("test the lock of", path_);
  return asked.l_type != F_UNLCK;
}

}  // namespace tend
