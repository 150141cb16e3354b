// What tests of leases share: a simulated machine on which processes ask for leases and run
// programs under them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "os/sim/sim_universe.h"
#include "run/lease_desk.h"
#include "run/lease_runner.h"
#include "run/lease_voice.h"
#include "store/lease_files.h"

namespace tend {

inline constexpr const char* kLeaseHome = "/home/user/tend";

class LeaseTest : public testing::Test {
 protected:
  /// A process that the test drives, with a desk of its own.
  struct Asker {
    std::unique_ptr<Folder> home;
    std::unique_ptr<LeaseFiles> files;
    std::unique_ptr<LeaseDesk> desk;
    LeaseHolder holder;
  };

  LeaseTest() { begin_anew(1); }
  /// Another universe, and nothing of the last one.
  void begin_anew(std::uint64_t seed) {
    universe_ = std::make_unique<SimUniverse>(seed);
    ends_.clear();
    // Programs that act as long as they run.
    universe_->behaviours["works"] = [](SimSelf&) {};
    universe_->behaviours["stubborn"] = [](SimSelf& self) { self.ignore(Kill::terminate); };
    universe_->behaviours["short"] = [](SimSelf& self) {
      self.exit_after(std::chrono::seconds{1}, 7);
    };
  }

  Asker asker(const std::string& process) {
    Machine& machine = universe_->machine(process);
    Asker made;
    made.home = machine.folders.make(kLeaseHome).value();
    made.files = std::make_unique<LeaseFiles>(*made.home);
    made.desk = std::make_unique<LeaseDesk>(machine, *made.home, *made.files);
    made.holder = LeaseDesk::holder_of(machine.processes.self(), process);
    return made;
  }
  /// Until it is answered.
  LeaseAnswer acquire(Asker& who, LeaseRequest request) {
    std::optional<LeaseAnswer> answer;
    const auto asking = who.desk->acquire(request, [&](const LeaseAnswer& got) { answer = got; });
    EXPECT_TRUE(universe_->run_until([&] { return answer.has_value(); }, std::chrono::minutes{5}));
    return *answer;
  }
  LeaseAnswer acquire(Asker& who, Duration ttl = std::chrono::seconds{30}) {
    return acquire(who, {.name = "leader", .holder = who.holder, .ttl = ttl, .mirror = ""});
  }

  /// A `tend lease run`. How it ended is in `ends_`, by its name.
  std::int64_t run(const std::string& name, std::vector<std::string> command,
                   Duration ttl = std::chrono::seconds{30}, bool waits = true) {
    struct Program {
      std::unique_ptr<Folder> home;
      std::unique_ptr<LeaseFiles> files;
      std::unique_ptr<LeaseDesk> desk;
      std::unique_ptr<LeaseVoice> voice;
      std::unique_ptr<LeaseRunner> runner;
    };
    return universe_->start_program(name, [=, this](Machine& machine) {
      auto made = std::make_shared<Program>();
      made->home = machine.folders.make(kLeaseHome).value();
      made->files = std::make_unique<LeaseFiles>(*made->home);
      made->desk = std::make_unique<LeaseDesk>(machine, *made->home, *made->files);
      const auto say = [this, name](const std::string& text) { said_[name].push_back(text); };
      made->voice = std::make_unique<LeaseVoice>(machine, *made->home, "leader", channels_, say);
      LeaseRunner::Settings settings{
          .request = {.name = "leader",
                      .holder = LeaseDesk::holder_of(machine.processes.self(), name),
                      .ttl = ttl,
                      .mirror = ""},
          .waits = waits,
          .command = command,
          .environment = {},
          .working_folder = "/home/user",
          .say = say,
          .flaps =
              [this, voice = made->voice.get()](const LeaseRecord& record) {
                flaps_.push_back(record.fence);
                voice->flaps(record);
              },
          .calm =
              [this, voice = made->voice.get()] {
                ++calm_;
                voice->is_calm();
              },
          .queued = [this, name](bool is) { queued_[name] += is ? "waits " : "goes-on "; }};
      made->runner = std::make_unique<LeaseRunner>(
          *made->desk, std::move(settings), [this, name, &machine](const LeaseRunner::End& end) {
            ends_[name] = end;
            machine.loop.stop();
          });
      return made;
    });
  }
  [[nodiscard]] std::optional<LeaseRecord> record() {
    auto home = universe_->machine().folders.make(kLeaseHome).value();
    return LeaseFiles(*home).read("leader").value();
  }
  [[nodiscard]] std::string holder() {
    const auto now = record();
    return now && now->held ? now->holder.id : "nobody";
  }
  [[nodiscard]] std::size_t acting(const std::string& program = "works") {
    return universe_->pids(program).size();
  }
  [[nodiscard]] std::string fence_of(const std::string& program) {
    const auto facts = universe_->facts(universe_->pids(program).at(0));
    for (const std::string& each : facts->environment) {
      if (each.starts_with("TEND_FENCE=")) return each.substr(11);
    }
    return "none";
  }

  std::unique_ptr<SimUniverse> universe_;
  std::map<std::string, LeaseRunner::End> ends_;
  std::map<std::string, std::vector<std::string>> said_;
  std::vector<NotifyChannel> channels_;
  std::vector<std::uint64_t> flaps_;  // fences
  int calm_ = 0;
  std::map<std::string, std::string> queued_;  // by name, what was said of its turn
};

}  // namespace tend
