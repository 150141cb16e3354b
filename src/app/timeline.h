// `tend replay` for people: a line for every change of verdict, the actions below it, and at the
// end what held of the expectations.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/look.h"
#include "app/replay_view.h"
#include "os/world.h"

namespace tend {

class Timeline final : public ReplayView {
 public:
  Timeline(Output& out, const Environment& environment) : out_(out), look_(out, environment) {}

  void begin(const TraceTitle& title) override;
  void decided(Instant at, const Decision& decision) override;
  void end(const TraceResult& result) override;
  void sum(const ReplaySum& sum) override;

 private:
  void put_verdict(Instant at, Verdict verdict, Phase phase, const std::string& why);
  void add_action(Instant at, const Decision& decision);
  void put_actions();

  Output& out_;
  Look look_;
  bool first_ = true;

  // Actions of one time and one reason stand on one line.
  std::vector<std::string> actions_;
  std::string why_;
  Instant actions_at_{};
  Instant last_{};  // the time that was printed last
};

/// The two lines that open a trace.
std::string title_lines(const Look& look, const TraceTitle& title);

/// All reasons of a decision as one text, safe to print.
std::string reasons_of(const Decision& decision);

/// An action and what it is about: "reassign t1".
std::string action_words(const Decision& decision);

}  // namespace tend
