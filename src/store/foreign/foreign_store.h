// The heartbeat stores of other systems, read without trust and without a change:
//
//   json-time      a JSON file with a time in it; its mtime where the text cannot be understood
//   mtime          a file that is touched
//   session-state  {"timestamp","state" working|idle|exiting|stuck,"context","bead"}; no state is
//                  working
//   registry       {"agents":[{"agent_id","assigned_role","pid","last_heartbeat","status"}…]}: one
//                  entry among many
//   lease-file     {"leader_id","leader_epoch","last_heartbeat","ttl_ms"}; given back by a
//                  last_heartbeat of 1970
//   heartbeat-dir  `.heartbeat` {"pid","started","status"}, whose mtime is the beat; `.children`;
//                  where it is missing `.running`, a bare pid
//
// and those that only a command can ask (foreign_command.h):
//
//   label          a label `heartbeat:<epoch>` in the JSON that the command prints
//   command        a time in the JSON that the command prints
//   tmux           when the window of a session was last painted, and its process
//
// Some writers truncate and write: what looks torn is read again, and if it stays torn the mtime
// stands in, which is that of the writer in the middle. It also does for a time that is later than
// it: some write over what is there, and half of one time with half of another is a time too. The
// mtime of a file that many share, or of a lease, says nothing of one of them and never stands in;
// nor does that of a file which says that its agent is not running: somebody else wrote it.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "os/world.h"
#include "store/foreign/foreign_time.h"
#include "store/foreign/json_edit.h"

namespace tend {

enum class StoreKind : std::uint8_t {
  json_time,
  mtime,
  session_state,
  registry,
  lease_file,
  heartbeat_dir,
  label,
  command,
  tmux,
};
inline constexpr std::array<std::string_view, 9> kStoreKindWords{
    "json-time",     "mtime", "session-state", "registry", "lease-file",
    "heartbeat-dir", "label", "command",       "tmux"};

constexpr std::string_view word(StoreKind kind) {
  return kStoreKindWords[static_cast<std::size_t>(kind)];
}

struct ForeignStore {
  StoreKind kind = StoreKind::json_time;
  std::string path;          // of the file; of the folder for heartbeat_dir
  std::string field;         // path of the time; "" is the usual one of the kind
  bool locked = false;       // its writers take a `<path>.lock`
  bool ignores_pid = false;  // its processes are not of this machine, or not of this namespace
  std::string session;       // tmux
  std::string label;         // what stands before the colon; "" is "heartbeat"
  std::vector<std::string> command;              // prints the JSON
  std::vector<std::string> set;                  // of a label in a sink: sets it
  std::string folder;                            // where its commands run; "" is anywhere
  std::vector<std::string> environment;          // of its commands, as NAME=value
  Duration deadline = std::chrono::seconds{10};  // of its command

  bool operator==(const ForeignStore&) const = default;
};

/// Whether a process lives; `started` if the store says when it did.
using ProcessLives = std::function<bool(std::int64_t pid, const std::optional<WallTime>& started)>;

struct StoreReading {
  std::optional<WallTime> last_sign;
  bool from_mtime = false;
  std::string state;    // in the words of the store; "" if it has none
  std::string context;  // for people
  std::string task;     // the bead or task it names
  std::string id;       // of the agent, or the holder of a lease
  std::int64_t pid = 0;
  std::optional<WallTime> started;  // when that process did
  std::optional<std::uint64_t> epoch;
  std::optional<Duration> ttl;
  bool released = false;                // a lease that was given back
  std::optional<WallTime> quiet_until;  // it has said that it will be silent until then
  std::optional<WallTime> written;      // the mtime of a file that is this agent's alone
  std::vector<std::string> children;    // paths of their heartbeats
  std::string problem;                  // why there is no sign, or why it is not the one asked for
  bool unread = false;                  // it could not be looked at: nothing is known

  bool operator==(const StoreReading&) const = default;
};

/// Never fails: what is wrong is the `problem`. `lives` is asked only if several entries of a
/// registry are wanted alike. REQUIRES a kind that is a file, see asks_command().
StoreReading read_store(Files& files, const ForeignStore& store, const TimeContext& context,
                        const ProcessLives& lives);

/// All entries of a registry that its field means, in their order. Fails if it cannot be read.
Result<std::vector<StoreReading>> read_entries(Files& files, const ForeignStore& store,
                                               const TimeContext& context);

/// A file with a bare pid, or `PID|<ps lstart>`: whose it is; its mtime is the sign.
StoreReading read_pid_file(Files& files, const std::string& path, const TimeContext& context);

/// The path of the time, the usual one included.
Result<JsonPath> time_path(const ForeignStore& store);
/// Fills in what a text says; false if it does not say the time.
bool take_json(const ReadJson& json, const ForeignStore& store, const TimeContext& context,
               const ProcessLives& lives, StoreReading& reading);
/// What an entry says of itself, apart from its time.
void take_entry(const ReadJson& entry, const TimeContext& context, StoreReading& reading);
/// The same path with the entry of an array chosen by number. Of several alike it is the one whose
/// process lives; of several that live the one that beat last.
Result<JsonPath> choose_entry(const ReadJson& json, JsonPath path, const TimeContext& context,
                              const ProcessLives& lives);
/// Whether a state is the word of a monitor that its agent does not run.
bool is_absent(std::string_view state);
/// A time of 1970 is how a lease is given back.
bool is_given_back(const ReadJson& time);

}  // namespace tend
