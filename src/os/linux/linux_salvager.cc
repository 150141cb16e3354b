// Depth first, each folder held open while in it: a path that is swapped for a link meanwhile leads
// nowhere. Folders are made in the copy only when something goes into them.
#include "os/linux/linux_salvager.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "os/linux/fd.h"
#include "os/linux/file_walk.h"

namespace tend {
namespace {

constexpr std::size_t kDeepest = 100;
constexpr std::size_t kMostLookedAt = 1'000'000;
constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

/// Files are stamped by a clock that moves in ticks, and so is behind the one that moments are read
/// from: by as much as this.
constexpr std::chrono::milliseconds kStampsLag{10};

/// By the time of its last change of any sort: a file that was unpacked or moved here keeps its old
/// time of writing.
bool is_before(const struct stat& facts, WallTime moment) {
  const WallTime changed{std::chrono::seconds{facts.st_ctim.tv_sec} +
                         std::chrono::nanoseconds{facts.st_ctim.tv_nsec}};
  return changed + kStampsLag < moment;
}

bool copy_bytes(int from, int to, std::uint64_t most) {
  std::vector<char> buffer(std::min<std::uint64_t>(most, std::uint64_t{256} * 1024));
  while (most > 0) {
    const std::size_t piece = std::min<std::uint64_t>(most, buffer.size());
    const ssize_t got = retried([&] { return ::read(from, buffer.data(), piece); });
    if (got < 0) return false;
    if (got == 0) break;  // it shrank
    for (ssize_t done = 0; done < got;) {
      const auto left = static_cast<std::size_t>(got - done);
      const ssize_t put = retried([&] { return ::write(to, buffer.data() + done, left); });
      if (put < 0) return false;
      done += put;
    }
    most -= static_cast<std::uint64_t>(got);
  }
  return true;
}

/// A folder of the copy that is made when it is first needed.
class Target {
 public:
  explicit Target(Fd folder) : folder_(std::move(folder)) {}
  Target(Target& parent, std::string name, const struct stat& like)
      : parent_(&parent), name_(std::move(name)), mode_((like.st_mode & 0777) | 0700) {}

  /// -1 if it cannot be made.
  int get() {
    if (folder_ || parent_ == nullptr) return folder_.get();
    const int above = parent_->get();
    if (above < 0) return -1;
    if (::mkdirat(above, name_.c_str(), 0700) != 0 && errno != EEXIST) return -1;
    folder_ = Fd(::openat(above, name_.c_str(), kFolderFlags));
    if (folder_ && ::fchmod(folder_.get(), mode_) != 0) folder_.reset();
    return folder_.get();
  }

 private:
  Fd folder_;
  Target* parent_ = nullptr;
  std::string name_;
  mode_t mode_ = 0700;
};

class Copying {
 public:
  explicit Copying(const SalvageOrder& order) : order_(order), excluded_(with_target(order)) {}

  Result<Salvage> run() {
    const Fd from(::open(order_.worktree.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!from) return fail("cannot open " + order_.worktree + ": " + system_says(errno));
    Target to(Fd(::open(order_.into.c_str(), kFolderFlags)));
    if (to.get() < 0) return fail("cannot open " + order_.into + ": " + system_says(errno));
    copy_folder(from, to, 0);
    if (::syncfs(to.get()) != 0) {
      return fail("cannot sync " + order_.into + ": " + system_says(errno));
    }
    return done_;
  }

 private:
  static std::vector<std::string> with_target(const SalvageOrder& order) {
    std::vector<std::string> paths = order.exclude;
    paths.push_back(order.into);
    return paths;
  }

  void copy_folder(const Fd& from, Target& to, std::size_t depth) {
    bool complete = true;
    for (const std::string& name : names_in(from, left_, complete)) {
      if (left_ > 0) --left_;
      struct stat facts{};
      if (name == ".git") continue;
      if (::fstatat(from.get(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno != ENOENT) ++done_.left_out;
        continue;
      }
      if (excluded_.has(facts)) continue;
      if (S_ISDIR(facts.st_mode)) {
        enter(from, name, facts, to, depth);
      } else if (!is_before(facts, order_.changed_since)) {
        const bool copied = copy(from, name, facts, to);
        ++(copied ? done_.files : done_.left_out);
      }
    }
    if (!complete) ++done_.left_out;
  }

  void enter(const Fd& from, const std::string& name, const struct stat& facts, Target& to,
             std::size_t depth) {
    const Fd folder(::openat(from.get(), name.c_str(), kFolderFlags));
    if (!folder || depth == kDeepest || left_ == 0) {
      ++done_.left_out;
      return;
    }
    Target below(to, name, facts);
    copy_folder(folder, below, depth + 1);
  }

  bool copy(const Fd& from, const std::string& name, const struct stat& facts, Target& to) {
    if (done_.files >= order_.most_files) return false;
    if (S_ISLNK(facts.st_mode)) return copy_link(from, name, to);
    return S_ISREG(facts.st_mode) && copy_file(from, name, to);
  }

  static bool copy_link(const Fd& from, const std::string& name, Target& to) {
    std::array<char, PATH_MAX> target{};
    const ssize_t size = ::readlinkat(from.get(), name.c_str(), target.data(), target.size() - 1);
    return size > 0 && to.get() >= 0 && ::symlinkat(target.data(), to.get(), name.c_str()) == 0;
  }

  bool copy_file(const Fd& from, const std::string& name, Target& to) {
    // O_NONBLOCK: what was a file a moment ago may be a fifo now.
    const Fd file(::openat(from.get(), name.c_str(),
                           O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    struct stat facts{};
    if (!file || ::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return false;
    const auto size = static_cast<std::uint64_t>(facts.st_size);
    if (size > order_.most_bytes - done_.bytes || to.get() < 0) return false;

    const Fd copy(::openat(to.get(), name.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!copy) return false;
    const std::array<timespec, 2> times{facts.st_atim, facts.st_mtim};
    if (!copy_bytes(file.get(), copy.get(), size) ||
        ::fchmod(copy.get(), facts.st_mode & 0777) != 0 ||
        ::futimens(copy.get(), times.data()) != 0) {
      ::unlinkat(to.get(), name.c_str(), 0);
      return false;
    }
    done_.bytes += size;
    return true;
  }

  const SalvageOrder& order_;
  Excluded excluded_;
  Salvage done_;
  std::size_t left_ = kMostLookedAt;
};

}  // namespace

Result<Salvage> LinuxSalvager::salvage(const SalvageOrder& order) { return Copying(order).run(); }

}  // namespace tend
