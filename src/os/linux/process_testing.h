// For tests only: real processes with a loop, a folder that vanishes, and waiting that cannot hang.
#pragma once

#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "os/linux/linux_clock.h"
#include "os/linux/linux_loop.h"
#include "os/linux/linux_process.h"

namespace tend::testing {

/// A loop with its processes. What a test starts is in its folder and ends with the test.
class RealProcesses : public ::testing::Test {
 public:
  ~RealProcesses() override {
    for (const ProcessId& id : to_end_) {
      const auto process = processes_.open(id);
      [[maybe_unused]] const auto killed = process->signal(Kill::kill);
      run_until([&] { return process->look().state != RunState::running; });
    }
    if (folder_.empty()) return;
    if (DIR* all = ::opendir(folder_.c_str())) {
      while (const dirent* entry = ::readdir(all)) ::unlinkat(::dirfd(all), entry->d_name, 0);
      ::closedir(all);
    }
    ::rmdir(folder_.c_str());
  }
  RealProcesses(const RealProcesses&) = delete;
  RealProcesses& operator=(const RealProcesses&) = delete;

 protected:
  RealProcesses() {
    std::string name = ::testing::TempDir() + "tend_processes_XXXXXX";
    if (::mkdtemp(name.data()) != nullptr) folder_ = name;
  }

  /// Runs the loop until it is so; false after a generous while.
  bool run_until(const std::function<bool()>& is_so) {
    LinuxClock clock;
    const Instant end = clock.now() + std::chrono::seconds{20};
    Subscribed again;
    const std::function<void()> look = [&] {
      if (is_so() || clock.now() > end) return loop_.stop();
      again = loop_.at(clock.now() + std::chrono::milliseconds{2}, look);
    };
    again = loop_.post(look);
    loop_.run();
    return is_so();
  }

  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }

  static std::string contents(const std::string& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string write(const std::string& name, const std::string& text, mode_t mode = 0600) {
    std::ofstream(path(name)) << text;
    ::chmod(path(name).c_str(), mode);
    return path(name);
  }

  /// A shell that runs this in the folder, its output in the file "out" and its errors in "err".
  Launch shell(const std::string& script) {
    return {.command = {"sh", "-c", script},
            .environment = {"PATH=/usr/bin:/bin"},
            .working_folder = folder_,
            .output = path("out"),
            .error = path("err")};
  }

  /// Started and let run; ended with the test.
  std::unique_ptr<Process> started(const Launch& launch) {
    auto child = processes_.spawn(launch);
    if (!child) {
      ADD_FAILURE() << child.error().text;
      return nullptr;
    }
    auto process = (*child)->release();
    if (!process) {
      ADD_FAILURE() << process.error().text;
      return nullptr;
    }
    to_end_.push_back((*process)->id());
    return std::move(*process);
  }

  /// How it ended, waited for.
  ExitStatus end_of(Process& process) {
    EXPECT_TRUE(run_until([&] { return process.look().state == RunState::gone; }));
    return process.look().exit;
  }

  /// The first number that a program writes to a file, waited for.
  std::int64_t number_in(const std::string& file) {
    EXPECT_TRUE(run_until([&] { return contents(file).ends_with('\n'); })) << file;
    return std::atoll(contents(file).c_str());
  }

  /// Whoever has this pid now; ended with the test.
  ProcessId identified(std::int64_t pid) {
    const auto id = processes_.identify(pid);
    if (!id || !*id) {
      ADD_FAILURE() << "nobody has pid " << pid;
      return {};
    }
    to_end_.push_back(**id);
    return **id;
  }

  static constexpr ExitStatus code(int value) { return {ExitStatus::How::code, value}; }
  static constexpr ExitStatus killed_by(int signal) { return {ExitStatus::How::signal, signal}; }

  std::string folder_;
  LinuxLoop loop_;
  LinuxProcesses processes_{loop_};
  std::vector<ProcessId> to_end_;
};

}  // namespace tend::testing
