// What a field may say is checked by who stores it; here it is only of the right kind.
#include "app/gate_request.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "app/split_words.h"
#include "base/quote.h"
#include "store/json.h"

namespace tend {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLongestRef = 1'000;

const Json* field_of(const Json& request, const char* name) {
  const auto found = request.find(name);
  return found == request.end() || found->is_null() ? nullptr : &*found;
}

std::unexpected<GateNo> wants(const char* field, std::string_view kind) {
  return std::unexpected(bad_request(fmt::format("{} has to be {}", field, kind)));
}

GateResult<bool> flag_of(const Json& request, const char* name) {
  const Json* const field = field_of(request, name);
  if (field == nullptr) return false;
  if (!field->is_boolean()) return wants(name, "true or false");
  return field->get<bool>();
}

GateResult<std::string> needed_text(const Json& request, const char* name) {
  auto text = text_of(request, name);
  if (!text) return std::unexpected(text.error());
  if (!*text) return std::unexpected(bad_request(fmt::format("{} is missing", name)));
  return **std::move(text);
}

GateResult<std::vector<std::string>> reply_with(const Json& request) {
  const Json* const field = field_of(request, "reply_with");
  if (field == nullptr) return std::vector<std::string>{};
  if (field->is_string()) {
    auto words = split_words(field->get_ref<const std::string&>());
    if (!words) return std::unexpected(bad_request("reply_with: " + words.error().text));
    return *std::move(words);
  }
  if (!field->is_array()) return wants("reply_with", "a text or a list of texts");
  std::vector<std::string> words;
  for (const Json& word : *field) {
    if (!word.is_string()) return wants("reply_with", "a text or a list of texts");
    words.push_back(word.get<std::string>());
  }
  return words;
}

}  // namespace

GateNo bad_request(std::string text) {
  return {.kind = GateNo::Kind::bad_input, .code = "bad-request", .text = std::move(text)};
}

GateResult<Json> gate_request(std::string_view line) {
  if (!is_utf8(line)) return std::unexpected(bad_request("the line is not valid UTF-8"));
  Json request = Json::parse(line, nullptr, false);
  if (!request.is_object()) {
    return std::unexpected(bad_request("the line is not one JSON object"));
  }
  const auto ref = request.find("ref");
  if (ref == request.end()) return request;
  const bool is_short_text =
      ref->is_string() && ref->get_ref<const std::string&>().size() <= kLongestRef;
  if (!is_short_text && !ref->is_number()) {
    return wants("ref", fmt::format("a number, or a text of up to {} bytes", kLongestRef));
  }
  return request;
}

std::optional<GateNo> unknown_field(const Json& request, std::span<const std::string_view> fields) {
  for (const auto& [name, value] : request.items()) {
    if (name == "verb" || name == "ref" || std::ranges::find(fields, name) != fields.end())
      continue;
    return bad_request(fmt::format("there is no field {}; there are: {}", in_quotes(name),
                                   fmt::join(fields, ", ")));
  }
  return std::nullopt;
}

GateResult<std::optional<std::string>> text_of(const Json& request, const char* field) {
  const Json* const found = field_of(request, field);
  if (found == nullptr) return std::nullopt;
  if (!found->is_string()) return wants(field, "a text");
  return found->get<std::string>();
}

GateResult<std::optional<std::int64_t>> number_of(const Json& request, const char* field) {
  const Json* const found = field_of(request, field);
  if (found == nullptr) return std::nullopt;
  if (!found->is_number_integer()) return wants(field, "a whole number");
  return found->get<std::int64_t>();
}

GateResult<std::int64_t> id_of(const Json& request) {
  const auto id = number_of(request, "id");
  if (!id) return std::unexpected(id.error());
  if (!*id || **id < 1) return wants("id", "the number of a message");
  return **id;
}

GateResult<ReceiveOrder> receive_order(const Json& request) {
  ReceiveOrder order;
  auto agent = text_of(request, "agent");
  if (!agent) return std::unexpected(agent.error());
  order.agent = *std::move(agent);
  auto channel = needed_text(request, "channel");
  if (!channel) return std::unexpected(channel.error());
  order.draft.channel = *std::move(channel);
  auto endpoint = needed_text(request, "endpoint");
  if (!endpoint) return std::unexpected(endpoint.error());
  order.draft.endpoint = *std::move(endpoint);
  auto content = needed_text(request, "content");
  if (!content) return std::unexpected(content.error());
  order.draft.content = *std::move(content);
  const auto priority = number_of(request, "priority");
  if (!priority) return std::unexpected(priority.error());
  order.draft.priority = priority->value_or(kLastPriority);
  auto key = text_of(request, "key");
  if (!key) return std::unexpected(key.error());
  order.draft.key = *std::move(key);
  auto command = reply_with(request);
  if (!command) return std::unexpected(command.error());
  const auto no_reply = flag_of(request, "no_reply");
  if (!no_reply) return std::unexpected(no_reply.error());
  if (!*no_reply) order.reply_with = *std::move(command);
  auto language = text_of(request, "language");
  if (!language) return std::unexpected(language.error());
  order.language = language->value_or("");
  return order;
}

}  // namespace tend
