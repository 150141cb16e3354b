// A whole policy as one line of JSON, so that what was judged once can be judged again by the very
// same rules, whatever the configuration says by then.
//
//   {"name":N,"promise":"stream","limits_ms":{"start":90000,...,"beats":[120000,300000]},
//    "budget":{"between_refills":3,"per_agent":9,"refill_after_ms":1800000},"beat_ms":30000,
//    "ladder":[{"after_ms":60000,"missed":0,"action":"warn"}],"direct":false}
//
// A limit that is none is null.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "judge/policy.h"

namespace tend {

std::string format_policy_json(const Policy& policy);

/// The policy that was formatted. Refuses whatever no policy can have: limits out of their range, a
/// ladder that is too long or does not rise, anything missing.
Result<Policy> parse_policy_json(std::string_view text);

}  // namespace tend
