// What has to be done about a child: pure, from what is known of it to exactly one bucket with its
// reason. Done again after it was carried out, every child is settled, at work, or in the hands of
// somebody.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace tend {

enum class Bucket : std::uint8_t {
  settled,  // nothing is to be done
  adopt,    // alive and kept: left alone
  attach,   // its keeper is gone or hangs, it lives on: a new keeper
  resume,   // dead or orphaned, with budget: a keeper, in the same work tree
  start,    // requested, never started
  merge,    // ended well, its work is not where it belongs
  tell,     // ended otherwise: its parent is told, nothing is merged
  drop,     // no file, no work tree: nothing is left of it
  wait,     // about to end by itself: looked at again later
  unknown,  // cannot be known: left alone, and said
};
inline constexpr std::array<std::string_view, 10> kBucketWords{
    "settled", "adopt", "attach", "resume", "start", "merge", "tell", "drop", "wait", "unknown"};

constexpr std::string_view word(Bucket bucket) {
  return kBucketWords[static_cast<std::size_t>(bucket)];
}

/// How its work ended, as far as a parent cares.
enum class ChildEnd : std::uint8_t {
  none,       // it is not over
  done,       // with success
  withdrawn,  // by its own word: withdrawn or escalated; not to be tried again
  failed,     // its budget is spent, or it is not to be brought back
  stopped,    // a person wanted it
  orphaned,   // its parent was gone; it is to go on
  shutdown,   // the machine was shut down; it is to go on
};

enum class ChildKeeper : std::uint8_t { none, alive, hung };
enum class ProcessIs : std::uint8_t { none, alive, gone, unknown };

/// What is known of one child.
struct ChildFacts {
  bool settled = false;     // its parent has written so
  bool folder = false;      // there is one that can be opened
  bool agent_file = false;  // ... with what the agent is
  bool heartbeat = false;   // ... and it was written at least once
  std::string unreadable;   // why something of it cannot be read; "" if all can
  ChildEnd end = ChildEnd::none;
  ChildKeeper keeper = ChildKeeper::none;
  ProcessIs process = ProcessIs::none;
  bool of_this_boot = true;     // what is recorded is of this boot
  bool started = false;         // it had a life
  bool leaving = false;         // it gave its parent up and is about to end
  bool wanted = true;           // false: it is to be stopped, or was
  std::uint32_t spent = 0;      // resumes over all its lives
  std::uint32_t allowed = 0;    // 0: not known, unlimited
  bool own_worktree = false;    // its work is not in its parent's work tree
  bool worktree_there = false;  // the folder exists
  bool merged = false;          // proven: its parent's commit contains its own
  bool just_asked = false;      // somebody may be about to start it
};

struct ChildPlan {
  Bucket bucket = Bucket::unknown;
  std::string why;  // one line for people
};

ChildPlan plan_for(const ChildFacts& facts);

}  // namespace tend
