// Times as the programs beside us write them, and what is none.
#include "base/calendar.h"

#include <gtest/gtest.h>

namespace tend {
namespace {

using namespace std::chrono_literals;

/// Milliseconds since 1970; -1 for none.
std::int64_t milliseconds(std::string_view text) {
  const auto at = parse_calendar(text);
  return at ? std::chrono::duration_cast<std::chrono::milliseconds>(at->time_since_epoch()).count()
            : -1;
}

TEST(Calendar, reads_rfc_3339_with_and_without_decimals) {
  EXPECT_EQ(milliseconds("2026-01-03T12:15:00Z"), 1767442500000);
  EXPECT_EQ(milliseconds("2026-01-03T12:15:00.250Z"), 1767442500250);
  EXPECT_EQ(milliseconds("2026-01-03T12:15:00.250999999Z"), 1767442500250);
  EXPECT_EQ(milliseconds("2026-01-03 12:15:00Z"), 1767442500000);
  EXPECT_EQ(milliseconds("1970-01-01T00:00:00.000Z"), 0);
}

TEST(Calendar, takes_an_offset_off) {
  EXPECT_EQ(milliseconds("2026-01-03T14:15:00+02:00"), 1767442500000);
  EXPECT_EQ(milliseconds("2026-01-03T06:45:00.5-05:30"), 1767442500500);
}

TEST(Calendar, reads_a_date_alone_as_its_midnight) {
  EXPECT_EQ(milliseconds("2026-01-03"), 1767398400000);
  EXPECT_EQ(milliseconds("2028-02-29"), 1835395200000);
}

TEST(Calendar, refuses_what_no_calendar_has) {
  for (const char* text : {"", "today", "2026-13-01", "2026-02-30", "2026-1-3", "2026-01-03T",
                           "2026-01-03T12:15Z", "2026-01-03T24:00:00Z", "2026-01-03T12:60:00Z",
                           "2026-01-03T12:15:00", "2026-01-03T12:15:00.Z", "2026-01-03T12:15:00+2",
                           "2026-01-03T12:15:00Zx", "0001-01-01", "9999-12-31T23:59:59Z"}) {
    EXPECT_FALSE(parse_calendar(text)) << text;
  }
}

}  // namespace
}  // namespace tend
