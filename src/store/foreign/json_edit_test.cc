// One value changes; every other byte stays.
#include "store/foreign/json_edit.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>

#include "store/foreign/json_scan.h"

namespace tend {
namespace {

JsonPath path_of(std::string_view text) {
  const auto path = parse_json_path(text);
  EXPECT_TRUE(path.has_value()) << text;
  return path.value_or(JsonPath{});
}

std::string edited(std::string_view text, std::string_view path, std::string_view value) {
  const auto result = edit_json(text, path_of(path), value);
  return result ? *result : "refused: " + result.error().text;
}

TEST(JsonEdit, changes_a_value_and_nothing_else) {
  const std::string before =
      "{\r\n\t\"timestamp\" : \"2026-01-04T20:19:13Z\",\r\n"
      "\t\"cycle\": 1.50e2, \"theirs\": [ 1,2 ,{} ],\"caf\\u00e9\":\"\xc3\xa9\" }\r\n\r\n";
  const std::string after =
      "{\r\n\t\"timestamp\" : \"2026-01-04T20:20:13Z\",\r\n"
      "\t\"cycle\": 1.50e2, \"theirs\": [ 1,2 ,{} ],\"caf\\u00e9\":\"\xc3\xa9\" }\r\n\r\n";
  EXPECT_EQ(edited(before, "timestamp", "\"2026-01-04T20:20:13Z\""), after);
}

TEST(JsonEdit, finds_the_entry_by_its_fields) {
  const std::string before =
      R"({"agents":[{"id":"a","role":"orchestrator","pid":1,"beat":1},)"
      R"({"id":"b","role":"orchestrator","pid":2,"beat":1},7],"lock_version":3})";
  EXPECT_EQ(edited(before, "agents[role=orchestrator,pid=2].beat", "9"),
            R"({"agents":[{"id":"a","role":"orchestrator","pid":1,"beat":1},)"
            R"({"id":"b","role":"orchestrator","pid":2,"beat":9},7],"lock_version":3})");
  EXPECT_EQ(edited(before, "agents[role=orchestrator].beat", "9"),
            "refused: more than one entry is 'agents[role=orchestrator].beat'");
  EXPECT_EQ(edited(before, "agents[role=worker].beat", "9"),
            "refused: no entry is 'agents[role=worker].beat'");
  EXPECT_EQ(edited("[{\"a\":true,\"b\":1}]", "[a=true].b", "2"), "[{\"a\":true,\"b\":2}]");
}

TEST(JsonEdit, adds_a_missing_field_in_the_style_of_its_siblings) {
  EXPECT_EQ(edited("{}", "a", "1"), "{\"a\":1}");
  EXPECT_EQ(edited("{\"b\":2}\n", "a", "1"), "{\"b\":2,\"a\":1}\n");
  EXPECT_EQ(edited("{ \"b\": 2 }", "a", "1"), "{ \"b\": 2, \"a\": 1 }");
  EXPECT_EQ(edited("{\n  \"b\": 2\n}\n", "a", "1"), "{\n  \"b\": 2,\n  \"a\": 1\n}\n");
  EXPECT_EQ(edited("{\r\n\t\"c\":3,\r\n\t\"b\":2\r\n}", "a", "1"),
            "{\r\n\t\"c\":3,\r\n\t\"b\":2,\r\n\t\"a\":1\r\n}");
  EXPECT_EQ(edited("{\"c\": 3, \"b\": 2}", "a", "1"), "{\"c\": 3, \"b\": 2, \"a\": 1}");
  EXPECT_EQ(edited("{\"in\":{\"b\":2}}", "in.a\\.\\[b", "1"), "{\"in\":{\"b\":2,\"a.[b\":1}}");
  EXPECT_EQ(edited("{\"b\":2}", "in.a", "1"), "refused: there is no 'in' on the way to 'in.a'");
}

TEST(JsonEdit, refuses_a_key_that_is_there_twice) {
  EXPECT_EQ(edited("{\"a\":1,\n\"\\u0061\":2}", "a", "3"),
            "refused: the key 'a' is there twice, again at line 2, column 1");
  EXPECT_EQ(edited("{\"x\":1,\"x\":2,\"a\":1}", "a", "3"), "{\"x\":1,\"x\":2,\"a\":3}")
      << "elsewhere it is theirs";
}

TEST(JsonEdit, names_the_place_where_a_text_is_malformed) {
  const auto refusal = [](std::string_view text) { return edited(text, "a", "1"); };
  EXPECT_EQ(refusal("{\"a\":1,\n  b:2}"), "refused: no JSON: no key at line 2, column 3");
  EXPECT_EQ(refusal("{\"a\":1"), "refused: no JSON: the text ends at line 1, column 7");
  EXPECT_EQ(refusal(""), "refused: no JSON: the text ends at line 1, column 1");
  EXPECT_EQ(refusal("{\"a\":01}"), "refused: no JSON: neither ',' nor '}' at line 1, column 7");
  EXPECT_EQ(refusal("{\"a\":\"\\ud800\"}"), "refused: no JSON: a wrong escape at line 1, column 6");
  EXPECT_EQ(refusal("{\"a\":1}}"), "refused: no JSON: more than one value at line 1, column 8");
  EXPECT_EQ(refusal("{\"a\":\"\xff\"}"), "refused: no UTF-8 at line 1, column 7");
  EXPECT_EQ(refusal("{\"a\":1e999}"),
            "refused: no JSON: a number out of range at line 1, column 6");
  EXPECT_EQ(refusal("[1]"), "refused: no object at line 1, column 1, so no 'a'");
  EXPECT_EQ(edited("{\"a\":1}", "a", "{"),
            "refused: the new value is no JSON: the text ends at line 1, column 2");
}

TEST(JsonEdit, is_bounded_in_depth_and_size) {
  const auto nested = [](std::size_t depth) {
    return "{\"a\":" + std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  EXPECT_TRUE(edit_json(nested(64), path_of("a"), "1"));
  EXPECT_FALSE(edit_json(nested(65), path_of("a"), "1"));
  EXPECT_FALSE(edit_json(nested(100'000), path_of("a"), "1"));
  EXPECT_FALSE(edit_json("{}" + std::string(kLargestEdited, ' '), path_of("a"), "1"));
}

TEST(JsonEdit, knows_a_path_from_what_is_none) {
  for (const char* text :
       {"", ".a", "a.", "a..b", "a[", "a[b", "a[b]", "a[=c]", "a[b=c", "a[b=c]d"}) {
    EXPECT_FALSE(parse_json_path(text)) << text;
  }
  for (const char* text :
       {"a", "a.b", "a[b=c].d", "a[b=,c=x y].d", "[b=c].d", "a\\.b.c", "a[b=1][c=2]"}) {
    EXPECT_EQ(format_json_path(path_of(text)), text);
  }
}

/// Documents of all shapes, ways of writing them, and a place in each.
class Documents {
 public:
  explicit Documents(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t bound) { return random_() % bound; }
  WriteJson value(std::size_t depth) {
    switch (below(depth == 0 ? 5 : 7)) {
      case 0:
        return below(1'000'000);
      case 1:
        return static_cast<double>(below(1000)) / 8;
      case 2:
        return below(2) == 0;
      case 3:
        return nullptr;
      case 4:
        return texts_[below(texts_.size())];
      case 5:
        return object(depth - 1);
      default: {
        WriteJson array = WriteJson::array();
        for (std::size_t n = below(4); n > 0; --n) array.push_back(value(depth - 1));
        return array;
      }
    }
  }
  WriteJson object(std::size_t depth) {
    WriteJson object = WriteJson::object();
    for (std::size_t n = below(5); n > 0; --n) object[texts_[below(texts_.size())]] = value(depth);
    return object;
  }
  std::string written(const WriteJson& json) {
    static constexpr int kIndents[] = {-1, 0, 2, 4};
    std::string text = json.dump(kIndents[below(4)], below(2) == 0 ? ' ' : '\t', below(2) == 0);
    if (below(2) == 0) {
      for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) {
        text.insert(at, 1, '\r');
      }
    }
    return text + std::string(below(3), '\n');
  }
  /// A way down to some member, which the last object may lack.
  JsonPath way(const WriteJson& root) {
    JsonPath path;
    const WriteJson* at = &root;
    while (true) {
      JsonPath::Step step;
      const bool is_array = at->is_array();
      if (is_array) {
        step.entry = below(at->size());
      } else {
        step.key = texts_[below(texts_.size())];
        if (!at->empty() && below(4) != 0) step.key = std::next(at->begin(), index(*at)).key();
      }
      path.steps.push_back(step);
      if (!is_array && !at->contains(step.key)) return path;
      at = is_array ? &(*at)[*step.entry] : &(*at)[step.key];
      if (!(at->is_object() || (at->is_array() && !at->empty())) || below(3) == 0) return path;
    }
  }

 private:
  std::ptrdiff_t index(const WriteJson& json) {
    return static_cast<std::ptrdiff_t>(below(json.size()));
  }

  std::mt19937_64 random_;
  std::vector<std::string> texts_{"a", "b", "state", "", "é", "a\"b\\", "\n\t", "x.y[z]", "𝄞", "/"};
};

void set(WriteJson& json, const JsonPath& path, const WriteJson& value) {
  WriteJson* at = &json;
  for (const JsonPath::Step& step : path.steps) {
    at = step.entry ? &(*at)[*step.entry] : &(*at)[step.key];
  }
  *at = value;
}

TEST(JsonEdit, is_what_the_library_would_have_made_of_it_for_any_document) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    Documents documents(seed);
    const WriteJson before = documents.object(4);
    const std::string text = documents.written(before);
    const JsonPath path = documents.way(before);
    const WriteJson value = documents.value(2);
    const auto result = edit_json(text, path, documents.written(value));
    ASSERT_TRUE(result.has_value()) << seed << ": " << text << result.error().text;
    WriteJson wanted = before;
    set(wanted, path, value);
    ASSERT_EQ(WriteJson::parse(*result).dump(), wanted.dump()) << seed << ": " << text;
    const ReadJson read = ReadJson::parse(*result);
    const ReadJson* const found = find_path(read, path);
    ASSERT_NE(found, nullptr) << seed;
    ASSERT_EQ(*found, ReadJson(value)) << seed;
  }
}

TEST(JsonEdit, of_a_value_by_itself_changes_no_byte) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    Documents documents(seed);
    const WriteJson before = documents.object(4);
    const std::string text = documents.written(before);
    const JsonPath path = documents.way(before);
    const ReadJson read = ReadJson::parse(text);
    const ReadJson* const found = find_path(read, path);
    if (found == nullptr || !found->is_primitive() || found->is_string()) continue;
    ASSERT_EQ(edit_json(text, path, found->dump()).value_or("refused"), text) << seed;
  }
}

TEST(JsonEdit, refuses_every_text_that_is_cut) {
  Documents documents(1);
  for (int i = 0; i < 50; ++i) {
    const std::string text = documents.object(3).dump(2);
    for (std::size_t size = 0; size < text.size(); ++size) {
      ASSERT_FALSE(scan_json(text.substr(0, size))) << text.substr(0, size);
    }
  }
}

}  // namespace
}  // namespace tend
