// The door of the gate: a Unix socket on which bridges speak JSON, a line each, so that nobody has
// to start a process for a message. Requests of one client are answered in their order, and the
// answers are those that the commands print with --json.
//
//   {"verb":"receive","ref":"m-17","channel":"telegram","endpoint":"42","content":"hello"}
//   {"ref":"m-17","ok":true,"action":"queued","id":3,...}
//
// Everything has a bound: clients, lines, what is answered in one go, idle time. A client that does
// not read what it is told is not read from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "os/machine.h"
#include "run/gate_desk.h"
#include "run/replies.h"
#include "store/locked_record.h"

namespace tend {

class GateDoor {
 public:
  static constexpr std::size_t kMostClients = 64;
  /// The longest message, every byte of it escaped, and room for the rest.
  static constexpr std::size_t kLongestLine = 6 * kLongestContent + 64'000;
  static constexpr Duration kLongestIdle = std::chrono::minutes{10};

  struct Settings {
    std::string socket;                           // a path of up to 100 bytes
    KeeperProgram program;                        // for `resume`
    std::function<void(const std::string&)> say;  // a line for people
  };
  GateDoor(Machine& machine, Folder& home, GateDesk& desk, Settings settings);
  GateDoor(const GateDoor&) = delete;
  GateDoor& operator=(const GateDoor&) = delete;

  /// From now on, until the loop is stopped, which it does itself at SIGTERM and Ctrl-C. Fails if
  /// another process is the door of this home.
  Result<void> open();

 private:
  struct Client {
    std::unique_ptr<Connection> connection;
    std::string inbound;     // what is not answered yet
    std::string outbound;    // answers that are not sent yet
    bool heard_all = false;  // no more will come from it
    bool leaves = false;     // it is closed once all is sent
    Subscribed reading;
    Subscribed writing;
    Subscribed idle;
  };
  using Json = nlohmann::ordered_json;

  void say_if_not_heard(const Postman::Delivery& delivery);
  Result<void> take_lock();
  void welcome(std::unique_ptr<Connection> connection);
  void read(std::uint64_t id);
  void hear(std::uint64_t id, std::string_view piece);
  void go_on(std::uint64_t id);
  void answer_lines(Client& client);
  void write(std::uint64_t id);
  void wait_a_while(std::uint64_t id);
  void drop(std::uint64_t id);
  void leave();

  [[nodiscard]] std::string answer_to(std::string_view line);
  GateResult<Json> do_verb(const nlohmann::json& request);
  GateResult<Json> receive(const nlohmann::json& request);
  GateResult<Json> next(const nlohmann::json& request);
  GateResult<Json> done(const nlohmann::json& request);
  GateResult<Json> fail(const nlohmann::json& request);
  GateResult<Json> retry(const nlohmann::json& request);
  GateResult<Json> status(const nlohmann::json& request);
  GateResult<Json> resume(const nlohmann::json& request);

  Machine& machine_;
  Folder& home_;
  GateDesk& desk_;
  Settings settings_;
  std::unique_ptr<LockedRecord> lock_;
  std::uint64_t last_client_ = 0;
  std::map<std::uint64_t, Client> clients_;
  Replies replies_;
  bool leaving_ = false;
  Subscribed listening_;
  std::vector<Subscribed> orders_;
  Subscribed deadline_;
};

}  // namespace tend
