// For tests of the gate on real processes: an agent that is down, and somebody at the door.
#pragma once

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "e2e.h"

namespace tend::e2e {

class GateE2e : public E2e {
 protected:
  /// An agent that nobody keeps and whose process is gone: down, by the kernel's word.
  void have_a_dead_agent(const std::string& name = "claude") {
    const Path folder = keep({"--name", name}, worker({}));
    ASSERT_FALSE(folder.empty());
    ASSERT_TRUE(await(folder, [](const Json& says) { return number_in(says, "life") == 1; }));
    const Json says = heartbeat_of(folder);
    const auto keeper = static_cast<pid_t>(number_in(says, "keeper_pid"));
    const auto agent = static_cast<pid_t>(number_in(says, "pid"));
    ASSERT_NE(keeper, agent);
    ASSERT_TRUE(kill(keeper));
    ASSERT_TRUE(kill(agent));
    ASSERT_TRUE(eventually([&] { return !is_running(keeper) && !is_running(agent); }));
  }
  Json answer_of(const Arguments& words, int exit = 0, const std::string& input = "") {
    const Finished finished = tend(words, input);
    EXPECT_EQ(finished.exit, exit) << finished.out << finished.err;
    const Json json = Json::parse(finished.out, nullptr, false);
    EXPECT_TRUE(json.is_object()) << finished.out << finished.err;
    return json.is_object() ? json : Json::object();
  }
  Json receive(const Arguments& more = {}, int exit = 0, const std::string& input = "") {
    Arguments words{"gate", "receive", "--channel", "telegram", "--endpoint", "42", "--json"};
    if (input.empty()) words = words + Arguments{"--content", "hello"};
    return answer_of(words + more, exit, input);
  }
  Json next(int exit = 0) { return answer_of({"gate", "next", "--json"}, exit); }
  Json status(int exit = 0) { return answer_of({"gate", "status", "--json"}, exit); }
  void configure(const std::string& text) {
    std::filesystem::create_directories(home());
    std::filesystem::permissions(home(), std::filesystem::perms::owner_all);
    write_file(home() / "config.toml", text);
  }
  static void write_file(const Path& path, const std::string& text) {
    FILE* const file = std::fopen(path.c_str(), "w");
    ASSERT_NE(file, nullptr);
    std::fwrite(text.data(), 1, text.size(), file);
    std::fclose(file);
  }
  /// A command for replies that notes what it was told: "auto-reply 42 TEXT".
  [[nodiscard]] Arguments noting() const {
    return {"--", "sh", "-c", R"(read -r text; echo "$TEND_GATE $TEND_ENDPOINT $text" >>"$0")",
            told().string()};
  }
  [[nodiscard]] Path told() const { return scratch() / "told"; }
};

/// A client of the door that waits for its answers.
class DoorClient {
 public:
  explicit DoorClient(const Path& socket) : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = socket.string();
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    const timeval patience{30, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    is_in_ = ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  ~DoorClient() { ::close(fd_); }
  DoorClient(const DoorClient&) = delete;
  DoorClient& operator=(const DoorClient&) = delete;

  [[nodiscard]] bool is_in() const { return is_in_; }
  bool send(const std::string& bytes) {
    std::size_t sent = 0;
    while (sent < bytes.size()) {
      const ssize_t now = ::send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (now <= 0) return false;
      sent += static_cast<std::size_t>(now);
    }
    return true;
  }
  bool send(const Json& request) { return send(request.dump() + "\n"); }
  /// No object if the door is closed.
  Json hear() {
    while (true) {
      const auto end = heard_.find('\n');
      if (end != std::string::npos) {
        Json answer = Json::parse(heard_.substr(0, end), nullptr, false);
        heard_.erase(0, end + 1);
        return answer;
      }
      char piece[65'536];
      const ssize_t got = ::recv(fd_, piece, sizeof piece, 0);
      if (got <= 0) return {};
      heard_.append(piece, static_cast<std::size_t>(got));
    }
  }
  Json ask(const Json& request) { return send(request) ? hear() : Json(); }

 private:
  int fd_;
  bool is_in_ = false;
  std::string heard_;
};

}  // namespace tend::e2e
