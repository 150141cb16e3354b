// Any bytes as a store of any kind: what is read is in its bounds, what is not read is
// said, and a beat leaves JSON.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "os/sim/sim_world.h"
#include "store/foreign/foreign_command.h"
#include "store/foreign/foreign_store.h"
#include "store/foreign/foreign_write.h"

namespace {

using tend::StoreKind;

void check_reading(const tend::StoreReading& reading, tend::WallTime now) {
  CHECK(reading.last_sign || reading.released || !reading.problem.empty());
  CHECK(!reading.last_sign || tend::check_plausible(*reading.last_sign, now).has_value());
  CHECK(reading.pid >= 0 && reading.pid <= 2'147'483'647);
  CHECK(reading.state.size() <= 64 && reading.context.size() <= 400);
  CHECK(reading.task.size() <= 256 && reading.id.size() <= 256);
  CHECK(!reading.ttl || reading.ttl->count() > 0);
  for (const std::string* text :
       {&reading.state, &reading.context, &reading.task, &reading.problem}) {
    CHECK(text->find('\n') == std::string::npos && text->find('\0') == std::string::npos);
  }
}

/// What a beat makes of it is JSON that says the time, and the same beat changes it no more.
void check_beat(std::string_view text, const tend::ForeignStore& store, tend::WallTime now) {
  const tend::StoreBeat beat{.pid = 2, .id = "a", .state = "idle", .task = "t"};
  const auto written = tend::with_beat(text, store, beat, {.now = now});
  if (!written) {
    CHECK(!written.error().text.empty() && written.error().text.find('\n') == std::string::npos);
    return;
  }
  CHECK(tend::ReadJson::accept(*written));
  const auto again = tend::with_beat(*written, store, beat, {.now = now});
  CHECK(again.has_value() && *again == *written);
}

}  // namespace

// libFuzzer declares it nowhere.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const tend::WallTime now{std::chrono::seconds{1'767'557'953}};
  tend::SimFiles files;
  for (const char* path : {"/f", "/a/.heartbeat", "/a/.children", "/b/.running"}) {
    files.contents[path] = text;
    files.times[path] = now;
  }
  const auto lives = [](std::int64_t pid, const auto&) { return pid % 2 == 0; };
  const tend::ForeignStore stores[] = {
      {.kind = StoreKind::json_time, .path = "/f", .field = "timestamp"},
      {.kind = StoreKind::session_state, .path = "/f", .field = ""},
      {.kind = StoreKind::registry,
       .path = "/f",
       .field = "agents[assigned_role=o].last_heartbeat"},
      {.kind = StoreKind::lease_file, .path = "/f", .field = ""},
      {.kind = StoreKind::heartbeat_dir, .path = "/a", .field = ""},
      {.kind = StoreKind::heartbeat_dir, .path = "/b", .field = ""},
  };
  for (const tend::ForeignStore& store : stores) {
    check_reading(tend::read_store(files, store, {.now = now}, lives), now);
    if (store.kind != StoreKind::heartbeat_dir) check_beat(text, store, now);
  }
  const tend::ForeignStore asked[] = {
      {.kind = StoreKind::label, .command = {"bd"}},
      {.kind = StoreKind::command, .field = "heartbeat.timestamp", .command = {"gt"}},
      {.kind = StoreKind::tmux, .session = "s"},
  };
  for (const tend::ForeignStore& store : asked) {
    const tend::Ran ran{{tend::ExitStatus::How::code, 0}, false, text, ""};
    check_reading(tend::reading_of(store, ran, {.now = now}, lives), now);
    const tend::Ran failed{{tend::ExitStatus::How::code, 1}, false, "", text};
    check_reading(tend::reading_of(store, failed, {.now = now}, lives), now);
  }
  return 0;
}
