// Notices leave the machine: a real command, a real HTTP server, a notify-send on the PATH; what is
// not heard is sent again, given up in the end, and sent after all when somebody wants it.
#include <fstream>
#include <thread>

#include "e2e.h"
#include "os/linux/linux_databases.h"
#include "os/linux/linux_folder.h"
#include "store/home_database.h"
#include "store/outbox.h"

namespace tend::e2e {
namespace {

using namespace std::chrono_literals;

/// Answers 500 as often as it is told to and then 200, and keeps what it was sent, a line each.
constexpr const char* kServer = R"(
import http.server, sys
folder, refusals = sys.argv[1], int(sys.argv[2])
class Hook(http.server.BaseHTTPRequestHandler):
    asked = 0
    def do_POST(self):
        body = self.rfile.read(int(self.headers['Content-Length'])).decode()
        with open(folder + '/asked', 'a') as file:
            file.write(self.path + ' ' + self.headers['Content-Type'] + ' ' + body.strip() + '\n')
        Hook.asked += 1
        self.send_response(500 if Hook.asked <= refusals else 200)
        self.end_headers()
    def log_message(self, *words): pass
server = http.server.HTTPServer(('127.0.0.1', 0), Hook)
with open(folder + '/port.new', 'w') as file: file.write(str(server.server_port))
import os
os.rename(folder + '/port.new', folder + '/port')
server.serve_forever()
)";

class NotifyChannels : public E2e {
 protected:
  void TearDown() override {
    server_.reset();
    E2e::TearDown();
  }
  void configure(const std::string& text) const {
    std::filesystem::create_directories(home());
    std::filesystem::permissions(home(), std::filesystem::perms::owner_all);
    std::ofstream(home() / "config.toml") << text;
  }
  static std::string command_channel(const std::string& name, const Arguments& command) {
    return "[[notify]]\nname = \"" + name + "\"\ncommand = " + Json(command).dump() + "\n";
  }
  static std::string webhook(const std::string& name, const std::string& url, bool slack = false) {
    return "[[notify]]\nname = \"" + name + "\"\nwebhook = \"" + url + "\"\n" +
           (slack ? "slack = true\n" : "");
  }
  /// Its address.
  std::string start_server(int refusals) {
    server_.emplace(start(
        {.arguments = {"python3", "-c", kServer, scratch().string(), std::to_string(refusals)}}));
    EXPECT_TRUE(eventually([&] { return std::filesystem::exists(scratch() / "port"); }))
        << server_->err();
    return "http://127.0.0.1:" + read_file(scratch() / "port");
  }
  [[nodiscard]] std::vector<std::string> asked() const {
    return lines_of(read_file(scratch() / "asked"));
  }
  static Json body_of(const std::string& line) { return Json::parse(line.substr(line.find('{'))); }

  /// An agent that ends badly, kept by one that tells of it.
  void fail_once(const Arguments& options = {}) {
    const auto ran = tend(Arguments{"run", "--name", "a", "--restart", "never"} + options +
                          Arguments{"--", "sh", "-c", "exit 3"});
    EXPECT_EQ(ran.exit, 3) << ran.err;
    const Path folder = only_agent();
    EXPECT_TRUE(
        await(folder, [](const Json& says) { return text_in(says, "outcome") == "failed"; }));
  }
  template <class Use>
  auto with_outbox(const Use& use) {
    LinuxFolders folders;
    LinuxDatabases databases;
    auto folder = folders.open(home().string());
    auto database = open_home_database(databases, **folder);
    EXPECT_TRUE(database) << database.error().text;
    Outbox outbox(**database);
    return use(outbox);
  }
  std::vector<Notice> notices() {
    return with_outbox([](Outbox& outbox) { return outbox.list({}).value(); });
  }
  bool all_sent() {
    const auto all = notices();
    return !all.empty() && std::ranges::all_of(all, [](const Notice& one) {
      return one.state == NoticeState::sent;
    });
  }
  bool send_until_all_is_sent() {
    return eventually(
        [&] {
          if (all_sent()) return true;
          tend({"outbox", "send"});
          std::this_thread::sleep_for(500ms);
          return false;
        },
        120s);
  }
  static WallTime now() { return WallTime{std::chrono::system_clock::now().time_since_epoch()}; }

 private:
  std::optional<Background> server_;
};

TEST_F(NotifyChannels, a_command_and_the_agents_own_hear_the_same) {
  const Path told = scratch() / "told";
  const Path own = scratch() / "own";
  configure(command_channel("log", {"tee", "-a", told.string()}));
  EXPECT_EQ(tend({"config", "check"}).exit, 0);
  fail_once({"--notify", "cat >>'" + own.string() + "'"});
  ASSERT_TRUE(eventually([&] { return all_sent(); }));
  ASSERT_EQ(json_lines(told).size(), 1U);
  const Json notice = json_lines(told).front();
  EXPECT_EQ(notice["agent"], "a");
  EXPECT_EQ(notice["why"], "over: failed, exit 3");
  EXPECT_EQ(notice["kind"], "open");
  EXPECT_EQ(notice["incident"], 1);
  ASSERT_EQ(json_lines(own).size(), 1U);
  EXPECT_EQ(json_lines(own).front()["why"], "over: failed, exit 3");
  const auto again = tend({"outbox", "send"});
  EXPECT_EQ(again.exit, 0) << again.err;
  EXPECT_EQ(again.out, "nothing is due\n");
}

TEST_F(NotifyChannels, a_webhook_that_refuses_twice_is_asked_until_it_takes_the_notice) {
  configure(webhook("hook", start_server(2) + "/T0/secret"));
  fail_once();
  EXPECT_TRUE(send_until_all_is_sent());
  ASSERT_EQ(asked().size(), 3U);
  for (const std::string& line : asked()) {
    EXPECT_TRUE(line.starts_with("/T0/secret application/json {")) << line;
    EXPECT_EQ(body_of(line)["why"], "over: failed, exit 3");
    EXPECT_EQ(body_of(line)["incident"], 1);
  }
  EXPECT_TRUE(
      has_event("a notice was not heard: hook: 'curl' exited with 22: curl: (22) The "
                "requested URL returned error: 500"));
  EXPECT_FALSE(read_file(home() / "events.jsonl").contains("secret"));
  EXPECT_EQ(notices().front().tries, 3);
}

TEST_F(NotifyChannels, slack_gets_its_own_shape) {
  configure(webhook("team", start_server(0) + "/x", true));
  fail_once();
  ASSERT_TRUE(eventually([&] { return all_sent(); }));
  ASSERT_EQ(asked().size(), 1U);
  EXPECT_EQ(
      body_of(asked().front()),
      (Json{{"text", "a: dead\nover: failed, exit 3\nsee `tend logs a` and `tend explain a`"}}));
}

TEST_F(NotifyChannels, the_desktop_is_told_by_notify_send) {
  const Path bin = scratch() / "bin";
  std::filesystem::create_directory(bin);
  std::ofstream(bin / "notify-send")
      << "#!/bin/sh\nprintf '[%s]\\n' \"$@\" >'" << (scratch() / "shown").string() << "'\n";
  std::filesystem::permissions(bin / "notify-send", std::filesystem::perms::owner_all);
  configure("[[notify]]\nname = \"screen\"\ndesktop = true\n");
  const std::string path = bin.string() + ":" + std::getenv("PATH");
  const auto ran = run({.arguments = {TEND_BINARY, "run", "--name", "a", "--restart", "never", "--",
                                      "sh", "-c", "exit 3"},
                        .environment = {{"PATH", path}}});
  EXPECT_EQ(ran.exit, 3) << ran.err;
  only_agent();
  ASSERT_TRUE(eventually([&] { return all_sent(); }));
  EXPECT_EQ(read_file(scratch() / "shown"),
            "[--app-name=tend]\n[--urgency=critical]\n[--]\n[a: dead]\n[over: failed, exit 3\nsee "
            "`tend logs a` and `tend explain a`]\n");
}

TEST_F(NotifyChannels, a_dead_letter_goes_out_once_somebody_wants_it_again) {
  const Path told = scratch() / "told";
  configure(command_channel("log", {"/no/such/program"}));
  fail_once();
  ASSERT_TRUE(eventually([&] { return !notices().empty() && notices().front().tries == 1; }));
  // The other tries, without the hours between them.
  with_outbox([](Outbox& outbox) {
    WallTime at = now();
    auto did = NoticeAnswer::Did::done;
    while (did == NoticeAnswer::Did::done) {
      at += 2h;
      const auto held = outbox.take(1, at, 30s);
      did = outbox.failed(held->notice, "refused", at, 0)->did;
    }
    EXPECT_EQ(did, NoticeAnswer::Did::given_up);
    return 0;
  });
  EXPECT_EQ(notices().front().state, NoticeState::dead);
  EXPECT_EQ(tend({"outbox", "send"}).out, "nothing is due\n");
  configure(command_channel("log", {"tee", "-a", told.string()}));
  EXPECT_EQ(tend({"outbox", "retry", "1"}).exit, 0);
  const auto sent = tend({"outbox", "send"});
  EXPECT_EQ(sent.exit, 0) << sent.err;
  EXPECT_TRUE(sent.out.starts_with("1 log open of agent:sessions/")) << sent.out;
  EXPECT_TRUE(sent.out.ends_with(":trouble: told by 'tee'\n")) << sent.out;
  EXPECT_EQ(json_lines(told).size(), 1U);
}

TEST_F(NotifyChannels, what_cannot_be_sent_says_why) {
  configure(command_channel("log", {"false"}));
  fail_once();
  ASSERT_TRUE(eventually([&] { return !notices().empty() && notices().front().tries == 1; }));
  configure("");
  with_outbox([](Outbox& outbox) {
    const auto put = outbox.put("gone", "test", "{}", now() - 1s);
    return put->id;
  });
  const auto sent = tend({"outbox", "send", "--json"});
  EXPECT_EQ(sent.exit, 1);
  const Json line = Json::parse(sent.out);
  EXPECT_EQ(line["channel"], "gone");
  EXPECT_EQ(line["heard"], false);
  EXPECT_EQ(line["text"],
            "no channel 'gone' is configured any more: give a [[notify]] of config.toml that name");
  configure("[[notify]]\nname = 3\n");
  const auto refused = tend({"outbox", "send"});
  EXPECT_EQ(refused.exit, 2);
  EXPECT_TRUE(refused.err.contains("config.toml:2: notify.name: must be a name")) << refused.err;
}

}  // namespace
}  // namespace tend::e2e
