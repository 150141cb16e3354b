// What is really so in a simulated world. The models of agents write it, checkers read it, and
// nothing of ours ever sees it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "judge/policy.h"
#include "os/process.h"
#include "scenario.h"

namespace tend::sim {

/// A hang that happened: when, and when ours was seen to know of it.
struct HangTruth {
  StepKind kind = StepKind::hang_stream;
  std::string agent;
  std::uint32_t life = 0;
  Duration since{};     // of the world
  Duration bound{};     // by when it has to be found, if nothing else happens
  Duration known{};     // 0: not yet
  Duration over{};      // when that life ended; 0: not yet
  Duration excused{};   // until then it had an alibi
  bool missed = false;  // its bound passed, and it was not known
};

/// A question that was put to an agent, which has not answered it.
struct QuestionTruth {
  std::string id;
  std::int64_t by = 0;  // the pid of its keeper
  Duration asked{};     // awake time
};

/// A provider refuses an agent until then, of the world.
struct RefusalTruth {
  Duration until{};
  bool named = false;  // it says until when
};

/// A life that ended by itself because the model did not answer it.
struct GivenUpTruth {
  std::uint32_t life = 0;
  Duration at{};                  // of the world
  std::optional<Duration> until;  // it was told so; of the world
};

struct LifeTruth {
  std::uint32_t number = 0;
  ProcessId process;
  ProcessId inner;  // that works, behind the one that was started; pid 0: there is none
  bool over = false;
  std::optional<StepKind> doing;
  bool unheard = false;               // something that it printed was lost
  Duration lost{};                    // awake time of the last that was
  bool leaving = false;               // it is about to end by itself, well or not
  Duration since{};                   // of the world: it began
  Duration began{};                   // the same in awake time
  Duration progressed{};              // awake time of the last thing that it did and showed
  Duration patience{};                // silence after which it may be ended; kNoLimit: never
  std::optional<std::size_t> hang;    // in Truth::hangs
  std::function<void()> wake;         // ends that hang, if it is one that can end
  std::vector<std::int64_t> helpers;  // pids
  std::vector<QuestionTruth> questions;
  std::int64_t asked_by = 0;  // the pid of the keeper that asked last; 0: nobody did
  bool rests = false;         // its turn is over, and it listens
  bool in_call = false;       // it is shown to be in one
  bool answered = false;      // a question
  bool was_denied = false;    // something that it wanted to do
  std::optional<Duration>
      idle_since;  // it has nothing left to do but what it is told; of the world
};

struct WrittenTruth {
  std::string text;
  Duration at{};  // of the world
};

struct AgentTruth {
  const AgentPlan* plan = nullptr;
  Policy policy;
  std::string folder;    // "": it does not exist yet
  std::string worktree;  // "": it has none
  std::size_t next_step = 0;
  std::optional<std::size_t> begun;               // the step that was begun last, in any life
  std::map<std::size_t, std::uint32_t> troubled;  // by step: how often
  std::map<std::size_t, RefusalTruth> refused;    // by step
  std::optional<GivenUpTruth> given_up;           // the last that did
  bool asked_for = false;                         // its dispatch succeeded, or may have
  bool promised = false;                          // whoever dispatched it was told so
  bool hurries = false;                           // it waits for its children no longer
  bool done = false;                              // it has done all that it had to
  bool did_nothing = false;                       // it ended as if it had, and had not even begun
  bool stop_ordered = false;
  bool was_stopped = false;                   // `tend stop` said so
  bool is_paused = false;                     // `tend pause` said so, and nobody took it back
  std::map<std::string, WrittenTruth> wrote;  // files in its work tree
  std::vector<LifeTruth> lives;
  std::vector<std::string> children;
  // Of one that is asked.
  std::optional<Duration> well;      // since when it is, as everybody could know; of the world
  std::optional<Duration> answered;  // the last question; of the world, less its sleep
  std::string last_question;         // that it heard

  [[nodiscard]] LifeTruth* life() {
    return lives.empty() || lives.back().over ? nullptr : &lives.back();
  }
  [[nodiscard]] const LifeTruth* life() const {
    return lives.empty() || lives.back().over ? nullptr : &lives.back();
  }
};

/// A message of the scenario, as its sender knows it.
struct MessageTruth {
  std::uint64_t tries = 0;
  std::set<std::int64_t> ids;  // as what it was received; empty: nobody said that it was
  std::int64_t pid = 0;        // of its sender, while it is being sent
  std::optional<Duration> due;
  bool is_moment = false;  // what it waited for has come
  bool is_again = false;   // it is sent once more
};

/// What was told to a sender, or tried to be.
struct ReplyTruth {
  std::string sender;
  std::string key;
  std::string gate;           // auto-reply, undelivered, all-clear
  std::int64_t incident = 0;  // one way back in one outage
  Duration at{};
  bool heard = false;
};

/// A program that leads, or led; or somebody who leads by itself.
struct LeadTruth {
  std::size_t contender = 0;
  ProcessId process;
  std::uint64_t fence = 0;
  bool over = false;
};

/// Somebody who wants to lead, as it is now.
struct ContenderTruth {
  std::int64_t pid = 0;  // 0: it does not want to right now
  Duration since{};      // it does, of the world
  Duration next{};       // when it comes again
  bool leads = false;
  Duration stopped_until{};  // of the world; zero: it never was
};

/// A service, as it is now.
struct ServiceTruth {
  Duration next{};                               // when it is started again; times are of the world
  Duration guest_next{};                         // when the next guest comes
  std::vector<std::int64_t> pids;                // of those that were started and are there
  std::vector<ProcessId> at_work;                // of those that took up the work
  Duration since{};                              // the last of them did
  Duration stopped_until{};                      // zero: it never was
  std::map<std::string, std::uint64_t> written;  // by it, beats by the part
  std::string agent;                             // its folder: its name may be another's by now
  ProcessId guest;                               // the last one; pid 0: there was none
  std::string guest_id;                          // as its registry calls it
  std::uint64_t guests = 0;                      // so far
  Duration guest_since{};                        // it is registered, of the world
  bool guest_is_over = true;
  ProcessId subject;       // the guest that the one at work beats for; pid 0: it found none yet
  std::string subject_id;  // the same
};

/// A beat that was just written.
struct BeatTruth {
  std::size_t service = 0;
  ProcessId by;
  std::string part;  // of the beat: a store, or "lease NAME"
};

struct Truth {
  std::map<std::string, AgentTruth> agents;
  std::vector<MessageTruth> messages;    // beside the plans
  std::map<std::int64_t, WallTime> got;  // by the message's id: its agent was done with it, when
  std::vector<ReplyTruth> replies;
  std::vector<LeadTruth> leads;
  std::vector<ContenderTruth> contenders;  // beside the plans
  std::vector<ServiceTruth> services;      // the same
  std::vector<HangTruth> hangs;
  std::uint64_t progress = 0;  // things done by all agents
};

}  // namespace tend::sim
