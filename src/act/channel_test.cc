// What is run to send a notice, and the words for what came of it.
#include "act/channel.h"

#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tend {
namespace {

constexpr const char* kPayload =
    R"({"agent":"coder","verdict":"looping","why":"it ended the same way 3 times",)"
    R"("what_to_do":"see `tend explain coder`"})";

Outgoing notice_of(std::string payload = kPayload, std::string_view kind = "open") {
  return {.payload = std::move(payload), .incident = 7, .kind = kind};
}

const Way kCommand = ByCommand{{"notify-me", "-v"}};
const Way kWebhook = ByWebhook{"https://example.org/T0/secret"};

Ran exited(int code, std::string error = "", std::string output = "") {
  return {.exit = {ExitStatus::How::code, code},
          .output = std::move(output),
          .error = std::move(error)};
}

/// What curl makes of its configuration: the value of every line of that key, put together.
std::string curl_value(const std::string& config, const std::string& key) {
  std::string value;
  std::istringstream lines(config);
  for (std::string line; std::getline(lines, line);) {
    const std::string begin = key + " = \"";
    if (!line.starts_with(begin)) continue;
    EXPECT_LT(line.size(), 100'000U) << "curl reads no longer line";
    EXPECT_EQ(line.back(), '"');
    std::string piece;
    for (std::size_t i = begin.size(); i + 1 < line.size(); ++i) {
      if (line[i] != '\\') {
        piece += line[i];
        continue;
      }
      const char next = line[++i];
      piece += next == 'n' ? '\n' : next == 'r' ? '\r' : next == 't' ? '\t' : next;
    }
    EXPECT_NE(piece.front(), '@') << "curl would read a file";
    value += piece;
  }
  return value;
}

// --- The notice ---------------------------------------------------------------------------------

TEST(Channel, says_which_incident_it_is_and_whether_that_begins_or_ends) {
  EXPECT_EQ(addressed(notice_of(R"({"agent":"coder"})", "update")),
            "{\"agent\":\"coder\",\"incident\":7,\"kind\":\"update\"}\n");
  EXPECT_EQ(addressed(notice_of("[1]")), "{\"why\":\"[1]\",\"incident\":7,\"kind\":\"open\"}\n");
}

TEST(Channel, has_words_for_people) {
  EXPECT_EQ(title_of(notice_of()), "coder: looping");
  EXPECT_EQ(title_of(notice_of(kPayload, "close")), "over: coder: looping");
  EXPECT_EQ(body_of(notice_of()), "it ended the same way 3 times\nsee `tend explain coder`");
  EXPECT_EQ(title_of(notice_of(R"({"title":"3 tasks are silent","agent":"patrol"})")),
            "3 tasks are silent");
  EXPECT_EQ(title_of(notice_of("{}")), "tend");
  EXPECT_EQ(body_of(notice_of("{}")), "");
  EXPECT_EQ(title_of(notice_of(R"({"agent":"a\nb\u001b[1m"})")), "a\\x0ab\\x1b[1m");
}

TEST(Channel, cuts_long_words_between_letters) {
  std::string long_words = "x";
  for (int i = 0; i < 3'000; ++i) long_words += "\xc3\xbc";
  const std::string body = body_of(notice_of(nlohmann::json{{"why", long_words}}.dump()));
  EXPECT_LE(body.size(), 3'003U);
  EXPECT_TRUE(body.ends_with("\xc3\xbc..."));
}

// --- What is run --------------------------------------------------------------------------------

TEST(Channel, gives_a_command_the_notice_as_json_without_a_shell) {
  const auto run = sending(kCommand, notice_of());
  EXPECT_EQ(run.command, (std::vector<std::string>{"notify-me", "-v"}));
  EXPECT_EQ(run.input, addressed(notice_of()));
  EXPECT_TRUE(run.environment.empty());
  EXPECT_EQ(run.deadline, kSendDeadline);
}

TEST(Channel, keeps_the_address_of_a_webhook_off_the_command_line) {
  const auto run = sending(kWebhook, notice_of());
  EXPECT_EQ(run.command, (std::vector<std::string>{"curl", "-q", "-K", "-"}));
  EXPECT_EQ(curl_value(run.input, "url"), "https://example.org/T0/secret");
  EXPECT_EQ(curl_value(run.input, "json"), addressed(notice_of()));
  EXPECT_EQ(curl_value(run.input, "proto"), "=http,https");
  for (const char* const line :
       {"\nmax-redirs = 0\n", "\nmax-time = 20\n", "\nfail\n", "\ngloboff\n"}) {
    EXPECT_TRUE(run.input.contains(line)) << line;
  }
}

TEST(Channel, posts_every_byte_of_a_large_notice) {
  std::string text(19'980, 'a');
  for (int i = 0; i < 60'000; ++i) text += "@\"\\\n";
  const Outgoing notice = notice_of(nlohmann::json{{"why", text}}.dump());
  EXPECT_EQ(curl_value(sending(kWebhook, notice).input, "json"), addressed(notice));
}

TEST(Channel, speaks_to_slack_in_its_own_shape_and_without_its_markup) {
  const Way slack = ByWebhook{"https://example.org/x", true};
  const auto run = sending(slack, notice_of(R"({"agent":"a<!channel>","why":"1 & 2"})"));
  EXPECT_EQ(curl_value(run.input, "json"), "{\"text\":\"a&lt;!channel&gt;\\n1 &amp; 2\"}\n");
}

TEST(Channel, shows_it_on_the_desktop_without_markup_and_escapes) {
  const auto run =
      sending(ByDesktop{}, notice_of(R"({"agent":"--a","why":"<b>1 & 2</b> \\n","life":1})"));
  EXPECT_EQ(run.command,
            (std::vector<std::string>{"notify-send", "--app-name=tend", "--urgency=critical", "--",
                                      "--a", R"(&lt;b&gt;1 &amp; 2&lt;/b&gt; \\n)"}));
  EXPECT_EQ(sending(ByDesktop{}, notice_of(kPayload, "close")).command.at(2), "--urgency=normal");
}

constexpr const char* kGatePayload =
    R"({"gate":"auto-reply","language":"en","texts":{"en":"It is down.","zh":"\u5f02\u5e38"}})";

Outgoing reply_of(std::string payload = kGatePayload) {
  return {.payload = std::move(payload), .incident = 7, .kind = "open", .key = "tend-7-open-7"};
}

TEST(Channel, answers_a_sender_by_its_command_without_a_shell) {
  const Way way = ByReply{{"c4-send", "{channel}", "--to={endpoint}", "{text}", "{key}", "{other}"},
                          "telegram",
                          "-100; rm -rf /",
                          "en"};
  const auto run = sending(way, reply_of());
  EXPECT_EQ(run.command, (std::vector<std::string>{"c4-send", "telegram", "--to=-100; rm -rf /",
                                                   "It is down.", "tend-7-open-7", "{other}"}));
  EXPECT_EQ(run.input, "");
  EXPECT_EQ(run.environment, (std::vector<std::string>{
                                 "TEND_CHANNEL=telegram", "TEND_ENDPOINT=-100; rm -rf /",
                                 "TEND_GATE=auto-reply", "TEND_IDEMPOTENCY_KEY=tend-7-open-7"}));
  EXPECT_EQ(run.deadline, kSendDeadline);
}

TEST(Channel, gives_the_text_as_input_where_no_argument_has_it) {
  const auto run = sending(ByReply{{"reply"}, "sms", "42", "zh"}, reply_of());
  EXPECT_EQ(run.input, "\xe5\xbc\x82\xe5\xb8\xb8\n");
  EXPECT_EQ(run.command, std::vector<std::string>{"reply"});
}

TEST(Channel, fills_in_nothing_that_was_filled_in) {
  const auto run =
      sending(ByReply{{"r", "{endpoint}"}, "{key}", "{channel}{text}", "en"}, reply_of());
  EXPECT_EQ(run.command, (std::vector<std::string>{"r", "{channel}{text}"}));
  EXPECT_EQ(run.input, "It is down.\n") << "no argument asks for it";
}

TEST(Channel, says_what_it_can_where_a_notice_has_no_texts) {
  const auto run = sending(ByReply{{"r"}, "sms", "42", "en"}, reply_of(R"({"why":"down"})"));
  EXPECT_EQ(run.input, "down\n");
  EXPECT_EQ(told_by(ByReply{{"r"}, "sms", "42", "en"}, exited(4)).words, "'r' exited with 4");
}

// --- What came of it ----------------------------------------------------------------------------

TEST(Channel, says_in_words_what_went_wrong) {
  const auto words = [](const Result<Ran>& ran) {
    const Told told = told_by(kCommand, ran);
    EXPECT_FALSE(told.heard) << told.words;
    return told.words;
  };
  EXPECT_EQ(words(exited(3)), "'notify-me' exited with 3");
  EXPECT_EQ(words(exited(1, "starting\nno such \x1b[1mchannel\n")),
            "'notify-me' exited with 1: no such \\x1b[1mchannel");
  EXPECT_EQ(words(Ran{.exit = {ExitStatus::How::signal, 11}}), "'notify-me' died of signal 11");
  EXPECT_EQ(words(Ran{.exit = {ExitStatus::How::signal, 9}, .timed_out = true}),
            "'notify-me' did not end within 30 s and was ended");
  EXPECT_EQ(words(Ran{}), "'notify-me' ended, nobody knows how");
  EXPECT_EQ(words(fail("not found")), "'notify-me' could not be run: not found");
}

TEST(Channel, knows_when_it_was_heard) {
  EXPECT_TRUE(told_by(kCommand, exited(0)).heard);
  EXPECT_EQ(told_by(kCommand, exited(0)).words, "told by 'notify-me'");
  EXPECT_EQ(told_by(ByDesktop{}, exited(0)).words, "told by 'notify-send'");
  EXPECT_TRUE(told_by(kWebhook, exited(0, "", "204")).heard);
}

TEST(Channel, takes_no_answer_of_a_webhook_for_a_yes_but_2xx) {
  const auto words = [](const Ran& ran) {
    const Told told = told_by(kWebhook, ran);
    EXPECT_FALSE(told.heard);
    EXPECT_FALSE(told.words.contains("secret"));
    return told.words;
  };
  EXPECT_EQ(words(exited(22, "curl: (22) The requested URL returned error: 500\n", "500")),
            "'curl' exited with 22: curl: (22) The requested URL returned error: 500");
  EXPECT_EQ(words(exited(0, "", "302")), "the webhook answered 302, which is no 2xx");
  EXPECT_EQ(words(exited(0, "", "")), "nobody knows what the webhook answered");
}

}  // namespace
}  // namespace tend
