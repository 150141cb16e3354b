// The children of one agent, as its keeper cares for them. One look does everything, and the same
// look is the recovery scan: what was requested is started, a dead or hung keeper is replaced, one
// that died with its keeper or gave up for want of a parent is resumed, how each one ended is told.
// What is done about a child is decided in judge/recovery.h; here it is done.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "act/bring_home.h"
#include "base/time.h"
#include "judge/recovery.h"
#include "os/machine.h"
#include "run/child_look.h"
#include "run/hire.h"
#include "run/keeper_watch.h"
#include "sense/adapter.h"
#include "store/children.h"
#include "store/intent.h"

namespace tend {

class Children {
 public:
  struct Owner {
    Folder& folder;  // the parent's
    std::string worktree;
    KeeperProgram program;
    std::function<void(const std::string& text, bool needs_person)> say;
    Callback changed;  // something happened that wants a look
  };

  Children(Machine& machine, Owner owner);
  ~Children();
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  struct Care {
    bool begin = true;  // whoever is to be started or resumed is; false while the parent is ended
    bool all = false;   // look at every keeper, not only at what changed
  };
  /// Looks at all that are not settled, does what is due, and tells the judge what became of them.
  void look(SignalBatch& batch, const Care& care);
  /// Reads who was registered meanwhile.
  void refresh() { read_registry(); }
  /// Why it is not known who there is; "" if it is.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// A new life of the parent was told nothing.
  void retell();
  /// Ends what a dispatch that was cut off left: the next life of the parent asks again.
  void end_unregistered();
  /// When there is more to do that nobody will remind us of.
  [[nodiscard]] std::optional<Instant> next() const { return next_; }

  [[nodiscard]] std::uint32_t unsettled() const;
  /// Nothing of them runs any more, and nobody keeps one.
  [[nodiscard]] bool all_over() const;

  /// Writes the order into the folder of everybody who is not over, and pokes their keepers.
  void pass_on(const Intent& intent);

  /// Those that ended well and whose work is not home, and was not tried since forget_tries().
  [[nodiscard]] bool has_work_abroad() const;
  void forget_tries();
  /// Brings it home, one after the other. `done` is called once.
  void bring_home(Callback done);
  [[nodiscard]] bool is_bringing_home() const { return bringing_ != nullptr; }

 private:
  struct Child {
    ChildLine line;
    std::string folder;
    std::string team;                              // the folder that one is in
    std::unique_ptr<Folder>* open_team = nullptr;  // of teams_
    std::string name;                              // its last part
    ChildSeen seen;
    std::unique_ptr<KeeperWatch> watch;
    ChildKeeper keeper = ChildKeeper::none;
    bool keeper_changed = true;  // its process ended, or was never looked at
    bool is_begun = false;       // a keeper was put on that has not taken its lock yet
    bool tried = false;          // to bring its work home
    bool is_held = false;        // it loops
    bool end_told = false;       // its lead knows how it ended
    std::optional<Verdict> told;
    bool told_asking = false;
    Instant told_at{};
    std::string said;  // the last thing that was said of it and could not be changed
  };

  void read_registry();
  void look_at(Child& child, const Care& care);
  void look_at_keeper(Child& child, Folder& folder);
  void carry_out(Child& child, const ChildPlan& plan, const Care& care);
  void begin(Child& child, bool again);
  [[nodiscard]] KeeperProgram program_for(const Child& child);
  void settle(Child& child, ChildStatus status, const std::string& note);
  void tell_of_settled();
  void tell_of_settled(Child& child);
  [[nodiscard]] bool is_told(const Child& child);
  bool tell_lead(Child& child, const std::string& kind, const std::string& text);
  void end(Child& child, ChildStatus status, const std::string& why, const std::string& text);
  void tell_if_held(Child& child);
  void tell_judge(Child& child, SignalBatch& batch);
  void say_once(Child& child, const std::string& text);
  void bring_next();
  [[nodiscard]] std::string why_not_known(Child& child);
  void take_home(Child& child, const Result<BroughtHome>& brought);
  [[nodiscard]] std::unique_ptr<Folder> open(const Child& child);
  /// nullptr without a problem: there is nothing.
  [[nodiscard]] std::unique_ptr<Folder> open(const Child& child, std::string& problem);
  [[nodiscard]] static std::string name_of(const Child& child);
  [[nodiscard]] static std::string end_words(const Child& child);
  [[nodiscard]] static std::string unmerged_words(const Child& child);

  Machine& machine_;
  Owner owner_;
  std::vector<std::unique_ptr<Child>> children_;
  std::map<std::string, Child*> by_heartbeat_;
  std::map<std::string, std::unique_ptr<Folder>> teams_;  // folders of roles, kept open
  std::uint64_t registry_file_ = 0;
  std::uint64_t registry_size_ = 0;
  std::string problem_;  // with the registry
  bool compacted_ = false;
  Instant begun_at_{};
  std::uint32_t begun_ = 0;  // since then
  std::size_t told_ = 0;     // whom the judge knows of
  std::optional<Instant> next_;
  std::unique_ptr<BringHome> bringing_;
  Callback brought_;
};

}  // namespace tend
