// Every call walks the way again; the walk proves each part of it anew.
#include "store/distant_folder.h"

#include <utility>

#include "base/quote.h"

namespace tend {

Result<std::unique_ptr<Folder>> reach(Folder& start, const std::vector<std::string>& way) {
  std::unique_ptr<Folder> at;
  for (const std::string& name : way) {
    auto next = (at ? *at : start).folder(name);
    if (!next || *next == nullptr) return next;
    at = *std::move(next);
  }
  return at;
}

DistantFolder::DistantFolder(std::shared_ptr<Folder> start, std::vector<std::string> way)
    : start_(std::move(start)), way_(std::move(way)), path_(start_->path()) {
  for (const std::string& name : way_) path_ += "/" + name;
}

template <class Use>
auto DistantFolder::there(Use use) -> decltype(use(std::declval<Folder&>())) {
  const auto reached = reach(*start_, way_);
  if (!reached) return std::unexpected(reached.error());
  if (*reached == nullptr) return fail(on_one_line(path_) + ": is gone");
  return use(**reached);
}

Result<std::unique_ptr<File>> DistantFolder::open(const std::string& name, Open how) {
  return there([&](Folder& here) { return here.open(name, how); });
}

Result<std::optional<std::string>> DistantFolder::read(const std::string& name, std::size_t most) {
  return there([&](Folder& here) { return here.read(name, most); });
}

Result<void> DistantFolder::replace(const std::string& name, std::string_view bytes, Sync sync,
                                    std::optional<WallTime> modified) {
  return there([&](Folder& here) { return here.replace(name, bytes, sync, modified); });
}

Result<bool> DistantFolder::make_file(const std::string& name, std::string_view bytes, Sync sync) {
  return there([&](Folder& here) { return here.make_file(name, bytes, sync); });
}

Result<void> DistantFolder::rename(const std::string& from, const std::string& to) {
  return there([&](Folder& here) { return here.rename(from, to); });
}

Result<std::optional<FileFacts>> DistantFolder::facts(const std::string& name) {
  return there([&](Folder& here) { return here.facts(name); });
}

Result<void> DistantFolder::remove(const std::string& name) {
  return there([&](Folder& here) { return here.remove(name); });
}

Result<std::unique_ptr<Folder>> DistantFolder::folder(const std::string& name) {
  return there([&](Folder& here) { return here.folder(name); });
}

Result<std::unique_ptr<Folder>> DistantFolder::make_folder(const std::string& name) {
  return there([&](Folder& here) { return here.make_folder(name); });
}

Result<std::unique_ptr<Folder>> DistantFolder::make_new_folder(const std::string& name) {
  return there([&](Folder& here) { return here.make_new_folder(name); });
}

Result<std::vector<std::string>> DistantFolder::folders(std::size_t most) {
  return there([&](Folder& here) { return here.folders(most); });
}

Result<std::vector<std::string>> DistantFolder::file_names(std::size_t most) {
  return there([&](Folder& here) { return here.file_names(most); });
}

void DistantFolder::sweep(Duration ago) {
  std::ignore = there([&](Folder& here) -> Result<void> {
    here.sweep(ago);
    return {};
  });
}

}  // namespace tend
