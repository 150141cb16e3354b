// System calls relative to an open folder. O_NOFOLLOW everywhere, and O_NONBLOCK so that a fifo in
// the place of a file is refused and not waited for.
#include "os/linux/linux_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <filesystem>
#include <iterator>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/quote.h"
#include "os/linux/folder_walk.h"
#include "os/linux/linux_file.h"

namespace tend {
namespace {

constexpr int kSafely = O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
constexpr mode_t kOwnerOnly = 0600;
constexpr std::string_view kTemporary = ".tmp";
constexpr std::size_t kMostLookedAt = 20'000;  // files, for the newest of them
constexpr int kMostTries = 10;  // of making a file that others of us make and remove meanwhile

// Names may come from files, so a bad one is no bug.
Result<void> check_name(const std::string& name) {
  const bool fits = !name.empty() && name != "." && name != ".." && name.size() <= NAME_MAX &&
                    !name.contains('/') && !name.contains('\0');
  if (!fits) return fail(in_quotes(name) + " is not a file name");
  return {};
}

Result<void> prove_folder(int descriptor, const std::string& path) {
  struct stat seen{};
  if (::fstat(descriptor, &seen) != 0) return cannot("look at", path);
  if (seen.st_uid != ::geteuid()) return fail(on_one_line(path) + " belongs to another user");
  if ((seen.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return fail(on_one_line(path) + " can be changed by others: chmod go-w it");
  }
  return {};
}

// What open(2) says of a link would puzzle people.
std::unexpected<Error> cannot_open(const std::string& path) {
  if (errno == ELOOP) return fail(on_one_line(path) + " is a link, not a file of ours");
  return cannot("open", path);
}

int flags_of(Folder::Open how) {
  switch (how) {
    case Folder::Open::read:
      return O_RDONLY;
    case Folder::Open::append:
      return O_RDWR | O_APPEND | O_CREAT;
    case Folder::Open::update:
      return O_RDWR | O_CREAT;
    case Folder::Open::exclusive:
      return O_RDWR | O_CREAT | O_EXCL;
  }
  return O_RDONLY;
}

/// Opens a file and makes it if `flags` say so, for this user alone whatever the umask.
Fd open_or_make(int folder, const std::string& name, int flags) {
  const int plain = (flags & ~(O_CREAT | O_EXCL)) | kSafely;
  for (int tries = 0; tries < kMostTries; ++tries) {
    if ((flags & O_EXCL) == 0) {
      Fd file(retried([&] { return ::openat(folder, name.c_str(), plain); }));
      if (file || errno != ENOENT || (flags & O_CREAT) == 0) return file;
    }
    const int making = plain | O_CREAT | O_EXCL;
    Fd made(retried([&] { return ::openat(folder, name.c_str(), making, kOwnerOnly); }));
    if (made && ::fchmod(made.get(), kOwnerOnly) != 0) return Fd();
    if (made || errno != EEXIST || (flags & O_EXCL) != 0) return made;
  }
  return Fd();
}

struct DirectoryCloser {
  void operator()(DIR* directory) const { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, DirectoryCloser>;

bool is_of_type(int parent, const dirent& entry, unsigned char type) {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type == type;
  struct stat seen{};
  return ::fstatat(parent, entry.d_name, &seen, AT_SYMLINK_NOFOLLOW) == 0 &&
         IFTODT(seen.st_mode) == type;
}

}  // namespace

Result<std::unique_ptr<Folder>> LinuxFolder::prove(Fd descriptor, std::string path) {
  if (auto ours = prove_folder(descriptor.get(), path); !ours) {
    return std::unexpected(ours.error());
  }
  return std::unique_ptr<Folder>(new LinuxFolder(std::move(descriptor), std::move(path)));
}

std::string LinuxFolder::path_of(const std::string& name) const {
  return path_ == "/" ? path_ + name : path_ + "/" + name;
}

Result<Fd> LinuxFolder::open_proven(const std::string& name, int flags) {
  if (auto fits = check_name(name); !fits) return std::unexpected(fits.error());
  const std::string path = path_of(name);
  Fd file = open_or_make(descriptor_.get(), name, flags);
  if (!file && errno == ENOENT && (flags & O_CREAT) == 0) return Fd();
  if (!file) return cannot_open(path);
  const auto seen = look_at(file.get(), path);
  if (!seen) return std::unexpected(seen.error());
  if (auto ours = prove_ours(*seen, path); !ours) return std::unexpected(ours.error());
  const bool writes = (flags & O_ACCMODE) != O_RDONLY;
  if (writes && seen->stx_nlink != 1) {
    return fail(on_one_line(path) + " has another name elsewhere, or none any more");
  }
  return file;
}

Result<std::unique_ptr<File>> LinuxFolder::open(const std::string& name, Open how) {
  auto file = open_proven(name, flags_of(how));
  if (!file) return std::unexpected(file.error());
  if (!*file) {
    errno = ENOENT;
    return cannot_open(path_of(name));
  }
  return std::make_unique<LinuxFile>(std::move(*file), path_of(name), how);
}

Result<std::optional<std::string>> LinuxFolder::read(const std::string& name, std::size_t most) {
  auto opened = open_proven(name, O_RDONLY);
  if (!opened) return std::unexpected(opened.error());
  if (!*opened) return std::nullopt;
  LinuxFile file(std::move(*opened), path_of(name), Open::read);
  const auto facts = file.facts();
  if (!facts) return std::unexpected(facts.error());
  const auto too_large = [&] {
    return fail(fmt::format("{} is larger than {} bytes", on_one_line(path_of(name)), most));
  };
  if (facts->size > most) return too_large();
  // One more than fits tells a file that grew meanwhile from one that is read whole.
  const std::size_t room = most + (most < std::string().max_size() ? 1 : 0);
  std::string text(static_cast<std::size_t>(facts->size) + 1, '\0');
  std::size_t size = 0;
  while (true) {
    if (size > most) return too_large();
    if (size == text.size()) text.resize(std::min(room, text.size() * 2));
    const auto got = file.read_at(size, std::span(text).subspan(size));
    if (!got) return std::unexpected(got.error());
    if (*got == 0) break;
    size += *got;
  }
  text.resize(size);
  return text;
}

Result<void> LinuxFolder::replace(const std::string& name, std::string_view bytes, Sync sync,
                                  std::optional<WallTime> modified) {
  if (auto fits = check_name(name); !fits) return fits;
  const std::string path = path_of(name);
  const std::string temporary = fmt::format(".{}.{:016x}{}", name, entropy_.number(), kTemporary);
  const Fd file = open_or_make(descriptor_.get(), temporary, flags_of(Open::exclusive));
  if (!file) return cannot("write", path);
  auto filled = fill(file, path, bytes, sync, modified);
  if (filled && ::renameat(descriptor_.get(), temporary.c_str(), descriptor_.get(), name.c_str())) {
    filled = cannot("replace", path);
  }
  if (!filled) {
    ::unlinkat(descriptor_.get(), temporary.c_str(), 0);
    return filled;
  }
  if (sync == Sync::yes && ::fsync(descriptor_.get()) != 0) return cannot("sync", path_);
  return {};
}

Result<bool> LinuxFolder::make_file(const std::string& name, std::string_view bytes, Sync sync) {
  if (auto fits = check_name(name); !fits) return std::unexpected(fits.error());
  const std::string path = path_of(name);
  const std::string temporary = fmt::format(".{}.{:016x}{}", name, entropy_.number(), kTemporary);
  const Fd file = open_or_make(descriptor_.get(), temporary, flags_of(Open::exclusive));
  if (!file) return cannot("write", path);
  auto made = fill(file, path, bytes, sync, std::nullopt);
  // A second name for the same file is given or refused in one step, on every file system.
  const int folder = descriptor_.get();
  bool taken = false;
  if (made && ::linkat(folder, temporary.c_str(), folder, name.c_str(), 0) != 0) {
    taken = errno == EEXIST;
    if (!taken) made = cannot("make", path);
  }
  ::unlinkat(folder, temporary.c_str(), 0);
  if (!made) return std::unexpected(made.error());
  if (!taken && sync == Sync::yes && ::fsync(folder) != 0) return cannot("sync", path_);
  return !taken;
}

Result<void> LinuxFolder::fill(const Fd& file, const std::string& path, std::string_view bytes,
                               Sync sync, std::optional<WallTime> modified) {
  if (auto written = write_all(file.get(), bytes, 0, path); !written) return written;
  if (modified) {
    const timespec times[] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, timespec_of(*modified)};
    if (::futimens(file.get(), times) != 0) return cannot("touch", path);
  }
  if (sync == Sync::yes && ::fsync(file.get()) != 0) return cannot("sync", path);
  return {};
}

Result<void> LinuxFolder::rename(const std::string& from, const std::string& to) {
  if (auto fits = check_name(from); !fits) return fits;
  if (auto fits = check_name(to); !fits) return fits;
  if (::renameat(descriptor_.get(), from.c_str(), descriptor_.get(), to.c_str()) != 0) {
    return cannot("rename", path_of(from));
  }
  return {};
}

Result<std::optional<FileFacts>> LinuxFolder::facts(const std::string& name) {
  if (auto fits = check_name(name); !fits) return std::unexpected(fits.error());
  const Fd file(::openat(descriptor_.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!file && errno == ENOENT) return std::nullopt;
  if (!file) return cannot_open(path_of(name));
  const auto seen = look_at(file.get(), path_of(name));
  if (!seen) return std::unexpected(seen.error());
  if (auto ours = prove_ours(*seen, path_of(name)); !ours) return std::unexpected(ours.error());
  return facts_of(*seen);
}

Result<void> LinuxFolder::remove(const std::string& name) {
  if (auto fits = check_name(name); !fits) return fits;
  if (::unlinkat(descriptor_.get(), name.c_str(), 0) != 0 && errno != ENOENT) {
    return cannot("remove", path_of(name));
  }
  return {};
}

Result<std::unique_ptr<Folder>> LinuxFolder::folder(const std::string& name) {
  if (auto fits = check_name(name); !fits) return std::unexpected(fits.error());
  Fd opened(::openat(descriptor_.get(), name.c_str(), O_RDONLY | O_DIRECTORY | kSafely));
  if (!opened && errno == ENOENT) return nullptr;
  if (!opened) return cannot_open(path_of(name));
  return prove(std::move(opened), path_of(name));
}

Result<std::unique_ptr<Folder>> LinuxFolder::make_folder(const std::string& name) {
  if (auto fits = check_name(name); !fits) return std::unexpected(fits.error());
  if (!make_private_folder(descriptor_.get(), name) && errno != EEXIST) {
    return cannot("make", path_of(name));
  }
  auto made = folder(name);
  if (made && *made == nullptr) return fail(path_of(name) + " was removed as soon as it was made");
  return made;
}

Result<std::unique_ptr<Folder>> LinuxFolder::make_new_folder(const std::string& name) {
  if (auto fits = check_name(name); !fits) return std::unexpected(fits.error());
  if (!make_private_folder(descriptor_.get(), name)) {
    if (errno == EEXIST) return nullptr;
    return cannot("make", path_of(name));
  }
  return make_folder(name);
}

bool LinuxFolder::for_each_entry(const std::function<void(const dirent&)>& tell) {
  // Opened anew, because a copy of the descriptor would share its position with the last reader.
  Fd opened(::openat(descriptor_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened) return false;
  const Directory directory(::fdopendir(opened.get()));
  if (directory == nullptr) return false;
  std::ignore = opened.release();
  errno = 0;
  while (const dirent* entry = ::readdir(directory.get())) {  // NOLINT(concurrency-mt-unsafe)
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") tell(*entry);
    errno = 0;
  }
  return errno == 0;
}

Result<std::vector<std::string>> LinuxFolder::folders(std::size_t most) {
  return names_of(DT_DIR, most);
}

Result<std::vector<std::string>> LinuxFolder::file_names(std::size_t most) {
  return names_of(DT_REG, most);
}

Result<std::vector<std::string>> LinuxFolder::names_of(unsigned char type, std::size_t most) {
  std::set<std::string> names;
  const bool listed = for_each_entry([&](const dirent& entry) {
    if (is_of_type(descriptor_.get(), entry, type)) names.insert(entry.d_name);
    if (names.size() > most) names.erase(std::prev(names.end()));
  });
  if (!listed) return cannot("list", path_);
  return std::vector<std::string>(names.begin(), names.end());
}

void LinuxFolder::sweep(Duration ago) {
  const auto latest = std::chrono::system_clock::now() - ago;
  std::ignore = for_each_entry([&](const dirent& entry) {
    const std::string_view name = entry.d_name;
    if (!name.starts_with('.') || !name.ends_with(kTemporary)) return;
    struct stat facts{};
    if (::fstatat(descriptor_.get(), entry.d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0) return;
    // The time of its last change is what replace() was told; this one is the system's own.
    if (std::chrono::system_clock::from_time_t(facts.st_ctim.tv_sec) > latest) return;
    ::unlinkat(descriptor_.get(), entry.d_name, 0);
  });
}

Result<std::unique_ptr<Folder>> LinuxFolders::open(const std::string& path) {
  auto walked = walk_to_folder(path, Missing::fail);
  if (!walked) return std::unexpected(walked.error());
  return LinuxFolder::prove(std::move(walked->descriptor), std::move(walked->path));
}

Result<std::unique_ptr<Folder>> LinuxFolders::make(const std::string& path) {
  auto walked = walk_to_folder(path, Missing::make);
  if (!walked) return std::unexpected(walked.error());
  return LinuxFolder::prove(std::move(walked->descriptor), std::move(walked->path));
}

Result<std::string> LinuxFolders::working_folder() { return real_path("."); }

Result<std::string> LinuxFolders::real_path(const std::string& path) {
  std::error_code error;
  const auto real = std::filesystem::canonical(path, error);
  if (error) return fail("cannot find " + on_one_line(path) + ": " + system_says(error.value()));
  return real.string();
}

std::optional<WallTime> LinuxFolders::newest_below(const std::string& path, std::string_view part,
                                                   std::size_t depth) {
  std::size_t looked = 0;
  std::optional<WallTime> newest;
  const auto look = [&](const auto& again, int folder, const char* name, bool named,
                        std::size_t left) -> void {
    struct stat facts{};
    if (++looked > kMostLookedAt) return;
    if (::fstatat(folder, name, &facts, AT_SYMLINK_NOFOLLOW) != 0) return;
    if (S_ISREG(facts.st_mode) && named) {
      const WallTime changed = time_of(facts.st_mtim);
      newest = std::max(newest.value_or(changed), changed);
    }
    if (!S_ISDIR(facts.st_mode) || left == 0) return;
    Fd opened(::openat(folder, name, O_RDONLY | O_DIRECTORY | kSafely));
    if (!opened) return;
    const Directory directory(::fdopendir(opened.get()));
    if (directory == nullptr) return;
    const int inner = opened.release();
    while (const dirent* entry = ::readdir(directory.get())) {  // NOLINT(concurrency-mt-unsafe)
      const std::string_view below = entry->d_name;
      if (below == "." || below == "..") continue;
      again(again, inner, entry->d_name, below.contains(part), left - 1);
    }
  };
  look(look, AT_FDCWD, path.c_str(), true, depth + 1);
  return looked > kMostLookedAt ? std::nullopt : newest;
}

}  // namespace tend
