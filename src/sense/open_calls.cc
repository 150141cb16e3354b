// Few calls are ever open at once, so that looking at all of them is the fastest way.
#include "sense/open_calls.h"

#include <algorithm>
#include <cstring>

namespace tend {
namespace {

constexpr std::size_t kMostCalls = 512;
constexpr std::size_t kMostRows = 64;
constexpr std::uint32_t kInCircles = 3;  // as the judge counts it

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

}  // namespace

std::uint64_t print_of(std::string_view bytes, std::uint64_t seed) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15U;
  constexpr std::uint64_t kOther = 0xd1b54a32d192ed03U;
  std::uint64_t print = seed ^ kOdd ^ (bytes.size() * kOther);
  const auto take = [&](std::size_t size) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), size);
    print = mixed(print ^ word, kOther);
    bytes.remove_prefix(size);
  };
  while (bytes.size() >= sizeof(std::uint64_t)) take(sizeof(std::uint64_t));
  if (!bytes.empty()) take(bytes.size());
  return mixed(print, kOdd);
}

OpenCalls::Call& OpenCalls::open(std::string_view id) {
  if (Call* const known = find(id)) return *known;
  if (calls_.size() == kMostCalls) calls_.erase(calls_.begin());
  Call& call = calls_.emplace_back();
  call.id = id;
  return call;
}

OpenCalls::Call* OpenCalls::find(std::string_view id) {
  const auto found = std::ranges::find(calls_, id, &Call::id);
  return found == calls_.end() ? nullptr : &*found;
}

OpenCalls::Call* OpenCalls::find_work(std::string_view work) {
  if (work.empty()) return nullptr;
  const auto found = std::ranges::find(calls_, work, &Call::work);
  return found == calls_.end() ? nullptr : &*found;
}

void OpenCalls::close(const Call& call) { calls_.erase(calls_.begin() + (&call - calls_.data())); }

void OpenCalls::end_turn() {
  std::erase_if(calls_, [](const Call& call) { return !call.background; });
}

void OpenCalls::clear() {
  calls_.clear();
  rows_.clear();
}

std::uint32_t OpenCalls::background() const {
  return static_cast<std::uint32_t>(std::ranges::count(calls_, true, &Call::background));
}

std::uint32_t OpenCalls::count_same(const Call& call, std::uint64_t result) {
  auto row = std::ranges::find(rows_, call.task, &Row::task);
  if (row == rows_.end()) {
    if (rows_.size() == kMostRows) rows_.erase(rows_.begin());
    row = rows_.insert(rows_.end(), Row{.task = call.task});
  }
  const bool same = row->count > 0 && row->call == call.print && row->result == result;
  row->count = same ? row->count + 1 : 1;
  row->call = call.print;
  row->result = result;
  return row->count;
}

bool OpenCalls::go_in_circles(std::string_view task) const {
  const auto row = std::ranges::find(rows_, task, &Row::task);
  return row != rows_.end() && row->count >= kInCircles;
}

}  // namespace tend
