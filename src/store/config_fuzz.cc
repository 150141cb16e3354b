// Any bytes are either a configuration whose policies can be found and checked, or problems that
// can be told in one line each.
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
  check_lines(tend::check_config(*config));
  return 0;
}
