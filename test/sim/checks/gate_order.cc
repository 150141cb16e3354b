// Messages are handed out by their priority, then by their age: whenever one is taken, none that
// waits comes before it. Nobody has two at once. Everything that is written of them is looked at.
#include <memory>

#include <fmt/format.h>

#include "checks/check.h"

namespace tend::sim {
namespace {

constexpr const char* kWatch = R"(
CREATE TEMP TABLE handed(number INTEGER PRIMARY KEY, id, agent, priority, first, leased);
CREATE TEMP TRIGGER messages_handed AFTER UPDATE OF state, tries ON main.messages
  WHEN new.state = 'taken' AND new.tries > old.tries BEGIN
  INSERT INTO handed(id, agent, priority, first, leased)
  VALUES(new.id, new.agent, new.priority,
         (SELECT id FROM main.messages AS other WHERE other.agent = new.agent
          AND other.state = 'queued'
          AND (other.priority < new.priority OR
               (other.priority = new.priority AND other.id < new.id)) LIMIT 1),
         (SELECT id FROM main.messages AS other WHERE other.agent = new.agent
          AND other.id <> new.id AND other.state = 'taken' AND other.holder = new.holder
          AND new.holder <> 'taker' AND other.lease_until > new.updated_at LIMIT 1));
END;)";

class GateOrder final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "messages in order"; }

  void on_begin() override {
    database_ = home_database_of(world);
    if (!database_) return violated("there is no database");
    if (auto watched = database_->run_script(kWatch); !watched) violated(watched.error().text);
  }
  void on_tick() override { look(); }
  void on_settled() override { look(); }

 private:
  void look() {
    if (!database_) return;
    auto read = database_->each(
        "SELECT id, agent, priority, first, leased FROM handed ORDER BY number", {},
        [this](const DatabaseRow& row) {
          if (const auto first = row.number_or_none(3)) {
            violated(fmt::format("{} got message {} of priority {} before {}", row.text(1),
                                 row.number(0), row.number(2), *first));
          }
          if (const auto leased = row.number_or_none(4)) {
            violated(fmt::format("{} got message {} while it had {}", row.text(1), row.number(0),
                                 *leased));
          }
        });
    if (read) read = database_->run_script("DELETE FROM handed");
    if (!read) violated(read.error().text);
  }

  std::unique_ptr<Database> database_;
};

}  // namespace

std::unique_ptr<Check> make_gate_order_check(SeededWorld& world) {
  return std::make_unique<GateOrder>(world);
}

}  // namespace tend::sim
