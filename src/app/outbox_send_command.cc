// A postman with nothing else to do.
#include "app/outbox_send_command.h"

#include <chrono>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/agent_json.h"
#include "app/home_option.h"
#include "base/duration.h"
#include "base/quote.h"
#include "run/postman.h"
#include "store/config_file.h"
#include "store/home.h"

namespace tend {
namespace {

std::string_view kind_of(const Notice& notice) {
  return kNoticeKindWords.at(static_cast<std::size_t>(notice.kind));
}

/// "; again in 18s", or what else comes.
std::string what_next(const Postman::Delivery& delivery, WallTime now) {
  if (delivery.told.heard) return "";
  if (delivery.given_up) {
    return fmt::format("; given up, `tend outbox retry {}` tries it again", delivery.notice.id);
  }
  using Seconds = std::chrono::seconds;
  const auto wait = std::chrono::ceil<Seconds>(delivery.notice.next_at - now);
  return "; again in " + format_duration(std::max(wait, Seconds{0}));
}

class Sender {
 public:
  Sender(const Arguments& arguments, World& world, Home& home, std::vector<NotifyChannel> channels)
      : json_(arguments.has("json")),
        world_(world),
        machine_(home.machine),
        postman_(
            machine_, *home.folder, std::move(channels), std::nullopt,
            [this](const Postman::Delivery& delivery) { tell(delivery); },
            [this](const Postman::Round& round) {
              problem_ = round.problem;
              machine_.loop.stop();
            }) {}

  int run() {
    postman_.send();
    machine_.loop.run();
    if (!problem_.empty()) return complain(world_, "outbox send", problem_, kExitNo);
    if (!json_ && count_ == 0) world_.out.write("nothing is due\n");
    return all_heard_ ? kExitYes : kExitNo;
  }

 private:
  void tell(const Postman::Delivery& delivery) {
    ++count_;
    all_heard_ = all_heard_ && delivery.told.heard;
    const Notice& notice = delivery.notice;
    if (json_) {
      world_.out.write(json_line({{"id", notice.id},
                                  {"incident", notice.incident},
                                  {"channel", notice.channel},
                                  {"key", notice.key},
                                  {"kind", kind_of(notice)},
                                  {"heard", delivery.told.heard},
                                  {"given_up", delivery.given_up},
                                  {"text", delivery.told.words}}));
    } else {
      world_.out.write(fmt::format("{} {} {} of {}: {}{}\n", notice.id, on_one_line(notice.channel),
                                   kind_of(notice), on_one_line(notice.key), delivery.told.words,
                                   what_next(delivery, machine_.clock.wall())));
    }
    world_.out.flush();  // the next one may take its time
  }

  bool json_;
  World& world_;
  Machine& machine_;
  Postman postman_;
  std::size_t count_ = 0;
  bool all_heard_ = true;
  std::string problem_;
};

}  // namespace

int outbox_send_command(const Arguments& arguments, World& world) {
  auto home = open_home(world);
  if (!home) return complain(world, "outbox send", home.error().text, kExitUsage);
  auto config = user_config(world);
  if (!config) return complain(world, "outbox send", config.error().text, kExitUsage);
  return Sender(arguments, world, *home, std::move(config->channels)).run();
}

}  // namespace tend
