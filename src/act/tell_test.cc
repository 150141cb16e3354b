// What a person is told.
#include "act/tell.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tend {
namespace {

Incident incident_of(const std::string& agent) {
  return {.agent = agent,
          .session = "20260308-203749-x7",
          .life = 2,
          .verdict = "looping",
          .phase = "model",
          .because = {"silent for 720 s of 720 s"},
          .action = "escalate",
          .why = "it ended the same way 3 times",
          .folder = "/home/x/sessions/20260308-203749-x7",
          .at = 1773002269.25,
          .what_to_do = "tend explain coder"};
}

TEST(FormatIncident, makes_one_json_object_on_a_line) {
  EXPECT_EQ(format_incident(incident_of("coder")),
            R"({"agent":"coder","session":"20260308-203749-x7","life":2,"verdict":"looping",)"
            R"("phase":"model","because":["silent for 720 s of 720 s"],)"
            R"("action":"escalate","why":"it ended the same way 3 times",)"
            R"("folder":"/home/x/sessions/20260308-203749-x7","at":1773002269.25,)"
            R"("what_to_do":"tend explain coder"})"
            "\n");
}

TEST(FormatIncident, writes_json_whatever_the_bytes_are) {
  const auto json = nlohmann::json::parse(format_incident(incident_of("a\xff\"b")), nullptr, false);
  ASSERT_TRUE(json.is_object());
  EXPECT_EQ(json["agent"], "a\xef\xbf\xbd\"b");
}

}  // namespace
}  // namespace tend
