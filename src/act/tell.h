// What a person is told about an agent, as one JSON object. How it reaches them is act/channel.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tend {

/// Something a person should know.
struct Incident {
  std::string agent;
  std::string session;
  std::uint32_t life = 0;
  std::string verdict;
  std::string phase;
  std::vector<std::string> because;
  std::string action;
  std::string why;
  std::string folder;  // the agent's
  double at = 0;       // by the calendar: seconds since 1970
  std::string what_to_do;
};

/// {"agent":..,"session":..,"life":..,"verdict":..,"phase":..,"because":[..],"action":..,"why":..,
///  "folder":..,"at":..,"what_to_do":..} and a newline. What is no UTF-8 is replaced.
std::string format_incident(const Incident& incident);

}  // namespace tend
