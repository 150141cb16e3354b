// The dialect of `bd`: what is said, in words and in JSON, and what is refused.
#include "app/bd_commands.h"

#include <gtest/gtest.h>

#include "app/bd_testing.h"
#include "store/home_database.h"
#include "store/mail.h"

namespace tend {
namespace {

using namespace std::chrono_literals;
using Texts = std::vector<std::string>;

constexpr const char* kId = "my-workflow:3-zyci.2.1";

class Bd : public testing::Test, protected BdHome {
 protected:
  void SetUp() override {
    variables["BD_ACTOR"] = "PinkHill";
    ASSERT_EQ(bd({"create", "Implement login endpoint", "--id", kId}).exit, kExitYes);
  }
  std::vector<Letter> letters_to(const std::string& name) {
    Machine& machine = universe.machine();
    const auto home = machine.folders.open(kHome).value();
    const auto database = open_home_database(machine.databases, *home).value();
    return Mailbox(*database).inbox(name, LetterView::all).value();
  }
  nlohmann::json issue(std::string_view id = kId) { return bd({"show", id, "--json"}).issue(); }
  /// The error of an answer in JSON.
  static std::string error(const BdAnswer& answer) {
    EXPECT_EQ(answer.exit, kExitNo);
    EXPECT_EQ(answer.json().value("schema_version", 0), 1) << answer.out;
    return answer.json().value("error", "");
  }
};

TEST_F(Bd, beats_for_who_claimed_it) {
  EXPECT_EQ(error(bd({"heartbeat", kId, "--json"})),
            "issue not claimable: my-workflow:3-zyci.2.1 status open");
  ASSERT_EQ(bd({"update", kId, "--claim"}).out,
            "✓ Updated issue: my-workflow:3-zyci.2.1 — Implement login endpoint\n");
  const BdAnswer answer = bd({"heartbeat", kId});
  EXPECT_EQ(answer.exit, kExitYes) << answer.err;
  EXPECT_EQ(answer.out, "✓ Heartbeat my-workflow:3-zyci.2.1 (lease refreshed)\n");
  const auto json = bd({"hb", kId, "--json", "--message", "Working on tests"}).json();
  EXPECT_EQ(json["id"], kId);
  EXPECT_EQ(json["status"], "heartbeat");
  EXPECT_EQ(json["owner"], "PinkHill");
  EXPECT_EQ(json["heartbeat_message"], "Working on tests");
  EXPECT_EQ(json["schema_version"], 1);
}

TEST_F(Bd, tells_the_orchestrator_once_until_it_is_heard) {
  bd({"update", kId, "--claim"});
  EXPECT_EQ(bd({"heartbeat", kId, "--notify"}).exit, kExitYes);
  EXPECT_EQ(bd({"heartbeat", kId, "--notify", "--message", "half"}).exit, kExitYes);
  EXPECT_EQ(bd({"heartbeat", kId}).exit, kExitYes);
  const std::vector<Letter> letters = letters_to("Orchestrator");
  ASSERT_EQ(letters.size(), 1U);
  EXPECT_EQ(letters[0].from, "PinkHill");
  EXPECT_EQ(letters[0].subject, "[HEARTBEAT] Worker alive");
  EXPECT_TRUE(letters[0].body.starts_with("Worker PinkHill heartbeat for my-workflow:3-zyci.2.1"));
}

TEST_F(Bd, tells_nobody_of_a_beat_that_did_not_count) {
  EXPECT_EQ(bd({"heartbeat", kId, "--notify"}).exit, kExitNo);
  EXPECT_TRUE(letters_to("Orchestrator").empty());
}

TEST_F(Bd, has_the_fields_of_both_vocabularies) {
  const auto before = issue();
  EXPECT_EQ(before["status"], "open");
  EXPECT_TRUE(before["assignee"].is_null());
  EXPECT_TRUE(before["last_heartbeat"].is_null());
  EXPECT_FALSE(before.contains("heartbeat_at"));
  EXPECT_FALSE(before.contains("lease_expires_at"));
  EXPECT_EQ(before["claim_fence"], 0);
  EXPECT_EQ(before["priority"], 2);
  EXPECT_FALSE(before.contains("fence"));
  bd({"update", kId, "--claim"});
  const auto claimed = issue();
  universe.run_for(1min);
  bd({"heartbeat", kId, "--message", "half of it"});
  const auto beaten = issue();
  EXPECT_EQ(beaten["updated_at"], claimed["updated_at"]) << "a beat is no change";
  EXPECT_EQ(beaten["last_heartbeat"], beaten["heartbeat_at"]);
  EXPECT_GT(beaten["last_heartbeat"], beaten["updated_at"]);
  EXPECT_EQ(beaten["heartbeat_message"], "half of it");
  EXPECT_GT(beaten["lease_expires_at"], claimed["lease_expires_at"]);
  EXPECT_EQ(beaten["claim_fence"], 1);
  EXPECT_EQ(beaten["assignee"], "PinkHill");
}

TEST_F(Bd, wraps_all_it_says_if_that_is_asked_for) {
  variables["BD_JSON_ENVELOPE"] = "1";
  const auto listed = bd({"list", "--json"}).json();
  EXPECT_EQ(listed["schema_version"], 1);
  EXPECT_EQ(listed["data"][0]["id"], kId);
  EXPECT_EQ(bd({"show", "x", "--json"}).json()["data"]["error"], "issue not found: x");
}

TEST_F(Bd, is_claimed_once_and_by_the_same_one_again) {
  EXPECT_EQ(bd({"update", kId, "--claim", "--json"}).issue()["claim_fence"], 1);
  EXPECT_EQ(bd({"update", kId, "--claim", "--json"}).issue()["claim_fence"], 1);
  variables["BD_ACTOR"] = "BlueLake";
  EXPECT_EQ(error(bd({"update", kId, "--claim", "--json"})), "issue already claimed by PinkHill");
  EXPECT_EQ(error(bd({"heartbeat", kId, "--json"})), "issue already claimed by PinkHill");
  EXPECT_EQ(error(bd({"close", kId, "--json"})), "issue already claimed by PinkHill");
  const BdAnswer words = bd({"heartbeat", kId});
  EXPECT_EQ(words.exit, kExitNo);
  EXPECT_EQ(words.out, "");
  EXPECT_EQ(words.err, "Error: issue already claimed by PinkHill\n");
}

TEST_F(Bd, knows_who_calls) {
  variables["TEND_ACTOR"] = "Tender";
  EXPECT_EQ(bd({"update", kId, "--claim", "--json"}).issue()["assignee"], "PinkHill");
  bd({"update", kId, "--status", "open", "--assignee", ""});
  variables.erase("BD_ACTOR");
  EXPECT_EQ(bd({"update", kId, "--claim", "--json"}).issue()["assignee"], "Tender");
  bd({"update", kId, "--status", "open", "--assignee="});
  EXPECT_EQ(bd({"update", kId, "--claim", "--json", "--actor", "Typed"}).issue()["assignee"],
            "Typed");
}

TEST_F(Bd, is_read_by_nobody_in_particular_and_changed_by_the_user) {
  variables = {{"TEND_HOME", kHome}};
  EXPECT_EQ(bd({"show", kId}).exit, kExitYes);
  EXPECT_EQ(bd({"list"}).exit, kExitYes);
  EXPECT_EQ(bd({"reclaim"}).exit, kExitYes);
  EXPECT_EQ(bd({"update", kId, "--claim", "--json"}).issue()["assignee"], "uid 1000");
}

TEST_F(Bd, is_given_back_with_an_empty_assignee) {
  bd({"update", kId, "--claim"});
  const auto freed = bd({"update", kId, "--status", "open", "--assignee", "", "--json"}).issue();
  EXPECT_EQ(freed["status"], "open");
  EXPECT_TRUE(freed["assignee"].is_null());
  EXPECT_FALSE(freed.contains("lease_expires_at"));
  EXPECT_EQ(error(bd({"heartbeat", kId, "--json"})),
            "issue not claimable: my-workflow:3-zyci.2.1 status open");
}

TEST_F(Bd, changes_only_behind_the_right_fence) {
  bd({"update", kId, "--claim"});
  EXPECT_EQ(error(bd({"update", kId, "--title", "x", "--if-fence", "7", "--json"})),
            "claim fence of my-workflow:3-zyci.2.1 is 1 now, of PinkHill");
  EXPECT_EQ(bd({"update", kId, "--title", "x", "--if-fence", "1", "--json"}).issue()["title"], "x");
  EXPECT_EQ(error(bd({"close", kId, "--if-fence", "7", "--json"})),
            "claim fence of my-workflow:3-zyci.2.1 is 1 now, of PinkHill");
  EXPECT_EQ(error(bd({"update", kId, "--title", "y", "--if-fence", "", "--json"})),
            "--if-fence wants the number of a claim, not ''");
}

TEST_F(Bd, has_the_labels_it_is_given) {
  bd({"update", kId, "--set-labels", "web,api"});
  EXPECT_EQ(issue()["labels"], (Texts{"api", "web"}));
  bd({"update", kId, "--add-label", "x", "--remove-label", "web"});
  EXPECT_EQ(issue()["labels"], (Texts{"api", "x"}));
  bd({"update", kId, "--set-labels", ""});
  EXPECT_EQ(issue()["labels"], Texts{});
  EXPECT_EQ(error(bd({"update", kId, "--add-label", "a,,b", "--json"})), "--add-label is empty");
  EXPECT_EQ(bd({"update", kId}).out, "No updates specified\n");
}

TEST_F(Bd, closes_and_opens_again) {
  bd({"update", kId, "--claim"});
  EXPECT_EQ(bd({"close", kId, "--reason", "shipped"}).out,
            "✓ Closed my-workflow:3-zyci.2.1 — Implement login endpoint: shipped\n");
  const auto closed = issue();
  EXPECT_EQ(closed["status"], "closed");
  EXPECT_EQ(closed["close_reason"], "shipped");
  EXPECT_TRUE(closed.contains("closed_at"));
  EXPECT_EQ(error(bd({"heartbeat", kId, "--json"})),
            "issue not claimable: my-workflow:3-zyci.2.1 status closed");
  EXPECT_EQ(bd({"reopen", kId, "--reason", "not yet"}).out,
            "↻ Reopened my-workflow:3-zyci.2.1: not yet\n");
  EXPECT_EQ(issue()["status"], "open");
  EXPECT_EQ(bd({"reopen", kId}).out, "my-workflow:3-zyci.2.1 is open already\n");
  EXPECT_EQ(bd({"close", kId, "--json"}).issue()["close_reason"], "Closed");
}

TEST_F(Bd, does_what_it_can_of_several_and_says_what_it_could_not) {
  bd({"create", "second", "--id", "b"});
  const BdAnswer answer = bd({"close", kId, "nowhere", "b", "--json"});
  EXPECT_EQ(answer.exit, kExitNo);
  EXPECT_EQ(answer.ids(), (Texts{kId, "b"}));
  EXPECT_EQ(answer.err, "Error: issue not found: nowhere\n");
}

TEST_F(Bd, makes_issues) {
  const auto made = bd({"add", "Another", "-l", "web,api", "-a", "BlueLake", "--json"}).json();
  EXPECT_EQ(made["title"], "Another");
  EXPECT_EQ(made["labels"], (Texts{"api", "web"}));
  EXPECT_EQ(made["assignee"], "BlueLake");
  EXPECT_EQ(made["schema_version"], 1);
  const BdAnswer silent = bd({"create", "x", "--silent"});
  EXPECT_TRUE(silent.out.starts_with("t-")) << silent.out;
  EXPECT_EQ(error(bd({"create", "x", "--id", kId, "--json"})),
            "issue already exists: my-workflow:3-zyci.2.1");
  EXPECT_EQ(error(bd({"create", "", "--json"})), "the title is empty");
  EXPECT_EQ(error(bd({"create", "x", "--id", "a\nb", "--json"})),
            "the id 'a\\x0ab' is not printable");
}

TEST_F(Bd, lists_what_is_asked_for) {
  bd({"create", "b", "--id", "b", "-l", "web"});
  bd({"create", "c", "--id", "c", "-l", "web,api"});
  bd({"update", "b", "--claim"});
  bd({"close", "c"});
  EXPECT_EQ(bd({"list", "--json"}).ids(), (Texts{"b", kId}));
  EXPECT_EQ(bd({"list", "--all", "--json"}).ids(), (Texts{"b", "c", kId}));
  EXPECT_EQ(bd({"list", "--status", "closed", "--json"}).ids(), Texts{"c"});
  EXPECT_EQ(bd({"list", "--status", "closed,in_progress", "--json"}).ids(), (Texts{"b", "c"}));
  EXPECT_EQ(bd({"list", "--assignee", "PinkHill", "--json"}).ids(), Texts{"b"});
  EXPECT_EQ(bd({"list", "--no-assignee", "--json"}).ids(), Texts{kId});
  EXPECT_EQ(bd({"list", "--all", "--label", "web,api", "--json"}).ids(), Texts{"c"});
  EXPECT_EQ(bd({"list", "--id", "b,c", "--all", "--json"}).ids(), (Texts{"b", "c"}));
  EXPECT_EQ(bd({"list", "--label", "none"}).out, "No issues found.\n");
  EXPECT_TRUE(bd({"list"}).out.contains("Implement login endpoint"));
  const BdAnswer one = bd({"list", "-n", "1", "--json"});
  EXPECT_EQ(one.ids().size(), 1U);
  EXPECT_EQ(one.err, "bd: 1 of 2 issues; --limit 0 shows all\n");
}

TEST_F(Bd, lists_by_the_time_of_the_last_change) {
  const std::string then = issue()["updated_at"];
  universe.run_for(1h);
  bd({"create", "later", "--id", "later"});
  const std::string now = issue("later")["updated_at"];
  EXPECT_EQ(bd({"list", "--updated-before", now, "--json"}).ids(), Texts{kId});
  EXPECT_EQ(bd({"list", "--updated-after", then, "--json"}).ids(), Texts{"later"});
  EXPECT_EQ(bd({"list", "--updated-after", "1980-01-01", "--json"}).ids().size(), 2U);
  EXPECT_EQ(error(bd({"list", "--updated-after", "yesterday", "--json"})),
            "--updated-after wants a date (2026-01-03) or RFC 3339 (2026-01-03T12:00:00Z), not "
            "'yesterday'");
}

TEST_F(Bd, finds_whose_holder_went_silent) {
  bd({"update", kId, "--claim"});
  bd({"create", "other", "--id", "other"});
  bd({"update", "other", "--claim"});
  universe.run_for(9min);
  EXPECT_EQ(bd({"list", "--heartbeat-stale", "--json"}).out, "[]\n");
  bd({"heartbeat", "other"});
  universe.run_for(2min);
  const auto stale = bd({"list", "--heartbeat-stale", "--status", "in_progress", "--json"});
  ASSERT_EQ(stale.ids(), Texts{kId});
  EXPECT_EQ(stale.issue()["stale_duration"], 11);
  EXPECT_EQ(stale.issue()["stale_seconds"], 11 * 60);
  EXPECT_EQ(bd({"list", "--heartbeat-stale=15m", "--json"}).out, "[]\n");
  EXPECT_EQ(bd({"list", "--heartbeat-stale=1m", "--json"}).ids().size(), 2U);
  EXPECT_EQ(bd({"close", kId}).exit, kExitYes);
  universe.run_for(1h);
  EXPECT_EQ(bd({"list", "--heartbeat-stale", "--json"}).ids(), Texts{"other"})
      << "nobody is missed at what is closed";
  EXPECT_EQ(bd({"list", "--heartbeat-stale=soon", "--json"}).exit, kExitNo);
}

TEST_F(Bd, reclaims_by_age_and_never_by_an_empty_scope) {
  bd({"update", kId, "--claim", "--add-label", "web"});
  EXPECT_EQ(bd({"reclaim"}).out, "✓ No stale leases to reclaim\n");
  universe.run_for(11min);
  for (const std::string_view scope :
       {"--id", "--assignee", "--label", "--label-any", "--exclude-label"}) {
    EXPECT_EQ(error(bd({"reclaim", scope, "", "--json"})), std::string(scope) + " is empty");
  }
  EXPECT_EQ(bd({"reclaim", "--label", "api", "--json"}).json()["count"], 0);
  EXPECT_EQ(bd({"reclaim", "--older-than", "12m", "--json"}).json()["count"], 0);
  EXPECT_TRUE(bd({"reclaim", "--dry-run"}).out.starts_with("✓ Would reclaim 1 stale-lease"));
  const auto json = bd({"reclaim", "--label", "web", "--json"}).json();
  EXPECT_EQ(json["count"], 1);
  EXPECT_EQ(json["scoped"], true);
  EXPECT_EQ(json["reclaimed"][0]["id"], kId);
  EXPECT_EQ(json["reclaimed"][0]["previous_owner"], "PinkHill");
  EXPECT_EQ(issue()["status"], "open");
  EXPECT_EQ(bd({"reclaim", "--json"}).json()["scoped"], false);
  bd({"update", kId, "--claim"});
  universe.run_for(11min);
  EXPECT_EQ(bd({"reclaim"}).out,
            "✓ Reclaimed 1 stale-lease issue(s):\n"
            "  my-workflow:3-zyci.2.1 — Implement login endpoint (was PinkHill)\n");
}

TEST_F(Bd, lists_what_was_not_changed_for_days) {
  EXPECT_EQ(bd({"stale"}).out, "✨ No stale issues found (all active)\n");
  universe.run_for(25h);
  bd({"create", "new", "--id", "new"});
  EXPECT_EQ(bd({"stale", "--json"}).out, "[]\n");
  EXPECT_EQ(bd({"stale", "-d", "1", "--json"}).ids(), Texts{kId});
  EXPECT_EQ(
      bd({"stale", "--days", "1"}).out,
      "⏰ Stale issues (1 not updated in 1+ days):\n"
      "  my-workflow:3-zyci.2.1 — Implement login endpoint (open, last updated 1 days ago)\n");
  EXPECT_EQ(error(bd({"stale", "-d", "0", "--json"})), "--days must be at least 1");
  EXPECT_EQ(bd({"stale", "-d", "10000000", "--json"}).out, "[]\n");
}

TEST_F(Bd, shows_what_tend_shows) {
  bd({"update", kId, "--claim"});
  bd({"heartbeat", kId, "--message", "half of it"});
  const auto task = tend({"task", "show", kId, "--json"}).json();
  EXPECT_EQ(task["assignee"], "PinkHill");
  EXPECT_EQ(task["heartbeat_message"], "half of it");
  EXPECT_TRUE(bd({"show", kId}).out.contains("half of it"));
  EXPECT_EQ(error(bd({"show", "nowhere", "--json"})), "issue not found: nowhere");
}

TEST_F(Bd, S34_another_spelling_of_the_holder_hears_who_holds_it_and_takes_nothing) {
  bd({"update", kId, "--claim"});
  universe.run_for(1h);
  for (const char* const spelling : {"pinkhill", "rig/polecats/PinkHill", "PinkHill/"}) {
    variables["BD_ACTOR"] = spelling;
    EXPECT_EQ(error(bd({"heartbeat", kId, "--json"})), "issue already claimed by PinkHill");
    EXPECT_EQ(error(bd({"update", kId, "--claim", "--json"})), "issue already claimed by PinkHill");
    EXPECT_EQ(bd({"reclaim", "--assignee", spelling, "--json"}).json()["count"], 0) << spelling;
  }
  EXPECT_EQ(issue()["assignee"], "PinkHill");
  EXPECT_EQ(issue()["claim_fence"], 1);
}

}  // namespace
}  // namespace tend
