// A copy is a folder salvage/LIFE-N with the files and a note how to put them back. The note is
// written first and removed if there was nothing to copy: a folder without one is empty and is
// used again.
#include "act/preserve.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/name.h"
#include "base/quote.h"

namespace tend {
namespace {

constexpr std::size_t kMostNameInRef = 60;
constexpr std::size_t kMostLeftOutNamed = 3;
constexpr std::size_t kMostWhy = 1000;
constexpr unsigned kMostCopies = 100;  // of one life
constexpr std::string_view kNote = "RESTORE.txt";

bool fits_in_ref(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

/// The name itself where git takes it as a part of a ref; else like it, with a number made of the
/// whole name, so that two that look alike stay apart.
std::string part_of_ref(std::string_view name) {
  std::string part;
  for (const char c : name.substr(0, kMostNameInRef)) {
    const bool dot_too_many = c == '.' && (part.empty() || part.ends_with('.'));
    part += fits_in_ref(c) && !dot_too_many ? c : '-';
  }
  if (part.ends_with('.') || part.ends_with(".lock")) part += '-';
  if (part == name && !part.empty()) return part;
  return fmt::format("{}-{:08x}", part, Name(name).hash() & 0xffffffffU);
}

std::string in_shell_quotes(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += R"('\'')";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string counted(std::uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string told(const std::vector<std::string>& left_out) {
  if (left_out.empty()) return "";
  std::string text = "; left out: ";
  const std::size_t named = std::min(left_out.size(), kMostLeftOutNamed);
  for (std::size_t i = 0; i < named; ++i) {
    text += (i == 0 ? "" : ", ") + on_one_line(left_out[i]);
  }
  if (left_out.size() > named) text += fmt::format(" and {} more", left_out.size() - named);
  return text;
}

}  // namespace

std::string saved_title(std::string_view agent) {
  return fmt::format("Work of {}, life ", on_one_line(agent));
}

class Preserve::Work {
 public:
  Work(Machine& machine, Folder& folder, PreserveOrder order,
       std::function<void(const Result<Preserved>&)> done)
      : machine_(machine), folder_(folder), order_(std::move(order)), done_(std::move(done)) {
    order_.why = on_one_line(std::string_view(order_.why).substr(0, kMostWhy));
    waiting_ = machine_.loop.at(machine_.clock.now(), [this] { begin(); });
  }

 private:
  void begin() {
    if (order_.worktree.empty()) return finish(Preserved{.what = "nothing to save"});
    waiting_ = machine_.version_control.snapshot(
        {.worktree = order_.worktree,
         .ref = fmt::format("refs/tend/{}/{}", part_of_ref(order_.agent), order_.life),
         .message = title() + "\n\n" + order_.why,
         .exclude = order_.exclude},
        [this](const Result<Snapshot>& snapshot) { finish(judged(snapshot)); });
  }

  void finish(const Result<Preserved>& result) {
    const auto done = std::move(done_);
    done(result);  // which may destroy this
  }

  [[nodiscard]] std::string title() const {
    return saved_title(order_.agent) + std::to_string(order_.life);
  }

  Result<Preserved> judged(const Result<Snapshot>& snapshot) {
    if (!snapshot) return salvaged(snapshot.error().text);
    if (!snapshot->versioned) return salvaged("");
    if (snapshot->commit.empty()) {
      return Preserved{.what = "nothing to save, all is committed" + told(snapshot->left_out)};
    }
    return Preserved{
        .saved = true,
        .what = fmt::format("{} in {} ({}){}", counted(snapshot->files, "file"), snapshot->ref,
                            snapshot->commit.substr(0, 7), told(snapshot->left_out))};
  }

  /// `trouble` as in Preserved.
  Result<Preserved> salvaged(const std::string& trouble) {
    const std::string and_why = trouble.empty() ? "" : "; " + trouble;
    auto copied = copy();
    if (!copied) return fail(copied.error().text + and_why);
    copied->what += and_why;
    copied->trouble = trouble;
    return copied;
  }

  Result<Preserved> copy() {
    auto place = free_place();
    if (!place) return std::unexpected(place.error());
    Folder& into = **place;
    const auto files = into.make_folder("files");
    if (!files) return std::unexpected(files.error());
    if (auto noted = note(into, "not known: the copying was broken off"); !noted) {
      return std::unexpected(noted.error());
    }
    SalvageOrder salvage{.worktree = order_.worktree,
                         .into = (*files)->path(),
                         .changed_since = order_.since,
                         .exclude = order_.exclude};
    salvage.exclude.push_back(folder_.path());
    const auto copied = machine_.salvager.salvage(salvage);
    if (!copied) return std::unexpected(copied.error());
    return copied->files == 0 ? nothing_in(into, *copied) : all_in(into, *copied);
  }

  Result<std::unique_ptr<Folder>> free_place() {
    const auto all = folder_.make_folder("salvage");
    if (!all) return std::unexpected(all.error());
    for (unsigned n = 1; n <= kMostCopies; ++n) {
      auto place = (*all)->make_folder(fmt::format("{}-{}", order_.life, n));
      if (!place) return place;
      const auto used = (*place)->facts(std::string(kNote));
      if (!used) return std::unexpected(used.error());
      if (!*used) return place;
    }
    return fail(fmt::format("{} holds {} copies of life {} already; remove some", (*all)->path(),
                            kMostCopies, order_.life));
  }

  static Result<Preserved> nothing_in(Folder& into, const Salvage& copied) {
    if (auto removed = into.remove(std::string(kNote)); !removed) {
      return std::unexpected(removed.error());
    }
    if (copied.left_out == 0) return Preserved{.what = "nothing to save, no file changed"};
    return fail(counted(copied.left_out, "file") + " could not be copied");
  }

  Result<Preserved> all_in(Folder& into, const Salvage& copied) {
    std::string what = counted(copied.files, "file");
    if (copied.left_out > 0) what += fmt::format(", {} left out", copied.left_out);
    if (auto noted = note(into, what); !noted) return std::unexpected(noted.error());
    return Preserved{.saved = true, .what = fmt::format("{} in {}", what, into.path())};
  }

  Result<void> note(Folder& into, std::string_view what) {
    // cp -a would give the work tree the mode of our own folder.
    return into.replace(
        std::string(kNote),
        fmt::format(
            "{}: {}\n\n"
            "From:  {}\n"
            "Here:  {}\n\n"
            "Files that did not change in this life were not copied. What is left out could\n"
            "not be read, is no plain file, or did not fit the bounds.\n\n"
            "To put the files back, over those that are there now:\n\n"
            "    cp -dR {} {}\n",
            title(), order_.why, order_.worktree, what, in_shell_quotes(into.path() + "/files/."),
            in_shell_quotes(order_.worktree + "/")),
        Folder::Sync::yes);
  }

  Machine& machine_;
  Folder& folder_;
  PreserveOrder order_;
  std::function<void(const Result<Preserved>&)> done_;
  Subscribed waiting_;
};

Preserve::Preserve(Machine& machine, Folder& folder, PreserveOrder order,
                   std::function<void(const Result<Preserved>&)> done)
    : work_(std::make_unique<Work>(machine, folder, std::move(order), std::move(done))) {}

Preserve::~Preserve() = default;

}  // namespace tend
