// The steps are never changed once they were shipped: a new version is a new step.
#include "store/home_database.h"

#include <array>
#include <chrono>
#include <string_view>

#include "store/versioned_database.h"

namespace tend {
namespace {

/// What takes a database from version i to i + 1.
constexpr std::array<std::string_view, kDatabaseVersion> kSteps{
    // The stale tasks of a context are one range of tasks_in_progress, which has all that is shown
    // of them: what is asked most often reads no other page. For the same reason the labels stand
    // in
    // the task, one a line; the table of labels only finds tasks.
    // AUTOINCREMENT: the number of a letter or a notice that is gone is never given again, for
    // threads and senders may still name it.
    R"(
CREATE TABLE tasks(
  id TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  status TEXT NOT NULL,
  assignee TEXT,
  context TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  last_heartbeat INTEGER,
  heartbeat_message TEXT,
  fence INTEGER NOT NULL DEFAULT 0,
  lease_expires_at INTEGER,
  worker TEXT,
  closed_at INTEGER,
  close_reason TEXT,
  labels TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE INDEX tasks_in_progress
  ON tasks(coalesce(last_heartbeat, updated_at), id, context, title, assignee, created_at,
           updated_at, last_heartbeat, heartbeat_message, fence, lease_expires_at, worker, labels,
           status)
  WHERE status = 'in_progress';
CREATE INDEX tasks_by_status ON tasks(status, created_at);
CREATE INDEX tasks_by_creation ON tasks(created_at);
CREATE INDEX tasks_by_assignee ON tasks(assignee, created_at) WHERE assignee IS NOT NULL;
CREATE TABLE labels(
  task TEXT NOT NULL REFERENCES tasks(id) ON DELETE CASCADE,
  label TEXT NOT NULL,
  PRIMARY KEY(label, task)
) WITHOUT ROWID;
CREATE INDEX labels_by_task ON labels(task);
CREATE TABLE letters(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  thread INTEGER NOT NULL,
  sender TEXT NOT NULL,
  recipient TEXT NOT NULL,
  subject TEXT NOT NULL,
  body TEXT NOT NULL,
  at INTEGER NOT NULL,
  read_at INTEGER,
  acked_at INTEGER,
  reply_to INTEGER,
  key TEXT
);
CREATE INDEX letters_by_recipient ON letters(recipient, id);
CREATE INDEX letters_unread ON letters(recipient, id) WHERE read_at IS NULL;
CREATE INDEX letters_unacked ON letters(recipient, id) WHERE acked_at IS NULL;
CREATE INDEX letters_left ON letters(at) WHERE acked_at IS NULL;
CREATE INDEX letters_done ON letters(acked_at) WHERE acked_at IS NOT NULL;
CREATE INDEX letters_by_thread ON letters(thread, id);
CREATE UNIQUE INDEX letters_by_key ON letters(recipient, key)
  WHERE acked_at IS NULL AND key IS NOT NULL;
CREATE TABLE notices(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  incident INTEGER NOT NULL,
  channel TEXT NOT NULL,
  key TEXT NOT NULL,
  kind TEXT NOT NULL,
  state TEXT NOT NULL,
  payload TEXT NOT NULL,
  tries INTEGER NOT NULL,
  next_at INTEGER NOT NULL,
  last_error TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  closed INTEGER NOT NULL,
  in_doubt INTEGER NOT NULL
);
CREATE INDEX notices_by_key ON notices(key, channel, id);
CREATE INDEX notices_by_incident ON notices(incident, id);
CREATE INDEX notices_unsent ON notices(next_at) WHERE state <> 'sent';
)",
    // What a message says stands last, so that a look at its state reads no other page of it. Of
    // one agent and state the messages stand in messages_unfinished as they are handed out.
    // `forgiven` are tries from before it was given up: the number of a try is never given again.
    // Of a message that has reached its agent, `handed_*` say how much that had printed and said
    // before.
    R"(
CREATE TABLE messages(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  agent TEXT NOT NULL,
  channel TEXT NOT NULL,
  endpoint TEXT NOT NULL,
  priority INTEGER NOT NULL,
  state TEXT NOT NULL,
  key TEXT,
  holder TEXT,
  tries INTEGER NOT NULL,
  forgiven INTEGER NOT NULL,
  lease_until INTEGER NOT NULL,
  last_error TEXT,
  outage INTEGER NOT NULL,
  received_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  handed_stream INTEGER,
  handed_said INTEGER,
  content TEXT NOT NULL
);
CREATE INDEX messages_unfinished ON messages(agent, state, priority, id) WHERE state <> 'done';
CREATE INDEX messages_done ON messages(agent, updated_at) WHERE state = 'done';
CREATE UNIQUE INDEX messages_by_key ON messages(agent, channel, key) WHERE key IS NOT NULL;
CREATE TABLE outages(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  agent TEXT NOT NULL,
  why TEXT NOT NULL,
  since INTEGER NOT NULL,
  ended_at INTEGER
);
CREATE UNIQUE INDEX outages_open ON outages(agent) WHERE ended_at IS NULL;
CREATE TABLE reply_ways(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  agent TEXT NOT NULL,
  channel TEXT NOT NULL,
  endpoint TEXT NOT NULL,
  command TEXT NOT NULL,
  language TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE(agent, channel, endpoint)
);
)",
};

}  // namespace

Result<std::unique_ptr<Database>> open_home_database(Databases& databases, Folder& home,
                                                     const DatabaseSettings& settings) {
  return open_versioned_database(databases, home, kDatabaseFile, kSteps, settings);
}

std::int64_t database_time(WallTime time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

WallTime from_database_time(std::int64_t milliseconds) {
  return WallTime{std::chrono::milliseconds{milliseconds}};
}

}  // namespace tend
