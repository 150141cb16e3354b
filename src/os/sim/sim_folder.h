// Folders and files of the simulated disk for one process, refused where the real ones are.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "os/folder.h"
#include "os/sim/sim_kernel.h"

namespace tend {

class SimFolders final : public Folders {
 public:
  explicit SimFolders(SimHandlePtr handle) : handle_(std::move(handle)) {}
  Result<std::unique_ptr<Folder>> open(const std::string& path) override;
  Result<std::unique_ptr<Folder>> make(const std::string& path) override;
  [[nodiscard]] Result<std::string> working_folder() override;
  [[nodiscard]] Result<std::string> real_path(const std::string& path) override;
  [[nodiscard]] std::optional<WallTime> newest_below(const std::string& path, std::string_view part,
                                                     std::size_t depth) override;

 private:
  enum class Missing { fail, make };
  Result<std::unique_ptr<Folder>> walk(const std::string& path, Missing missing);

  SimHandlePtr handle_;
};

}  // namespace tend
