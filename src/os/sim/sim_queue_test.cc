// What is asked for comes in the order of its time, then of asking, unless it is taken back.
#include "os/sim/sim_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace tend {
namespace {

using namespace std::chrono_literals;

void post(SimQueue& queue, Duration wait, std::vector<int>& heard, int what,
          SimTicket* ticket = nullptr, bool awake = false) {
  SimEvent& event = queue.post(queue.now() + wait, ticket);
  event.run = [&heard, what] { heard.push_back(what); };
  event.awake = awake;
}

void run(SimQueue& queue, Duration time) {
  const Instant end = queue.now() + time;
  for (SimEvent event; queue.next(end, event);) std::exchange(event, {}).run();
}

using Heard = std::vector<int>;

TEST(SimQueue, lets_things_happen_by_time_and_then_by_asking) {
  SimQueue queue;
  Heard heard;
  post(queue, 3s, heard, 3);
  post(queue, 1s, heard, 1);
  post(queue, 3s, heard, 4);
  post(queue, 2s, heard, 2);
  run(queue, 10s);
  EXPECT_EQ(heard, (Heard{1, 2, 3, 4}));
}

TEST(SimQueue, takes_back_what_has_not_happened_and_nothing_else) {
  SimQueue queue;
  Heard heard;
  SimTicket first;
  SimTicket second;
  post(queue, 1s, heard, 1, &first);
  run(queue, 1s);
  post(queue, 1s, heard, 2, &second);
  EXPECT_FALSE(queue.take_back(first)) << "though another has its place now";
  EXPECT_TRUE(queue.take_back(second));
  EXPECT_FALSE(queue.take_back(second));
  EXPECT_FALSE(queue.take_back({}));
  run(queue, 10s);
  EXPECT_EQ(heard, (Heard{1}));
}

TEST(SimQueue, puts_off_in_a_sleep_what_counts_time_awake) {
  SimQueue queue;
  Heard heard;
  post(queue, 1s, heard, 1, nullptr, true);
  post(queue, 2s, heard, 2);
  queue.sleep(1h);
  run(queue, 0s);
  EXPECT_EQ(heard, (Heard{2}));
  run(queue, 1s);
  EXPECT_EQ(heard, (Heard{2, 1}));
}

TEST(SimQueue, may_be_asked_to_take_back_others_while_it_is_cleared) {
  struct TakesBack {
    SimQueue& queue;
    SimTicket other;
    ~TakesBack() { queue.take_back(other); }
  };
  SimQueue queue;
  Heard heard;
  auto holder = std::make_shared<TakesBack>(queue, SimTicket{});
  post(queue, 2s, heard, 1, &holder->other);
  queue.post(queue.now() + 1s).run = [holder] {};
  holder.reset();
  queue.clear();
  run(queue, 10s);
  EXPECT_TRUE(heard.empty());
}

TEST(SimQueue, keeps_the_order_through_many_changes) {
  SimQueue queue;
  std::uint64_t chance = 7;
  std::vector<std::pair<Instant, int>> expected;
  std::vector<std::pair<Instant, int>> heard;
  std::vector<SimTicket> tickets(2'000);
  for (int i = 0; i < 2'000; ++i) {
    chance = chance * 6364136223846793005U + 1442695040888963407U;
    const Instant when = queue.now() + Duration{static_cast<std::int64_t>((chance >> 33U) % 500)};
    queue.post(when, &tickets[static_cast<std::size_t>(i)]).run = [&, i] {
      heard.emplace_back(queue.now(), i);
    };
    if (i % 3 == 0) {
      EXPECT_TRUE(queue.take_back(tickets[static_cast<std::size_t>(i)]));
    } else {
      expected.emplace_back(when, i);
    }
  }
  std::ranges::sort(expected);
  run(queue, 1s);
  EXPECT_EQ(heard, expected);
}

}  // namespace
}  // namespace tend
