// A ticket may be swept between its making and its locking: whoever locked one looks whether it is
// still there, and takes another if not.
#include "store/lease_queue.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "store/lease_files.h"
#include "store/leases.h"

namespace tend {
namespace {

constexpr const char* kQueueFolder = "queue";
constexpr std::size_t kMostTickets = 10'000;
constexpr std::size_t kTicketSize = 2;
constexpr int kMostTries = 1'000;

std::string file_of(std::uint64_t number) { return fmt::format("{:012}", number); }

Result<std::unique_ptr<Folder>> queue_of(Folder& home, const std::string& lease) {
  if (auto fits = check_lease_name(lease); !fits) return std::unexpected(fits.error());
  auto leases = home.make_folder(kLeasesFolder);
  if (!leases) return leases;
  auto folder = (*leases)->make_folder(lease);
  if (!folder) return folder;
  return (*folder)->make_folder(kQueueFolder);
}

/// In their order.
Result<std::vector<std::uint64_t>> numbers_in(Folder& queue) {
  const auto names = queue.file_names(kMostTickets);
  if (!names) return std::unexpected(names.error());
  std::vector<std::uint64_t> numbers;
  for (const std::string& name : *names) {
    std::uint64_t number = 0;
    const char* const end = name.data() + name.size();
    const auto read = std::from_chars(name.data(), end, number);
    if (read.ec == std::errc{} && read.ptr == end) numbers.push_back(number);
  }
  std::ranges::sort(numbers);
  return numbers;
}

}  // namespace

LeaseTicket::LeaseTicket(std::unique_ptr<Folder> queue, std::uint64_t number,
                         std::unique_ptr<LockedRecord> lock)
    : queue_(std::move(queue)), number_(number), lock_(std::move(lock)) {}

void LeaseTicket::leave() { std::ignore = queue_->remove(file_of(number_)); }

Result<std::unique_ptr<LeaseTicket>> LeaseTicket::take(Folder& home, const std::string& lease) {
  auto queue = queue_of(home, lease);
  if (!queue) return std::unexpected(queue.error());
  const auto numbers = numbers_in(**queue);
  if (!numbers) return std::unexpected(numbers.error());
  std::uint64_t number = numbers->empty() ? 1 : numbers->back() + 1;
  for (int i = 0; i < kMostTries; ++i, ++number) {
    auto lock = LockedRecord::take(**queue, file_of(number), kTicketSize);
    if (!lock) return std::unexpected(lock.error());
    if (*lock == nullptr) continue;
    const auto in_place = (*lock)->is_in_place(**queue);
    if (!in_place) return std::unexpected(in_place.error());
    if (!*in_place) continue;
    return std::unique_ptr<LeaseTicket>(
        new LeaseTicket(*std::move(queue), number, *std::move(lock)));
  }
  return fail("too many wait for the lease " + lease);
}

Result<std::size_t> LeaseTicket::ahead() {
  const auto numbers = numbers_in(*queue_);
  if (!numbers) return std::unexpected(numbers.error());
  std::size_t count = 0;
  for (const std::uint64_t number : *numbers) {
    if (number >= number_) break;
    const auto seen = look_at_record(*queue_, file_of(number), kTicketSize);
    if (!seen) return std::unexpected(seen.error());
    if (!*seen) continue;
    if ((*seen)->held) {
      ++count;
    } else {
      std::ignore = queue_->remove(file_of(number));
    }
  }
  return count;
}

}  // namespace tend
