// Statements are kept by their text: a loop over many rows prepares each of them once, and so do
// all processes of a simulated machine, which share a connection.
#include "os/database.h"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <sqlite3.h>

#include "base/check.h"

namespace tend {
namespace {

/// Of how many different statements one is kept prepared.
constexpr std::size_t kMostStatements = 128;

/// What the system said when a file could not be used.
DatabaseTrouble trouble_of_system(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return DatabaseTrouble::full;
    case EROFS:
    case EACCES:
    case EPERM:
      return DatabaseTrouble::read_only;
    default:
      return DatabaseTrouble::other;
  }
}

DatabaseTrouble trouble_of(int code, int system_error) {
  if (code == SQLITE_IOERR_CORRUPTFS) return DatabaseTrouble::damaged;
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:  // it lost too many races for the log's index
      return DatabaseTrouble::busy;
    case SQLITE_FULL:
      return DatabaseTrouble::full;
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return DatabaseTrouble::read_only;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return DatabaseTrouble::damaged;
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
      return trouble_of_system(system_error);
    default:
      return DatabaseTrouble::other;
  }
}

std::string in_words(DatabaseTrouble trouble, const std::string& path, std::string_view says) {
  switch (trouble) {
    case DatabaseTrouble::busy:
      return fmt::format("{} is busy: others write to it; try again", path);
    case DatabaseTrouble::full:
      return fmt::format("cannot write {}: no space left on device; nothing was changed", path);
    case DatabaseTrouble::read_only:
      return fmt::format("cannot write {}: {}; check who may write there", path, says);
    case DatabaseTrouble::damaged:
      // A log that is left beside a backup would be replayed into it.
      return fmt::format(
          "{0} is damaged ({1}) and was left as it is; move it away together with {0}-wal and "
          "{0}-shm, then put a backup in its place or begin anew",
          path, says);
    case DatabaseTrouble::none:
    case DatabaseTrouble::other:
      break;
  }
  return fmt::format("cannot use {}: {}", path, says);
}

/// A statement that is done with is reset, whatever ended it: until then it holds its locks.
class Running {
 public:
  explicit Running(sqlite3_stmt* statement) : statement_(statement) {}
  ~Running() { sqlite3_reset(statement_); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  int step() {
    errno = 0;
    return sqlite3_step(statement_);
  }

 private:
  sqlite3_stmt* statement_;
};

int bind(sqlite3_stmt* statement, int place, const DatabaseValue& value) {
  if (const auto* const number = std::get_if<std::int64_t>(&value)) {
    return sqlite3_bind_int64(statement, place, *number);
  }
  if (const auto* const text = std::get_if<std::string_view>(&value)) {
    // The caller's bytes outlive the statement's run; an empty view has no address.
    return sqlite3_bind_text64(statement, place, text->empty() ? "" : text->data(), text->size(),
                               SQLITE_STATIC, SQLITE_UTF8);
  }
  return sqlite3_bind_null(statement, place);
}

}  // namespace

// --- Rows ---------------------------------------------------------------------------------------

namespace {

/// Each look at a column has its price: one for all that is asked of it.
std::string_view text_of(sqlite3_value* value) {
  const auto* const bytes = sqlite3_value_blob(value);
  if (bytes == nullptr) return "";
  return {static_cast<const char*>(bytes), static_cast<std::size_t>(sqlite3_value_bytes(value))};
}

}  // namespace

bool DatabaseRow::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

std::int64_t DatabaseRow::number(int column) const {
  return sqlite3_column_int64(statement_, column);
}

std::string_view DatabaseRow::text(int column) const {
  return text_of(sqlite3_column_value(statement_, column));
}

std::optional<std::int64_t> DatabaseRow::number_or_none(int column) const {
  sqlite3_value* const value = sqlite3_column_value(statement_, column);
  if (sqlite3_value_type(value) == SQLITE_NULL) return std::nullopt;
  return sqlite3_value_int64(value);
}

std::optional<std::string> DatabaseRow::text_or_none(int column) const {
  sqlite3_value* const value = sqlite3_column_value(statement_, column);
  if (sqlite3_value_type(value) == SQLITE_NULL) return std::nullopt;
  return std::optional<std::string>(text_of(value));
}

// --- The connection -----------------------------------------------------------------------------

void DatabaseConnection::Close::operator()(sqlite3* one) const { sqlite3_close_v2(one); }

void DatabaseConnection::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

DatabaseConnection::DatabaseConnection(sqlite3* opened) : handle_(opened) {}

int DatabaseConnection::prepare(std::string_view sql, sqlite3_stmt*& made) {
  if (statements_.size() >= kMostStatements) {
    std::erase_if(statements_, [](const auto& one) {
      return !one.second || sqlite3_stmt_busy(one.second.get()) == 0;
    });
  }
  Statement& kept = statements_[std::string(sql)];
  if (!kept) {
    errno = 0;
    const int code =
        sqlite3_prepare_v2(handle_.get(), sql.data(), static_cast<int>(sql.size()), &made, nullptr);
    if (code != SQLITE_OK) return code;
    kept.reset(made);
  }
  made = kept.get();
  return SQLITE_OK;
}

Database::Database(std::shared_ptr<DatabaseConnection> connection, std::string path, Before before)
    : connection_(std::move(connection)), path_(std::move(path)), before_(std::move(before)) {}

Database::~Database() {
  if (changing_) take_back();
}

std::unexpected<Error> Database::failed(int code) {
  // SQLite does not remember what the system said when it fails at the end of a change.
  const int last_error = errno;
  const int kind = code & 0xff;
  int system_error = 0;
  if (kind == SQLITE_IOERR || kind == SQLITE_CANTOPEN) {
    system_error = sqlite3_system_errno(connection_->handle());
    if (system_error == 0) system_error = last_error;
  }
  trouble_ = trouble_of(code, system_error);
  return fail(in_words(trouble_, path_,
                       system_error != 0 ? std::generic_category().message(system_error)
                                         : sqlite3_errmsg(connection_->handle())));
}

Result<void> Database::ask_before(bool writes) {
  trouble_ = before_ ? before_(writes) : DatabaseTrouble::none;
  if (trouble_ == DatabaseTrouble::none) return {};
  return fail(in_words(trouble_, path_, "the process is over"));
}

Result<sqlite3_stmt*> Database::prepare(std::string_view sql, Values values) {
  trouble_ = DatabaseTrouble::none;
  sqlite3_stmt* statement = nullptr;
  if (const int code = connection_->prepare(sql, statement); code != SQLITE_OK) return failed(code);
  CHECK(sqlite3_stmt_busy(statement) == 0);
  if (auto ok = ask_before(sqlite3_stmt_readonly(statement) == 0); !ok) {
    return std::unexpected(ok.error());
  }
  CHECK(static_cast<int>(values.size()) == sqlite3_bind_parameter_count(statement));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const int code = bind(statement, static_cast<int>(i) + 1, values[i]);
    if (code != SQLITE_OK) return failed(code);
  }
  return statement;
}

Result<std::int64_t> Database::run(std::string_view sql, Values values) {
  const auto statement = prepare(sql, values);
  if (!statement) return std::unexpected(statement.error());
  Running running(*statement);
  int code = SQLITE_ROW;
  while (code == SQLITE_ROW) code = running.step();
  if (code != SQLITE_DONE) return failed(code);
  return sqlite3_changes64(connection_->handle());
}

Result<void> Database::each(std::string_view sql, Values values, const Take& take) {
  const auto statement = prepare(sql, values);
  if (!statement) return std::unexpected(statement.error());
  Running running(*statement);
  const DatabaseRow row(*statement);
  int code = running.step();
  for (; code == SQLITE_ROW; code = running.step()) take(row);
  if (code != SQLITE_DONE) return failed(code);
  return {};
}

Result<void> Database::run_script(const std::string& sql) {
  if (auto ok = ask_before(true); !ok) return ok;
  errno = 0;
  const int code = sqlite3_exec(connection_->handle(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return failed(code);
  return {};
}

bool Database::set_durable(bool durable) {
  CHECK(!changing_);
  const bool before = durable_;
  if (durable == before) return before;
  const int code = sqlite3_exec(connection_->handle(),
                                durable ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL",
                                nullptr, nullptr, nullptr);
  // A file that cannot be read refuses, and whatever comes next says why.
  if (code == SQLITE_OK) durable_ = durable;
  // Who promises nothing does not wait for the disk when it leaves, either: the log is moved into
  // the file by others, or once it is long.
  if (!durable)
    sqlite3_db_config(connection_->handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  return before;
}

Result<void> Database::change(const std::function<Result<void>()>& body) {
  CHECK(!changing_);
  if (auto begun = run("BEGIN IMMEDIATE"); !begun) return std::unexpected(begun.error());
  changing_ = true;
  auto done = body();
  if (done) {
    auto committed = run("COMMIT");
    if (committed) {
      changing_ = false;
      return {};
    }
    done = std::unexpected(committed.error());
  }
  const DatabaseTrouble why = trouble_;
  take_back();
  trouble_ = why;
  return done;
}

/// A full disk may have taken it back already.
void Database::take_back() {
  changing_ = false;
  if (sqlite3_get_autocommit(connection_->handle()) != 0) return;
  sqlite3_exec(connection_->handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

}  // namespace tend
