// Texts of any bytes, and numbers that nobody should believe.
#include "store/json.h"

#include <gtest/gtest.h>

namespace tend {
namespace {

std::string written(std::string_view text) {
  std::string to;
  append_json_text(to, text);
  return to;
}

TEST(JsonText, escapes_what_json_wants_escaped) {
  EXPECT_EQ(written("a\"b\\c\n\t\x1b"), R"("a\"b\\c\n\t\u001b")");
  EXPECT_EQ(written(std::string_view("\0", 1)), R"("\u0000")");
  EXPECT_EQ(written("käse \xf0\x9f\xa7\x80"), "\"käse \xf0\x9f\xa7\x80\"");
}

TEST(JsonText, replaces_what_is_no_utf8) {
  const std::string mark = "\xef\xbf\xbd";
  EXPECT_EQ(written("a\xff"), "\"a" + mark + "\"");
  EXPECT_EQ(written("\xc3"), "\"" + mark + "\"") << "a character cut short";
  EXPECT_EQ(written("\xc0\x80"), "\"" + mark + mark + "\"") << "a longer form than needed";
  EXPECT_EQ(written("\xed\xa0\x80"), "\"" + mark + mark + mark + "\"") << "a surrogate";
  EXPECT_EQ(written("\xf4\x90\x80\x80"), "\"" + mark + mark + mark + mark + "\"") << "too large";
}

TEST(JsonText, tells_utf8_from_other_bytes) {
  EXPECT_TRUE(is_utf8("käse"));
  EXPECT_TRUE(is_utf8(""));
  EXPECT_FALSE(is_utf8("k\xe4se"));
}

TEST(JsonText, is_cut_between_characters) {
  EXPECT_EQ(cut_text("käse", 2), "k");
  EXPECT_EQ(cut_text("käse", 3), "kä");
  EXPECT_EQ(cut_text("käse", 99), "käse");
  EXPECT_EQ(cut_text("\x80\x80\x80", 2), "");
}

TEST(JsonObject, is_one_object_within_its_bound) {
  EXPECT_TRUE(parse_object("{\"a\":1}", 7));
  EXPECT_FALSE(parse_object("{\"a\":1}", 6));
  EXPECT_FALSE(parse_object("[1]", 99));
  EXPECT_FALSE(parse_object("{} {}", 99));
  EXPECT_FALSE(parse_object("", 99));
}

TEST(JsonObject, is_read_as_by_the_slower_parser) {
  using namespace std::string_literals;
  const std::string deep = std::string(100, '[') + std::string(100, ']');
  for (const std::string& text : {
           R"({"a":1,"b":-1,"c":0.25,"d":1e3,"e":true,"f":null,"g":"x","h":[1,[2]],"i":{"j":{}}})"s,
           R"({"a":1,"a":{"b":2},"a":[3]})"s,
           R"({"a":18446744073709551615,"b":-9223372036854775808,"c":9223372036854775808})"s,
           R"({"a":18446744073709551616})"s,
           R"({"a":1e999})"s,
           R"({"a":0.1,"b":1773002269.25,"c":1e-400,"d":123456789012345678901234567890.0})"s,
           R"({"a":"\u00e4\ud83e\uddc0\n\/\u0000"})"s,
           R"({"a":"\ud800"})"s,
           R"({"a":"\udc00"})"s,
           "{\"a\":\"k\xe4se\"}"s,
           "\xef\xbb\xbf{}"s,
           "{\"a\":1}\0\0\0"s,
           "{\"a\":1}   \n"s,
           "{\"a\":1} x"s,
           "{\"a\":\"\n\"}"s,
           "{\"a\":01}"s,
           "{\"a\":" + deep + "}",
           "{\"a\":1,}"s,
           "{"s,
           ""s,
           "[]"s,
           "null"s,
       }) {
    const ReadJson slow = ReadJson::parse(text, nullptr, false);
    const auto read = parse_object(text, text.size());
    EXPECT_EQ(read.has_value(), slow.is_object()) << text;
    if (!read) continue;
    EXPECT_EQ(*read, slow) << text;
    EXPECT_EQ(read->dump(), slow.dump()) << text;
    for (const auto& [key, value] : slow.items()) EXPECT_EQ(read->at(key).type(), value.type());
  }
}

TEST(JsonFields, count_as_missing_where_the_type_is_wrong) {
  const ReadJson object = *parse_object(
      R"({"text":5,"nul":"a\u0000b","number":"5","minus":-1,"real":1.5,"far":1e300,"flag":1})",
      999);
  EXPECT_EQ(shown_text(object, "text", 9), "");
  EXPECT_EQ(shown_text(object, "nul", 9), "");
  EXPECT_EQ(exact_text(object, "nul", 9), "");
  for (const char* key : {"number", "minus", "real", "far", "nothing"}) {
    EXPECT_EQ(whole_number(object, key, 99), 0U) << key;
  }
  EXPECT_EQ(calendar_field(object, "far"), 0);
  EXPECT_EQ(calendar_field(object, "minus"), 0);
  EXPECT_EQ(calendar_field(object, "real"), 1.5);
  EXPECT_FALSE(flag_field(object, "flag"));
}

TEST(JsonFields, cut_texts_for_people_and_refuse_long_ones_for_machines) {
  const ReadJson object = *parse_object(R"({"text":"a\u001bbcdefgh"})", 99);
  EXPECT_EQ(shown_text(object, "text", 99), "a\\x1bbcdefgh");
  EXPECT_EQ(shown_text(object, "text", 3), "a\\x");
  EXPECT_EQ(exact_text(object, "text", 3), "");
  EXPECT_EQ(exact_text(object, "text", 9),
            "a\x1b"
            "bcdefgh");
}

TEST(JsonFields, for_people_are_utf8_whatever_was_in_them) {
  const auto object = *parse_object(R"({"text":"a\u009bb"})", 99);
  EXPECT_EQ(shown_text(object, "text", 99), "a\\xc2?b");
  EXPECT_EQ(one_line("a\xff\nb", 99), "a?\\x0ab");
  EXPECT_EQ(one_line("k\xc3\xa4se", 99), "k\xc3\xa4se");
  EXPECT_EQ(one_line("k\xc3\xa4se", 2), "k");
}

TEST(CalendarSeconds, keep_the_milliseconds_and_nothing_below) {
  EXPECT_EQ(WriteJson(rounded_seconds(1773002269.2504)).dump(), "1773002269.25");
  EXPECT_EQ(rounded_seconds(-1), 0);
  EXPECT_EQ(rounded_seconds(std::numeric_limits<double>::quiet_NaN()), 0);
}

}  // namespace
}  // namespace tend
