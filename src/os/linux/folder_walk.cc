// The walk holds the folder it stands in as a descriptor and the parts still to go as a queue. A
// link puts its own parts in front of them.
#include "os/linux/folder_walk.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <climits>
#include <deque>
#include <string_view>
#include <utility>
#include <vector>

#include "base/quote.h"

namespace tend {
namespace {

constexpr int kMostLinks = 40;     // as the kernel
constexpr int kMostParts = 1'000;  // links may add some

std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const auto slash = path.find('/');
    const auto part = path.substr(0, slash);
    if (!part.empty() && part != ".") parts.emplace_back(part);
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
  }
  return parts;
}

class Walk {
 public:
  explicit Walk(Missing missing) : missing_(missing) {}

  Result<Walked> to(const std::string& path) {
    for (std::string& part : parts_of(path)) ahead_.push_back(std::move(part));
    if (auto started = start_at_root(); !started) return std::unexpected(started.error());
    for (int steps = 0; !ahead_.empty(); ++steps) {
      if (steps == kMostParts) return refuse("has too many parts");
      const std::string part = std::move(ahead_.front());
      ahead_.pop_front();
      if (auto stepped = step(part); !stepped) return std::unexpected(stepped.error());
    }
    Fd folder(::openat(here_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder) return failed("open");
    return Walked{std::move(folder), text()};
  }

 private:
  Result<void> start_at_root() {
    here_ = Fd(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    behind_.clear();
    struct stat seen{};
    if (!here_ || ::fstat(here_.get(), &seen) != 0) return failed("open");
    // In a user namespace root is somebody else; whoever owns "/" can replace all below it.
    root_ = seen.st_uid;
    return prove(seen);
  }

  Result<void> step(const std::string& part) {
    behind_.push_back(part);
    Fd next = open_part(part);
    if (!next && errno == ENOENT && missing_ == Missing::make && part != "..") {
      if (!make_private_folder(here_.get(), part) && errno != EEXIST) return failed("make");
      next = open_part(part);
    }
    if (!next) return failed("open");
    struct stat seen{};
    if (::fstat(next.get(), &seen) != 0) return failed("look at");
    if (S_ISLNK(seen.st_mode)) return follow(next, seen);
    if (!S_ISDIR(seen.st_mode)) return refuse("is not a folder");
    if (auto proven = prove(seen); !proven) return proven;
    here_ = std::move(next);
    if (part == "..") behind_.resize(behind_.size() >= 2 ? behind_.size() - 2 : 0);
    return {};
  }

  [[nodiscard]] Fd open_part(const std::string& part) const {
    return Fd(::openat(here_.get(), part.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  }

  Result<void> follow(const Fd& link, const struct stat& seen) {
    if (ahead_.empty()) return refuse("is a link: name the folder it points to");
    if (!is_trusted(seen.st_uid)) return refuse("is a link of another user");
    if (++links_ > kMostLinks) return refuse("has too many links");
    std::array<char, PATH_MAX> target{};
    const ssize_t size = ::readlinkat(link.get(), "", target.data(), target.size());
    if (size < 0) return failed("read");
    behind_.pop_back();
    const std::string_view to(target.data(), static_cast<std::size_t>(size));
    const auto parts = parts_of(to);
    ahead_.insert(ahead_.begin(), parts.begin(), parts.end());
    if (to.starts_with('/')) return start_at_root();
    return {};
  }

  [[nodiscard]] bool is_trusted(uid_t user) const {
    return user == 0 || user == root_ || user == ::geteuid();
  }

  [[nodiscard]] Result<void> prove(const struct stat& seen) const {
    if (!is_trusted(seen.st_uid)) return refuse("belongs to another user");
    const bool others_write = (seen.st_mode & (S_IWGRP | S_IWOTH)) != 0;
    // With the sticky bit others can add entries, but not touch those of root or ours.
    if (others_write && (seen.st_mode & S_ISVTX) == 0) {
      return refuse("can be changed by others: chmod go-w it");
    }
    return {};
  }

  [[nodiscard]] std::string text() const {
    std::string path;
    for (const std::string& part : behind_) path.append("/").append(part);
    return path.empty() ? "/" : path;
  }

  [[nodiscard]] std::unexpected<Error> refuse(std::string_view why) const {
    return fail(on_one_line(text()).append(" ").append(why));
  }

  [[nodiscard]] std::unexpected<Error> failed(std::string_view what) const {
    const std::string says = system_says(errno);
    return fail(std::string("cannot ").append(what).append(" ") + on_one_line(text()) + ": " +
                says);
  }

  Missing missing_;
  std::deque<std::string> ahead_;
  std::vector<std::string> behind_;
  Fd here_;
  uid_t root_ = 0;
  int links_ = 0;
};

}  // namespace

Result<Walked> walk_to_folder(const std::string& path, Missing missing) {
  if (!path.starts_with('/')) return fail(in_quotes(path) + " is not an absolute path");
  if (path.contains('\0')) return fail(in_quotes(path) + " is not a path");
  return Walk(missing).to(path);
}

bool make_private_folder(int parent, const std::string& name) {
  constexpr mode_t kOwnerOnly = 0700;
  if (::mkdirat(parent, name.c_str(), kOwnerOnly) != 0) return false;
  // Nobody else can have replaced it: the parent is ours alone, or sticky.
  return ::fchmodat(parent, name.c_str(), kOwnerOnly, 0) == 0;
}

}  // namespace tend
