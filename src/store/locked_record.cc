// Who holds the lock reads once: nobody else writes.
#include "store/locked_record.h"

#include <span>
#include <utility>

#include "base/check.h"

namespace tend {
namespace {

constexpr int kMostReads = 8;

Result<std::string> read_bytes(File& file, std::size_t most) {
  std::string bytes(most, '\0');
  std::size_t size = 0;
  while (size < most) {
    const auto got = file.read_at(size, std::span(bytes).subspan(size));
    if (!got) return std::unexpected(got.error());
    if (*got == 0) break;
    size += *got;
  }
  bytes.resize(size);
  return bytes;
}

/// A reader without the lock may meet a writer in the middle: what two looks agree on is whole.
Result<std::string> read_steady(File& file, std::size_t most) {
  auto last = read_bytes(file, most);
  for (int i = 1; last && i < kMostReads; ++i) {
    auto again = read_bytes(file, most);
    if (!again || *again == *last) return again;
    last = std::move(again);
  }
  return last;
}

}  // namespace

Result<std::unique_ptr<LockedRecord>> LockedRecord::take(Folder& folder, std::string_view name,
                                                         std::size_t size) {
  auto file = folder.open(std::string(name), Folder::Open::update);
  if (!file) return std::unexpected(file.error());
  const auto locked = (*file)->lock();
  if (!locked) return std::unexpected(locked.error());
  if (!*locked) return nullptr;
  auto text = read_bytes(**file, size);
  if (!text) return std::unexpected(text.error());
  std::unique_ptr<LockedRecord> record(new LockedRecord(*std::move(file), name, size));
  record->found_ = *std::move(text);
  return record;
}

Result<void> LockedRecord::write(std::string text) {
  CHECK(text.size() < size_);
  text.resize(size_ - 1, ' ');
  text += '\n';
  return file_->overwrite(text);
}

Result<bool> LockedRecord::is_in_place(Folder& folder) {
  if (!identity_) {  // an open file stays the one it is
    const auto ours = file_->facts();
    if (!ours) return std::unexpected(ours.error());
    identity_ = ours->file;
  }
  const auto named = folder.facts(name_);
  if (!named) return std::unexpected(named.error());
  return *named && (*named)->file == *identity_;
}

Result<std::optional<SeenRecord>> look_at_record(Folder& folder, std::string_view name,
                                                 std::size_t size) {
  const auto facts = folder.facts(std::string(name));
  if (!facts) return std::unexpected(facts.error());
  if (!*facts) return std::nullopt;
  const auto file = folder.open(std::string(name), Folder::Open::read);
  if (!file) return std::unexpected(file.error());
  const auto held = (*file)->is_locked();
  if (!held) return std::unexpected(held.error());
  auto text = read_steady(**file, size);
  if (!text) return std::unexpected(text.error());
  return SeenRecord{*held, *std::move(text), **facts};
}

}  // namespace tend
