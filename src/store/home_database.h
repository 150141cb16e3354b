// `tend.db` in a home: tasks, mail, the outbox and the gate, shared by all processes. Its schema
// has a version; an older one is brought up to date by whoever opens it first, behind a lock and
// after a copy was put aside; a newer one is left alone.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "os/database.h"
#include "os/folder.h"

namespace tend {

inline constexpr const char* kDatabaseFile = "tend.db";
inline constexpr std::int64_t kDatabaseVersion = 2;

/// Made if it is not there.
Result<std::unique_ptr<Database>> open_home_database(Databases& databases, Folder& home,
                                                     const DatabaseSettings& settings = {});

/// What was changed later than now by more than this was changed before the calendar was set back,
/// and would have to wait for that long. Less is only another process that was faster.
inline constexpr Duration kCalendarStep = std::chrono::minutes{1};

/// Milliseconds since 1970: how all times stand there.
std::int64_t database_time(WallTime time);
WallTime from_database_time(std::int64_t milliseconds);

}  // namespace tend
