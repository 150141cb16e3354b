// The last word of the operator.
#include "store/intent.h"

#include <gtest/gtest.h>

#include "os/sim/sim_universe.h"

namespace tend {
namespace {

class Intents : public testing::Test {
 protected:
  Intents() : folder(universe.machine().folders.make("/home/user/a").value()) {}

  std::optional<Intent> read() { return read_intent(*folder).value(); }

  SimUniverse universe;
  std::unique_ptr<Folder> folder;
};

TEST_F(Intents, are_none_before_the_first) { EXPECT_EQ(read(), std::nullopt); }

TEST_F(Intents, come_back_as_they_were_and_the_last_one_wins) {
  ASSERT_TRUE(write_intent(*folder, {Want::pause, false, "tend pause", 5.5, true}).has_value());
  const Intent stop{Want::stop, true, "Ctrl-C", 1773002269.2512345, false, true};
  ASSERT_TRUE(write_intent(*folder, stop).has_value());
  EXPECT_EQ(read(), stop);
}

TEST_F(Intents, of_one_agent_alone_do_not_mean_its_tree) {
  universe.disk.write("/home/user/a/intent.json", R"({"want":"stop"})");
  EXPECT_FALSE(read().value_or(Intent{.tree = true}).tree);
  universe.disk.write("/home/user/a/intent.json", R"({"want":"stop","tree":1})");
  EXPECT_FALSE(read().value_or(Intent{.tree = true}).tree);
  universe.disk.write("/home/user/a/intent.json", R"({"want":"stop","tree":true})");
  EXPECT_TRUE(read().value_or(Intent{}).tree);
}

TEST_F(Intents, survive_a_power_cut) {
  ASSERT_TRUE(write_intent(*folder, {Want::stop, false, "tend stop", 1}).has_value());
  universe.disk.cut_power();
  EXPECT_EQ(read().value_or(Intent{}).want, Want::stop);
}

TEST_F(Intents, that_cannot_be_understood_are_none) {
  for (const char* text : {"", "stop", "[]", "{}", R"({"want":"dance"})", R"({"want":1})"}) {
    universe.disk.write("/home/user/a/intent.json", text);
    EXPECT_EQ(read(), std::nullopt) << text;
  }
  universe.disk.write("/home/user/a/intent.json", R"({"want":"drain","now":1,"at":"x"})");
  EXPECT_EQ(read(), Intent{.want = Want::drain});
}

TEST_F(Intents, of_another_user_are_an_error) {
  universe.disk.write("/home/user/a/intent.json", R"({"want":"stop"})");
  universe.disk.make_foreign("/home/user/a/intent.json");
  EXPECT_FALSE(read_intent(*folder).has_value());
}

}  // namespace
}  // namespace tend
