// The version is SQLite's own `user_version`, so that it changes with the schema or not at all.
#include "store/versioned_database.h"

#include <fmt/format.h>

namespace tend {
namespace {

Result<std::int64_t> version_of(Database& database) {
  std::int64_t version = 0;
  auto read = database.each("PRAGMA user_version", {},
                            [&](const DatabaseRow& row) { version = row.number(0); });
  if (!read) return std::unexpected(read.error());
  return version;
}

/// What one opening knows.
struct Opening {
  Databases& databases;
  Folder& home;
  const std::string& name;
  std::span<const std::string_view> steps;

  [[nodiscard]] std::int64_t newest() const { return static_cast<std::int64_t>(steps.size()); }
  [[nodiscard]] std::string path() const { return home.path() + "/" + name; }
};

Result<void> refuse_newer(const Opening& opening, std::int64_t version) {
  if (version >= 0 && version <= opening.newest()) return {};
  return fail(fmt::format("{} was made by a newer tend (its version {}, ours {}): update tend",
                          opening.path(), version, opening.newest()));
}

Result<void> take_steps(const Opening& opening, Database& database) {
  return database.change([&]() -> Result<void> {
    const auto version = version_of(database);
    if (!version) return std::unexpected(version.error());
    if (auto ok = refuse_newer(opening, *version); !ok) return ok;
    if (*version == opening.newest()) return {};
    for (std::int64_t step = *version; step < opening.newest(); ++step) {
      const std::string_view sql = opening.steps[static_cast<std::size_t>(step)];
      if (auto done = database.run_script(std::string(sql)); !done) return done;
    }
    return database.run_script(fmt::format("PRAGMA user_version = {}", opening.newest()));
  });
}

Result<void> bring_up_to_date(const Opening& opening, Database& database) {
  auto file = opening.home.open(fmt::format(".{}.migration", opening.name), Folder::Open::update);
  if (!file) return std::unexpected(file.error());
  const auto locked = (*file)->lock();
  if (!locked) return std::unexpected(locked.error());
  const auto before = version_of(database);
  if (!before) return std::unexpected(before.error());
  // A new one has nothing to lose: who comes second waits in `change`, and then finds it done.
  if (*before > 0 && *before < opening.newest()) {
    if (!*locked) {
      return fail(fmt::format("{} is being brought up to date by another process; try again",
                              opening.path()));
    }
    const std::string aside = fmt::format("{}.v{}", opening.path(), *before);
    if (auto copied = opening.databases.copy(database, aside); !copied) {
      return fail("cannot put a copy aside: " + copied.error().text);
    }
  }
  return take_steps(opening, database);
}

}  // namespace

Result<std::unique_ptr<Database>> open_versioned_database(Databases& databases, Folder& home,
                                                          const std::string& name,
                                                          std::span<const std::string_view> steps,
                                                          const DatabaseSettings& settings) {
  const Opening opening{databases, home, name, steps};
  auto opened = databases.open(opening.path(), settings);
  if (!opened) return opened;
  const auto version = version_of(**opened);
  if (!version) return std::unexpected(version.error());
  if (auto ok = refuse_newer(opening, *version); !ok) return std::unexpected(ok.error());
  if (*version < opening.newest()) {
    if (auto done = bring_up_to_date(opening, **opened); !done) {
      return std::unexpected(done.error());
    }
  }
  return opened;
}

}  // namespace tend
