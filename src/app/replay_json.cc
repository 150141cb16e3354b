// Every line is one object, its keys in the order of the contract.
#include "app/replay_json.h"

#include <nlohmann/json.hpp>

#include "judge/reason.h"

namespace tend {
namespace {

using Json = nlohmann::ordered_json;

/// Whole seconds as an integer, others as a decimal.
Json seconds(Duration duration) {
  if (duration.count() % 1000 == 0) return duration.count() / 1000;
  return static_cast<double>(duration.count()) / 1000;
}

/// A long name in a reason may be cut inside a character.
std::string line_of(const Json& object) {
  return object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string decision_as_json(Instant at, const Decision& decision, std::string_view policy) {
  Json line{{"t", seconds(at.time_since_epoch())}};
  if (!policy.empty()) line["policy"] = policy;
  if (decision.kind == Decision::Kind::verdict) {
    line["verdict"] = word(decision.verdict);
    line["phase"] = word(decision.phase);
    Json because = Json::array();
    for (const Reason& reason : decision.because()) because.push_back(describe(reason));
    line["because"] = std::move(because);
  } else {
    line["action"] = word(decision.action);
    if (decision.action == Action::reassign) line["task"] = decision.task.shown();
    for (const Reason& reason : decision.because().first(decision.reason_count > 0 ? 1 : 0)) {
      line["why"] = describe(reason);
    }
  }
  return line_of(line);
}

std::string standing_as_json(Instant at, const Decision& verdict, std::string_view policy,
                             Instant since) {
  return line_of({{"t", seconds(at.time_since_epoch())},
                  {"policy", policy},
                  {"verdict", word(verdict.verdict)},
                  {"phase", word(verdict.phase)},
                  {"since", seconds(since.time_since_epoch())}});
}

void ReplayJson::decided(Instant at, const Decision& decision) {
  out_.write(decision_as_json(at, decision));
}

void ReplayJson::end(const TraceResult& result) {
  Json failed = Json::array();
  for (const FailedClause& clause : result.failed) {
    failed.push_back({{"clause", Json::parse(clause.clause, nullptr, false)}, {"saw", clause.saw}});
  }
  out_.write(line_of({{"id", result.id},
                      {"expect", result.expected},
                      {"held", result.expected - result.failed.size()},
                      {"failed", std::move(failed)}}));
}

void ReplayJson::sum(const ReplaySum& sum) {
  out_.write(line_of(
      {{"traces", sum.traces}, {"held", sum.traces - sum.failed.size()}, {"failed", sum.failed}}));
}

std::string counts_as_json(const DiffCounts& counts) {
  return line_of({{"id", counts.id},
                  {"policies", {counts.first, counts.second}},
                  {"spans", counts.spans},
                  {"seconds", seconds(counts.apart)},
                  {"actions", counts.actions}});
}

std::string diff_sum_as_json(std::size_t traces, const std::vector<std::string>& differ) {
  return line_of({{"traces", traces}, {"same", traces - differ.size()}, {"differ", differ}});
}

}  // namespace tend
