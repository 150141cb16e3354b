// Of two inputs that are alike so far one text is kept: what was written of the second stands in
// it.
#include "sense/written_inputs.h"

#include <algorithm>

namespace tend {
namespace {

constexpr std::size_t kMostThreads = 64;
constexpr std::size_t kLongestText = std::size_t{64} * 1024;

}  // namespace

bool WrittenInputs::begin(std::string_view task, std::string_view tool) {
  Thread& thread = thread_of(task);
  thread.text.resize(thread.written);
  thread.written = 0;
  thread.is_new = false;
  thread.write(tool);
  return thread.write("\n");
}

bool WrittenInputs::add(std::string_view task, std::string_view piece) {
  return thread_of(task).write(piece);
}

bool WrittenInputs::Thread::write(std::string_view piece) {
  if (!is_new && std::string_view(text).substr(written).starts_with(piece)) {
    written += piece.size();
    return false;
  }
  is_new = true;
  text.resize(written);
  text += piece.substr(0, kLongestText - std::min(kLongestText, written));
  written = text.size();
  return true;
}

WrittenInputs::Thread& WrittenInputs::thread_of(std::string_view task) {
  const auto found = std::ranges::find(threads_, task, &Thread::task);
  if (found != threads_.end()) return *found;
  if (threads_.size() == kMostThreads) threads_.erase(threads_.begin());
  Thread& thread = threads_.emplace_back();
  thread.task = task;
  return thread;
}

}  // namespace tend
