// What a file does to its node, and when its process dies of it; see sim_file.h.
#include "os/sim/sim_file.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/check.h"

namespace tend {

SimFile::SimFile(SimHandlePtr handle, SimNodePtr node, std::shared_ptr<const std::string> folder,
                 Folder::Open how)
    : handle_(std::move(handle)),
      node_(std::move(node)),
      folder_(std::move(folder)),
      name_(node_->name),
      how_(how),
      number_(handle_->kernel->number_of_opening()) {}

// The locks of the dead are released with them; a later holder keeps its own.
SimFile::~SimFile() {
  if (node_->lock == number_ && handle_->kernel != nullptr) disk().unlock(*node_, number_);
}

Result<std::size_t> SimFile::read_at(std::uint64_t offset, std::span<char> into) {
  if (!handle_->call_disk()) return sim_over();
  if (offset >= node_->bytes.size()) return 0;
  const std::size_t size = std::min<std::size_t>(into.size(), node_->bytes.size() - offset);
  std::copy_n(node_->bytes.data() + offset, size, into.data());
  return size;
}

Result<void> SimFile::append(std::string_view bytes) {
  const auto write = [&](std::string_view part) {
    if (may_write()) std::ignore = disk().grow(*node_, part);
  };
  if (!handle_->call_to_write(bytes, write)) return sim_over();
  if (auto may = may_write(); !may) return may;
  return named(disk().grow(*node_, bytes));
}

Result<void> SimFile::overwrite(std::string_view bytes) {
  CHECK(how_ != Folder::Open::append);  // the real one would write at the end
  const auto write = [&](std::string_view part) {
    if (may_write()) std::ignore = disk().overwrite(*node_, part);
  };
  if (!handle_->call_to_write(bytes, write)) return sim_over();
  if (auto may = may_write(); !may) return may;
  return named(disk().overwrite(*node_, bytes));
}

Result<FileFacts> SimFile::facts() {
  if (!handle_->call_disk()) return sim_over();
  return sim_facts_of(*node_);
}

Result<void> SimFile::touch() {
  if (!handle_->call_disk()) return sim_over();
  if (!disk().broken.empty()) return named(fail(disk().broken));
  disk().touch(*node_);
  return {};
}

Result<void> SimFile::touch(WallTime modified) {
  if (auto touched = touch(); !touched) return touched;
  node_->modified = modified;
  return {};
}

Result<void> SimFile::punch(std::uint64_t end) {
  if (!handle_->call_disk()) return sim_over();
  if (auto may = may_write(); !may) return may;
  if (!disk().can_punch) return named(fail("Operation not supported"));
  disk().punch(*node_, end);
  return {};
}

Result<std::uint64_t> SimFile::data_from(std::uint64_t offset) {
  if (!handle_->call_disk()) return sim_over();
  return std::min<std::uint64_t>(std::max(offset, node_->hole), node_->bytes.size());
}

Result<void> SimFile::cut(std::uint64_t size) {
  if (!handle_->call_disk()) return sim_over();
  if (auto may = may_write(); !may) return may;
  disk().cut(*node_, size);
  return {};
}

Result<void> SimFile::sync() {
  if (!handle_->call_sync()) return sim_over();
  if (!disk().broken.empty()) return named(fail(disk().broken));
  disk().sync(*node_);
  return {};
}

Result<bool> SimFile::lock() {
  if (!handle_->call()) return sim_over();
  return disk().lock(node_, number_, handle_->row->facts.id.pid);
}

Result<bool> SimFile::is_locked() {
  if (!handle_->call()) return sim_over();
  return node_->lock != 0 && node_->lock != number_;
}

Result<void> SimFile::may_write() {
  if (how_ == Folder::Open::read) return named(fail("Bad file descriptor"));
  if (!disk().broken.empty()) return named(fail(disk().broken));
  return {};
}

Result<void> SimFile::named(Result<void> result) const {
  if (result) return result;
  return fail("cannot write " + (*folder_ == "/" ? "" : *folder_) + "/" + name_ + ": " +
              result.error().text);
}

}  // namespace tend
