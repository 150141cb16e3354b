// The steady path allocates nothing: counted with a replaced operator new, over thousands of turns
// after the first ones have warmed the judge up.
// The thread sanitizer brings an operator new that cannot be replaced; there is no such test under
// it.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TEND_OPERATOR_NEW_IS_TAKEN
#endif
#endif

#ifndef TEND_OPERATOR_NEW_IS_TAKEN

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "judge/testing.h"

namespace {

std::size_t allocations = 0;

}  // namespace

// Not inlined: g++ would take malloc and free for a mismatched pair.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace tend {
namespace {

using namespace testing;

/// A turn with a call, probes, beats, a child and a question: everything a busy agent shows.
void live_through_a_turn(Judge& judge, Instant& now) {
  const Signal steps[] = {turn_start(),
                          progress(),
                          tool_open("toolu_01", "Bash", 600s),
                          running(),
                          beat(BeatBy::keeper),
                          child("c1", Verdict::working),
                          tool_close("toolu_01"),
                          ask("q"),
                          progress(),
                          turn_end(1),
                          child("c1", Verdict::finished)};
  for (const Signal& seen : steps) {
    now += 10s;
    judge.step({&seen, 1}, now);
  }
}

TEST(Judge, allocates_nothing_on_the_steady_path) {
  Judge judge(*built_in_policy("agent"));
  Instant now{};
  const Signal first = spawn();
  judge.step({&first, 1}, now);
  for (int turn = 0; turn < 10; ++turn) live_through_a_turn(judge, now);

  const std::size_t before = allocations;
  for (int turn = 0; turn < 1000; ++turn) live_through_a_turn(judge, now);
  EXPECT_EQ(allocations, before);
}

}  // namespace
}  // namespace tend

#endif  // TEND_OPERATOR_NEW_IS_TAKEN
