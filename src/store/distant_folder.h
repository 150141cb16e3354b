// A folder that is reached anew for every use: a list of thousands of folders holds one descriptor,
// not thousands.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "os/folder.h"

namespace tend {

/// The folder at the end of a way of names from `start`; nullptr if a part of it is missing.
Result<std::unique_ptr<Folder>> reach(Folder& start, const std::vector<std::string>& way);

class DistantFolder final : public Folder {
 public:
  DistantFolder(std::shared_ptr<Folder> start, std::vector<std::string> way);

  [[nodiscard]] const std::string& path() const override { return path_; }
  Result<std::unique_ptr<File>> open(const std::string& name, Open how) override;
  Result<std::optional<std::string>> read(const std::string& name, std::size_t most) override;
  Result<void> replace(const std::string& name, std::string_view bytes, Sync sync,
                       std::optional<WallTime> modified = std::nullopt) override;
  Result<bool> make_file(const std::string& name, std::string_view bytes, Sync sync) override;
  Result<void> rename(const std::string& from, const std::string& to) override;
  Result<std::optional<FileFacts>> facts(const std::string& name) override;
  Result<void> remove(const std::string& name) override;
  Result<std::unique_ptr<Folder>> folder(const std::string& name) override;
  Result<std::unique_ptr<Folder>> make_folder(const std::string& name) override;
  Result<std::unique_ptr<Folder>> make_new_folder(const std::string& name) override;
  Result<std::vector<std::string>> folders(std::size_t most) override;
  Result<std::vector<std::string>> file_names(std::size_t most) override;
  void sweep(Duration ago) override;

 private:
  /// What `use` says of the folder.
  template <class Use>
  auto there(Use use) -> decltype(use(std::declval<Folder&>()));

  std::shared_ptr<Folder> start_;
  std::vector<std::string> way_;
  std::string path_;
};

}  // namespace tend
