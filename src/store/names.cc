// A name becomes the name of a file: bytes that are no plain letters as %NN, and what is too long
// for a file's name cut, with a hash of the whole behind it.
#include "store/names.h"

#include <fmt/format.h>

#include "base/name.h"
#include "base/quote.h"

namespace tend {
namespace {

constexpr std::size_t kLongestFileName = 200;
constexpr std::size_t kHashSize = 18;  // "%-" and 16 digits; no escape begins so
constexpr std::size_t kLongestPath = 4096;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

std::string file_name_of(std::string_view name) {
  std::string file;
  for (const char c : name) {
    const bool stays = is_plain(c) || (c == '.' && !file.empty());
    file += stays ? std::string(1, c) : fmt::format("%{:02x}", static_cast<unsigned char>(c));
  }
  if (file.size() <= kLongestFileName) return file;
  file.resize(kLongestFileName - kHashSize);
  return file + fmt::format("%-{:016x}", Name(name).hash());
}

Result<void> check_name(std::string_view name) {
  if (name.empty()) return fail("an agent needs a name");
  return {};
}

}  // namespace

Result<std::optional<std::string>> named_folder(Folder& home, std::string_view name) {
  if (auto named = check_name(name); !named) return std::unexpected(named.error());
  const auto names = home.folder(std::string(kNamesFolder));
  if (!names) return std::unexpected(names.error());
  if (*names == nullptr) return std::nullopt;
  auto text = (*names)->read(file_name_of(name), kLongestPath + 1);
  if (!text || !*text) return text;
  if (!(*text)->starts_with('/') || !(*text)->ends_with('\n')) return std::nullopt;
  (*text)->pop_back();
  return text;
}

Result<void> name_folder(Folder& home, std::string_view name, const std::string& path) {
  if (auto named = check_name(name); !named) return named;
  if (!path.starts_with('/') || path.size() > kLongestPath) {
    return fail(in_quotes(path) + " is no absolute path of an agent's folder");
  }
  const auto names = home.make_folder(std::string(kNamesFolder));
  if (!names) return std::unexpected(names.error());
  // Who is asked for again after a power cut is not to be there twice.
  return (*names)->replace(file_name_of(name), path + "\n", Folder::Sync::yes);
}

}  // namespace tend
