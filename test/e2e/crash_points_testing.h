// Killing a program at every call that changes something, once each. strace kills it on entry to
// the n-th call of a kind, before that call does anything. Opening a file is not in the list,
// because every file that is made is given its mode by the next call.
#pragma once

#include <csignal>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "e2e.h"

namespace tend::e2e {

// A question mark: not every architecture has it.
inline const std::string kChangingCalls =
    "write,pwrite64,sendto,fcntl,?rename,renameat,?renameat2,?mkdir,mkdirat,?unlink,unlinkat,"
    "?rmdir,linkat,?symlink,?mknod,mknodat,?chmod,fchmod,fchmodat,ftruncate,fallocate,utimensat,"
    "fsync,fdatasync,bind,?kill,pidfd_send_signal,clone3,exit_group";

struct Point {
  std::string call;
  int number = 0;
};

/// How often each call was made, as strace saw it.
inline std::map<std::string, int> count_calls(const Path& log) {
  std::map<std::string, int> counted;
  for (const std::string& line : lines_of(read_file(log))) {
    const auto end = line.find('(');
    if (end != std::string::npos && line.find(' ') > end) ++counted[line.substr(0, end)];
  }
  return counted;
}

inline std::vector<Point> points_between(std::map<std::string, int> before,
                                         const std::map<std::string, int>& after) {
  std::vector<Point> points;
  for (const auto& [call, count] : after) {
    for (int i = before[call] + 1; i <= count; ++i) points.push_back({call, i});
  }
  return points;
}

/// The words that run a command under strace: watched, or killed at a point.
inline Arguments watched_by_strace(const Path& log) {
  return {"strace", "-o", log.string(), "-e", "trace=" + kChangingCalls};
}
inline Arguments killed_by_strace(const Path& log, const Point& point) {
  return {"strace",
          "-o",
          log.string(),
          "-e",
          "trace=" + point.call,
          "-e",
          "inject=" + point.call + ":signal=KILL:when=" + std::to_string(point.number)};
}

class CrashPoints : public E2e {
 protected:
  void SetUp() override {
    E2e::SetUp();
    const auto tried = run({.arguments = {"strace", "-o", (scratch() / "try").string(), "-e",
                                          "inject=exit_group:signal=KILL", "true"}});
    if (tried.exit != -SIGKILL) GTEST_SKIP() << "strace cannot kill a program here: " << tried.err;
  }
  [[nodiscard]] Path log() const { return scratch() / "strace.log"; }

  /// `die` has something killed at a point and checks what becomes of that; true if it was reached.
  /// How often a program looks depends on how busy the machine is: the last calls of a kind are not
  /// made every time. Most points are reached on every machine.
  static void at_each(const std::vector<Point>& points,
                      const std::function<bool(const Point&)>& die) {
    constexpr int kTries = 4;
    std::size_t hit = 0;
    for (const Point& point : points) {
      SCOPED_TRACE(point.call + " " + std::to_string(point.number));
      bool reached = false;
      for (int i = 0; i < kTries && !reached; ++i) reached = die(point);
      if (reached) {
        ++hit;
      } else {
        std::cout << "not reached: " << point.call << " " << point.number << "\n";
      }
    }
    std::cout << "killed at " << hit << " of " << points.size() << " points\n";
    EXPECT_GT(points.size(), 5U);
    EXPECT_GE(hit * 5, points.size() * 4);
  }
};

}  // namespace tend::e2e
