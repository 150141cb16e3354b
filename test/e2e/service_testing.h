// The folder of another system with its registry and its lease, orchestrators that are real
// processes, and the beater beside them.
#pragma once

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include "e2e.h"

namespace tend::e2e {

class ServiceE2e : public E2e {
 protected:
  void SetUp() override {
    E2e::SetUp();
    std::filesystem::create_directories(root() / "memory");
  }

  [[nodiscard]] Path root() const { return scratch() / "hyrm"; }
  [[nodiscard]] Path pidfile() const { return root() / "memory" / ".heartbeat-service.pid"; }
  [[nodiscard]] Path registry_file() const { return root() / "memory" / "agent-registry.json"; }
  [[nodiscard]] Path lease_file() const { return root() / "memory" / "orchestrator-state.json"; }
  [[nodiscard]] Path log() const { return root() / "logs" / "heartbeat-service.log"; }

  Background orchestrator() { return start({.arguments = {"sleep", "1000"}}); }

  /// With milliseconds, as JavaScript writes it.
  static std::string when(std::chrono::milliseconds ago = {}) {
    const auto at = std::chrono::system_clock::now() - ago;
    const auto ms = std::chrono::floor<std::chrono::milliseconds>(at.time_since_epoch());
    const std::time_t seconds = ms.count() / 1000;
    std::tm utc{};
    gmtime_r(&seconds, &utc);
    std::string text(32, '\0');
    text.resize(std::strftime(text.data(), text.size(), "%FT%T", &utc));
    return text + fmt::format(".{:03}Z", ms.count() % 1000);
  }
  static Json entry(const std::string& id, pid_t pid, std::chrono::milliseconds ago = {}) {
    return {{"agent_id", id},          {"assigned_role", "orchestrator"}, {"pid", pid},
            {"started_at", when(ago)}, {"last_heartbeat", when(ago)},     {"status", "working"}};
  }
  void registry(const std::vector<Json>& entries) const {
    write(registry_file(), {{"version", "1.0.0"}, {"agents", entries}, {"lock_version", 1}});
  }
  void lease(const std::string& leader, std::chrono::milliseconds ago = {},
             long ttl_ms = 180000) const {
    write(lease_file(), {{"leader_id", leader},
                         {"leader_epoch", 3},
                         {"last_heartbeat", when(ago)},
                         {"ttl_ms", ttl_ms}});
  }
  /// Whole or not at all: the beater reads while the test writes.
  static void write(const Path& path, const Json& json) {
    const Path aside = path.string() + ".new";
    std::ofstream(aside) << json.dump(2) << "\n";
    std::filesystem::rename(aside, path);
  }
  [[nodiscard]] std::string beat_of(const std::string& id) const {
    const Json all = Json::parse(read_file(registry_file()), nullptr, false);
    if (!all.is_object()) return "";
    for (const Json& each : all["agents"]) {
      if (each["agent_id"] == id) return each["last_heartbeat"];
    }
    return "";
  }
  [[nodiscard]] std::string lease_beat() const {
    return text_in(Json::parse(read_file(lease_file()), nullptr, false), "last_heartbeat");
  }

  [[nodiscard]] Arguments start_words() const {
    return {"service", "start",  "--pidfile",     pidfile().string(), "--preset",
            "hyrm",    "--root", root().string(), "--interval",       "1s"};
  }
  Finished serve() { return tend(start_words()); }
  Finished stop() { return tend({"service", "stop", "--pidfile", pidfile().string()}); }
  Finished status() {
    return tend({"service", "status", "--quiet", "--pidfile", pidfile().string()});
  }
  Json report() {
    const auto said = tend({"service", "status", "--json", "--pidfile", pidfile().string()});
    return Json::parse(said.out, nullptr, false);
  }
  [[nodiscard]] pid_t service_pid() const {
    const std::string text = read_file(pidfile());
    return text.empty() ? 0 : std::stoi(text);
  }
  /// All beaters of this home.
  [[nodiscard]] std::vector<pid_t> beaters() const {
    return processes_with("TEND_SERVICE=" + pidfile().string());
  }
  bool becomes(const char* field, const std::string& value) {
    return eventually([&] { return text_in(report(), field) == value; });
  }
};

}  // namespace tend::e2e
