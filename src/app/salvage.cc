// What act/preserve.cc leaves behind, read again: the title of its commits, the note of its copies.
#include "app/salvage.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "app/await.h"
#include "base/quote.h"
#include "store/home.h"

namespace tend {
namespace {

constexpr std::string_view kRefs = "refs/tend/";
constexpr std::string_view kTitle = "Work of ";
constexpr std::string_view kTitleLife = ", life ";
constexpr const char* kCopies = "salvage";
constexpr const char* kFiles = "files";
constexpr const char* kNote = "RESTORE.txt";
constexpr std::size_t kLargestNote = std::size_t{64} * 1024;
constexpr std::size_t kMostCopies = 1000;  // of one agent
constexpr std::size_t kMostPaths = 200;
constexpr std::size_t kDeepest = 100;

std::string_view first_line(std::string_view text) { return text.substr(0, text.find('\n')); }

/// The rest of the line that begins so; "" if there is none.
std::string_view line_after(std::string_view text, std::string_view begin) {
  while (!text.empty()) {
    const std::string_view line = first_line(text);
    if (line.starts_with(begin)) return line.substr(begin.size());
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return "";
}

std::optional<std::uint64_t> number_at_begin(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  return number;
}

/// "coder" of "Work of coder, life 3"; nullopt of any other title.
std::optional<std::string_view> agent_in_title(std::string_view title) {
  const std::size_t end = title.rfind(kTitleLife);
  if (!title.starts_with(kTitle) || end == title.npos || end < kTitle.size()) return std::nullopt;
  return title.substr(kTitle.size(), end - kTitle.size());
}

SavedItem item_of(const SavedWork& saved) {
  SavedItem item{.what = saved.ref,
                 .commit = saved.commit,
                 .at = saved.at,
                 .files = saved.files,
                 .why = saved.why.empty() ? saved.message : saved.why};
  std::string_view name = saved.ref;
  if (name.starts_with(kRefs)) name.remove_prefix(kRefs.size());
  const std::size_t slash = name.rfind('/');
  if (slash != name.npos) item.life = name.substr(slash + 1);
  item.agent = name.substr(0, slash);
  // A name that is no part of a ref stands as it is in the title.
  if (const auto agent = agent_in_title(saved.message)) {
    item.agent = *agent;
    item.why = saved.why;
  }
  return item;
}

Result<std::vector<SavedItem>> saved_in_refs(Machine& machine, const std::string& path) {
  std::vector<SavedItem> items;
  if (machine.version_control.repository(path).empty()) return items;
  const auto all = await<std::vector<SavedWork>>(
      machine, [&](auto answer) { return machine.version_control.saved(path, std::move(answer)); });
  if (!all) return std::unexpected(all.error());
  for (const SavedWork& saved : *all) items.push_back(item_of(saved));
  return items;
}

/// nullopt if there is no note: nothing was copied.
std::optional<SavedItem> copy_in(Folder& folder, const std::string& life, std::string agent) {
  const auto note = folder.read(kNote, kLargestNote);
  if (!note || !*note) return std::nullopt;
  SavedItem item{.what = folder.path(), .agent = std::move(agent), .life = life};
  const std::string_view text = **note;
  const std::string_view title = first_line(text);
  const std::size_t after_life = title.find(": ", std::min(title.find(kTitleLife), title.size()));
  if (after_life != title.npos) item.why = title.substr(after_life + 2);
  item.from = line_after(text, "From:  ");
  item.files = number_at_begin(line_after(text, "Here:  "));
  const auto facts = folder.facts(kNote);
  if (facts && *facts) item.at = (*facts)->modified;
  return item;
}

void add_copies(const KnownAgent& known, std::vector<SavedItem>& items) {
  if (!known.folder) return;
  const auto copies = known.folder->folder(kCopies);
  if (!copies || *copies == nullptr) return;
  const auto names = (*copies)->folders(kMostCopies);
  if (!names) return;
  for (const std::string& name : *names) {
    const auto folder = (*copies)->folder(name);
    if (!folder || *folder == nullptr) continue;
    if (auto item = copy_in(**folder, name, known.heartbeat.agent)) {
      items.push_back(*std::move(item));
    }
  }
}

void add_paths(Folder& folder, const std::string& before, std::size_t depth, CopiedPaths& found) {
  const auto files = folder.file_names(kMostPaths);
  const auto folders = folder.folders(kMostPaths);
  if (!files || !folders || depth == kDeepest) {
    found.complete = false;
    return;
  }
  for (const std::string& name : *files) {
    if (found.paths.size() == kMostPaths) {
      found.complete = false;
      return;
    }
    found.paths.push_back(on_one_line(before + name));
  }
  for (const std::string& name : *folders) {
    const auto inner = folder.folder(name);
    if (!inner || *inner == nullptr) {
      found.complete = false;
      continue;
    }
    add_paths(**inner, before + name + "/", depth + 1, found);
  }
}

Result<std::string> restore_copy(Machine& machine, const SavedItem& item, const std::string& into) {
  const auto made = machine.folders.make(into);
  if (!made) return std::unexpected(made.error());
  const auto copied =
      machine.salvager.salvage({.worktree = item.what + "/" + kFiles, .into = (*made)->path()});
  if (!copied) return std::unexpected(copied.error());
  return copied->left_out == 0 ? "" : fmt::format("{} could not be copied", copied->left_out);
}

Result<std::string> restore_commit(Machine& machine, const SavedItem& item,
                                   const WorktreeOrder& order) {
  const auto made = await<WorktreeState>(machine, [&](auto answer) {
    return machine.version_control.make_worktree(order, std::move(answer));
  });
  if (!made) return std::unexpected(made.error());
  if (made->commit != item.commit) {
    return fail(fmt::format("{} holds {} now, not {}: the ref was moved meanwhile",
                            on_one_line(order.path), made->commit, item.commit));
  }
  return "";
}

}  // namespace

Result<std::vector<SavedItem>> saved_work(Machine& machine, Folder& home, const std::string& path) {
  auto items = saved_in_refs(machine, path);
  if (!items) return items;
  const auto agents = agents_of(home);
  if (!agents) return std::unexpected(agents.error());
  for (const KnownAgent& known : *agents) add_copies(known, *items);
  std::ranges::sort(*items, {}, [](const SavedItem& one) { return std::pair(one.at, one.what); });
  return items;
}

Result<std::vector<SavedItem>> meant_by(const std::vector<SavedItem>& all, std::string_view text) {
  std::vector<SavedItem> exactly;
  std::vector<SavedItem> of_agent;
  for (const SavedItem& item : all) {
    if (item.what == text || item.what == std::string(kRefs).append(text)) exactly.push_back(item);
    if (item.agent == text) of_agent.push_back(item);
  }
  if (!exactly.empty()) return exactly;
  if (!of_agent.empty()) return of_agent;
  return fail(fmt::format("no saved work of {}; `tend salvage list` shows all", in_quotes(text)));
}

CopiedPaths paths_in(Folders& folders, const SavedItem& copy) {
  CopiedPaths found;
  const auto files = folders.open(copy.what + "/" + kFiles);
  if (!files) {
    found.complete = false;
    return found;
  }
  add_paths(**files, "", 0, found);
  std::ranges::sort(found.paths);
  return found;
}

Result<std::string> restore(Machine& machine, const SavedItem& item, const std::string& repository,
                            const std::string& into, const std::string& branch) {
  if (machine.folders.real_path(into)) {
    return fail(on_one_line(into) + " is there already; name a new folder with --into");
  }
  if (item.is_copy()) return restore_copy(machine, item, into);
  // The commit, not the ref: what was listed is what is restored.
  return restore_commit(
      machine, item,
      {.repository = repository, .path = into, .branch = branch, .from = item.commit});
}

std::string in_shell(std::string_view text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_./-+:@%=,").contains(c);
  };
  if (!text.empty() && std::ranges::all_of(text, plain)) return std::string(text);
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? R"('\'')" : std::string(1, c);
  return quoted + "'";
}

}  // namespace tend
