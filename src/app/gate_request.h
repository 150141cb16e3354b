// A line that came through the gate's door, read without trust: one JSON object, its fields of the
// right kind, or an error that says which is not.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "run/gate_desk.h"

namespace tend {

GateNo bad_request(std::string text);

/// An object whose "ref", if it has one, is a text or a number that can be given back.
GateResult<nlohmann::json> gate_request(std::string_view line);

/// A field that is neither verb nor ref nor one of these: what is misspelt would have no effect.
std::optional<GateNo> unknown_field(const nlohmann::json& request,
                                    std::span<const std::string_view> fields);

/// nullopt if it is missing or null.
GateResult<std::optional<std::string>> text_of(const nlohmann::json& request, const char* field);
GateResult<std::optional<std::int64_t>> number_of(const nlohmann::json& request, const char* field);
/// "id", of a message.
GateResult<std::int64_t> id_of(const nlohmann::json& request);

/// agent, channel, endpoint, content, priority, key, reply_with (a list of words, or one text that
/// is split as a shell would), no_reply, language.
GateResult<ReceiveOrder> receive_order(const nlohmann::json& request);

}  // namespace tend
