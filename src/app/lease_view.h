// A lease for people and for programs; docs/json.md is the contract of the latter.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/look.h"
#include "base/time.h"
#include "run/lease_desk.h"

namespace tend {

nlohmann::ordered_json lease_json(const LeaseLook& look);
/// {"ok":false,"error":{"code":...,"message":...}}, with the lease as it was seen if it was.
nlohmann::ordered_json refused_json(const LeaseNo& no);

/// "held", "free", or why it could be taken from its holder: "expired", "holder-dead", "demoted".
std::string lease_state(const LeaseLook& look);
/// One line: who has it, under which fence, for how long.
std::string lease_words(const LeaseLook& look);
std::string lease_table(const std::vector<LeaseLook>& looks, const Look& look, std::size_t width);

}  // namespace tend
