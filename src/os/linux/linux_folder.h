// Folders of this user, reached by descriptors: every step is looked at before the next is taken,
// and no path is resolved twice.
#pragma once

#include <dirent.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "os/folder.h"
#include "os/linux/fd.h"
#include "os/linux/linux_entropy.h"

namespace tend {

class LinuxFolder final : public Folder {
 public:
  /// Fails unless the descriptor is a folder of this user that nobody else can write to.
  static Result<std::unique_ptr<Folder>> prove(Fd descriptor, std::string path);

  [[nodiscard]] const std::string& path() const override { return path_; }
  Result<std::unique_ptr<File>> open(const std::string& name, Open how) override;
  Result<std::optional<std::string>> read(const std::string& name, std::size_t most) override;
  Result<void> replace(const std::string& name, std::string_view bytes, Sync sync,
                       std::optional<WallTime> modified = std::nullopt) override;
  Result<bool> make_file(const std::string& name, std::string_view bytes, Sync sync) override;
  Result<void> rename(const std::string& from, const std::string& to) override;
  Result<std::optional<FileFacts>> facts(const std::string& name) override;
  /// Nothing of that name is no failure.
  Result<void> remove(const std::string& name) override;
  Result<std::unique_ptr<Folder>> folder(const std::string& name) override;
  Result<std::unique_ptr<Folder>> make_folder(const std::string& name) override;
  Result<std::unique_ptr<Folder>> make_new_folder(const std::string& name) override;
  /// The first ones of the alphabet if there are more than `most`.
  Result<std::vector<std::string>> folders(std::size_t most) override;
  Result<std::vector<std::string>> file_names(std::size_t most) override;
  void sweep(Duration ago) override;

 private:
  Result<std::vector<std::string>> names_of(unsigned char type, std::size_t most);
  LinuxFolder(Fd descriptor, std::string path)
      : descriptor_(std::move(descriptor)), path_(std::move(path)) {}

  [[nodiscard]] std::string path_of(const std::string& name) const;
  /// No descriptor if there is nothing of that name.
  Result<Fd> open_proven(const std::string& name, int flags);
  /// False, and errno, if it cannot be listed to the end.
  bool for_each_entry(const std::function<void(const dirent&)>& tell);
  Result<void> fill(const Fd& file, const std::string& path, std::string_view bytes, Sync sync,
                    std::optional<WallTime> modified);

  LinuxEntropy entropy_;
  Fd descriptor_;
  std::string path_;
};

class LinuxFolders final : public Folders {
 public:
  /// Links are followed above the last part, if they belong to root or this user.
  Result<std::unique_ptr<Folder>> open(const std::string& path) override;
  Result<std::unique_ptr<Folder>> make(const std::string& path) override;
  [[nodiscard]] Result<std::string> working_folder() override;
  [[nodiscard]] Result<std::string> real_path(const std::string& path) override;
  [[nodiscard]] std::optional<WallTime> newest_below(const std::string& path, std::string_view part,
                                                     std::size_t depth) override;
};

}  // namespace tend
