// Whether people know already is asked of the outbox, not remembered: holders come and go.
#include "run/lease_voice.h"

#include <utility>

#include <fmt/format.h>

#include "base/duration.h"
#include "base/quote.h"
#include "store/events.h"
#include "store/home_database.h"

namespace tend {

std::string lease_key(std::string_view name) { return fmt::format("{}{}", kLeaseKeys, name); }

std::string words_of_flapping(std::string_view name) {
  return fmt::format("the lease {} goes from hand to hand without being given back", name);
}

std::string to_do_about(std::string_view name) {
  return fmt::format("see why its holders die or are late: tend lease status --name {}", name);
}

LeaseVoice::LeaseVoice(Machine& machine, Folder& home, std::string name,
                       std::vector<NotifyChannel> channels,
                       std::function<void(const std::string&)> not_heard)
    : machine_(machine),
      home_(home),
      name_(std::move(name)),
      not_heard_(std::move(not_heard)),
      herald_(machine, home,
              {.agent = std::string(kLeaseVoice),
               .folder = home.path(),
               .channels = std::move(channels),
               .own = false,
               .key = lease_key(name_)},
              not_heard_, {}) {}

Result<bool> LeaseVoice::is_told() {
  auto database = open_home_database(machine_.databases, home_, {.may_wait = Postman::kMayWait});
  if (!database) return std::unexpected(database.error());
  NoticeFilter filter;
  filter.key = lease_key(name_);
  filter.open_only = true;
  filter.most = 1;
  const auto open = Outbox(**database).list(filter);
  if (!open) return std::unexpected(open.error());
  return !open->empty();
}

Incident LeaseVoice::incident(std::string_view action, std::string why) const {
  Incident incident;
  incident.agent = kLeaseVoice;
  incident.action = action;
  incident.why = std::move(why);
  incident.folder = home_.path();
  incident.at = calendar_seconds(machine_.clock.wall());
  return incident;
}

void LeaseVoice::event(const std::string& text, bool needs_person) {
  Event event;
  event.at = calendar_seconds(machine_.clock.wall());
  event.agent = kLeaseVoice;
  event.text = text;
  event.needs_person = needs_person;
  if (auto written = append_event(home_, event); !written) not_heard_(written.error().text);
}

void LeaseVoice::flaps(const LeaseRecord& record) {
  const std::string words = words_of_flapping(name_);
  event(fmt::format("{}; {}", words, to_do_about(name_)), true);
  if (!herald_.has_channel()) return;
  const auto told = is_told();
  if (told && *told) return;
  Incident flaps = incident("escalate", words);
  flaps.because = {
      fmt::format("taken by {} under fence {}", on_one_line(record.holder.id), record.fence),
      fmt::format("its time is {}, and its renewals come up to {} late",
                  format_duration(record.ttl), format_duration(record.lag))};
  flaps.what_to_do = to_do_about(name_);
  if (auto put = herald_.tell(flaps); !put) not_heard_("nobody could be told: " + put.error().text);
}

/// One that could not be closed is closed by the next who leads, or by the patrol.
void LeaseVoice::is_calm() {
  if (!herald_.has_channel()) return;
  const auto told = is_told();
  if (!told) return not_heard_("whether people were told is not known: " + told.error().text);
  if (!*told) return;
  const std::string words = "over: " + words_of_flapping(name_);
  event(words, false);
  herald_.close(incident("over", words));
}

}  // namespace tend
