// Messages as programs send them, and as nobody should.
#include "sense/notify_message.h"

#include <gtest/gtest.h>

#include <string>

namespace tend {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;

/// "beat state:working+30 activity": what a message means at 100 s.
std::string meaning(std::string_view text) {
  SignalBatch batch;
  append_signals(parse_notify_message(text), Instant{100s}, batch);
  std::string all;
  for (const Signal& signal : batch.signals) {
    all += (all.empty() ? "" : " ") + std::string(word(signal.is));
    if (signal.is == Kind::state) {
      all += ":" + std::string(kSelfStateWords[static_cast<std::size_t>(signal.state)]);
    }
    if (signal.until) all += "+" + std::to_string((*signal.until - Instant{100s}) / 1s);
    EXPECT_TRUE(signal.is != Kind::beat || signal.by == BeatBy::agent);
    EXPECT_TRUE(signal.is != Kind::activity || signal.from == ActivityFrom::log);
  }
  return all;
}

TEST(NotifyMessage, reads_every_name) {
  const NotifyMessage message = parse_notify_message(
      "READY=1\nRELOADING=1\nSTOPPING=1\nWATCHDOG=1\nSTATUS=Half of it done\n"
      "EXTEND_TIMEOUT_USEC=1500000\nWATCHDOG_USEC=20000000\nMAINPID=4711\nERRNO=2\n");
  EXPECT_TRUE(message.ready && message.reloading && message.stopping && message.watchdog);
  EXPECT_FALSE(message.watchdog_trigger);
  EXPECT_EQ(message.status, "Half of it done");
  EXPECT_EQ(message.extend, 1500ms);
  EXPECT_EQ(message.watchdog_every, 20s);
  EXPECT_EQ(message.main_pid, 4711);
  EXPECT_EQ(message.error_number, 2);
}

TEST(NotifyMessage, passes_over_what_it_does_not_know) {
  const NotifyMessage message = parse_notify_message(
      "\n=\nX_READY=1\nready=1\nREADY\nREADY=yes\nREADY=11\nREADY =1\nSTOPPING=0\nWATCHDOG=2\n"
      "BARRIER=1\nFDSTORE=1\nWATCHDOG=");
  EXPECT_FALSE(message.ready || message.stopping || message.watchdog || message.watchdog_trigger);
  EXPECT_EQ(meaning("BARRIER=1"), "");
  EXPECT_EQ(meaning(""), "");
}

TEST(NotifyMessage, passes_over_malformed_numbers) {
  for (const std::string value :
       {"", " 1", "1 ", "-1", "+1", "0x10", "1e3", "1.5", "99999999999999999999999"}) {
    const NotifyMessage message =
        parse_notify_message("EXTEND_TIMEOUT_USEC=" + value + "\nWATCHDOG_USEC=" + value +
                             "\nMAINPID=" + value + "\nERRNO=" + value);
    EXPECT_FALSE(message.extend || message.watchdog_every || message.main_pid ||
                 message.error_number)
        << value;
  }
  EXPECT_FALSE(parse_notify_message("MAINPID=0").main_pid);
  EXPECT_FALSE(parse_notify_message("MAINPID=4294967297").main_pid);
}

TEST(NotifyMessage, bounds_times_and_loses_none) {
  EXPECT_EQ(parse_notify_message("EXTEND_TIMEOUT_USEC=1").extend, 1ms);
  EXPECT_EQ(parse_notify_message("EXTEND_TIMEOUT_USEC=18446744073709551615").extend, kLongestTime);
  EXPECT_EQ(parse_notify_message("WATCHDOG_USEC=0").watchdog_every, 0ms);
}

TEST(NotifyMessage, makes_a_status_fit_to_be_shown) {
  EXPECT_EQ(parse_notify_message("STATUS=").status, "");
  EXPECT_EQ(parse_notify_message("STATUS=a\tb\x1b[31m\x7f\xc2\x9b"
                                 "c=d\0e"s)
                .status,
            "ab[31mc=de");
  EXPECT_EQ(parse_notify_message("STATUS=gr\xc3\xbc\xc3\x9f").status, "gr\xc3\xbc\xc3\x9f");
  EXPECT_EQ(parse_notify_message("STATUS=one\nSTATUS=two").status, "two");
}

TEST(NotifyMessage, cuts_a_long_status_between_characters) {
  const std::string long_text(199, 'x');
  EXPECT_EQ(parse_notify_message("STATUS=" + long_text + "\xc3\xbcyz").status, long_text);
  EXPECT_EQ(parse_notify_message("STATUS=" + long_text + "yz").status, long_text + "y");
}

TEST(NotifyMessage, has_no_status_that_is_not_UTF8) {
  for (const std::string text :
       {"\xff", "a\x80", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80", "\xf0\x80\x80\x80", "\xe2\x82"}) {
    EXPECT_FALSE(parse_notify_message("STATUS=" + text).status) << text;
  }
  EXPECT_TRUE(parse_notify_message("STATUS=\xf0\x9f\x99\x82").status);
}

TEST(NotifyMessage, means_beats_reports_and_weak_signs) {
  EXPECT_EQ(meaning("READY=1"), "state:working");
  EXPECT_EQ(meaning("WATCHDOG=1"), "beat");
  EXPECT_EQ(meaning("WATCHDOG=trigger"), "state:stuck");
  EXPECT_EQ(meaning("STOPPING=1"), "state:exiting");
  EXPECT_EQ(meaning("EXTEND_TIMEOUT_USEC=30000000"), "state:working+30");
  EXPECT_EQ(meaning("STATUS=at it"), "activity");
  EXPECT_EQ(meaning("RELOADING=1\nMAINPID=5\nERRNO=3\nWATCHDOG_USEC=1"), "");
}

TEST(NotifyMessage, makes_one_report_of_several) {
  EXPECT_EQ(meaning("READY=1\nSTATUS=up\nWATCHDOG=1"), "beat state:working activity");
  EXPECT_EQ(meaning("READY=1\nSTOPPING=1\nEXTEND_TIMEOUT_USEC=5000000"), "state:exiting+5");
  EXPECT_EQ(meaning("STOPPING=1\nWATCHDOG=trigger"), "state:stuck");
}

}  // namespace
}  // namespace tend
