// What a model writes as the input of its calls, piece by piece, and whether it wrote that before:
// one that goes in circles is busy too, and says nothing new.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tend {

/// Each sub-agent apart. Only the last input of each is known, and of a long one its first 64 KiB:
/// what comes behind them is new.
class WrittenInputs {
 public:
  /// The input of a call of that tool begins. Whether the last one was of another tool.
  bool begin(std::string_view task, std::string_view tool);
  /// It goes on. Whether the last one did not go on like that.
  bool add(std::string_view task, std::string_view piece);
  void clear() { threads_.clear(); }

 private:
  /// As long as the two are alike, `text` is the last one, whole; from then on the one at hand.
  struct Thread {
    std::string task;
    std::string text;  // the tool, the end of a line, the input
    std::size_t written = 0;
    bool is_new = false;

    bool write(std::string_view piece);
  };

  Thread& thread_of(std::string_view task);

  std::vector<Thread> threads_;
};

}  // namespace tend
