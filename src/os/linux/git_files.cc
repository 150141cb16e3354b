// A private index stands beside the real one, because a split index finds its other half there.
#include "os/linux/git_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "os/linux/fd.h"

namespace tend {
namespace {

constexpr std::string_view kPrefix = "tend-index-";
constexpr std::time_t kAbandonedAfter = std::time_t{6} * 60 * 60;
constexpr std::size_t kMostEntries = 10'000;  // of a git folder

std::uint64_t chance() {
  std::uint64_t number = 0;
  retried([&] { return ::getrandom(&number, sizeof number, 0); });
  return number;
}

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

std::vector<std::string> abandoned_in(const std::string& folder) {
  std::vector<std::string> found;
  const std::unique_ptr<DIR, CloseFolder> open(::opendir(folder.c_str()));
  if (!open) return found;
  const std::time_t now = ::time(nullptr);
  for (std::size_t i = 0; i < kMostEntries; ++i) {
    const dirent* entry = ::readdir(open.get());  // NOLINT(concurrency-mt-unsafe): our own DIR
    if (entry == nullptr) break;
    struct stat facts{};
    if (!std::string_view(entry->d_name).starts_with(kPrefix)) continue;
    if (::fstatat(::dirfd(open.get()), entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (facts.st_ctime + kAbandonedAfter < now) found.push_back(folder + "/" + entry->d_name);
  }
  return found;
}

Result<void> copy_bytes(int from, int to) {
  std::vector<char> buffer(std::size_t{256} * 1024);
  while (true) {
    const ssize_t got = retried([&] { return ::read(from, buffer.data(), buffer.size()); });
    if (got < 0) return fail(system_says(errno));
    if (got == 0) return {};
    for (ssize_t done = 0; done < got;) {
      const auto left = static_cast<std::size_t>(got - done);
      const ssize_t put = retried([&] { return ::write(to, buffer.data() + done, left); });
      if (put < 0) return fail(system_says(errno));
      done += put;
    }
  }
}

}  // namespace

PrivateIndex::PrivateIndex(std::string git_folder)
    : git_folder_(std::move(git_folder)),
      path_(fmt::format("{}/{}{:016x}", git_folder_, kPrefix, chance())) {
  for (const std::string& path : abandoned_in(git_folder_)) ::unlink(path.c_str());
}

PrivateIndex::~PrivateIndex() {
  clear();
  ::unlink((path_ + ".lock").c_str());
}

void PrivateIndex::clear() const { ::unlink(path_.c_str()); }

Result<bool> PrivateIndex::copy_real_one() const {
  const std::string real = git_folder_ + "/index";
  const Fd from(retried([&] { return ::open(real.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC); }));
  if (!from && errno == ENOENT) return false;
  struct stat facts{};
  if (!from || ::fstat(from.get(), &facts) != 0) {
    return fail("cannot read " + real + ": " + system_says(errno));
  }
  const Fd to(retried(
      [&] { return ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600); }));
  if (!to) return fail("cannot make " + path_ + ": " + system_says(errno));
  if (const auto copied = copy_bytes(from.get(), to.get()); !copied) {
    return fail("cannot copy " + real + ": " + copied.error().text);
  }
  // By the time of the index git knows for which files size and time prove nothing.
  const std::array<timespec, 2> times{facts.st_atim, facts.st_mtim};
  if (::futimens(to.get(), times.data()) != 0) {
    return fail("cannot set the time of " + path_ + ": " + system_says(errno));
  }
  return true;
}

std::string index_trouble(const std::string& git_folder) {
  const std::string lock = git_folder + "/index.lock";
  struct stat facts{};
  if (::lstat(lock.c_str(), &facts) != 0) return "";
  return fmt::format("somebody else holds the index (index.lock); if no git runs there, remove {}",
                     lock);
}

std::string index_trouble(const std::string& git_folder, std::string_view complaint) {
  return complaint.contains("/index.lock") ? index_trouble(git_folder) : "";
}

std::string line_in(const std::string& git_folder, const std::string& name) {
  const Fd file(::open((git_folder + "/" + name).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  std::array<char, 4096> text{};
  const ssize_t got =
      file ? retried([&] { return ::read(file.get(), text.data(), text.size()); }) : 0;
  if (got <= 0) return "";
  const std::string_view whole(text.data(), static_cast<std::size_t>(got));
  return std::string(whole.substr(0, whole.find('\n')));
}

// A git folder of a linked work tree holds a file that names the shared one.
std::string common_git_folder(const std::string& git_folder) {
  const std::string named = line_in(git_folder, "commondir");
  if (named.empty()) return git_folder;
  return named.starts_with('/') ? named : fmt::format("{}/{}", git_folder, named);
}

}  // namespace tend
