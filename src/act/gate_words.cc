// A payload is read by whoever sends it, maybe long after and with another version.
#include "act/gate_words.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tend {
namespace {

using Json = nlohmann::ordered_json;

std::string payload_of(std::string_view gate, const GateNews& news) {
  Json json{{"gate", gate}, {"agent", news.agent}};
  if (news.outage) json["outage"] = *news.outage;
  if (!news.why.empty()) json["why"] = news.why;
  json["at"] = news.at;
  json["language"] = news.language;
  json["texts"] = Json::object();
  for (const auto& [language, text] : news.texts) json["texts"][language] = text;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

const std::string* text_in(const Json& object, std::string_view key) {
  const auto found = object.find(key);
  return found != object.end() ? found->get_ptr<const std::string*>() : nullptr;
}

}  // namespace

std::string auto_reply_payload(const GateNews& news) { return payload_of(kAutoReply, news); }

std::string all_clear_payload(const GateNews& news) { return payload_of(kAllClear, news); }

std::string undelivered_payload(GateNews news, const std::vector<std::int64_t>& messages) {
  const std::string numbers = fmt::format("{}", fmt::join(messages, ", "));
  news.texts = {{"en", fmt::format("Not delivered, because nobody is there any more: message {}. "
                                   "It is kept.",
                                   numbers)},
                {"zh", fmt::format("消息 {} 未送达：接收方已结束。消息已保留。", numbers)}};
  return payload_of(kUndelivered, news);
}

std::optional<GateWords> gate_words(std::string_view payload, std::string_view language) {
  const Json json = Json::parse(payload, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  const std::string* const gate = text_in(json, "gate");
  const auto texts = json.find("texts");
  if (gate == nullptr || texts == json.end() || !texts->is_object()) return std::nullopt;
  const std::string* text = text_in(*texts, language);
  if (text == nullptr) text = text_in(*texts, language.substr(0, language.find('-')));
  const std::string* const own = text_in(json, "language");
  if (text == nullptr && own != nullptr) text = text_in(*texts, *own);
  for (auto each = texts->begin(); text == nullptr && each != texts->end(); ++each) {
    text = each->get_ptr<const std::string*>();
  }
  if (text == nullptr) return std::nullopt;
  return GateWords{*gate, *text};
}

}  // namespace tend
