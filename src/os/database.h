// What several processes share and have to agree on: one SQLite file, thin and typed. Every failure
// is one line that says what to do; a damaged file is left as it is.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>

#include "base/result.h"
#include "base/time.h"

struct sqlite3;
struct sqlite3_stmt;

namespace tend {

/// A value that a statement is given in place of a `?`; monostate is NULL.
using DatabaseValue = std::variant<std::monostate, std::int64_t, std::string_view>;

/// A value or NULL.
template <class T>
DatabaseValue value_or_null(const std::optional<T>& value) {
  return value ? DatabaseValue(*value) : DatabaseValue();
}

/// The row that a query has come to. Columns count from 0; texts hold until the next row.
class DatabaseRow {
 public:
  explicit DatabaseRow(sqlite3_stmt* statement) : statement_(statement) {}
  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] std::int64_t number(int column) const;
  [[nodiscard]] std::string_view text(int column) const;
  [[nodiscard]] std::optional<std::int64_t> number_or_none(int column) const;
  [[nodiscard]] std::optional<std::string> text_or_none(int column) const;

 private:
  sqlite3_stmt* statement_;
};

enum class DatabaseTrouble : std::uint8_t { none, busy, full, read_only, damaged, other };

struct DatabaseSettings {
  /// How long others who write are waited for.
  Duration may_wait = std::chrono::seconds{10};
  /// What was committed is there after a power cut. Without it the last changes may be missing,
  /// never a part of one.
  bool durable = true;
};

/// An open file, with the statements that were prepared for it, each by its text.
class DatabaseConnection {
 public:
  /// Closes it in the end.
  explicit DatabaseConnection(sqlite3* opened);
  DatabaseConnection(const DatabaseConnection&) = delete;
  DatabaseConnection& operator=(const DatabaseConnection&) = delete;

  [[nodiscard]] sqlite3* handle() const { return handle_.get(); }
  /// Gives SQLite's own code; the statement is kept.
  int prepare(std::string_view sql, sqlite3_stmt*& made);

 private:
  struct Close {
    void operator()(sqlite3* one) const;
  };
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

  std::unique_ptr<sqlite3, Close> handle_;
  std::unordered_map<std::string, Statement> statements_;
};

/// What one process asks of it. Its statements are prepared once; `take` of each() may ask for
/// anything but what it is being given.
class Database {
 public:
  using Values = std::span<const DatabaseValue>;
  using List = std::initializer_list<DatabaseValue>;
  /// Called before each statement, which fails for that reason if there is one.
  using Before = std::function<DatabaseTrouble(bool writes)>;

  Database(std::shared_ptr<DatabaseConnection> connection, std::string path, Before before = {});
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// For its effect; how many rows it changed.
  Result<std::int64_t> run(std::string_view sql, Values values);
  Result<std::int64_t> run(std::string_view sql, List values = {}) {
    return run(sql, Values(values.begin(), values.size()));
  }
  using Take = std::function<void(const DatabaseRow&)>;
  Result<void> each(std::string_view sql, Values values, const Take& take);
  Result<void> each(std::string_view sql, List values, const Take& take) {
    return each(sql, Values(values.begin(), values.size()), take);
  }
  /// Several statements, none of which gives anything back.
  Result<void> run_script(const std::string& sql);

  /// All of it happens or nothing; others write before or after it. A failed body is taken back.
  /// REQUIRES that it is not called within itself, here and in set_durable().
  Result<void> change(const std::function<Result<void>()>& body);
  /// As in DatabaseSettings, from now on; what it was before.
  bool set_durable(bool durable);

  /// Why the last call failed.
  [[nodiscard]] DatabaseTrouble trouble() const { return trouble_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  Result<sqlite3_stmt*> prepare(std::string_view sql, Values values);
  Result<void> ask_before(bool writes);
  std::unexpected<Error> failed(int code);
  void take_back();

  std::shared_ptr<DatabaseConnection> connection_;
  std::string path_;
  Before before_;
  DatabaseTrouble trouble_ = DatabaseTrouble::none;
  bool changing_ = false;
  bool durable_ = true;
};

class Databases {
 public:
  virtual ~Databases() = default;
  /// Made if it is missing, for this user alone. Links are not followed.
  [[nodiscard]] virtual Result<std::unique_ptr<Database>> open(
      const std::string& path, const DatabaseSettings& settings) = 0;
  /// Puts a copy of all that was committed there, for this user alone, in the place of one that is
  /// there. Either it is whole, and survives a power cut, or nothing was changed.
  [[nodiscard]] virtual Result<void> copy(Database& database, const std::string& path) = 0;
};

}  // namespace tend
