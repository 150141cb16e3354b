// The mode of a descriptor becomes that of the file that it is bound to.
#include "os/linux/socket_file.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/quote.h"
#include "os/linux/linux_file.h"

namespace tend {
namespace {

constexpr std::size_t kMostPath = 100;
constexpr mode_t kOwnerOnly = 0600;

}  // namespace

Result<void> check_socket_path(const std::string& path) {
  if (path.empty() || path.size() > kMostPath || path.contains('\0')) {
    return fail(in_quotes(path) + " is no path for a socket: it may have up to 100 bytes");
  }
  return {};
}

sockaddr_un socket_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size());
  return address;
}

Result<void> remove_socket(const std::string& path) {
  struct stat seen{};
  if (::lstat(path.c_str(), &seen) != 0) {
    return errno == ENOENT ? Result<void>{} : cannot("look at", path);
  }
  if (!S_ISSOCK(seen.st_mode) || seen.st_uid != ::geteuid()) {
    return fail(on_one_line(path) + " is in the way: it is not a socket of ours");
  }
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return cannot("replace", path);
  return {};
}

Result<void> bind_to(int socket, const std::string& path) {
  const sockaddr_un address = socket_address(path);
  if (::fchmod(socket, kOwnerOnly) != 0) return cannot("make a socket for", path);
  if (::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return cannot("make the socket", path);
  }
  return {};
}

SocketFile::SocketFile(std::string path)
    : path_(std::move(path)), bound_(::lstat(path_.c_str(), &file_) == 0) {}

SocketFile::~SocketFile() {
  struct stat now{};
  if (bound_ && ::lstat(path_.c_str(), &now) == 0 && now.st_dev == file_.st_dev &&
      now.st_ino == file_.st_ino) {
    ::unlink(path_.c_str());
  }
}

}  // namespace tend
