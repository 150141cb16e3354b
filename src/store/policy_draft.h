// One [policy.NAME] table as it was written: only what it says itself, before inheritance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "judge/policy.h"
#include "store/config.h"

namespace tend {

struct PolicyDraft {
  std::string name;
  std::string key;  // "policy.night", fit for an error
  std::size_t line = 0;
  std::map<std::string, std::size_t, std::less<>> lines;  // as in ConfiguredPolicy

  std::string extends = "agent";
  std::vector<std::pair<std::string_view, Duration>> limits;  // names from kLimitKeys
  std::optional<Patience> beats;
  std::optional<Duration> beat;
  std::optional<std::uint32_t> between_refills;
  std::optional<std::uint32_t> per_agent;
  std::optional<Duration> refill_after;
  std::optional<bool> direct;
  std::optional<std::vector<WrittenRung>> ladder;  // `after` of a rung in beats is not set yet
};

}  // namespace tend
