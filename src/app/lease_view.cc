// What the kernel and the keeper say comes from the look, never from the record alone.
#include "app/lease_view.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "app/agent_json.h"
#include "app/columns.h"
#include "app/when.h"
#include "base/duration.h"
#include "base/quote.h"

namespace tend {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 4> kHolderWords{"running", "stopped", "dead", "unknown"};

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json holder_json(const LeaseLook& look) {
  const LeaseHolder& holder = look.record.holder;
  return {{"id", holder.id},
          {"pid", holder.process.pid},
          {"start_ticks", holder.process.start_ticks},
          {"pid_ns", holder.process.pid_ns},
          {"boot_id", holder.process.boot_id},
          {"agent", text_or_null(holder.agent)},
          {"process", look.record.held
                          ? Json(kHolderWords.at(static_cast<std::size_t>(look.facts.holder)))
                          : Json()},
          {"verdict", look.facts.agent.kept ? Json(word(look.facts.agent.verdict)) : Json()}};
}

Duration left_of(const LeaseLook& look) {
  return std::max(Duration{}, look.record.ttl - look.facts.age);
}

std::string seconds_of(Duration time) {
  return format_duration(std::chrono::ceil<std::chrono::seconds>(time));
}

/// Less than that is nobody's trouble.
std::string words_of_lag(const LeaseLook& look) {
  if (look.facts.lag < std::chrono::seconds{1}) return "";
  return fmt::format("; renewals come up to {} late", seconds_of(look.facts.lag));
}

std::string words_of_takeovers(const LeaseLook& look) {
  if (!is_flapping(look.facts)) return "";
  return fmt::format(
      "; taken {} times lately without being given back: the next who wants it has "
      "to wait until {} after the last renewal",
      look.facts.takeovers, seconds_of(lease_holds_until(look.record.ttl, look.facts.lag)));
}

}  // namespace

std::string lease_state(const LeaseLook& look) {
  if (!look.record.held) return "free";
  if (look.taking.may) return std::string(word(look.taking.because));
  return "held";
}

Json lease_json(const LeaseLook& look) {
  const LeaseRecord& record = look.record;
  return {{"name", record.name},
          {"state", lease_state(look)},
          {"fence", record.fence},
          {"version", record.version},
          {"in_force", look.in_force.may},
          {"holder", record.version == 0 ? Json() : holder_json(look)},
          {"ttl_s", record.version == 0 ? Json() : seconds_json(record.ttl)},
          {"age_s", record.held ? seconds_json(look.facts.age) : Json()},
          {"expires_in_s", record.held ? seconds_json(left_of(look)) : Json()},
          {"granted_at", record.version == 0 ? Json() : calendar_json(record.granted_at)},
          {"renewed_at", record.version == 0 ? Json() : calendar_json(record.renewed_at)},
          {"runs", record.run.first.pid == 0 ? Json() : Json(record.run.first.pid)},
          {"mirror", text_or_null(record.mirror)},
          {"why", look.taking.may && record.held ? look.taking.why : record.why_free},
          {"takeovers", look.facts.takeovers},
          {"flapping", is_flapping(look.facts)},
          {"lag_s", seconds_json(look.facts.lag)},
          {"free_in_s", record.held ? seconds_json(look.taking.again_in) : Json()}};
}

Json refused_json(const LeaseNo& no) {
  Json json{{"ok", false}, {"error", {{"code", word(no.refusal)}, {"message", no.why}}}};
  if (no.seen) {
    json["fence"] = no.seen->fence;
    json["holder"] = no.seen->held ? Json(no.seen->holder.id) : Json();
  }
  if (no.again_in > Duration::zero()) json["again_in_s"] = seconds_json(no.again_in);
  return json;
}

std::string lease_words(const LeaseLook& look) {
  const LeaseRecord& record = look.record;
  if (record.version == 0) return fmt::format("{}: free, never held", record.name);
  if (!record.held) {
    return fmt::format("{}: free ({}), last fence {} of {}", record.name,
                       on_one_line(record.why_free), record.fence, on_one_line(record.holder.id));
  }
  const std::string who = fmt::format("{} (process {}), fence {}", on_one_line(record.holder.id),
                                      record.holder.process.pid, record.fence);
  if (look.taking.may) {
    return fmt::format("{}: {}: {}; was held by {}", record.name, lease_state(look),
                       look.taking.why, who);
  }
  if (look.taking.flapping) {
    return fmt::format("{}: held back for {}: {}; was held by {}", record.name,
                       seconds_of(look.taking.again_in), look.taking.why, who);
  }
  return fmt::format("{}: held by {}, for {} unless it is renewed{}{}", record.name, who,
                     seconds_of(left_of(look)), words_of_lag(look), words_of_takeovers(look));
}

std::string lease_table(const std::vector<LeaseLook>& looks, const Look& look, std::size_t width) {
  Columns columns({{"NAME"}, {"STATE"}, {"FENCE", true}, {"LEFT", true}, {"HOLDER"}});
  for (const LeaseLook& each : looks) {
    const bool held = each.record.held && !each.taking.may;
    columns.add({{each.record.name},
                 {lease_state(each)},
                 {std::to_string(each.record.fence)},
                 {held ? short_age(left_of(each)) : "-"},
                 {on_one_line(each.record.holder.id)}});
  }
  return columns.text(look, width);
}

}  // namespace tend
