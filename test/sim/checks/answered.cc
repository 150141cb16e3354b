// An answer is one only while its question is open: in no journal stands an answer to what was
// given up before it, or overtaken by another question.
#include <string>
#include <unordered_set>

#include <fmt/format.h>

#include "checks/check.h"
#include "checks/journal_lines.h"

namespace tend::sim {
namespace {

class Answered final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "answered what was asked"; }

  void on_settled() override {
    for (const auto& [name, agent] : world.truth().agents) {
      if (agent.plan->is_asked() && !agent.folder.empty()) look_at(name);
    }
  }

 private:
  void look_at(const std::string& agent) {
    std::string open;
    std::unordered_set<std::string> old;
    each_line(world.universe.disk.read(journal_of(world, agent)), [&](std::string_view line) {
      const std::string_view is = text_behind(line, R"("is":")");
      const bool asks = is == "ping";
      if (!asks && is != "ping-failed" && is != "ack") return;
      const std::string id(text_behind(line, R"("id":")"));
      if (is == "ack") {
        if (!old.contains(id)) return;
        return violated(fmt::format("{} answered {}, and {} was open", agent, id,
                                    open.empty() ? "nothing" : open));
      }
      if (!open.empty()) old.insert(open);
      open = asks ? id : "";
      if (!asks) old.insert(id);
    });
  }
};

}  // namespace

std::unique_ptr<Check> make_answered_check(SeededWorld& world) {
  return std::make_unique<Answered>(world);
}

}  // namespace tend::sim
