// The fields stand in the order in which a person wants them.
#include "act/tell.h"

#include <nlohmann/json.hpp>

namespace tend {

std::string format_incident(const Incident& incident) {
  const nlohmann::ordered_json json{
      {"agent", incident.agent},
      {"session", incident.session},
      {"life", incident.life},
      {"verdict", incident.verdict},
      {"phase", incident.phase},
      {"because", incident.because},
      {"action", incident.action},
      {"why", incident.why},
      {"folder", incident.folder},
      {"at", incident.at},
      {"what_to_do", incident.what_to_do},
  };
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace tend
