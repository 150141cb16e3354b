// Each time that a task falls silent it is warned of once, its worker is asked once and people are
// told once; where many fall silent at once, that is told once, and nobody is asked meanwhile. A
// patrol that was killed before it wrote down what it had said may say that again.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/duration.h"
#include "checks/check.h"
#include "judge/patrol.h"
#include "run/patrol_process.h"

namespace tend::sim {
namespace {

// A task is heard of anew with each beat and each claim.
constexpr const char* kWatchSaid = R"(
CREATE TEMP TABLE said(number INTEGER PRIMARY KEY, what, about, text);
CREATE TEMP TRIGGER letters_said AFTER INSERT ON main.letters WHEN new.sender = 'patrol' BEGIN
  INSERT INTO said(what, about, text) VALUES('ping', new.subject, '');
END;
CREATE TEMP TRIGGER letters_answered AFTER UPDATE OF acked_at ON main.letters
  WHEN new.sender = 'patrol' BEGIN
  INSERT INTO said(what, about, text) VALUES('answer', new.subject, '');
END;
CREATE TEMP TRIGGER notices_said AFTER INSERT ON main.notices BEGIN
  INSERT INTO said(what, about, text)
  VALUES(CASE new.kind WHEN 'close' THEN 'over' ELSE 'notice' END, new.key, new.payload);
END;
CREATE TEMP TRIGGER notices_changed AFTER UPDATE OF payload, kind ON main.notices
  WHEN new.payload IS NOT old.payload BEGIN
  INSERT INTO said(what, about, text)
  VALUES(CASE new.kind WHEN 'close' THEN 'over' ELSE 'notice' END, new.key, new.payload);
END;
CREATE TEMP TRIGGER notices_closed AFTER UPDATE OF closed ON main.notices
  WHEN new.closed AND NOT old.closed BEGIN
  INSERT INTO said(what, about, text) VALUES('over', new.key, '');
END;
CREATE TEMP TRIGGER notices_dropped AFTER DELETE ON main.notices BEGIN
  INSERT INTO said(what, about, text) VALUES('over', old.key, '');
END;
CREATE TEMP TRIGGER tasks_heard AFTER UPDATE ON main.tasks
  WHEN new.fence <> old.fence OR new.status <> old.status OR
       coalesce(new.last_heartbeat, new.updated_at) <> coalesce(old.last_heartbeat, old.updated_at)
  BEGIN
  INSERT INTO said(what, about, text) VALUES('sign', new.id, '');
END;)";

constexpr const char* kSilence = "silence";  // the key of the incident
constexpr std::string_view kTaskKey = "task:";

class PatrolOnce final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "told once"; }

  void on_begin() override {
    database_ = home_database_of(world);
    if (!database_) return;
    if (auto watched = database_->run_script(kWatchSaid); !watched) violated(watched.error().text);
  }
  void on_patrol(std::size_t /*at_work*/) override {
    read();
    begun_.push_back(calendar_seconds(world.wall()));
    asked_amid_.clear();
  }
  void on_event(const Event& event) override {
    constexpr std::string_view kTask = "task ";
    const std::size_t id_ends = event.text.find(" of ");  // open ones are nobody's
    if (event.agent != "patrol" || event.action != "warn" || !event.text.starts_with(kTask) ||
        id_ends == std::string::npos || event.text.contains(": open for ")) {
      return;
    }
    const std::string task = event.text.substr(kTask.size(), id_ends - kTask.size());
    // While somebody waits for a command, beats and warnings pile up: a warning says itself when
    // the last beat was.
    const auto warned = warned_at_.find(task);
    if (warned != warned_at_.end() && beat_before(event) > warned->second) {
      forget({"warn", "ping", "escalate", "reassign"}, task);
    }
    warned_at_[task] = event.at;
    count("warn", task, event.text, begun_before(event.at));
  }
  /// Who said it does not know that any more.
  void on_taken_back(const std::string& table, const std::string& id,
                     const std::string& was) override {
    read();
    const auto row = nlohmann::json::parse(was);
    if (table == "tasks") forget({"warn", "ping", "escalate", "reassign"}, id);
    if (table == "letters") forget({"ping"}, task_of(row.at(1)));
    if (table != "notices") return;
    const std::string key = row.at(1);
    const std::string about = key.starts_with(kTaskKey) ? key.substr(kTaskKey.size()) : key;
    forget({"escalate", "reassign", "incident"}, about);
    if (key == kSilence) many_are_silent_ = is_incident_open();
  }
  void on_tick() override {
    read();
    // In a sweep that takes long, for what it asks of version control, all is told in the end.
    const Duration sweeps =
        with_interval({}, world.scenario.patrol).sweeps.longest +
        static_cast<int>(world.scenario.agents.size()) * world.universe.version_control_takes;
    if (asked_amid_.empty() || world.elapsed() - asked_at_ < sweeps) return;
    if (asked_at_ - world.last_fault() > 2 * sweeps) {
      violated("asked while many were silent: " + asked_amid_.front());
    }
    asked_amid_.clear();
  }

 private:
  struct Said {
    std::uint64_t times = 0;
    std::uint64_t begun = 0;  // patrols, when it was first said
  };

  /// Events are heard with the next tick, and another patrol may have begun meanwhile: at the same
  /// moment even, where one was killed as it spoke.
  [[nodiscard]] std::uint64_t begun_before(double at) const {
    constexpr double kSameMoment = 0.0005;  // what is written is rounded
    const auto before =
        std::ranges::count_if(begun_, [at](double one) { return one < at - kSameMoment; });
    return static_cast<std::uint64_t>(std::max<std::ptrdiff_t>(before, 1));
  }
  /// By the calendar; 0 if it says nothing of a beat.
  static double beat_before(const Event& event) {
    constexpr std::string_view kBefore = "last beat ";
    const std::size_t begin = event.text.find(kBefore);
    if (begin == std::string::npos) return 0;
    const std::size_t from = begin + kBefore.size();
    const auto age = parse_duration(event.text.substr(from, event.text.find(' ', from) - from));
    return age ? event.at - std::chrono::duration<double>(*age).count() : 0;
  }

  [[nodiscard]] bool is_incident_open() {
    bool is_open = false;
    const auto got = database_->each(
        "SELECT 1 FROM notices WHERE key = ? AND closed = 0 AND kind <> 'close' LIMIT 1",
        {std::string_view(kSilence)}, [&](const DatabaseRow&) { is_open = true; });
    if (!got) violated(got.error().text);
    return is_open;
  }
  void read() {
    if (!database_) return;
    std::int64_t rows = 0;
    auto got = database_->each(
        "SELECT what, about, text FROM said ORDER BY number", {}, [&](const DatabaseRow& row) {
          ++rows;
          take(std::string(row.text(0)), std::string(row.text(1)), std::string(row.text(2)));
        });
    if (got && rows > 0) got = database_->run_script("DELETE FROM said");
    if (!got) violated(got.error().text);
  }
  void take(const std::string& what, const std::string& about, const std::string& text) {
    if (what == "sign") return forget({"warn", "ping", "escalate", "reassign"}, about);
    if (what == "ping") return take_ping(task_of(about));
    if (what == "answer") return forget({"warn", "ping", "escalate"}, task_of(about));
    const bool of_task = about.starts_with(kTaskKey);
    if (!of_task && about != kSilence) return;
    const std::string whose = of_task ? about.substr(kTaskKey.size()) : about;
    if (about == kSilence) many_are_silent_ = what == "notice";
    if (what == "over") {
      if (about == kSilence) asked_amid_.clear();
      return forget({"escalate", "reassign", "incident"}, whose);
    }
    const bool taken = text.contains("taken from a worker that is gone");
    const char* const rung = !of_task ? "incident" : taken ? "reassign" : "escalate";
    if (of_task && !taken && is_silent_anew(whose, text)) forget({"escalate"}, whose);
    count(rung, whose, text, begun_.size());
  }
  /// Who was told of it was not told that it is over, where there was no room for that: the next
  /// word says itself since when it is silent again.
  bool is_silent_anew(const std::string& task, const std::string& text) {
    const auto before = told_at_.find(task);
    const auto silence = silence_in(text);
    const bool is_anew =
        before != told_at_.end() && silence && world.elapsed() - *silence > before->second;
    told_at_[task] = world.elapsed();
    return is_anew;
  }
  static std::optional<Duration> silence_in(const std::string& text) {
    constexpr std::string_view kBefore = "it counts as silent for ";
    const std::size_t begin = text.find(kBefore);
    if (begin == std::string::npos) return std::nullopt;
    const std::size_t from = begin + kBefore.size();
    const auto silence = parse_duration(text.substr(from, text.find_first_of("\";:", from) - from));
    return silence ? std::optional(*silence) : std::nullopt;
  }
  void take_ping(const std::string& task) {
    count("ping", task, task, begun_.size());
    // In the sweep that sees its end, they are asked before that is told.
    if (!many_are_silent_) return;
    if (asked_amid_.empty()) asked_at_ = world.elapsed();
    asked_amid_.push_back(task);
  }
  /// "[PING] ID: are you still at it?"
  static std::string task_of(const std::string& subject) {
    const std::size_t begin = std::min(subject.find(' '), subject.size() - 1) + 1;
    return subject.substr(begin, subject.rfind(": ") - begin);
  }

  void count(const std::string& what, const std::string& about, const std::string& text,
             std::uint64_t begun) {
    Said& said = said_[{what, about}];
    if (said.times == 0) said.begun = begun;
    const std::uint64_t again = begun_.size() - std::min<std::uint64_t>(said.begun, begun_.size());
    if (++said.times > 1 + again) {
      violated(fmt::format("{} of {}, {} times: {}", what, about, said.times, text));
    }
  }
  void forget(std::initializer_list<const char*> all, const std::string& about) {
    for (const char* const what : all) said_.erase({what, about});
  }

  std::unique_ptr<Database> database_;
  std::map<std::pair<std::string, std::string>, Said> said_;  // what, about what
  std::map<std::string, double> warned_at_;                   // by the calendar
  std::map<std::string, Duration> told_at_;                   // people, of the world
  std::vector<double> begun_;                                 // patrols, by the calendar
  bool many_are_silent_ = false;
  std::vector<std::string> asked_amid_;
  Duration asked_at_{};
};

}  // namespace

std::unique_ptr<Check> make_patrol_once_check(SeededWorld& world) {
  return std::make_unique<PatrolOnce>(world);
}

}  // namespace tend::sim
