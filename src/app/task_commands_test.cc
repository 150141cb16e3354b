// `tend task`, `heartbeat`, `list` and `reclaim` as people and programs see them.
#include "app/task_commands.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "app/typing_test.h"

namespace tend {
namespace {

using namespace std::chrono_literals;
using Texts = std::vector<std::string>;

class TaskCommands : public Typing {
 protected:
  TaskCommands() { be("ann"); }

  void be_inside_the_worker() {
    reading.variables = {{"USER", "ann"}, {"TEND_INFRA", Kept::kFolder}, {"TEND_LIFE", "1"}};
  }
  void start_worker() {
    reading.start_worker();
    reading.universe.run_for(5s);
  }
  void pass(Duration time) { reading.universe.run_for(time); }

  void add(std::string_view id, std::string_view context = "active") {
    EXPECT_EQ(did({"task", "add", "--id", id, "--context", context, "Implement login"}),
              std::string(id) + "\n");
  }
  void add_and_claim(std::string_view id, std::string_view context = "active") {
    add(id, context);
    EXPECT_EQ(did({"task", "claim", id}), std::string(id) + ": yours, claim 1\n");
  }
  Json task(std::string_view id) {
    const Answer answer = tend({"task", "show", id, "--json"});
    EXPECT_EQ(answer.exit, kExitYes) << answer.err;
    return answer.json();
  }
  Texts listed(Words options) {
    options.insert(options.begin(), "list");
    options.emplace_back("--json");
    const Answer answer = tend(options);
    EXPECT_EQ(answer.exit, kExitYes) << answer.err;
    const Json tasks = answer.json();
    EXPECT_TRUE(tasks.is_array()) << answer.out;
    Texts ids;
    for (const Json& task : tasks) ids.push_back(task["id"]);
    return ids;
  }
};

TEST_F(TaskCommands, say_of_a_status_that_is_nearly_one_of_ours_that_nobody_looks_after_it) {
  add("web:3");
  const Answer slip = tend({"task", "update", "web:3", "--status", "in_progres"});
  EXPECT_EQ(slip.exit, kExitYes);
  EXPECT_EQ(slip.out, "web:3: in_progres\n");
  EXPECT_EQ(slip.err,
            "tend task update: the status 'in_progres' is a word of your own, and nobody looks "
            "after such a task; did you mean 'in_progress'?\n");
  EXPECT_EQ(tend({"task", "update", "web:3", "--status", "waiting-for-legal"}).err, "");
  EXPECT_EQ(tend({"task", "update", "web:3", "--status", "blocked"}).err, "");
}

// --- Adding and showing -------------------------------------------------------------------------

TEST_F(TaskCommands, add_one_and_print_its_id) {
  const std::string id = did({"task", "add", "Implement login"});
  ASSERT_EQ(id.size(), std::string("t-abcdef\n").size());
  EXPECT_TRUE(id.starts_with("t-"));
  const Json made = task(id.substr(0, id.size() - 1));
  EXPECT_EQ(made["title"], "Implement login");
  EXPECT_EQ(made["status"], "open");
  EXPECT_EQ(made["context"], "active");
  EXPECT_EQ(made["labels"], Json::array());
  for (const char* const none : {"assignee", "last_heartbeat", "heartbeat_message",
                                 "lease_expires_at", "closed_at", "close_reason"}) {
    EXPECT_TRUE(made.contains(none) && made[none].is_null()) << none;
  }
  EXPECT_NE(did({"task", "add", "Another"}), id);
}

TEST_F(TaskCommands, take_any_printable_id) {
  for (const std::string_view id :
       {"my-workflow:3-zyci.2.1", "../../etc/passwd", "a/b", "with a space", "größe", "'; DROP"}) {
    add_and_claim(id);
    EXPECT_EQ(did({"heartbeat", id, "-q"}), "") << id;
    EXPECT_EQ(task(id)["id"], id);
    EXPECT_EQ(did({"task", "close", id}), std::string(id) + ": closed\n");
  }
}

TEST_F(TaskCommands, refuse_an_id_that_is_not_printable) {
  EXPECT_EQ(refused({"task", "add", "--id", "a\nb", "x"}, kExitUsage),
            "tend task add: the id 'a\\x0ab' is not printable\n");
  EXPECT_EQ(refused({"task", "claim", " x"}, kExitUsage),
            "tend task claim: the id ' x' begins or ends with a space\n");
  EXPECT_TRUE(refused({"task", "claim", ""}, kExitUsage).starts_with("tend task claim: "));
  EXPECT_EQ(refused({"heartbeat", std::string(257, 'x')}, kExitUsage),
            "tend heartbeat: the id is longer than 256 bytes\n");
}

TEST_F(TaskCommands, refuse_what_cannot_be_added) {
  add("t1");
  EXPECT_EQ(refused({"task", "add", "--id", "t1", "again"}),
            "tend task add: there is a task 't1' already: Implement login\n");
  EXPECT_EQ(refused({"task", "add", "--status", "in_progress", "x"}, kExitUsage),
            "tend task add: a new task is not in progress: add it, then `tend task claim` it\n");
  EXPECT_EQ(refused({"task", "add", ""}, kExitUsage), "tend task add: the title is empty\n");
  EXPECT_EQ(refused({"task", "add", "--context", "lazy", "x"}, kExitUsage),
            "tend task add: --context is active, overnight or critical, not 'lazy'\n");
  EXPECT_EQ(listed({}), Texts{"t1"});
}

TEST_F(TaskCommands, show_everything_about_one) {
  did({"task", "add", "--id", "t1", "--label", "web", "--label", "db", "Implement login"});
  EXPECT_EQ(did({"task", "show", "t1"}),
            "t1  Implement login\n"
            "  status    open\n"
            "  context   active\n"
            "  labels    db, web\n"
            "  changed   0s ago\n");
  did({"task", "claim", "t1"});
  pass(2min);
  did({"heartbeat", "t1", "--message", "tests\tpass"});
  pass(1min);
  EXPECT_EQ(did({"task", "show", "t1"}),
            "t1  Implement login\n"
            "  status    in_progress\n"
            "  context   active\n"
            "  held by   ann (claim 1, last sign 1m ago)\n"
            "  says      tests\\x09pass\n"
            "  labels    db, web\n"
            "  changed   3m ago\n");
  EXPECT_EQ(refused({"task", "show", "t2"}),
            "tend task show: there is no task 't2'; `tend list` has all, `tend task add` makes "
            "one\n");
}

// --- Claims -------------------------------------------------------------------------------------

TEST_F(TaskCommands, claim_for_the_actor_that_is_nearest) {
  for (const std::string_view id : {"typed", "variable", "agent", "user"}) add(id);
  start_worker();
  be_inside_the_worker();
  did({"task", "claim", "agent"});
  reading.variables["TEND_ACTOR"] = "RedLake";
  did({"task", "claim", "variable"});
  did({"task", "claim", "typed", "--actor", "PinkHill"});
  be("ann");
  did({"task", "claim", "user"});
  EXPECT_EQ(task("typed")["assignee"], "PinkHill");
  EXPECT_EQ(task("variable")["assignee"], "RedLake");
  EXPECT_EQ(task("agent")["assignee"], "worker-s1");
  EXPECT_EQ(task("user")["assignee"], "ann");
}

TEST_F(TaskCommands, know_the_user_by_the_environment_or_the_system) {
  add("t1");
  add("t2");
  reading.variables = {{"USER", ""}};
  did({"task", "claim", "t2"});
  EXPECT_EQ(task("t2")["assignee"], "uid 1000");
  EXPECT_EQ(refused({"task", "claim", "t1", "--actor", " x"}, kExitUsage),
            "tend task claim: the actor ' x' begins or ends with a space\n");
  reading.variables["LOGNAME"] = "bob";
  did({"task", "claim", "t1"});
  EXPECT_EQ(task("t1")["assignee"], "bob");
}

TEST_F(TaskCommands, claim_once_and_renew_for_the_same_worker) {
  add_and_claim("t1");
  const Json first = task("t1");
  pass(3min);
  EXPECT_EQ(did({"task", "claim", "t1"}), "t1: yours, claim 1\n");
  const Json second = task("t1");
  EXPECT_EQ(second["fence"], 1);
  EXPECT_EQ(second["updated_at"], first["updated_at"]);
  EXPECT_GT(second["lease_expires_at"], first["lease_expires_at"]);
  be("bob");
  EXPECT_EQ(refused({"task", "claim", "t1"}),
            "tend task claim: 't1' is held by ann (claim 1, last sign 3m ago), not by bob\n");
}

TEST_F(TaskCommands, claim_what_is_assigned_to_oneself_only) {
  did({"task", "add", "--id", "t1", "--assignee", "bob", "x"});
  EXPECT_TRUE(refused({"task", "claim", "t1"}).contains("'t1' is held by bob"));
  did({"task", "claim", "t1", "--actor", "bob"});
}

TEST_F(TaskCommands, claim_only_what_is_open) {
  did({"task", "add", "--id", "t1", "--status", "blocked", "x"});
  EXPECT_EQ(refused({"task", "claim", "t1"}),
            "tend task claim: 't1' is blocked; `tend task update t1 --status open` frees it\n");
  did({"task", "close", "t1"});
  EXPECT_EQ(refused({"task", "claim", "t1"}),
            "tend task claim: 't1' is closed; `tend task reopen t1` opens it\n");
}

TEST_F(TaskCommands, release_what_one_holds) {
  add_and_claim("t1");
  EXPECT_TRUE(refused({"task", "release", "t1", "--actor", "bob"}).contains("is held by ann"));
  EXPECT_EQ(did({"task", "release", "t1"}), "t1: open\n");
  EXPECT_TRUE(task("t1")["assignee"].is_null());
  EXPECT_EQ(refused({"task", "release", "t1"}),
            "tend task release: 't1' is held by nobody; `tend task claim t1` takes it\n");
}

TEST_F(TaskCommands, name_the_new_holder_to_who_lost_a_claim) {
  add_and_claim("t1");
  pass(11min);
  did({"reclaim"});
  did({"task", "claim", "t1", "--actor", "bob"});
  const int fence = task("t1")["fence"];
  EXPECT_GT(fence, 1);
  const std::string holder =
      "'t1' is held by bob (claim " + std::to_string(fence) + ", last sign 0s ago), not by ann\n";
  EXPECT_EQ(refused({"heartbeat", "t1"}), "tend heartbeat: " + holder);
  EXPECT_EQ(refused({"task", "close", "t1"}), "tend task close: " + holder);
  EXPECT_EQ(refused({"task", "release", "t1"}), "tend task release: " + holder);
  EXPECT_EQ(task("t1")["status"], "in_progress");
}

TEST_F(TaskCommands, know_an_earlier_claim_of_the_same_name_by_its_fence) {
  add_and_claim("t1");
  pass(11min);
  did({"reclaim"});
  did({"task", "claim", "t1"});
  for (const std::string_view command : {"release", "close"}) {
    EXPECT_TRUE(
        refused({"task", command, "t1", "--fence", "1"}).contains("a later claim than yours"));
  }
  EXPECT_TRUE(refused({"hb", "t1", "--fence", "1"}).contains("held by ann (claim 3"));
  EXPECT_EQ(refused({"hb", "t1", "--fence", "x"}, kExitUsage),
            "tend heartbeat: --fence wants the number of a claim, not 'x'\n");
  did({"hb", "t1", "--fence", "3"});
}

// --- Closing and changing -----------------------------------------------------------------------

TEST_F(TaskCommands, close_and_reopen) {
  add_and_claim("t1");
  EXPECT_EQ(did({"task", "close", "t1", "--reason", "shipped"}), "t1: closed\n");
  Json closed = task("t1");
  EXPECT_EQ(closed["status"], "closed");
  EXPECT_EQ(closed["close_reason"], "shipped");
  EXPECT_FALSE(closed["closed_at"].is_null());
  EXPECT_TRUE(closed["lease_expires_at"].is_null());
  EXPECT_EQ(did({"task", "close", "t1"}), "t1: closed\n") << "it is closed already";
  EXPECT_TRUE(refused({"heartbeat", "t1"}).contains("'t1' is closed"));
  EXPECT_EQ(did({"task", "reopen", "t1"}), "t1: open\n");
  closed = task("t1");
  EXPECT_TRUE(closed["closed_at"].is_null() && closed["close_reason"].is_null());
  EXPECT_TRUE(closed["assignee"].is_null());
}

TEST_F(TaskCommands, close_what_another_holds_by_force_only) {
  add_and_claim("t1");
  be("bob");
  EXPECT_TRUE(refused({"task", "close", "t1"}).contains("is held by ann"));
  EXPECT_EQ(did({"task", "close", "t1", "--force"}), "t1: closed\n");
}

TEST_F(TaskCommands, change_what_is_asked_and_nothing_else) {
  did({"task", "add", "--id", "t1", "--label", "web", "x"});
  pass(1min);
  EXPECT_EQ(did({"task", "update", "t1", "--title", "y", "--context", "critical", "--add-label",
                 "urgent", "--remove-label", "web"}),
            "t1: open\n");
  const Json changed = task("t1");
  EXPECT_EQ(changed["title"], "y");
  EXPECT_EQ(changed["context"], "critical");
  EXPECT_EQ(changed["labels"], Json::array({"urgent"}));
  EXPECT_NE(changed["updated_at"], changed["created_at"]);
  EXPECT_EQ(did({"task", "update", "t1", "--claim"}), "t1: in_progress, ann\n");
  EXPECT_EQ(did({"task", "update", "t1", "--status", "blocked"}), "t1: blocked, ann\n");
  EXPECT_TRUE(refused({"heartbeat", "t1"}).contains("held by nobody"));
  EXPECT_EQ(did({"task", "update", "t1", "--no-assignee", "--json"}).find("\"assignee\":\"ann\""),
            std::string::npos);
}

TEST_F(TaskCommands, refuse_a_change_that_says_nothing_or_two_things) {
  add("t1");
  EXPECT_EQ(refused({"task", "update", "t1"}, kExitUsage),
            "tend task update: says nothing to change; see --help\n");
  EXPECT_EQ(refused({"task", "update", "t1", "--assignee", "bob", "--no-assignee"}, kExitUsage),
            "tend task update: --assignee and --no-assignee: choose one\n");
  EXPECT_EQ(refused({"task", "update", "t1", "--status", "a\tb"}, kExitUsage),
            "tend task update: --status 'a\\x09b' is not printable\n");
  EXPECT_TRUE(refused({"task", "update", "t2", "--status", "open"}).contains("no task 't2'"));
}

// --- Heartbeats ---------------------------------------------------------------------------------

TEST_F(TaskCommands, beat_without_changing_the_task) {
  add_and_claim("t1");
  const Json before = task("t1");
  pass(4min);
  const Answer beaten = tend({"heartbeat", "t1", "-m", "Working on tests", "--json"});
  EXPECT_EQ(beaten.exit, kExitYes) << beaten.err;
  Json after = beaten.json();
  EXPECT_EQ(after, task("t1"));
  EXPECT_EQ(after["heartbeat_message"], "Working on tests");
  EXPECT_NE(after["last_heartbeat"], before["updated_at"]);
  EXPECT_NE(after["lease_expires_at"], before["lease_expires_at"]);
  for (const char* const beaten_field :
       {"heartbeat_message", "last_heartbeat", "lease_expires_at"}) {
    after[beaten_field] = before[beaten_field];
  }
  EXPECT_EQ(after, before) << "updated_at above all";
}

TEST_F(TaskCommands, beat_and_keep_the_message_of_the_beat_before) {
  add_and_claim("t1");
  did({"hb", "t1", "-m", "half done"});
  did({"hb", "t1"});
  EXPECT_EQ(task("t1")["heartbeat_message"], "half done");
}

TEST_F(TaskCommands, say_until_when_a_beat_holds) {
  add_and_claim("t1");
  EXPECT_EQ(did({"hb", "t1"}),
            "t1: yours until " + task("t1")["lease_expires_at"].get<std::string>() + "\n");
}

TEST_F(TaskCommands, beat_only_for_what_is_claimed) {
  add("t1");
  EXPECT_EQ(refused({"heartbeat", "t1"}),
            "tend heartbeat: 't1' is held by nobody; `tend task claim t1` takes it\n");
  EXPECT_TRUE(refused({"heartbeat", "t2"}).contains("there is no task 't2'"));
  EXPECT_TRUE(refused({"heartbeat"}, kExitUsage).starts_with("tend heartbeat: "));
  EXPECT_EQ(refused({"heartbeat", "t1", "-m", std::string(1001, 'x')}, kExitUsage),
            "tend heartbeat: --message is longer than 1000 bytes\n");
}

TEST_F(TaskCommands, show_the_last_message_wherever_the_task_is) {
  add_and_claim("t1");
  did({"hb", "t1", "-m", "tests pass"});
  EXPECT_TRUE(tend({"list"}).has("Implement login -- tests pass\n"));
  EXPECT_TRUE(tend({"list", "--json"}).has("\"heartbeat_message\":\"tests pass\""));
  EXPECT_TRUE(tend({"task", "show", "t1"}).has("says      tests pass\n"));
  EXPECT_TRUE(tend({"task", "show", "t1", "--json"}).has("\"heartbeat_message\":\"tests pass\""));
  did({"task", "release", "t1"});
  EXPECT_TRUE(tend({"task", "show", "t1"}).has("says      tests pass\n")) << "how far it came";
  did({"task", "claim", "t1", "--actor", "bob"});
  EXPECT_FALSE(tend({"list"}).has("tests pass")) << "the new holder said nothing yet";
}

// --- A letter to the orchestrator ---------------------------------------------------------------

TEST_F(TaskCommands, tell_the_orchestrator_of_a_beat_once_until_it_is_acknowledged) {
  add_and_claim("t1");
  did({"heartbeat", "t1", "--notify", "-m", "tests pass"});
  pass(5min);
  did({"heartbeat", "t1", "--notify", "-m", "cleaning up"});
  Answer mail = tend({"mail", "inbox", "--actor", "Orchestrator", "--json"});
  const Json letter = mail.json();
  ASSERT_TRUE(letter.is_object()) << "one letter: " << mail.out;
  EXPECT_EQ(letter["from"], "ann");
  EXPECT_EQ(letter["subject"], "[HEARTBEAT] Worker alive");
  EXPECT_EQ(letter["body"], "Worker ann heartbeat for t1\ntests pass");
  did({"mail", "ack", "1", "--actor", "Orchestrator"});
  did({"heartbeat", "t1", "--notify"});
  mail = tend({"mail", "inbox", "--actor", "Orchestrator", "--json"});
  EXPECT_EQ(mail.json()["body"], "Worker ann heartbeat for t1");
}

TEST_F(TaskCommands, tell_the_orchestrator_that_the_environment_names) {
  add_and_claim("t1");
  add_and_claim(std::string(256, 'x'));
  reading.variables["TEND_ORCHESTRATOR"] = "lead";
  did({"heartbeat", "t1", "--notify"});
  did({"hb", std::string(256, 'x'), "--notify"});
  EXPECT_TRUE(tend({"mail", "inbox", "--actor", "Orchestrator"}).has("no unacknowledged letters"));
  const std::string lines = tend({"mail", "inbox", "--actor", "lead", "--json"}).out;
  EXPECT_EQ(std::ranges::count(lines, '\n'), 2) << lines;
}

TEST_F(TaskCommands, say_so_if_the_beat_is_good_and_the_letter_is_not_sent) {
  add_and_claim("t1");
  pass(4min);
  reading.variables["TEND_ORCHESTRATOR"] = "le\nad";
  const Answer answer = tend({"heartbeat", "t1", "--notify"});
  EXPECT_EQ(answer.exit, kExitNo);
  EXPECT_TRUE(answer.has("t1: yours until"));
  EXPECT_EQ(answer.err,
            "tend heartbeat: the beat counts, but no letter was sent to le\\x0aad: the recipient "
            "'le\\x0aad' is not printable\n");
  EXPECT_FALSE(task("t1")["last_heartbeat"].is_null());
}

TEST_F(TaskCommands, tell_nobody_of_a_beat_that_does_not_count) {
  add_and_claim("t1");
  EXPECT_TRUE(refused({"heartbeat", "t1", "--notify", "--actor", "bob"}).contains("held by ann"));
  EXPECT_EQ(did({"mail", "inbox", "--actor", "Orchestrator"}),
            "no unacknowledged letters for Orchestrator\n");
}

// --- Lists --------------------------------------------------------------------------------------

TEST_F(TaskCommands, list_for_people) {
  EXPECT_EQ(did({"list"}), "no tasks\n");
  EXPECT_EQ(did({"list", "--heartbeat-stale"}), "nobody is missed\n");
  add("t1");
  pass(1s);
  add_and_claim("t2");
  pass(2min);
  EXPECT_EQ(did({"list"}),
            "TASK  STATUS       ASSIGNEE  SIGN  WHAT\n"
            "t1    open         -            -  Implement login\n"
            "t2    in_progress  ann         2m  Implement login\n");
}

TEST_F(TaskCommands, list_by_status_assignee_and_label) {
  add_and_claim("t1");
  pass(1s);
  did({"task", "add", "--id", "t2", "--label", "web", "--label", "db", "x"});
  pass(1s);
  did({"task", "add", "--id", "t3", "--label", "web", "--status", "my own", "x"});
  EXPECT_EQ(listed({}), (Texts{"t1", "t2", "t3"})) << "as they were made";
  EXPECT_EQ(listed({"--status", "in_progress"}), Texts{"t1"});
  EXPECT_EQ(listed({"--status", "my own"}), Texts{"t3"});
  EXPECT_EQ(listed({"--assignee", "ann"}), Texts{"t1"});
  EXPECT_EQ(listed({"--no-assignee"}), (Texts{"t2", "t3"}));
  EXPECT_EQ(listed({"--label", "web"}), (Texts{"t2", "t3"}));
  EXPECT_EQ(listed({"--label", "web", "--label", "db"}), Texts{"t2"});
  EXPECT_EQ(listed({"--limit", "2"}), (Texts{"t1", "t2"}));
  EXPECT_EQ(listed({"--status", "nothing"}), Texts{});
}

TEST_F(TaskCommands, never_take_an_empty_scope_for_everything) {
  add_and_claim("t1");
  pass(1h);
  for (const std::string_view option : {"--status", "--assignee", "--label"}) {
    EXPECT_TRUE(refused({"list", option, ""}, kExitUsage).contains(option)) << option;
    EXPECT_TRUE(refused({"list", std::string(option) + "="}, kExitUsage).contains(option));
  }
  for (const std::string_view option :
       {"--id", "--assignee", "--label", "--label-any", "--exclude-label", "--older-than"}) {
    EXPECT_TRUE(refused({"reclaim", option, ""}, kExitUsage).contains(option)) << option;
    EXPECT_TRUE(refused({"reclaim", std::string(option) + "="}, kExitUsage).contains(option));
  }
  EXPECT_EQ(task("t1")["assignee"], "ann");
}

TEST_F(TaskCommands, list_the_stale_ones_by_their_own_context) {
  add_and_claim("t-active");
  add_and_claim("t-overnight", "overnight");
  add_and_claim("t-critical", "critical");
  pass(5min + 1s);
  EXPECT_EQ(listed({"--heartbeat-stale"}), Texts{"t-critical"});
  pass(5min);
  EXPECT_EQ(listed({"--heartbeat-stale"}), (Texts{"t-active", "t-critical"}));
  pass(20min);
  EXPECT_EQ(listed({"--heartbeat-stale", "--status", "in_progress"}),
            (Texts{"t-active", "t-critical", "t-overnight"}));
}

TEST_F(TaskCommands, list_the_stale_ones_by_one_time_for_all) {
  add_and_claim("t-active");
  add_and_claim("t-overnight", "overnight");
  add_and_claim("t-critical", "critical");
  pass(14min);
  EXPECT_EQ(listed({"--heartbeat-stale=15m"}), Texts{});
  pass(1min + 1s);
  EXPECT_EQ(listed({"--heartbeat-stale=15m"}), (Texts{"t-active", "t-critical", "t-overnight"}));
  EXPECT_EQ(
      refused({"list", "--heartbeat-stale=soon"}, kExitUsage).find("tend list: --heartbeat-stale"),
      0U);
  EXPECT_EQ(refused({"list", "--heartbeat-stale", "15m"}, kExitUsage),
            "tend list: unexpected argument '15m' (see 'tend list --help')\n");
}

TEST_F(TaskCommands, list_the_longest_silent_first_and_for_how_long) {
  add_and_claim("t1");
  pass(1min);
  add_and_claim("t2");
  pass(1min);
  did({"hb", "t1"});
  pass(20min);
  EXPECT_EQ(listed({"--heartbeat-stale"}), (Texts{"t2", "t1"}));
  EXPECT_EQ(listed({"--heartbeat-stale", "--limit", "1"}), Texts{"t2"});
  const Json stale = tend({"list", "--heartbeat-stale", "--json"}).json();
  EXPECT_EQ(stale[0]["stale_seconds"], 21 * 60) << "it never beat: from its last change";
  EXPECT_EQ(stale[1]["stale_seconds"], 20 * 60);
  EXPECT_FALSE(tend({"list", "--json"}).json()[0].contains("stale_seconds"));
}

TEST_F(TaskCommands, give_an_array_also_if_there_is_nothing) {
  EXPECT_EQ(did({"list", "--json"}), "[]\n");
  EXPECT_EQ(did({"list", "--heartbeat-stale", "--json"}), "[]\n");
}

// --- Reclaiming ---------------------------------------------------------------------------------

TEST_F(TaskCommands, reclaim_by_age) {
  add_and_claim("t1");
  did({"hb", "t1", "-m", "half done"});
  pass(5min);
  add_and_claim("t2");
  pass(6min);
  EXPECT_EQ(did({"reclaim", "--dry-run"}),
            "t1: would be open again, was held by ann -- half done\n");
  EXPECT_EQ(task("t1")["status"], "in_progress");
  EXPECT_EQ(did({"reclaim"}), "t1: open again, was held by ann -- half done\n");
  EXPECT_EQ(task("t1")["status"], "open");
  EXPECT_TRUE(task("t1")["assignee"].is_null());
  EXPECT_EQ(did({"reclaim"}), "nothing to reclaim\n");
  EXPECT_EQ(tend({"reclaim", "--older-than", "5m", "--json"}).json(),
            Json::parse(R"({"reclaimed":[{"id":"t2","previous_assignee":"ann",)"
                        R"("heartbeat_message":null}],"count":1,"passed_over":[]})"));
}

TEST_F(TaskCommands, reclaim_within_a_scope) {
  for (const std::string_view id : {"a", "b", "c"}) {
    did({"task", "add", "--id", id, "--label", id, "--label", "all", "x"});
    did({"task", "claim", id});
  }
  did({"task", "add", "--id", "d", "x"});
  did({"task", "claim", "d", "--actor", "bob"});
  pass(11min);
  EXPECT_EQ(did({"reclaim", "--assignee", "bob"}), "d: open again, was held by bob\n");
  EXPECT_EQ(did({"reclaim", "--label", "all", "--label", "b"}), "b: open again, was held by ann\n");
  EXPECT_EQ(did({"reclaim", "--label-any", "a", "--label-any", "z"}),
            "a: open again, was held by ann\n");
  EXPECT_EQ(did({"reclaim", "--exclude-label", "all"}), "nothing to reclaim\n");
  EXPECT_EQ(did({"reclaim", "--id", "c"}), "c: open again, was held by ann\n");
}

TEST_F(TaskCommands, reclaim_nothing_from_a_kept_agent_at_work_and_say_so) {
  add("t1");
  add("t2");
  start_worker();
  be_inside_the_worker();
  did({"task", "claim", "t1"});
  be("ann");
  did({"task", "claim", "t2", "--actor", "worker-s1"});
  pass(11min);
  Answer answer = tend({"reclaim"});
  EXPECT_EQ(answer.exit, kExitYes);
  EXPECT_EQ(answer.out, "nothing to reclaim\n");
  EXPECT_EQ(answer.err,
            "tend reclaim: t1 is left to worker-s1, which is kept and at work; --force takes it "
            "all the same\n"
            "tend reclaim: t2 is left to worker-s1, which is kept and at work; --force takes it "
            "all the same\n");
  answer = tend({"reclaim", "--json"});
  EXPECT_EQ(answer.json()["count"], 0);
  EXPECT_EQ(answer.json()["passed_over"].size(), 2U);
  EXPECT_EQ(task("t1")["assignee"], "worker-s1");
  EXPECT_EQ(did({"reclaim", "--force", "--id", "t1"}), "t1: open again, was held by worker-s1\n");
  did({"stop", "worker-s1"});
  EXPECT_EQ(did({"reclaim"}), "t2: open again, was held by worker-s1\n");
}

TEST_F(TaskCommands, reclaim_only_what_is_in_progress) {
  did({"task", "add", "--id", "t1", "--assignee", "bob", "x"});
  pass(1h);
  EXPECT_EQ(did({"reclaim"}), "nothing to reclaim\n");
  EXPECT_EQ(task("t1")["assignee"], "bob");
}

}  // namespace
}  // namespace tend
