// The sockets of a process are its descriptors; what came in through them is asked of sock_diag,
// all TCP sockets at once, since it cannot be asked for one by its inode.
#include "os/linux/linux_received.h"

#include <dirent.h>
#include <fmt/format.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <cstddef>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "os/linux/fd.h"

namespace tend {
namespace {

constexpr std::size_t kMostSockets = 10'000;
constexpr std::size_t kMostReplies = 10'000;  // pieces of an answer, so that none is endless
constexpr timeval kPatience{.tv_sec = 1, .tv_usec = 0};

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

/// 123 of "socket:[123]".
std::uint32_t socket_in(std::string_view link) {
  constexpr std::string_view kOpening = "socket:[";
  if (!link.starts_with(kOpening)) return 0;
  link.remove_prefix(kOpening.size());
  std::uint32_t inode = 0;
  const auto [end, error] = std::from_chars(link.data(), link.data() + link.size(), inode);
  return error == std::errc{} && *end == ']' ? inode : 0;
}

void add_sockets_of(std::int64_t pid, std::set<std::uint32_t>& sockets) {
  const std::string folder = fmt::format("/proc/{}/fd", pid);
  const std::unique_ptr<DIR, CloseDirectory> directory(::opendir(folder.c_str()));
  if (directory == nullptr) return;
  while (const dirent* entry = ::readdir(directory.get())) {  // NOLINT(concurrency-mt-unsafe)
    std::array<char, 64> link{};
    const ssize_t size =
        ::readlinkat(::dirfd(directory.get()), entry->d_name, link.data(), link.size() - 1);
    if (size <= 0) continue;
    const std::uint32_t inode = socket_in({link.data(), static_cast<std::size_t>(size)});
    if (inode != 0 && sockets.size() < kMostSockets) sockets.insert(inode);
  }
}

bool ask(int socket, int family) {
  struct {
    nlmsghdr header;
    inet_diag_req_v2 request;
  } message{};
  message.header.nlmsg_len = sizeof message;
  message.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  message.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  message.request.sdiag_family = static_cast<std::uint8_t>(family);
  message.request.sdiag_protocol = IPPROTO_TCP;
  message.request.idiag_ext = 1U << (INET_DIAG_INFO - 1);
  message.request.idiag_states = ~0U;
  return ::send(socket, &message, sizeof message, 0) == static_cast<ssize_t>(sizeof message);
}

/// A value at the front of `bytes`, which may be shorter than it.
template <class T>
T front_of(std::span<const std::byte> bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof value));
  return value;
}

std::uint64_t received_by(std::span<const std::byte> socket, std::uint32_t& inode) {
  inode = front_of<inet_diag_msg>(socket).idiag_inode;
  auto rest = socket.subspan(std::min(socket.size(), NLMSG_ALIGN(sizeof(inet_diag_msg))));
  while (rest.size() >= sizeof(rtattr)) {
    const auto attribute = front_of<rtattr>(rest);
    if (attribute.rta_len < sizeof(rtattr) || attribute.rta_len > rest.size()) return 0;
    if (attribute.rta_type == INET_DIAG_INFO) {
      const auto value = rest.subspan(RTA_LENGTH(0), attribute.rta_len - RTA_LENGTH(0));
      return front_of<tcp_info>(value).tcpi_bytes_received;
    }
    rest = rest.subspan(std::min(rest.size(), std::size_t{RTA_ALIGN(attribute.rta_len)}));
  }
  return 0;
}

/// Adds up what an answer says; false if it broke off.
bool add_answer(int socket, const std::set<std::uint32_t>& sockets, std::uint64_t& sum) {
  std::vector<std::byte> buffer(std::size_t{64} * 1024);
  for (std::size_t pieces = 0; pieces < kMostReplies; ++pieces) {
    const ssize_t size = ::recv(socket, buffer.data(), buffer.size(), 0);
    if (size <= 0) return false;
    auto rest = std::span<const std::byte>(buffer).first(static_cast<std::size_t>(size));
    while (rest.size() >= sizeof(nlmsghdr)) {
      const auto header = front_of<nlmsghdr>(rest);
      if (header.nlmsg_type == NLMSG_DONE) return true;
      if (header.nlmsg_type == NLMSG_ERROR) return false;
      if (header.nlmsg_len < NLMSG_HDRLEN || header.nlmsg_len > rest.size()) return false;
      std::uint32_t inode = 0;
      const std::uint64_t received =
          received_by(rest.subspan(NLMSG_HDRLEN, header.nlmsg_len - NLMSG_HDRLEN), inode);
      if (sockets.contains(inode)) sum += received;
      rest = rest.subspan(std::min(rest.size(), std::size_t{NLMSG_ALIGN(header.nlmsg_len)}));
    }
  }
  return false;
}

}  // namespace

std::optional<std::uint64_t> received_bytes(std::span<const std::int64_t> pids) {
  std::set<std::uint32_t> sockets;
  for (const std::int64_t pid : pids) add_sockets_of(pid, sockets);
  if (sockets.empty()) return std::nullopt;
  const Fd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  if (!socket) return std::nullopt;
  if (::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience) != 0) {
    return std::nullopt;
  }
  std::uint64_t sum = 0;
  for (const int family : {AF_INET, AF_INET6}) {
    if (!ask(socket.get(), family) || !add_answer(socket.get(), sockets, sum)) return std::nullopt;
  }
  return sum;
}

}  // namespace tend
