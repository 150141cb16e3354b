// The tool calls that an agent has open, and whether it goes in circles: the same call with the
// same result, again and again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tend {

/// Equal bytes have equal prints; others hardly ever.
std::uint64_t print_of(std::string_view bytes, std::uint64_t seed = 0);

class OpenCalls {
 public:
  struct Call {
    std::string id;
    std::string tool;
    std::string task;         // the sub-agent whose call it is; "": the lead's
    std::string message;      // of the model, which asked for it; "": not known
    std::string work;         // the agent's name for what runs behind it, if it named one
    std::uint64_t print = 0;  // of tool and input
    bool background = false;  // runs beside the turn
    bool sub_agent = false;   // waits for one
    bool question = false;    // to a person
    bool detached = false;    // a sub-agent whose result only says that it began
    bool answered = false;    // its result has come, its work goes on
  };

  /// An id that is open already is the same call, said again. Of too many the oldest is forgotten.
  Call& open(std::string_view id);
  [[nodiscard]] Call* find(std::string_view id);
  [[nodiscard]] Call* find_work(std::string_view work);
  void close(const Call& call);
  /// The end of a turn closes all that does not run beside it.
  void end_turn();
  void clear();

  [[nodiscard]] std::vector<Call>& all() { return calls_; }
  [[nodiscard]] std::uint32_t background() const;

  /// The how-manieth identical call with the identical result in a row this is; of each sub-agent
  /// apart.
  std::uint32_t count_same(const Call& call, std::uint64_t result);
  /// Whether the last one that was counted is one of a circle.
  [[nodiscard]] bool go_in_circles(std::string_view task) const;

 private:
  struct Row {
    std::string task;
    std::uint64_t call = 0;
    std::uint64_t result = 0;
    std::uint32_t count = 0;
  };

  std::vector<Call> calls_;
  std::vector<Row> rows_;
};

}  // namespace tend
