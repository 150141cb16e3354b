// The name of a Unix socket in the file system: who may have it, and that it goes with its socket.
#pragma once

#include <sys/stat.h>
#include <sys/un.h>

#include <string>

#include "base/result.h"

namespace tend {

/// At most 100 bytes: what every system takes.
Result<void> check_socket_path(const std::string& path);
sockaddr_un socket_address(const std::string& path);

/// Removes a socket that a process of ours left, and nothing else.
Result<void> remove_socket(const std::string& path);
/// Nobody but this user and root can reach it, from the first moment on.
Result<void> bind_to(int socket, const std::string& path);

/// The file of a socket that is bound; it goes with this, unless somebody put another one there.
class SocketFile {
 public:
  explicit SocketFile(std::string path);
  ~SocketFile();
  SocketFile(const SocketFile&) = delete;
  SocketFile& operator=(const SocketFile&) = delete;

 private:
  std::string path_;
  struct stat file_{};
  bool bound_;
};

}  // namespace tend
