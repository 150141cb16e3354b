// The least a program does that beats a task in SQLite: the yardstick of tasks_bench.
//   sqlite_beat DATABASE ID
#include <sqlite3.h>
#include <stdio.h>
#include <time.h>

int main(int count, char** words) {
  sqlite3* database = NULL;
  sqlite3_stmt* update = NULL;
  if (count != 3 ||
      sqlite3_open_v2(words[1], &database, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK) {
    return 1;
  }
  sqlite3_busy_timeout(database, 10000);
  if (sqlite3_exec(database, "PRAGMA synchronous=NORMAL", NULL, NULL, NULL) != SQLITE_OK ||
      sqlite3_prepare_v2(database, "UPDATE raw SET last_heartbeat = ? WHERE id = ?", -1, &update,
                         NULL) != SQLITE_OK) {
    return 1;
  }
  sqlite3_bind_int64(update, 1, (sqlite3_int64)time(NULL) * 1000);
  sqlite3_bind_text(update, 2, words[2], -1, SQLITE_STATIC);
  const int done = sqlite3_step(update);
  sqlite3_finalize(update);
  puts(done == SQLITE_DONE ? "done" : sqlite3_errmsg(database));
  return sqlite3_close(database) == SQLITE_OK && done == SQLITE_DONE ? 0 : 1;
}
