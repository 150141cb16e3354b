// What becomes of the database that all of a home share: who cannot use it for a while, and what a
// power cut took from it.
#include <array>
#include <memory>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "checks/check.h"
#include "os/sim/sim_database_file.h"
#include "seeded_world.h"
#include "store/home_database.h"

namespace tend::sim {
namespace {

struct Table {
  std::string_view name;
  std::string_view sql;  // its rows: what they are known by, and what is compared of them
};

constexpr std::array kTables{
    Table{"tasks", "SELECT id, json_array(status, assignee, fence) FROM tasks"},
    Table{"letters", "SELECT id, json_array(key, subject, acked_at) FROM letters"},
    Table{"notices",
          "SELECT id, json_array(incident, key, kind, payload, state, tries, closed) FROM notices"},
    Table{"incidents",
          "SELECT incident, json_group_array(json_array(id, kind, state, closed)) FROM notices "
          "GROUP BY incident"},
    Table{"messages", "SELECT id, json_array(agent, key, state, holder, tries) FROM messages"},
    Table{"outages", "SELECT id, json_array(agent, ended_at) FROM outages"}};

}  // namespace

SimDatabaseFile* SeededWorld::database_file() {
  const auto found = universe.databases.find(fmt::format("{}/{}", kHome, kDatabaseFile));
  return found == universe.databases.end() ? nullptr : found->second.get();
}

void SeededWorld::strike_database(const Fault& fault) {
  SimDatabaseFile* const file = database_file();
  if (file == nullptr) return;
  if (fault.kind == FaultKind::busy_database) {
    file->busy = true;
    return goes_wrong(Wrong::busy_database, fault.lasts);
  }
  file->unreadable = true;
  goes_wrong(Wrong::unreadable_database, fault.lasts);
}

SeededWorld::RowsOfDatabase SeededWorld::rows_of_database() {
  RowsOfDatabase rows;
  const auto database = home_database_of(*this);
  for (const Table& table : kTables) {
    std::ignore = database->each(table.sql, {}, [&](const DatabaseRow& row) {
      rows[{std::string(table.name), std::string(row.text(0))}] = row.text(1);
    });
  }
  return rows;
}

/// What was promised to last is only taken by a disk that lies.
void SeededWorld::note_taken_back(const RowsOfDatabase& before, bool disk_lied) {
  const RowsOfDatabase left = rows_of_database();
  for (const auto& [row, text] : before) {
    const auto now = left.find(row);
    if (now != left.end() && now->second == text) continue;
    const auto& [table, id] = row;
    if (trace) say(fmt::format("taken back: {} {} {}", table, id, text));
    if (!disk_lied) report("database", fmt::format("a power cut took {} {}", table, id));
    taken_back_.insert(row);
    if (now == left.end() && table == "messages") forget_message(std::stoll(id));
    for (const auto& check : checks_) check->on_taken_back(table, id, text);
  }
}

/// Who sent it was told that it was received, and does not send it again. Its number is that of
/// the next.
void SeededWorld::forget_message(std::int64_t id) {
  for (MessageTruth& message : truth_.messages) message.ids.erase(id);
  truth_.got.erase(id);
}

}  // namespace tend::sim
