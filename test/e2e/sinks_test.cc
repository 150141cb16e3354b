// Beats that go into the stores of other systems: from inside a kept agent, and for one that Tend
// does not keep, with real files, processes and a `bd`.
#include <fstream>

#include <fmt/format.h>

#include "e2e.h"

namespace tend::e2e {
namespace {

namespace fs = std::filesystem;

class SinksTest : public E2e {
 protected:
  void configure(const std::string& text) {
    fs::create_directories(home());
    fs::permissions(home(), fs::perms::owner_all);
    write(home() / "config.toml", text);
  }
  static void write(const Path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  [[nodiscard]] Path at(const std::string& name) const { return scratch() / name; }
  [[nodiscard]] std::string text_of(const std::string& name) const { return read_file(at(name)); }
  /// One table of a sink of the agent `crawler`.
  std::string sink(const std::string& name, const std::string& kind,
                   const std::string& more = "") const {
    return fmt::format("[[sink]]\nname = '{}'\nagent = 'crawler'\nkind = '{}'\npath = '{}'\n{}\n",
                       name, kind, at(name).string(), more);
  }
  /// A kept agent that runs this script once, in its own shell, and then does nothing.
  void run_inside(const std::string& script) {
    const std::string shell =
        fmt::format("cd '{}'; {}; touch over; exec sleep 600", scratch().string(), script);
    keep({"--name", "crawler"}, {"sh", "-c", shell});
    ASSERT_TRUE(eventually([&] { return fs::exists(at("over")); }));
  }
  static std::string call(const std::string& words, const std::string& name) {
    return fmt::format("'{0}' {1} >{2}.out 2>{2}.err; echo $? >{2}.exit", TEND_BINARY, words, name);
  }
};

TEST_F(SinksTest, a_beat_inside_an_agent_reaches_every_store_and_names_the_one_that_failed) {
  configure(sink("session", "session-state") +
            sink("file", "json-time", "field = 'status.seen'\ncounter = 'cycle'") +
            sink("lease", "lease-file") + sink("touched", "mtime"));
  write(at("session"), R"({"timestamp":"2026-01-04T20:19:13Z","state":"working","bead":"gt-7"})");
  write(at("file"),
        "{\n  \"status\": {\n    \"seen\": 7,\n    \"cycle\": 41\n  },\n  \"n\": 1\n}\n");
  const std::string lease = R"({"leader_id":"other","leader_epoch":3,"last_heartbeat":7})";
  write(at("lease"), lease);
  run_inside(call("state idle", "state") + "; " + call("beat --quiet", "beat") + "; " +
             call("beat --json", "json"));

  EXPECT_EQ(text_of("state.out"),
            "tend: state idle for crawler, life 1\n"
            "  session: written\n  file: written\n  touched: written\n");
  EXPECT_EQ(text_of("state.err"), fmt::format("tend state: lease: {}: the lease is held by other\n",
                                              at("lease").string()));
  EXPECT_EQ(text_of("state.exit"), "1\n");
  EXPECT_EQ(text_of("beat.out"), "");
  EXPECT_EQ(text_of("beat.exit"), "1\n");
  const Json said = Json::parse(text_of("json.out"), nullptr, false);
  ASSERT_TRUE(said.is_object()) << text_of("json.out");
  ASSERT_EQ(said["sinks"].size(), 4U);
  EXPECT_EQ(said["sinks"][0]["result"], "written");
  EXPECT_EQ(said["sinks"][2]["sink"], "lease");
  EXPECT_EQ(said["sinks"][2]["result"], "failed");

  const Json session = Json::parse(text_of("session"), nullptr, false);
  EXPECT_EQ(session["state"], "idle");
  EXPECT_EQ(session["bead"], "gt-7");
  EXPECT_TRUE(text_of("file").ends_with("\"cycle\": 44\n  },\n  \"n\": 1\n}\n")) << text_of("file");
  EXPECT_EQ(text_of("lease"), lease);
  EXPECT_TRUE(fs::exists(at("touched")));
}

TEST_F(SinksTest, an_entry_is_written_for_the_process_that_it_names_and_for_no_other) {
  configure(sink("registry", "registry", "field = 'agents[role=lead].seen'\nlocked = true"));
  const std::string other = R"({"agents":[{"role":"lead","pid":1,"seen":7}]})";
  write(at("registry"), other);
  run_inside(call("beat", "other") +
             "; cp registry kept; echo '{\"agents\":[{\"role\":\"lead\","
             "\"pid\":'$$',\"seen\":7}]}' >registry; " +
             call("beat", "own"));
  EXPECT_EQ(text_of("other.exit"), "1\n");
  EXPECT_TRUE(text_of("other.err").contains("is of another: process 1")) << text_of("other.err");
  EXPECT_EQ(text_of("kept"), other);
  EXPECT_EQ(text_of("own.err"), "");
  EXPECT_EQ(text_of("own.out"), "tend: beat for crawler, life 1\n  registry: written\n");
  EXPECT_FALSE(text_of("registry").contains("\"seen\":7}")) << text_of("registry");
  EXPECT_FALSE(fs::exists(at("registry.lock")));
}

TEST_F(SinksTest, a_lock_of_another_is_waited_for_and_who_does_not_give_it_up_is_named) {
  configure(sink("registry", "registry", "field = 'agents[role=lead].seen'\nlocked = true"));
  const std::string lock = R"(echo '{"agent_id":"w","pid":'$PPID'}' >registry.lock; )";
  run_inside(R"(echo '{"agents":[{"role":"lead","pid":'$$',"seen":7}]}' >registry; )" + lock +
             "(sleep 1; rm registry.lock) & " + call("beat", "waited") + "; " + lock +
             call("beat", "refused"));
  EXPECT_EQ(text_of("waited.err"), "");
  EXPECT_EQ(text_of("waited.exit"), "0\n");
  EXPECT_EQ(text_of("refused.exit"), "1\n");
  EXPECT_TRUE(text_of("refused.err").starts_with("tend beat: registry: "))
      << text_of("refused.err");
  EXPECT_TRUE(text_of("refused.err").contains("(w), who did not give it up in time"))
      << text_of("refused.err");
  EXPECT_TRUE(fs::exists(at("registry.lock"))) << "it stays theirs";
}

TEST_F(SinksTest, an_agent_that_tend_does_not_keep_beats_by_the_name_of_its_stores) {
  const Path town = at("town");
  configure(fmt::format("[store.deacon]\npreset = 'gastown'\nroot = '{}'\n", town.string()));
  write(at("bin/bd"), fmt::format("#!/bin/sh\ncd '{}'\necho \"$PWD $BEADS_DIR $*\" >>asked\n"
                                  "for word; do case $word in --add-label=*) "
                                  "echo \"${{word#*=}}\" >label;; esac; done\n"
                                  "echo '[{{\"labels\":[\"gt:agent\",\"'$(cat label)'\"]}}]'\n",
                                  town.string()));
  fs::permissions(at("bin/bd"), fs::perms::owner_all);
  write(town / "label", "heartbeat:1700000000\n");
  write(town / "deacon/heartbeat.json", R"({"timestamp":"2026-01-04T20:19:13Z","cycle":12})");
  const auto beat = [&](const Arguments& words) {
    return run({.arguments = Arguments{TEND_BINARY} + words,
                .environment = {{"PATH", at("bin").string() + ":" + std::getenv("PATH")}}});
  };
  const auto first = beat({"state", "working", "--store", "deacon"});
  EXPECT_EQ(first.exit, 0) << first.err;
  EXPECT_EQ(
      first.out,
      "tend: state working for deacon\n  file: written\n  legacy: written\n  session: written\n"
      "  label: written\n");
  EXPECT_TRUE(read_file(town / "deacon/heartbeat.json").contains("\"cycle\":13"));
  EXPECT_TRUE(fs::exists(town / "deacon/.deacon-heartbeat"));
  EXPECT_TRUE(read_file(town / ".runtime/heartbeats/hq-deacon.json").contains("working"));
  EXPECT_NE(read_file(town / "label"), "heartbeat:1700000000\n");
  EXPECT_TRUE(read_file(town / "asked").contains("--remove-label=heartbeat:1700000000"));
  EXPECT_TRUE(read_file(town / "asked").contains(town.string() + "/.beads show hq-deacon"));

  const auto again = beat({"beat", "--store", "deacon"});
  EXPECT_EQ(again.exit, 0) << again.err;
  EXPECT_TRUE(again.out.contains("  label: fresh for 2m")) << again.out;
  const auto nobody = beat({"beat", "--store", "decon"});
  EXPECT_EQ(nobody.exit, 2);
  EXPECT_EQ(nobody.err,
            "tend beat: the configuration has no sinks of 'decon'; did you mean 'deacon'?\n");
}

}  // namespace
}  // namespace tend::e2e
