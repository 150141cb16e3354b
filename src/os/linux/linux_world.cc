// System calls, tried again where a signal broke in, and what the system says when they fail.
#include "os/linux/linux_world.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "os/linux/fd.h"
#include "os/linux/linux_machine.h"

namespace tend {
namespace {

constexpr std::size_t kBuffered = std::size_t{64} * 1024;

class DescriptorSource final : public ByteSource {
 public:
  enum class Owned { yes, no };

  DescriptorSource(int descriptor, Owned owned, std::string name)
      : descriptor_(descriptor), owned_(owned), name_(std::move(name)) {}
  ~DescriptorSource() override {
    if (owned_ == Owned::yes) ::close(descriptor_);
  }
  DescriptorSource(const DescriptorSource&) = delete;
  DescriptorSource& operator=(const DescriptorSource&) = delete;

  Result<std::size_t> read(std::span<char> into) override {
    while (true) {
      const ssize_t got = ::read(descriptor_, into.data(), into.size());
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno == EAGAIN) {
        pollfd readable{descriptor_, POLLIN, 0};
        ::poll(&readable, 1, -1);
      } else if (errno != EINTR) {
        return fail("cannot read " + name_ + ": " + system_says(errno));
      }
    }
  }

 private:
  int descriptor_;
  Owned owned_;
  std::string name_;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> LinuxFiles::open(const std::string& path) {
  using Owned = DescriptorSource::Owned;
  if (path == "-") {
    return std::make_unique<DescriptorSource>(STDIN_FILENO, Owned::no, "standard input");
  }
  int descriptor = -1;
  do {
    descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0) return fail("cannot open " + path + ": " + system_says(errno));
  return std::make_unique<DescriptorSource>(descriptor, Owned::yes, path);
}

LinuxOutput::LinuxOutput(int descriptor, Buffering buffering)
    : descriptor_(descriptor),
      terminal_(::isatty(descriptor) == 1),
      buffered_(buffering == Buffering::full) {
  if (buffered_) buffer_.reserve(kBuffered);
}

LinuxOutput::~LinuxOutput() { flush(); }

bool LinuxOutput::write(std::string_view text) {
  if (broken_) return false;
  if (!buffered_) return send(text);
  if (buffer_.size() + text.size() > kBuffered && !flush()) return false;
  if (text.size() > kBuffered) return send(text);
  buffer_.append(text);
  return terminal_ && text.ends_with('\n') ? flush() : true;
}

bool LinuxOutput::flush() {
  const bool sent = send(buffer_);
  buffer_.clear();
  return sent;
}

bool LinuxOutput::send(std::string_view text) {
  while (!text.empty() && !broken_) {
    const ssize_t sent = ::write(descriptor_, text.data(), text.size());
    if (sent >= 0) {
      text.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      pollfd writable{descriptor_, POLLOUT, 0};
      ::poll(&writable, 1, -1);
    } else if (errno != EINTR) {
      broken_ = true;
    }
  }
  return !broken_;
}

int LinuxOutput::columns() const {
  constexpr int kUsual = 80;
  winsize size{};
  if (!terminal_ || ::ioctl(descriptor_, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsual;
  return size.ws_col;
}

std::optional<std::string> LinuxEnvironment::variable(const std::string& name) const {
  const char* value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): nobody sets one
  if (value == nullptr) return std::nullopt;
  return value;
}

std::vector<std::string> LinuxEnvironment::all() const {
  std::vector<std::string> variables;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) variables.emplace_back(*at);
  return variables;
}

LinuxMachines::LinuxMachines() = default;
LinuxMachines::~LinuxMachines() = default;

Machine& LinuxMachines::machine() {
  if (machine_ == nullptr) machine_ = std::make_unique<LinuxMachine>();
  return machine_->machine();
}

LinuxWorld::LinuxWorld()
    : out_(STDOUT_FILENO, LinuxOutput::Buffering::full),
      err_(STDERR_FILENO, LinuxOutput::Buffering::none) {}

}  // namespace tend
