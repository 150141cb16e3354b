// What a process of the world writes, seen the moment it is there: the files and the leases of its
// machine, with somebody who is told.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "os/files.h"
#include "store/lease_files.h"

namespace tend::sim {

class WatchedLeases final : public Leases {
 public:
  struct Hears {
    std::function<void(const std::string& lease)> before;                    // a write
    std::function<void(const std::string& lease, bool written)> after = {};  // one that returned
  };
  WatchedLeases(Folder& home, Hears hears) : files_(home), hears_(std::move(hears)) {}

  Result<std::optional<LeaseRecord>> read(const std::string& name) override {
    return files_.read(name);
  }
  Result<std::vector<std::string>> list() override { return files_.list(); }
  Result<bool> write(const LeaseRecord& next) override {
    hears_.before(next.name);
    auto written = files_.write(next);
    hears_.after(next.name, written && *written);
    return written;
  }

 private:
  LeaseFiles files_;
  Hears hears_;
};

class WatchedFiles final : public Files {
 public:
  /// `replaced` hears of each whole file that was put in the place of another.
  WatchedFiles(Files& files, std::function<void(const std::string& path)> replaced)
      : files_(files), replaced_(std::move(replaced)) {}

  Result<std::unique_ptr<ByteSource>> open(const std::string& path) override {
    return files_.open(path);
  }
  Result<std::optional<std::string>> read(const std::string& path, std::size_t most) override {
    return files_.read(path, most);
  }
  Result<bool> replace_if(const std::string& path, std::string_view bytes,
                          const std::function<bool()>& still) override {
    auto done = files_.replace_if(path, bytes, still);
    if (done && *done) replaced_(path);
    return done;
  }
  Result<bool> make_new(const std::string& path, std::string_view bytes) override {
    return files_.make_new(path, bytes);
  }
  Result<void> append_line(const std::string& path, std::string_view line,
                           std::uint64_t most) override {
    return files_.append_line(path, line, most);
  }
  Result<std::optional<WallTime>> modified(const std::string& path) override {
    return files_.modified(path);
  }
  Result<bool> touch(const std::string& path) override { return files_.touch(path); }
  Result<void> remove(const std::string& path) override { return files_.remove(path); }

 private:
  Files& files_;
  std::function<void(const std::string& path)> replaced_;
};

}  // namespace tend::sim
