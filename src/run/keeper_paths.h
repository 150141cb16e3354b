// Where a keeper listens to its agent: the same places for every keeper of one agent.
#pragma once

#include <string>

#include <fmt/format.h>

#include "base/name.h"

namespace tend {

/// Short, because a socket's path has to be. "" if there can be none.
inline std::string notify_socket_path(const std::string& runtime_folder,
                                      const std::string& folder) {
  constexpr std::size_t kLongest = 100;
  if (runtime_folder.empty()) return "";
  std::string path = fmt::format("{}/{:016x}", runtime_folder, Name(folder).hash());
  return path.size() <= kLongest ? path : "";
}

inline std::string ready_fifo_path(const std::string& folder) { return folder + "/.ready"; }

}  // namespace tend
