// In the order of proof: what the kernel says before what a keeper says, and both before the time.
#include "judge/lease.h"

#include <algorithm>

#include "base/duration.h"

namespace tend {
namespace {

bool is_demoted(const LeaseAgent& agent) {
  if (!agent.kept) return false;
  return agent.verdict == Verdict::stalled || agent.verdict == Verdict::dead ||
         agent.verdict == Verdict::looping;
}

LeaseTaking take(LeaseFree because, std::string why) {
  return {.may = true, .because = because, .why = std::move(why)};
}

/// As if nobody had taken it too often.
LeaseTaking plainly(const LeaseFacts& facts) {
  if (!facts.held) return take(LeaseFree::given_back, "nobody has it");
  if (facts.holder == HolderIs::dead) {
    return take(LeaseFree::holder_dead, "its holder is proven dead");
  }
  if (is_demoted(facts.agent)) {
    return take(LeaseFree::demoted,
                "its holder lives and does not work: " + std::string(word(facts.agent.verdict)));
  }
  if (facts.age >= facts.ttl) {
    return take(LeaseFree::expired, "it was not renewed for " + format_duration(facts.ttl));
  }
  return {.again_in = facts.ttl - facts.age, .why = "it is held"};
}

/// Too little to be of use to anybody is not said.
std::string words_of_lag(Duration lag) {
  using std::chrono::seconds;
  if (lag < seconds{1}) return "";
  return ", and its renewals come up to " + format_duration(std::chrono::round<seconds>(lag)) +
         " late";
}

LeaseRenewing no(LeaseRefusal refusal, std::string why) { return {false, refusal, std::move(why)}; }

}  // namespace

LeaseTaking may_take(const LeaseFacts& facts) {
  LeaseTaking taking = plainly(facts);
  if (!taking.may || is_clean(taking.because) || !is_flapping(facts)) return taking;
  taking.flapping = true;
  const Duration from = lease_holds_until(facts.ttl, facts.lag);
  if (facts.age >= from) return taking;
  taking.may = false;
  taking.again_in = from - facts.age;
  taking.why = "it went from hand to hand too often without being given back" +
               words_of_lag(facts.lag) + ": " + taking.why;
  return taking;
}

LeaseRenewing may_vouch(HolderIs holder, const LeaseAgent& agent) {
  switch (holder) {
    case HolderIs::running:
      break;
    case HolderIs::stopped:
      return no(LeaseRefusal::not_alive, "its process is stopped");
    case HolderIs::dead:
      return no(LeaseRefusal::not_alive, "its process is gone");
    case HolderIs::unknown:
      return no(LeaseRefusal::not_alive, "whether its process lives cannot be known");
  }
  if (!agent.meant) return {.may = true, .refusal = {}, .why = {}};
  if (!agent.known) return no(LeaseRefusal::not_alive, "its agent cannot be looked at");
  if (agent.over) return no(LeaseRefusal::demoted, "the work of its agent has ended");
  if (!agent.kept) return no(LeaseRefusal::not_alive, "its agent has no living keeper");
  if (is_demoted(agent) || agent.verdict == Verdict::orphaned ||
      agent.verdict == Verdict::finished) {
    return no(LeaseRefusal::demoted, "its agent is " + std::string(word(agent.verdict)));
  }
  return {.may = true, .refusal = {}, .why = {}};
}

LeaseRenewing may_renew(const LeaseFacts& facts) {
  if (!facts.held) return no(LeaseRefusal::lost, "it was given back");
  if (facts.age >= facts.ttl) {
    return no(LeaseRefusal::lost, "it ran out: not renewed for " + format_duration(facts.ttl));
  }
  return may_vouch(facts.holder, facts.agent);
}

LeaseRenewing is_in_force(const LeaseFacts& facts) {
  if (!facts.held) return no(LeaseRefusal::free, "nobody has it");
  if (facts.age >= facts.ttl) {
    return no(LeaseRefusal::lost, "it ran out: not renewed for " + format_duration(facts.ttl));
  }
  if (facts.holder == HolderIs::dead) return no(LeaseRefusal::not_alive, "its holder is dead");
  if (is_demoted(facts.agent)) {
    return no(LeaseRefusal::demoted, "its agent is " + std::string(word(facts.agent.verdict)));
  }
  return {.may = true, .refusal = {}, .why = {}};
}

}  // namespace tend
