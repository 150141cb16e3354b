// Files of people: wherever they are, links followed, permissions and owner kept.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <tuple>

#include "base/quote.h"
#include "os/linux/fd.h"
#include "os/linux/linux_entropy.h"
#include "os/linux/linux_file.h"
#include "os/linux/linux_files.h"

namespace tend {
namespace {

namespace fs = std::filesystem;

std::unexpected<Error> cannot_do(std::string_view what, const std::string& path, int error) {
  return fail("cannot " + std::string(what) + " " + on_one_line(path) + ": " + system_says(error));
}

/// Where the bytes are: the end of a chain of links. A new file is where its path says.
Result<std::string> target_of(const std::string& path) {
  std::error_code error;
  const auto real = fs::canonical(path, error);
  if (!error) return real.string();
  if (error != std::errc::no_such_file_or_directory) return cannot_do("find", path, error.value());
  if (fs::is_symlink(fs::symlink_status(path, error))) {
    return fail(on_one_line(path) + " is a link to nothing");
  }
  const auto folder = fs::path(path).parent_path();
  fs::create_directories(folder, error);
  if (error) return cannot_do("make", folder.string(), error.value());
  return path;
}

bool write_whole(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = retried([&] { return ::write(file, bytes.data(), bytes.size()); });
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return ::fsync(file) == 0;
}

constexpr std::size_t kPiece = std::size_t{16} * 1024;

struct Got {
  std::size_t bytes = 0;
  int error = 0;
};

/// Reads up to `room` bytes more behind the text. The room is not filled with zeros first: that
/// would cost more than the reading.
Got read_on(int file, std::string& text, std::size_t room) {
  Got got;
  const std::size_t before = text.size();
  text.resize_and_overwrite(before + room, [&](char* bytes, std::size_t) {
    const ssize_t read = retried([&] { return ::read(file, bytes + before, room); });
    if (read < 0) got.error = errno;
    if (read > 0) got.bytes = static_cast<std::size_t>(read);
    return before + got.bytes;
  });
  return got;
}

/// The new file gets what the old one had.
bool take_after(int file, const std::string& old) {
  struct stat was{};
  struct stat is{};
  if (::stat(old.c_str(), &was) != 0) return errno == ENOENT;
  if (::fstat(file, &is) != 0) return false;
  const bool same_owner = was.st_uid == is.st_uid && was.st_gid == is.st_gid;
  if (!same_owner && ::fchown(file, was.st_uid, was.st_gid) != 0) return false;
  return ::fchmod(file, was.st_mode & 07777) == 0;
}

}  // namespace

Result<std::optional<std::string>> LinuxFiles::read(const std::string& path, std::size_t most) {
  // O_NONBLOCK: a fifo in its place must not hold us.
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  const Fd file(retried([&] { return ::open(path.c_str(), kFlags); }));
  if (!file && (errno == ENOENT || errno == ENOTDIR)) return std::nullopt;
  if (!file) return cannot_do("open", path, errno);
  struct stat facts{};
  if (::fstat(file.get(), &facts) != 0) return cannot_do("look at", path, errno);
  if (!S_ISREG(facts.st_mode)) return fail(on_one_line(path) + " is no plain file");
  const auto too_large = [&] {
    return fail(on_one_line(path) + " is larger than " + std::to_string(most) + " bytes");
  };
  const auto size = static_cast<std::size_t>(facts.st_size);
  if (size > most) return too_large();
  // One byte more than there is: a short read is the end. Where the size is none, as in /proc, or
  // was another a moment ago, it is read until nothing comes.
  std::string text;
  std::size_t room = size + 1;
  while (text.size() <= most) {
    const auto [got, error] = read_on(file.get(), text, room);
    if (error != 0) return cannot_do("read", path, error);
    if (got == 0 || (got < room && text.size() == size)) return text;
    room = kPiece;
  }
  return too_large();
}

Result<bool> LinuxFiles::replace_if(const std::string& path, std::string_view bytes,
                                    const std::function<bool()>& still) {
  const auto target = target_of(path);
  if (!target) return std::unexpected(target.error());
  const std::string temporary = *target + "." + std::to_string(LinuxEntropy().number()) + ".tmp";
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
  const Fd file(retried([&] { return ::open(temporary.c_str(), kFlags, 0600); }));
  if (!file) return cannot_do("write", *target, errno);
  const auto give_up = [&](int error) {
    std::ignore = ::unlink(temporary.c_str());
    return cannot_do("write", *target, error);
  };
  if (!take_after(file.get(), *target) || !write_whole(file.get(), bytes)) return give_up(errno);
  if (!still()) {
    std::ignore = ::unlink(temporary.c_str());
    return false;
  }
  if (::rename(temporary.c_str(), target->c_str()) != 0) return give_up(errno);
  return true;
}

namespace {

constexpr int kToMake = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;

/// In its place from the first byte on.
Result<bool> make_in_place(const std::string& path, std::string_view bytes) {
  const Fd file(retried([&] { return ::open(path.c_str(), kToMake, 0600); }));
  if (!file && errno == EEXIST) return false;
  if (!file) return cannot_do("make", path, errno);
  if (write_whole(file.get(), bytes)) return true;
  const int error = errno;
  std::ignore = ::unlink(path.c_str());
  return cannot_do("write", path, error);
}

}  // namespace

/// Whoever is killed here leaves no half of a file, and none that does not say whose it is: a
/// second name is given or refused in one step.
Result<bool> LinuxFiles::make_new(const std::string& path, std::string_view bytes) {
  struct stat there{};
  if (::lstat(path.c_str(), &there) == 0) return false;
  const std::string temporary = path + "." + std::to_string(LinuxEntropy().number()) + ".tmp";
  const Fd file(retried([&] { return ::open(temporary.c_str(), kToMake, 0600); }));
  if (!file) return cannot_do("make", path, errno);
  const bool written = write_whole(file.get(), bytes);
  const bool made = written && ::link(temporary.c_str(), path.c_str()) == 0;
  const int error = errno;
  std::ignore = ::unlink(temporary.c_str());
  if (made) return true;
  if (!written) return cannot_do("write", path, error);
  if (error == EEXIST) return false;
  return make_in_place(path, bytes);  // where a file can have one name only
}

Result<void> LinuxFiles::append_line(const std::string& path, std::string_view line,
                                     std::uint64_t most) {
  const auto target = target_of(path);
  if (!target) return std::unexpected(target.error());
  std::string bytes(line);
  bytes += '\n';
  mode_t mode = 0600;
  struct stat facts{};
  if (::stat(target->c_str(), &facts) == 0) {
    if (!S_ISREG(facts.st_mode)) return fail(on_one_line(path) + " is no plain file");
    mode = facts.st_mode & 0777;
    const bool is_full = static_cast<std::uint64_t>(facts.st_size) + bytes.size() > most;
    if (is_full && ::rename(target->c_str(), (*target + ".1").c_str()) != 0 && errno != ENOENT) {
      return cannot_do("put aside", *target, errno);
    }
  }
  // O_NONBLOCK: a fifo in its place must not hold us.
  constexpr int kFlags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  const Fd file(retried([&] { return ::open(target->c_str(), kFlags, mode); }));
  if (!file) return cannot_do("write", *target, errno);
  const ssize_t wrote = retried([&] { return ::write(file.get(), bytes.data(), bytes.size()); });
  if (wrote == static_cast<ssize_t>(bytes.size())) return {};
  return cannot_do("write", *target, wrote < 0 ? errno : ENOSPC);
}

Result<std::optional<WallTime>> LinuxFiles::modified(const std::string& path) {
  struct stat facts{};
  if (::stat(path.c_str(), &facts) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    return cannot_do("look at", path, errno);
  }
  if (!S_ISREG(facts.st_mode)) return fail(on_one_line(path) + " is no plain file");
  return time_of(facts.st_mtim);
}

Result<bool> LinuxFiles::touch(const std::string& path) {
  if (::utimensat(AT_FDCWD, path.c_str(), nullptr, 0) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  return cannot_do("touch", path, errno);
}

Result<void> LinuxFiles::remove(const std::string& path) {
  if (::unlink(path.c_str()) == 0 || errno == ENOENT || errno == ENOTDIR) return {};
  return cannot_do("remove", path, errno);
}

}  // namespace tend
