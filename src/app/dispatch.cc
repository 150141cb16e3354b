// One overload for each kind of request; the output is flushed here, so that a lost line is
// noticed.
#include "app/dispatch.h"

#include "app/help.h"
#include "app/parse.h"
#include "app/table.h"
#include "app/version.h"
#include "base/check.h"

namespace tend {
namespace {

struct Performer {
  std::span<const CommandRow> table;
  World& world;

  int operator()(const RunRequest& request) const {
    CHECK(request.command->body != nullptr);
    return request.command->body(request.arguments, world);
  }
  int operator()(const HelpRequest& request) const {
    world.out.write(help_text(table, request.topic));
    return request.asked ? kExitYes : kExitUsage;
  }
  int operator()(const VersionRequest&) const {
    world.out.write(version_line(program_of(table)));
    return kExitYes;
  }
};

}  // namespace

int dispatch(std::span<const CommandRow> table, std::span<const std::string_view> words,
             World& world) {
  const auto request = parse(table, words);
  if (!request) {
    world.err.write(request.error().text + "\n");
    world.err.flush();
    return kExitUsage;
  }
  const int code = std::visit(Performer{table, world}, *request);
  const bool written = world.out.flush();
  if (!written) {
    world.err.write(std::string(program_of(table)) +
                    ": standard output could not be written to its end\n");
  }
  world.err.flush();
  return written ? code : kExitUsage;
}

}  // namespace tend
