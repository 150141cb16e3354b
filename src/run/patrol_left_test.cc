// What is left behind where an agent ended for good, and the patrol finds: messages whose senders
// wait for an answer, and work that nobody is at.
#include "act/gate_words.h"
#include "run/gate_desk.h"
#include "run/patrol_test.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

class PatrolLeftTest : public PatrolTest {
 protected:
  /// An agent that fails after that time, and is not to be brought back.
  void keep_one_that_fails(const std::string& name, Duration after) {
    family.change = [](AgentFile& file) { file.restart = RestartPolicy::never; };
    family.behaves[name] = [after](SimSelf& self) {
      talk(self);
      self.exit_after(after, 1);
    };
    keep(name);
  }
  std::int64_t receive(const std::string& agent, const std::string& endpoint) {
    GateDesk desk(machine, *home, settings.gate);
    ReceiveOrder order;
    order.agent = agent;
    order.draft.channel = "chat";
    order.draft.endpoint = endpoint;
    order.draft.content = "hello";
    order.reply_with = {"reply", "{endpoint}", "{text}"};
    const auto received = desk.receive(order);
    EXPECT_TRUE(received) << received.error().text;
    EXPECT_EQ(received->action, ReceiveAnswer::Action::queued);
    return received->message.id;
  }
  /// What the senders are to be told, in English, oldest first.
  std::vector<GateWords> words_to_senders() {
    std::vector<GateWords> words;
    for (const Notice& notice :
         ask([&](Database& database) { return Outbox(database).list(NoticeFilter{}); })) {
      if (!notice.channel.starts_with(kReplyChannel)) continue;
      words.push_back(gate_words(notice.payload, "en").value_or(GateWords{}));
    }
    return words;
  }
};

TEST_F(PatrolLeftTest, I162_who_wrote_to_one_that_ended_hears_once_which_messages_are_left) {
  become_fit();
  keep_one_that_fails("coder", 20s);
  const std::int64_t first = receive("coder", "ann");
  const std::int64_t second = receive("coder", "ann");
  const std::int64_t third = receive("coder", "bob");
  universe.run_for(30s);
  ASSERT_TRUE(family.over("coder"));
  sweep();
  EXPECT_TRUE(words_to_senders().empty()) << "another one may come under that name";
  patrol_for(2h);
  const auto words = words_to_senders();
  ASSERT_EQ(words.size(), 2U) << "each sender once";
  EXPECT_EQ(words[0].gate, kUndelivered);
  EXPECT_TRUE(words[0].text.contains("message " + std::to_string(first) + ", " +
                                     std::to_string(second) + ". It is kept"))
      << words[0].text;
  EXPECT_TRUE(words[1].text.contains("message " + std::to_string(third) + ". It is kept"));
  EXPECT_EQ(notices("gate:waiting").size(), 1U) << "a person hears of it too";
}

TEST_F(PatrolLeftTest, who_wrote_hears_that_somebody_is_there_again) {
  become_fit();
  keep_one_that_fails("coder", 20s);
  receive("coder", "ann");
  patrol_for(30min);
  ASSERT_EQ(words_to_senders().size(), 1U);
  ask([&](Database& database) -> Result<bool> {
    Outbox outbox(database);
    const auto held = outbox.take(1, universe.wall(), 1min);
    if (!held) return std::unexpected(held.error());
    const auto sent = outbox.sent(held->notice, universe.wall());
    if (!sent) return std::unexpected(sent.error());
    return true;
  });
  family.folders.erase("coder");
  family.behaves["coder"] = talk;
  keep("coder");
  patrol_for(30min);
  const auto words = words_to_senders();
  ASSERT_EQ(words.size(), 2U);
  EXPECT_EQ(words[1].gate, kAllClear);
}

TEST_F(PatrolLeftTest, I141_work_that_is_left_where_the_last_one_failed_is_one_incident) {
  become_fit();
  keep_one_that_fails("coder", 5min);
  have("claimed", "coder");
  add("open");
  patrol_for(4min);
  EXPECT_EQ(count("tell patrol"), 0) << "somebody is at it";
  ASSERT_TRUE(universe.run_until([&] { return family.over("coder"); }, 10min));
  sweep();
  EXPECT_EQ(notices("standstill").size(), 1U);
  EXPECT_GE(last.open, 1U);
  patrol_for(1h);
  EXPECT_EQ(task("claimed").status, "open") << "taken from the one that is gone";
  EXPECT_EQ(task("claimed").fence, 2);
  EXPECT_EQ(notices("standstill").size(), 1U) << "one incident, and told once";
  family.change = {};
  keep("another");
  sweep();
  const auto over = notices("standstill");
  EXPECT_TRUE(over.empty() || over.back().closed);
}

TEST_F(PatrolLeftTest, work_that_waits_where_nobody_failed_is_no_incident) {
  become_fit();
  add("open");
  patrol_for(25min);
  EXPECT_EQ(notices("standstill").size(), 0U);
}

}  // namespace
}  // namespace tend
