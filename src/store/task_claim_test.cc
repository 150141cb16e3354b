// What a keeper remembers of its agent's claim, and what of it is believed.
#include "store/task_claim.h"

#include <gtest/gtest.h>

#include "os/sim/sim_universe.h"

namespace tend {
namespace {

class TaskClaims : public testing::Test {
 protected:
  std::optional<TaskClaim> read() { return read_task_claim(*folder).value(); }

  SimUniverse universe;
  std::unique_ptr<Folder> folder = universe.machine().folders.make("/home/user/a").value();
};

TEST_F(TaskClaims, come_back_as_they_were) {
  EXPECT_EQ(read(), std::nullopt);
  for (const auto state : {TaskClaim::State::held, TaskClaim::State::given_back,
                           TaskClaim::State::lost, TaskClaim::State::closed}) {
    const TaskClaim claim{.task = "my-workflow:3-zyci.2.1 é", .fence = 7, .state = state};
    ASSERT_TRUE(write_task_claim(*folder, claim));
    EXPECT_EQ(read(), claim);
  }
}

TEST_F(TaskClaims, that_cannot_be_understood_are_none) {
  for (const char* text :
       {"", "{", "[]", R"({"task":"t1","fence":1})", R"({"task":"","fence":1,"state":"held"})",
        R"({"task":"t1","fence":1,"state":"mine"})"}) {
    universe.disk.write("/home/user/a/task.json", text);
    EXPECT_EQ(read(), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace tend
