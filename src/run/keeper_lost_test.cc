// What a power cut and a disk that lies take from a keeper, and what the next one makes of the
// rest.
#include <chrono>
#include <string>

#include "run/kept_test.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

class Lost : public KeptTest {};

TEST_F(Lost, records_of_a_life_give_no_number_twice) {
  behave(hang_once);
  kept.start_keeper();
  universe.run_for(30s);
  const std::string first = kept.text_of(".lock");
  kill_worker();
  universe.run_for(1min);
  ASSERT_EQ(kept.heartbeat().life, 2U);
  universe.reboot();
  universe.disk.write(kept.path(".lock"), first);
  kept.start_keeper();
  universe.run_for(10min);
  expect_working(3);
}

TEST_F(Lost, lives_that_were_begun_do_not_leave_their_agent_dead) {
  kept.start_keeper();
  universe.run_for(30s);
  kill_worker();
  const auto is_begun = [&] { return kept.text_of("journal.jsonl").contains("life 2 begun"); };
  ASSERT_TRUE(universe.run_until(is_begun, 1min));
  const std::string journal = kept.text_of("journal.jsonl");
  const std::size_t begun = journal.find('\n', journal.find("life 2 begun")) + 1;
  universe.reboot();
  universe.disk.write(kept.path("journal.jsonl"), journal.substr(0, begun));
  universe.disk.remove(kept.path(".heartbeat"));
  universe.disk.remove(kept.path(".lock"));
  kept.start_keeper();
  universe.run_for(10min);
  EXPECT_EQ(kept.workers().size(), 1U);
  EXPECT_EQ(word(kept.heartbeat().verdict), "working");
}

}  // namespace
}  // namespace tend
