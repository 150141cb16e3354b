// Files of people by open(2) and its kin; linux_world.cc opens, people_files.cc does all the rest.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "os/files.h"

namespace tend {

class LinuxFiles final : public Files {
 public:
  Result<std::unique_ptr<ByteSource>> open(const std::string& path) override;
  Result<std::optional<std::string>> read(const std::string& path, std::size_t most) override;
  Result<bool> replace_if(const std::string& path, std::string_view bytes,
                          const std::function<bool()>& still) override;
  Result<bool> make_new(const std::string& path, std::string_view bytes) override;
  Result<void> append_line(const std::string& path, std::string_view line,
                           std::uint64_t most) override;
  Result<std::optional<WallTime>> modified(const std::string& path) override;
  Result<bool> touch(const std::string& path) override;
  Result<void> remove(const std::string& path) override;
};

}  // namespace tend
