// What a power cut and a disk that lies take from a keeper, and what the next one makes of the
// rest.
#include <chrono>
#include <string>

#include "run/kept_test.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

class Lost : public KeptTest {
 protected:
  void keep_one_that_prints_now_and_then() {
    kept.be_patient_as_with_an_agent();
    behave([](SimSelf& self) {
      self.print_after(1s, "0\n");
      self.every(9min, [n = 0](SimSelf& me) mutable { me.print(std::to_string(++n) + "\n"); });
    });
    kept.start_keeper();
    universe.run_for(150s);
  }
};

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

TEST_F(Lost, time_of_a_machine_that_was_started_anew_is_not_what_its_calendar_was_put_forward_by) {
  kept.start_keeper();
  universe.run_for(30s);
  universe.step_wall(5h);
  universe.run_for(30s);
  const Instant last = kept.past()->last;
  universe.reboot();
  kept.start_keeper();
  universe.run_for(3min);
  EXPECT_LT(kept.past()->last - last, 10min);
  expect_working(2);
}

/// As a version left it that wrote nothing of this down.
void forget_sleep(Kept& kept, bool by_who_could_not_go_on = false) {
  auto record = nlohmann::ordered_json::parse(kept.text_of(".lock"));
  for (const char* later : {"slept_ms", "awake_since_ms"}) ASSERT_EQ(record.erase(later), 1U);
  const auto modified = kept.universe.disk.modified(kept.path(".lock"));
  kept.universe.disk.write(kept.path(".lock"), record.dump() + "\n");
  if (!by_who_could_not_go_on) kept.universe.disk.set_modified(kept.path(".lock"), *modified);
}

TEST_F(Lost, words_of_how_long_the_machine_slept_make_no_silence_of_it) {
  keep_one_that_prints_now_and_then();
  forget_sleep(kept);
  universe.sleep_machine(3h);
  universe.kill(kept.keeper);
  kept.start_keeper();
  universe.run_for(30min);
  expect_working(1);
}

/// A keeper that took the lock on a full disk and died at once has left its pulse, and no words.
TEST_F(Lost, words_of_a_sleep_are_not_made_up_for_by_the_pulse_of_one_that_could_not_begin) {
  keep_one_that_prints_now_and_then();
  universe.sleep_machine(3h);
  universe.kill(kept.keeper);
  forget_sleep(kept, true);
  kept.start_keeper();
  universe.run_for(30min);
  expect_working(1);
}

}  // namespace
}  // namespace tend
