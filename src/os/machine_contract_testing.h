// Both machines, for tests of the contracts of os/: what holds on the real one has to hold on the
// simulated one.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "os/linux/linux_machine.h"
#include "os/linux/temporary_folder.h"
#include "os/machine.h"
#include "os/sim/sim_universe.h"

namespace tend {

class OnLinux {
 public:
  [[nodiscard]] Machine& machine() { return machine_.machine(); }
  [[nodiscard]] std::string home() const { return folder_ / "home"; }
  void make_link(const std::string& path, const std::string& to) {
    ASSERT_EQ(::symlink(to.c_str(), path.c_str()), 0);
  }
  void make_shared(const std::string& path) { ASSERT_EQ(::chmod(path.c_str(), 0777), 0); }

  // Programs that both machines have.
  [[nodiscard]] static std::vector<std::string> sleeps() { return {"sleep", "1000"}; }
  [[nodiscard]] static std::vector<std::string> prints_and_exits() {
    return {"sh", "-c", "echo printed; echo complained >&2; exit 3"};
  }
  /// Goes on at SIGTERM, and prints "ready" when it does.
  [[nodiscard]] static std::vector<std::string> ignores_terminate() {
    return {"sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.05; done"};
  }
  /// Leaves a child behind, with the same environment, and exits.
  [[nodiscard]] static std::vector<std::string> leaves_an_orphan() {
    return {"sh", "-c", "sleep 1000 & exit 0"};
  }

 private:
  TemporaryFolder folder_;
  LinuxMachine machine_;
};

class OnSim {
 public:
  OnSim() {
    universe_.behaviours["sleeps"] = [](SimSelf&) {};
    universe_.behaviours["prints"] = [](SimSelf& self) {
      self.print("printed\n");
      self.complain("complained\n");
      self.exit(3);
    };
    universe_.behaviours["stubborn"] = [](SimSelf& self) {
      self.ignore(Kill::terminate);
      self.print("ready\n");
    };
    universe_.behaviours["leaves"] = [](SimSelf& self) {
      self.spawn({.command = {"sleeps"}, .environment = {}});
      self.exit(0);
    };
  }

  [[nodiscard]] Machine& machine() { return universe_.machine(); }
  [[nodiscard]] static std::string home() { return "/home/user/contract"; }
  void make_link(const std::string& path, const std::string& to) {
    universe_.disk.make_link(path, to);
  }
  void make_shared(const std::string& path) { universe_.disk.make_shared(path); }

  [[nodiscard]] static std::vector<std::string> sleeps() { return {"sleeps"}; }
  [[nodiscard]] static std::vector<std::string> prints_and_exits() { return {"prints"}; }
  [[nodiscard]] static std::vector<std::string> ignores_terminate() { return {"stubborn"}; }
  [[nodiscard]] static std::vector<std::string> leaves_an_orphan() { return {"leaves"}; }

 private:
  SimUniverse universe_;
};

template <class Which>
class Contract : public testing::Test {
 protected:
  Contract() : machine_(which_.machine()), home_(open_home()) {}
  ~Contract() override {
    for (const Seen& seen : marked()) end(*machine_.processes.open(seen.id));
  }

  std::unique_ptr<Folder> open_home() {
    auto made = machine_.folders.make(which_.home());
    EXPECT_TRUE(made) << made.error().text;
    return std::move(made.value());
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return home_->path() + "/" + name;
  }

  /// Runs the loop until it is so; false after a deadline that only a bug can reach.
  bool run_until(const std::function<bool()>& is_so) {
    const Instant end = machine_.clock.now() + std::chrono::seconds{30};
    Subscribed again;
    const std::function<void()> look = [&] {
      if (is_so() || machine_.clock.now() > end) return machine_.loop.stop();
      again = machine_.loop.at(machine_.clock.now() + std::chrono::milliseconds{2}, look);
    };
    again = machine_.loop.at(machine_.clock.now(), look);
    machine_.loop.run();
    return is_so();
  }

  Launch launch_of(std::vector<std::string> command) {
    Launch launch;
    launch.command = std::move(command);
    launch.environment = {"PATH=/usr/bin:/bin", "TEND_CONTRACT_MARK=" + home_->path()};
    launch.working_folder = home_->path();
    launch.output = path("out");
    launch.error = path("err");
    return launch;
  }
  std::unique_ptr<Process> start(std::vector<std::string> command) {
    auto child = machine_.processes.spawn(launch_of(std::move(command)));
    if (!child) throw std::runtime_error(child.error().text);
    auto process = (*child)->release();
    if (!process) throw std::runtime_error(process.error().text);
    return std::move(*process);
  }
  void end(Process& process) {
    static_cast<void>(process.signal(Kill::kill));
    EXPECT_TRUE(run_until([&] { return process.look().state == RunState::gone; }));
  }
  /// The living that carry the mark of this test.
  std::vector<Seen> marked() {
    auto all = machine_.processes.all("TEND_CONTRACT_MARK").value();
    std::erase_if(all, [&](const Seen& one) { return one.zombie || one.mark != home_->path(); });
    return all;
  }
  std::string text(const std::string& name) { return home_->read(name, 4096).value().value_or(""); }

  Which which_;
  Machine& machine_;
  std::unique_ptr<Folder> home_;
};

using Machines = testing::Types<OnSim, OnLinux>;
struct MachineNames {
  template <class Which>
  static std::string GetName(int /*index*/) {
    return std::is_same_v<Which, OnSim> ? "Sim" : "Linux";
  }
};

}  // namespace tend
