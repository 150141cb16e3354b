// Who waits for a lease, in the order of coming.
#include "store/lease_queue.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "os/sim/sim_universe.h"

namespace tend {
namespace {

class LeaseQueueTest : public testing::Test {
 protected:
  std::unique_ptr<LeaseTicket> ticket(const std::string& process) {
    homes_.push_back(universe_.machine(process).folders.make("/home/user/tend").value());
    return LeaseTicket::take(*homes_.back(), "leader").value();
  }

  SimUniverse universe_;
  std::vector<std::unique_ptr<Folder>> homes_;
};

TEST_F(LeaseQueueTest, counts_those_who_came_before) {
  auto a = ticket("a");
  const auto b = ticket("b");
  const auto c = ticket("c");
  EXPECT_EQ(a->ahead().value(), 0U);
  EXPECT_EQ(b->ahead().value(), 1U);
  EXPECT_EQ(c->ahead().value(), 2U);
  a.reset();
  EXPECT_EQ(b->ahead().value(), 0U);
  EXPECT_EQ(c->ahead().value(), 1U);
  const auto d = ticket("d");
  EXPECT_EQ(d->ahead().value(), 2U) << "who comes again is last";
}

TEST_F(LeaseQueueTest, forgets_those_who_were_killed) {
  const auto a = ticket("a");
  const auto b = ticket("b");
  universe_.kill(universe_.machine("a").processes.self().pid);
  EXPECT_EQ(b->ahead().value(), 0U);
  EXPECT_FALSE(universe_.disk.exists("/home/user/tend/leases/leader/queue/000000000001"));
}

TEST_F(LeaseQueueTest, refuses_a_name_that_is_none) {
  const auto home = universe_.machine().folders.make("/home/user/tend").value();
  EXPECT_FALSE(LeaseTicket::take(*home, "../x"));
}

}  // namespace
}  // namespace tend
