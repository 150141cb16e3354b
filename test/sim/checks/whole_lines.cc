// What was written in lines can be read in lines: a line that was torn takes no other with it, and
// what an agent did once stands in its journal once.
#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "checks/check.h"
#include "checks/journal_lines.h"
#include "store/children.h"

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
      look_at_lines(journal_of(world, agent));
      if (!loses_lives_) look_for_doubles(agent);
    }
  }

 private:
  /// Who forgot a life may count it again.
  const bool loses_lives_ = loses_power(world.scenario);

  /// A whole record behind half a one: what belongs to a record stands behind a sign of JSON.
  void look_at_lines(const std::string& path) {
    each_line(world.universe.disk.read(path), [&](std::string_view line) {
      for (std::size_t at = line.find("{\"", 1); at != std::string_view::npos;
           at = line.find("{\"", at + 1)) {
        if (std::string_view(":,[").contains(line[at - 1]) || !Json::accept(line.substr(at))) {
          continue;
        }
        return violated(fmt::format("{}: a line was lost behind half a one: {}", path, line));
      }
    });
  }

  struct Heard {
    std::string_view line;
    std::size_t number = 0;  // of that line
  };

  /// Every call of an agent has its own name, but for those of chatter. Of a line that was cut
  /// short nobody hears, nor does one count as read before the last that was read with it: whoever
  /// comes after its writer says it again.
  void look_for_doubles(const std::string& agent) {
    std::array<std::unordered_map<std::string_view, Heard>, 2> heard;
    std::size_t number = 0;
    std::size_t read = 0;  // the last line that says how far was read
    std::uint64_t offset = 0;
    const auto text = world.universe.disk.read(journal_of(world, agent));
    each_line(text, [&](std::string_view line) {
      const std::size_t read_before = read;
      if (const std::uint64_t now = offset_in(line); ++number, now > offset) {
        offset = now;
        read = number;
      }
      const std::string_view is = text_behind(line, R"("is":")");
      if (is != "tool-open" && is != "tool-close") return;
      const std::string_view id = text_behind(line, R"("id":")");
      if (id.empty() || id.starts_with("again-")) return;
      auto& of_kind = heard[is == "tool-open" ? 0 : 1];
      const auto [found, is_new] = of_kind.try_emplace(id, Heard{line, number});
      if (is_new || !Json::accept(line)) return;
      const Heard before = std::exchange(found->second, {line, number});
      if (!Json::accept(before.line) || read_before < before.number) return;
      violated(fmt::format("{}: {} {} stands twice in its journal", agent, is, id));
    });
  }
  static std::uint64_t offset_in(std::string_view line) {
    constexpr std::string_view kName = R"("offset":)";
    const std::size_t at = line.find(kName);
    if (at == std::string_view::npos) return 0;
    const std::string_view digits = line.substr(at + kName.size());
    std::uint64_t offset = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), offset);
    return offset;
  }
};

}  // namespace

std::unique_ptr<Check> make_whole_lines_check(SeededWorld& world) {
  return std::make_unique<WholeLines>(world);
}

}  // namespace tend::sim
