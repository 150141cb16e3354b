// Our own standard input, and who is above us.
#include "os/linux/linux_caller.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>

#include "os/linux/fd.h"
#include "os/linux/linux_proc_files.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

/// A pipe in the place of standard input.
class PipedInput {
 public:
  PipedInput() : kept_(::dup(STDIN_FILENO)) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    EXPECT_EQ(::dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    ::close(ends[0]);
    into = Fd(ends[1]);
  }
  ~PipedInput() { ::dup2(kept_.get(), STDIN_FILENO); }
  PipedInput(const PipedInput&) = delete;
  PipedInput& operator=(const PipedInput&) = delete;

  void write(std::string_view text) const {
    EXPECT_EQ(::write(into.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

  Fd into;

 private:
  Fd kept_;
};

TEST(LinuxCaller, reads_standard_input_to_its_end) {
  PipedInput input;
  input.write("one, ");
  input.write("two");
  input.into.reset();
  EXPECT_EQ(LinuxCaller().input(100, 10s).value(), "one, two");
}

TEST(LinuxCaller, waits_no_longer_than_it_is_told) {
  const PipedInput input;
  input.write("never closed");
  EXPECT_EQ(LinuxCaller().input(100, 20ms).value(), "never closed");
}

TEST(LinuxCaller, throws_away_what_is_too_much) {
  PipedInput input;
  input.write(std::string(50'000, 'x'));
  input.into.reset();
  EXPECT_FALSE(LinuxCaller().input(49'999, 10s));
  std::array<char, 1> left{};
  EXPECT_EQ(::read(STDIN_FILENO, left.data(), 1), 0) << "whoever writes is not left with it";
}

TEST(LinuxCaller, knows_who_is_above_it) {
  const auto above = LinuxCaller().ancestors(64);
  ASSERT_FALSE(above.empty());
  EXPECT_EQ(above[0].pid, ::getppid());
  EXPECT_EQ(above[0].start_ticks, read_stat(::getppid()).value()->start_ticks);
  EXPECT_FALSE(above[0].name.empty());
  EXPECT_EQ(LinuxCaller().ancestors(1).size(), 1U);
}

TEST(LinuxCaller, knows_the_user_without_an_environment) {
  const passwd* const user = ::getpwuid(::geteuid());
  EXPECT_EQ(LinuxCaller().user(),
            user != nullptr ? user->pw_name : "uid " + std::to_string(::geteuid()));
}

TEST(LinuxCaller, knows_a_user_without_a_name_by_its_number) {
  constexpr uid_t kNobodyHas = 4'123'456'789;
  if (::geteuid() != 0 || ::getpwuid(kNobodyHas) != nullptr) GTEST_SKIP() << "needs root";
  ASSERT_EQ(::seteuid(kNobodyHas), 0);
  const std::string user = LinuxCaller().user();
  ASSERT_EQ(::seteuid(0), 0);
  EXPECT_EQ(user, "uid 4123456789");
}

}  // namespace
}  // namespace tend
