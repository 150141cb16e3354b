// Any bytes are either a configuration whose policies can be found and checked, whose channels can
// be used, whose patrol can be walked and whose agents can be asked, or problems that can be told
// in one line each.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "store/config.h"
#include "store/config_check.h"

namespace {

void check_lines(const tend::ConfigProblems& problems) {
  for (const tend::ConfigProblem& problem : problems) {
    CHECK(!problem.text.empty());
    CHECK(tend::describe(problem).find('\n') == std::string::npos);
  }
}

void check_policies(const tend::Config& config) {
  CHECK(config.policies.size() <= tend::kMostPolicies);
  for (const auto& [name, made] : config.policies) {
    CHECK(config.find(name) == made.policy);
    CHECK(made.policy.ladder.size() <= tend::kMostRungs);
    for (const tend::Rung& rung : made.policy.ladder) CHECK(rung.after > tend::Duration::zero());
  }
}

void check_channels(const tend::Config& config) {
  CHECK(config.channels.size() <= tend::kMostChannels);
  for (const tend::NotifyChannel& channel : config.channels) {
    const bool runs = channel.kind == tend::NotifyChannel::Kind::command;
    const bool posts = channel.kind == tend::NotifyChannel::Kind::webhook;
    CHECK(!channel.name.empty());
    CHECK(runs == !channel.command.empty() && posts == !channel.url.empty());
    CHECK(channel.url.find_first_of("\n\r\"\\ ") == std::string::npos);
  }
}

void check_patrol(const tend::PatrolPolicy& patrol) {
  const tend::PatrolBounds& sweeps = patrol.sweeps;
  CHECK(tend::Duration::zero() < sweeps.shortest && sweeps.shortest <= sweeps.usual &&
        sweeps.usual <= sweeps.longest);
  CHECK(patrol.untaken_after > tend::Duration::zero() && patrol.incident_size >= 2);
  for (const tend::PatrolPace& pace : patrol.paces) {
    CHECK(pace.interval > tend::Duration::zero());
    CHECK(pace.tolerance >= tend::Duration::zero() && pace.tolerance <= pace.interval);
  }
}

void check_gate(const tend::GateSettings& gate) {
  CHECK(gate.texts.contains(gate.language) && gate.lease > tend::Duration::zero());
  for (const auto& [language, texts] : gate.texts) {
    CHECK(!language.empty() && !texts.degraded.empty() && !texts.recovered.empty());
  }
}

void check_probes(const tend::Config& config) {
  for (const auto& [name, probe] : config.probes) {
    CHECK(!name.empty() && name.find('\n') == std::string::npos);
    CHECK(tend::Duration::zero() < probe.interval && probe.interval <= probe.deadline);
    CHECK((probe.channel == tend::ProbeChannel::command) == !probe.command.empty());
    CHECK((probe.channel == tend::ProbeChannel::file) == !probe.file.empty());
  }
}

}  // namespace

// libFuzzer declares it nowhere.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto config = tend::parse_config(text, "fuzz.toml");
  if (!config) {
    CHECK(!config.error().empty() && config.error().size() <= tend::kMostProblems + 1);
    check_lines(config.error());
    return 0;
  }
  check_policies(*config);
  check_channels(*config);
  check_patrol(config->patrol);
  check_gate(config->gate);
  check_probes(*config);
  check_lines(tend::check_config(*config));
  return 0;
}
