// What people are told really leaves the outbox: a notice that counts as sent has arrived, it does
// so once, and none waits while there is somebody to send it.
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "checks/check.h"
#include "run/postman.h"
#include "store/gate.h"
#include "store/home_database.h"

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

// The ways back to who wrote to the gate are another check's.
constexpr const char* kWatchSent = R"(
CREATE TEMP TABLE sent_out(number INTEGER PRIMARY KEY, key, payload);
CREATE TEMP TRIGGER notices_sent AFTER UPDATE OF state ON main.notices
  WHEN new.state = 'sent' AND old.state <> 'sent' AND new.channel NOT LIKE 'reply:%' BEGIN
  INSERT INTO sent_out(key, payload) VALUES(new.key, new.payload);
END;)";

class Notices final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "notices"; }

  void on_begin() override { open(); }
  void on_told(const Run& notice) override {
    const auto [first, is_new] =
        told_.try_emplace({notice.command.back(), without_address(notice.input)}, world.elapsed());
    if (is_new) return;
    // Killed before it could write that down, its sender or another sends it again.
    const Duration before = std::exchange(first->second, world.elapsed());
    const Duration since = std::max(world.last_fault(), last_end_);
    const bool was_calm = before - since > kSentWithin;
    if (was_calm && !world.is_disturbed()) violated("arrives twice: " + notice.input);
  }
  void on_end(const SimFacts& /*process*/, const Owner& owner) override {
    const bool sends = owner.is == Owner::Is::keeper || owner.is == Owner::Is::patrol;
    if (sends) last_end_ = world.elapsed();
  }
  void on_tick() override {
    if (world.elapsed() - looked_ < kLooksEvery) return;
    looked_ = world.elapsed();
    if (!database_) open();
    if (!database_) return;
    look_at_sent();
    look_at_waiting();
  }

 private:
  static constexpr Duration kLooksEvery = 1min;
  static constexpr Duration kSentWithin = 10min;  // a beat, a sweep that is long, and its lease

  /// On its way it gets the number of its incident.
  static std::string without_address(std::string_view payload) {
    auto json = nlohmann::json::parse(payload, nullptr, false);
    if (!json.is_object()) return std::string(payload);
    json.erase("incident");
    json.erase("kind");
    return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  /// Whoever made it may have died before there was anything in it.
  void open() {
    database_ = home_database_of(world);
    if (!database_) return;
    bool has_notices = false;
    auto watched = database_->each("SELECT 1 FROM main.sqlite_master WHERE name = 'notices'", {},
                                   [&](const DatabaseRow&) { has_notices = true; });
    if (watched && has_notices) watched = database_->run_script(kWatchSent);
    if (!watched) violated(watched.error().text);
    if (!has_notices) database_.reset();
  }
  void look_at_sent() {
    std::int64_t rows = 0;
    auto read = database_->each(
        "SELECT key, payload FROM sent_out ORDER BY number", {}, [&](const DatabaseRow& row) {
          ++rows;
          const std::string payload = without_address(row.text(1));
          const auto arrived = std::ranges::any_of(
              told_, [&](const auto& one) { return one.first.second == payload; });
          if (!arrived) violated(fmt::format("{} counts as sent and never arrived", row.text(0)));
        });
    if (read && rows > 0) read = database_->run_script("DELETE FROM sent_out");
    if (!read) violated(read.error().text);
  }
  /// The patrol sends what everybody put there.
  void look_at_waiting() {
    const auto patrolled = world.patrolled_since();
    if (!patrolled || world.is_disturbed()) return;
    if (world.elapsed() - std::max(*patrolled, world.last_fault()) < kSentWithin) return;
    const auto read = database_->each(
        "SELECT key, channel FROM notices WHERE state IN ('waiting', 'sending') AND next_at < ? "
        "AND channel NOT LIKE 'reply:%' AND NOT EXISTS (SELECT 1 FROM notices AS earlier "
        "WHERE earlier.channel = notices.channel AND earlier.id < notices.id "
        "AND earlier.state IN ('waiting', 'sending'))",
        {database_time(world.wall() - kSentWithin)}, [&](const DatabaseRow& row) {
          if (!waits_.insert(std::string(row.text(0))).second) return;
          violated(fmt::format("{} waits to go out on {}, and a patrol is there", row.text(0),
                               row.text(1)));
        });
    if (!read) violated(read.error().text);
  }

  std::unique_ptr<Database> database_;
  std::map<std::pair<std::string, std::string>, Duration> told_;  // whom and what; when last
  std::set<std::string> waits_;                                   // said once
  Duration last_end_{};  // of somebody who may have been sending
  Duration looked_{};
};

}  // namespace

std::unique_ptr<Check> make_notices_check(SeededWorld& world) {
  return std::make_unique<Notices>(world);
}

}  // namespace tend::sim
