// How many cases each property is tried with. A few by default and always the same ones, so that
// the suite is quick and a failure repeats; TEND_PROPERTY_CASES=20000 searches with a fresh seed.
// RC_PARAMS overrides both.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace {

constexpr const char* kByDefault = "seed=20260308 max_success=300";

class Params : public ::testing::Environment {
 public:
  void SetUp() override {
    const char* const cases = std::getenv("TEND_PROPERTY_CASES");
    const std::string params = cases == nullptr ? kByDefault : "max_success=" + std::string(cases);
    constexpr int kKeepWhatIsSet = 0;
    setenv("RC_PARAMS", params.c_str(), kKeepWhatIsSet);
  }
};

[[maybe_unused]] const auto* const kParams = ::testing::AddGlobalTestEnvironment(new Params);

}  // namespace
