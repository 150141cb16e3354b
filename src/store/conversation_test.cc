// What is kept of an agent's conversation, and what of it is believed.
#include "store/conversation.h"

#include <gtest/gtest.h>

#include "base/session_id.h"
#include "os/sim/sim_universe.h"

namespace tend {
namespace {

class Conversations : public testing::Test {
 protected:
  Conversations() : folder(universe.machine().folders.make("/home/user/a").value()) {}

  std::optional<ConversationFile> read() { return read_conversation(*folder).value(); }

  SimUniverse universe;
  std::unique_ptr<Folder> folder;
};

TEST_F(Conversations, come_back_as_they_were) {
  EXPECT_EQ(read(), std::nullopt);
  const ConversationFile file{.life = 2, .stream_from = 18230, .session = "4ae045cd-5686"};
  ASSERT_TRUE(write_conversation(*folder, file).has_value());
  EXPECT_EQ(read(), file);
}

TEST_F(Conversations, that_could_pass_for_an_option_or_a_path_are_not_believed) {
  for (const char* session : {"--yolo", "-c", "../../etc", "a b", "a;b", "", "a\\nb"}) {
    universe.disk.write("/home/user/a/conversation.json",
                        std::string(R"({"life":1,"stream_from":5,"session":")") + session + "\"}");
    EXPECT_EQ(read(), (ConversationFile{.life = 1, .stream_from = 5})) << session;
  }
  EXPECT_FALSE(is_session_id(std::string(129, 'a')));
  EXPECT_TRUE(is_session_id("ses_e1f27cc1effeH1wA5QASrylWIk"));
}

}  // namespace
}  // namespace tend
