// What is marked as read was printed before, to its end: a message is rather shown twice than lost.
#include "app/inbox_command.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "app/agent_json.h"
#include "app/home_option.h"
#include "app/inside.h"
#include "app/when.h"
#include "base/quote.h"
#include "store/home.h"
#include "store/inbox.h"

namespace tend {
namespace {

struct Opened {
  std::unique_ptr<Folder> folder;
  bool is_own = false;  // whoever asks is the agent itself
};

/// The reader of another one's inbox leaves it as it was.
std::expected<Opened, NotInside> opened(const Arguments& arguments, World& world) {
  auto inside = inside_of(world);
  if (arguments.positionals.empty()) {
    if (!inside) return std::unexpected(inside.error());
    return Opened{std::move(inside->folder), true};
  }
  auto home = open_home(world);
  if (!home) return std::unexpected(NotInside{home.error().text, kExitUsage});
  auto known = find_agent(home->machine.folders, *home->folder, arguments.positionals.front());
  if (!known) return std::unexpected(NotInside{known.error().text, kExitNo});
  const bool is_own = inside && inside->folder->path() == known->folder->path();
  return Opened{std::move(known->folder), is_own};
}

std::string in_json(const InboxMessage& message, bool read) {
  return json_line({{"id", message.id},
                    {"at", calendar_json(calendar_time(message.at))},
                    {"kind", message.kind},
                    {"from", message.from},
                    {"text", message.text},
                    {"read", read}});
}

/// A head, and the text below it.
std::string in_words(const InboxMessage& message) {
  const WallTime at = calendar_time(message.at);
  std::string words = fmt::format("{}  {} {} UTC  {}", message.id, date_label(at), clock_label(at),
                                  on_one_line(message.kind));
  if (!message.from.empty()) words += " from " + on_one_line(message.from);
  words += fmt::format("\n    {}\n", on_one_line(message.text));
  return words;
}

}  // namespace

int inbox_command(const Arguments& arguments, World& world) {
  const auto agent = opened(arguments, world);
  if (!agent) return complain(world, "inbox", agent.error().text, agent.error().exit_code);
  const auto inbox = read_inbox(*agent->folder);
  if (!inbox) return complain(world, "inbox", inbox.error().text, kExitUsage);

  std::uint64_t last = inbox->read_to;
  bool shown = false;
  for (const InboxMessage& message : inbox->messages) {
    const bool was_read = message.id <= inbox->read_to;
    if (was_read && !arguments.has("all")) continue;
    world.out.write(arguments.has("json") ? in_json(message, was_read) : in_words(message));
    last = std::max(last, message.id);
    shown = true;
  }
  if (!shown && !arguments.has("json")) world.out.write("nothing new\n");
  const bool marks = agent->is_own && !arguments.has("peek") && last > inbox->read_to;
  if (!marks || !world.out.flush()) return kExitYes;
  if (const auto marked = mark_read(*agent->folder, last); !marked) {
    return complain(world, "inbox", marked.error().text, kExitUsage);
  }
  return kExitYes;
}

}  // namespace tend
