// What is known of one agent. absorb() turns signals into facts and nothing else: it knows no
// limits and gives no verdict. A spawn voids the facts of the life before it (struct Life); what
// belongs to the agent over all its lives stands beside it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/name.h"
#include "judge/clocks.h"
#include "judge/policy.h"
#include "judge/signal.h"

namespace tend {

/// Facts beyond these numbers replace the oldest ones: an agent cannot make its judge grow.
inline constexpr std::size_t kMostTools = 256;
inline constexpr std::size_t kMostChildren = 256;
inline constexpr std::size_t kMostTasks = 64;
inline constexpr std::size_t kMostQuestions = 64;
inline constexpr std::size_t kMostPings = 16;
inline constexpr std::size_t kMostVoidPings = 32;

/// Where the lead stands in its turn, as far as its stream says. Open tools, compactions, questions
/// and holds lie on top of it.
enum class Stage : std::uint8_t {
  none,   // no stream signal of the lead yet
  model,  // in a turn
  rest,   // the turn is over, or the agent says it is idle
};

struct Tool {
  Name id;
  Name tool;
  Name task;         // the sub-agent whose call it is; empty: the lead's
  Duration limit{};  // declared; zero: none
  SilenceTime opened{};
  SilenceTime beaten_to{};  // a tool-beat holds its deadline off to here
  bool declared = false;
  bool background = false;
  bool child = false;     // it waits for a child
  bool circling = false;  // opened while suspect, the same call again: it opens no phase
  bool over = false;      // closed while suspect with the same result again: its phase stays

  [[nodiscard]] bool foreground_of_lead() const { return !background && task.empty(); }
};

struct Child {
  Name name;
  Verdict verdict = Verdict::unknown;
  bool for_parent = false;
  AwakeTime told{};
  AwakeTime doubted{};  // since when it is said to be unknown, suspect or stalled, if it is
  SilenceTime ended{};  // since when it is over, if it is
  SilenceTime asked{};  // since when it waits for its parent, if it does
};

struct ClaimedTask {
  Name name;
  SilenceTime claimed{};
};

struct Ping {
  Name id;
  ActiveTime sent{};
  SilenceTime asked{};     // the same moment, for what is measured in silence
  bool overtaken = false;  // a real sign came after it: that it is unanswered says nothing
};

/// The provider holds the agent up.
struct Hold {
  Cause cause = Cause::none;
  Name task;  // the sub-agent that met it; empty: the lead
  std::optional<Instant> until;
  ActiveTime opened{};              // when this hold opened
  SilenceTime began{};              // the same moment, for comparing with open calls
  ActiveTime first{};               // the first retry in a row
  ActiveTime last{};                // the last retry
  std::optional<SilenceTime> over;  // its time came
  ActiveTime waited{};              // by when it has waited it out, if by its own timer
  Duration to_wait{};               // what such a timer had left when the time came
  bool announced = false;           // `hold` was decided for it
  bool notified = false;            // `notify` was decided for it
};

/// Facts of one incarnation.
struct Life {
  // The process
  std::optional<ProcessState> probe;
  Exit exit;
  bool was_stopped = false;  // and was not seen running since
  SilenceTime spawned{};
  SilenceTime clock_restarted{};     // it was stopped and runs again
  bool by_resume = false;            // a resume brought this life up
  std::optional<ActiveTime> killed;  // our own kill
  bool worked_since_kill = false;
  ActiveTime went{};          // when the process was first found gone
  bool went_in_hold = false;  // the provider held it up then

  // Signs
  bool real_seen = false;
  bool stream_seen = false;
  SilenceTime last_real{};
  SilenceTime last_stream{};
  std::optional<SilenceTime> last_weak;
  SilenceTime last_sign{};  // of any kind, weak ones too
  bool ack_spent = false;   // an ack renewed, and no real sign came since

  // The turn
  Stage stage = Stage::none;
  bool rest_by_word = false;
  SilenceTime rested{};
  std::optional<AwakeTime> turn_ended;
  bool turn_failed = false;
  Name turn_error;
  bool compacting = false;
  std::vector<Tool> tools;
  Name circling_tool;                 // its last close was the third identical one or later
  Name circling_task;                 // whose call that was
  std::uint32_t background_left = 0;  // background tasks that the turn's end spoke of
  bool background_awaited = false;
  SilenceTime background_changed{};

  // Held up
  std::vector<Name> questions;
  std::optional<ActiveTime> person_since;
  std::optional<Hold> hold;
  std::optional<ActiveTime> retries_since;  // the first retry in a row, over holds that were left
  std::vector<Child> children;
  bool children_awaited = false;

  // Self-report, probes, records
  std::optional<SelfState> state;
  std::optional<SilenceTime> stated;
  std::optional<Instant> quiet_until;
  bool stuck = false;
  bool idle_in_tool = false;
  std::optional<SilenceTime> exiting;
  std::optional<Status> record;
  bool turn_after_record = false;
  bool sign_after_record = false;
  bool beat_seen = false;
  bool beat_failed = false;
  SilenceTime last_beat{};
  std::vector<Ping> pings;
  bool answered = false;  // a question, since it was last down
  Name last_error;
  bool error_stands = false;  // no progress since
  std::optional<SilenceTime> final_error;

  // The parent
  std::optional<ParentState> parent;
  std::optional<ActiveTime> parent_died;

  [[nodiscard]] bool gone() const {
    return probe == ProcessState::gone || probe == ProcessState::zombie ||
           probe == ProcessState::reused;
  }
  [[nodiscard]] bool awaits_person() const {
    return !questions.empty() || (hold && hold->cause == Cause::auth);
  }
  [[nodiscard]] bool foreground_tool_open() const;
  [[nodiscard]] bool child_tool_open() const;
  [[nodiscard]] std::size_t background_tools_open() const;
  [[nodiscard]] bool background_running() const {
    return background_left > 0 || background_tools_open() > 0;
  }
};

/// A child's word is good for this long, then it is unknown.
inline constexpr Duration kChildWordHolds = std::chrono::seconds{900};

enum class ChildIs : std::uint8_t { at_work, waiting_for_parent, in_doubt, ended };
ChildIs what_is(const Child& child, AwakeTime now);
/// Since when a child has been in doubt. Requires that it is.
AwakeTime doubted_since(const Child& child);

class Evidence {
 public:
  /// Takes one signal at the time of `clocks`. `in_silence`: the agent is suspect or worse, so a
  /// weak sign may not open a phase. Returns false if it belonged to an older life.
  bool absorb(const Signal& signal, const Clocks& clocks, bool in_silence);

  std::uint32_t life_number = 0;
  bool spawned = false;  // a spawn line was seen
  bool seen = false;     // a spawn or any real sign
  Life life;

  Want want = Want::run;
  SilenceTime wanted{};
  std::uint32_t inbox = 0;
  SilenceTime inbox_since{};
  std::vector<ClaimedTask> tasks;
  bool stream_ever = false;  // there is a session that can be resumed
  std::uint32_t parents_replaced = 0;
  std::uint32_t refills = 0;  // task close and advance so far
  bool next_life_by_resume = false;

  [[nodiscard]] bool paused() const;
  [[nodiscard]] bool holds_task() const { return !tasks.empty(); }

  template <class Fields>
  void fields(Fields& io);

 private:
  void begin_life(const Signal& signal, const Clocks& clocks);
  void absorb_process(const Signal& signal, const Clocks& clocks);
  void absorb_beat(const Signal& signal, const Clocks& clocks);
  void absorb_stream(const Signal& signal, const Clocks& clocks, bool in_silence);
  void absorb_tool(const Signal& signal, const Clocks& clocks, bool in_silence);
  void absorb_progress(const Signal& signal, const Clocks& clocks);
  void absorb_retry(Cause cause, const Signal& signal, const Clocks& clocks);
  void absorb_turn_end(const Signal& signal, const Clocks& clocks);
  void absorb_state(const Signal& signal, const Clocks& clocks);
  void absorb_probe(const Signal& signal, const Clocks& clocks);
  void absorb_child(const Signal& signal, const Clocks& clocks);
  void absorb_task(const Signal& signal, const Clocks& clocks);
  void absorb_others(const Signal& signal, const Clocks& clocks);

  void real_sign(const Clocks& clocks);
  void weak_sign(const Clocks& clocks);
  void close_tool(const Signal& signal, const Clocks& clocks, bool in_silence);
  void enter_turn(const Clocks& clocks);
  void leave_open_hold(const Clocks& clocks);
  void close_foreground_tools();
  void note_person(const Clocks& clocks);
  [[nodiscard]] bool known_by_beats_alone() const;

  std::vector<Name> void_pings_;  // asked of an earlier life: their acks are void
};

}  // namespace tend
