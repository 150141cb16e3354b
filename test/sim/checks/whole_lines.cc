// What was written in lines can be read in lines: a line that was torn takes no other with it, and
// what an agent did once stands in its journal once.
#include <string>
#include <string_view>
#include <unordered_set>

#include <fmt/format.h>
#include <simdjson.h>
#include <nlohmann/json.hpp>

#include "checks/check.h"
#include "store/children.h"
#include "store/journal.h"

namespace tend::sim {
namespace {

using Json = nlohmann::json;

class WholeLines final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "whole lines"; }

  void on_settled() override {
    look_at_lines(std::string(SeededWorld::kHome) + "/" + std::string(kEventsFile));
    for (const auto& [agent, truth] : world.truth().agents) {
      const std::string folder = world.folder_of(agent);
      if (folder.empty()) continue;
      look_at_lines(folder + "/" + std::string(kChildrenFile));
      look_at_lines(folder + "/" + std::string(kJournalFile));
      if (!loses_lives_) look_for_doubles(agent, folder + "/" + std::string(kJournalFile));
    }
  }

 private:
  simdjson::dom::parser parser_;
  /// Who forgot a life may count it again.
  const bool loses_lives_ = loses_power(world.scenario);

  template <class Visit>
  void each_line(const std::string& path, const Visit& visit) {
    const auto text = world.universe.disk.read(path);
    for (std::string_view rest = text ? std::string_view(*text) : ""; !rest.empty();) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      visit(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }

  /// A whole record behind half a one: what belongs to a record stands behind a sign of JSON.
  void look_at_lines(const std::string& path) {
    each_line(path, [&](std::string_view line) {
      for (std::size_t at = line.find("{\"", 1); at != std::string_view::npos;
           at = line.find("{\"", at + 1)) {
        if (std::string_view(":,[").contains(line[at - 1]) || !Json::accept(line.substr(at))) {
          continue;
        }
        return violated(fmt::format("{}: a line was lost behind half a one: {}", path, line));
      }
    });
  }

  /// Every call of an agent has its own name, but for those of chatter.
  void look_for_doubles(const std::string& agent, const std::string& path) {
    std::unordered_set<std::string> heard;
    each_line(path, [&](std::string_view line) {
      if (!line.contains(R"("is":"tool-)")) return;
      const auto record = parser_.parse(line.data(), line.size());
      std::string_view is;
      std::string_view id;
      if (record["is"].get(is) != simdjson::SUCCESS || record["id"].get(id) != simdjson::SUCCESS) {
        return;
      }
      if ((is != "tool-open" && is != "tool-close") || id.starts_with("again-")) return;
      if (heard.insert(std::string(is).append(" ").append(id)).second) return;
      violated(fmt::format("{}: {} {} stands twice in its journal", agent, is, id));
    });
  }
};

}  // namespace

std::unique_ptr<Check> make_whole_lines_check(SeededWorld& world) {
  return std::make_unique<WholeLines>(world);
}

}  // namespace tend::sim
