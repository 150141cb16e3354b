// The old file, then the new one, then whatever is added to it. A file that is full is moved away
// while we read; the tail reads the moved one to its end before it goes on with the new one.
#include "app/events_command.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "app/follow.h"
#include "app/home_option.h"
#include "app/look.h"
#include "app/number_option.h"
#include "app/when.h"
#include "base/quote.h"
#include "sense/tail.h"
#include "store/events.h"
#include "store/home.h"

namespace tend {
namespace {

constexpr std::size_t kClockWidth = 10;
const std::string kOldEvents(kOldEventsFile);
constexpr std::size_t kUsualCount = 50;
constexpr int kMostRotations = 3;  // that may happen while the past is read

struct Wanted {
  std::string agent;  // "": all
  std::string session;
  double from = 0;
  std::size_t most = 0;

  [[nodiscard]] bool takes(const Event& event) const {
    if (event.at < from) return false;
    return agent.empty() || (event.agent == agent && event.session == session);
  }
};

class EventLines {
 public:
  EventLines(World& world, bool json)
      : out_(world.out), look_(world.out, world.environment), json_(json) {}

  void put(const Event& event) {
    if (json_) {
      out_.write(format_event(event) + "\n");
      return;
    }
    const WallTime at = calendar_time(event.at);
    if (const std::string date = date_label(at); date != date_) {
      date_ = date;
      out_.write(look_.in(Ink::faint, date + " UTC") + "\n");
    }
    std::string line = look_.in(Ink::faint, clock_label(at)) + "  ";
    std::string who = on_one_line(event.agent.empty() ? "-" : event.agent);
    if (event.life > 1) who += fmt::format(" #{}", event.life);
    name_width_ = std::max(name_width_, width_of(who));
    line += left_aligned(who, name_width_) + "  ";
    const Said said = said_by(event);
    line += look_.in(said.ink, said.lead);
    if (out_.is_terminal()) {
      const std::size_t column = kClockWidth + name_width_ + 2;
      look_.flow(line, column + width_of(said.lead), column, said.rest);
    } else {
      line += said.rest + "\n";
    }
    out_.write(line);
  }

  bool flush() { return out_.flush(); }

 private:
  struct Said {
    Ink ink = Ink::plain;
    std::string lead;
    std::string rest;
  };

  [[nodiscard]] Said said_by(const Event& event) const {
    Said said;
    switch (event.kind) {
      case Event::Kind::verdict: {
        const auto verdict = from_word<Verdict>(kVerdictWords, event.verdict);
        said.ink = verdict ? ink_of(*verdict) : Ink::plain;
        said.lead = event.verdict + " ";
        if (!event.phase.empty()) said.rest = fmt::format("({})", event.phase);
        for (std::size_t i = 0; i < event.because.size(); ++i) {
          said.rest += (i == 0 ? ": " : "; ") + event.because[i];
        }
        break;
      }
      case Event::Kind::action:
        said.ink = event.needs_person ? Ink::yellow : Ink::bold;
        said.lead = fmt::format("{} {}: ", look_.arrow(), event.action);
        said.rest = event.text;
        if (!event.result.empty()) said.rest += fmt::format(" ({})", event.result);
        break;
      case Event::Kind::note:
        said.ink = event.needs_person ? Ink::yellow : Ink::plain;
        said.lead = event.needs_person ? "needs you: " : "";
        said.rest = event.text;
        break;
    }
    return said;
  }

  Output& out_;
  Look look_;
  bool json_;
  std::string date_;
  std::size_t name_width_ = 0;
};

/// Reads one of the two files as far as it goes, again and again.
class EventSource {
 public:
  using Take = std::function<void(Event)>;

  EventSource(Folder& home, std::string name, Take take)
      : tail_(home, std::move(name), 0),
        lines_(
            [take = std::move(take)](std::string_view line) {
              if (auto event = parse_event(line)) take(*std::move(event));
            },
            [](std::uint64_t) {}) {}

  Result<void> read() {
    while (true) {
      const auto got = tail_.read();
      if (!got) return std::unexpected(got.error());
      if (got->cut || got->skipped) lines_.reset();
      if (got->bytes.empty()) return {};
      lines_.feed(got->bytes);
    }
  }

 private:
  Tail tail_;
  LineFeed lines_;
};

class Events {
 public:
  Events(Folder& home, Wanted wanted, EventLines lines)
      : home_(home), wanted_(std::move(wanted)), lines_(std::move(lines)) {}

  /// What happened so far.
  Result<void> tell_past() {
    for (int tries = 0; tries < kMostRotations; ++tries) {
      kept_.clear();
      const auto old = home_.facts(kOldEvents);
      EventSource before(home_, kOldEvents, [this](Event e) { keep(std::move(e)); });
      if (auto read = before.read(); !read) return read;
      now_.emplace(home_, std::string(kEventsFile),
                   [this](Event e) { past_ ? keep(std::move(e)) : tell(e); });
      if (auto read = now_->read(); !read) return read;
      const auto after = home_.facts(kOldEvents);
      const auto file = [](const auto& f) { return f && *f ? (*f)->file : 0; };
      if (file(old) == file(after)) break;
    }
    for (const Event& event : kept_) lines_.put(event);
    kept_.clear();
    past_ = false;
    lines_.flush();
    return {};
  }

  /// What has come since; false if nobody reads it any more or it cannot be read.
  bool tell_new() {
    const auto read = now_->read();
    if (!read) problem_ = read.error().text;
    return lines_.flush() && read;
  }

  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  void keep(Event event) {
    if (!wanted_.takes(event)) return;
    kept_.push_back(std::move(event));
    if (kept_.size() > wanted_.most) kept_.pop_front();
  }
  void tell(const Event& event) {
    if (wanted_.takes(event)) lines_.put(event);
  }

  Folder& home_;
  Wanted wanted_;
  EventLines lines_;
  std::optional<EventSource> now_;
  std::deque<Event> kept_;
  bool past_ = true;
  std::string problem_;
};

Result<Wanted> wanted_by(const Arguments& arguments, Home& home) {
  Wanted wanted;
  const auto since = time_option(arguments, "since");
  if (!since) return std::unexpected(since.error());
  // Asked for a time, all of that time is meant.
  constexpr std::size_t kAll = static_cast<std::size_t>(-1);
  const auto most = count_option(arguments, "lines", *since ? kAll : kUsualCount);
  if (!most) return std::unexpected(most.error());
  wanted.most = *most;
  if (*since) {
    wanted.from = calendar_seconds(home.machine.clock.wall()) -
                  std::chrono::duration<double>(**since).count();
  }
  return wanted;
}

}  // namespace

int events_command(const Arguments& arguments, World& world) {
  auto home = open_home(world);
  if (!home) return complain(world, "events", home.error().text, kExitUsage);
  auto wanted = wanted_by(arguments, *home);
  if (!wanted) return complain(world, "events", wanted.error().text, kExitUsage);
  if (const auto name = arguments.value("agent")) {
    const auto known = find_agent(home->machine.folders, *home->folder, *name);
    if (!known) return complain(world, "events", known.error().text, kExitNo);
    wanted->agent = known->heartbeat.agent;
    wanted->session = known->heartbeat.session;
  }
  Events events(*home->folder, *std::move(wanted), EventLines(world, arguments.has("json")));
  if (auto told = events.tell_past(); !told) {
    return complain(world, "events", told.error().text, kExitUsage);
  }
  if (!arguments.has("follow")) return kExitYes;
  follow(home->machine, home->folder->path(), OnInterrupt::end, std::nullopt,
         [&] { return events.tell_new(); });
  if (!events.problem().empty()) return complain(world, "events", events.problem(), kExitUsage);
  return kExitYes;
}

}  // namespace tend
