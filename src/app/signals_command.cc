// Line by line, in constant memory: a night's stream is as good as a second's.
#include "app/signals_command.h"

#include <charconv>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "app/home_option.h"
#include "base/adapter_kind.h"
#include "base/quote.h"
#include "sense/adapter.h"
#include "sense/line_splitter.h"
#include "store/journal.h"

namespace tend {
namespace {

constexpr double kLatest = 1e9;  // seconds

/// When each line was seen: one number of seconds a line. Without such a file the number of the
/// line stands for its time.
class Times {
 public:
  Result<void> open(World& world, const std::string& path) {
    auto source = world.files.open(path);
    if (!source) return std::unexpected(source.error());
    path_ = path;
    source_ = *std::move(source);
    lines_.emplace(*source_);
    return {};
  }

  /// For the next line. A file that ends early leaves the rest at its last time.
  Result<Instant> next(std::uint64_t line) {
    if (!lines_) return Instant{std::chrono::seconds{line}};
    const auto got = lines_->next();
    if (got == LineSplitter::Got::failed) return std::unexpected(lines_->error());
    if (got == LineSplitter::Got::end) return last_;
    const std::string_view text = lines_->text();
    double seconds = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    const bool fits = got == LineSplitter::Got::line && error == std::errc{} &&
                      end == text.data() + text.size() && seconds >= 0 && seconds <= kLatest;
    if (!fits) {
      return fail(fmt::format("{}:{}: wants a number of seconds, not {}", on_one_line(path_),
                              lines_->number(), in_quotes(text.substr(0, 40))));
    }
    const std::chrono::duration<double> exact(seconds);
    last_ = std::max(last_, Instant{std::chrono::round<std::chrono::milliseconds>(exact)});
    return last_;
  }

 private:
  std::string path_;
  std::unique_ptr<ByteSource> source_;
  std::optional<LineSplitter> lines_;
  Instant last_{};
};

Result<std::unique_ptr<Adapter>> adapter_asked_for(const Arguments& arguments) {
  const std::string name = arguments.value("adapter").value_or("auto");
  const auto kind = from_word<AdapterKind>(kAdapterWords, name);
  auto adapter = kind ? make_adapter(*kind) : nullptr;
  if (adapter == nullptr) return fail(in_quotes(name) + " hears nothing; choose another adapter");
  return adapter;
}

/// Prints what `adapter` hears in `stream`.
Result<void> print_signals(LineSplitter& stream, Adapter& adapter, Times& times, World& world) {
  SignalBatch batch;
  std::string text;
  while (true) {
    const auto got = stream.next();
    if (got == LineSplitter::Got::end) return {};
    if (got == LineSplitter::Got::failed) return std::unexpected(stream.error());
    const auto at = times.next(stream.number());
    if (!at) return std::unexpected(at.error());
    batch.clear();
    if (got == LineSplitter::Got::too_long) {
      world.err.write(
          fmt::format("tend signals: line {} is too long and was passed over\n", stream.number()));
      batch.signals.push_back({.is = Kind::noise});
    } else {
      adapter.take(stream.text(), {.now = *at}, batch);
    }
    text.clear();
    for (const Signal& signal : batch.signals) {
      append_signal_line(text, *at, signal, {});
      text += '\n';
    }
    if (!text.empty() && !world.out.write(text)) return {};
  }
}

}  // namespace

int signals_command(const Arguments& arguments, World& world) {
  const auto wrong = [&](const Error& error) {
    return complain(world, "signals", error.text, kExitUsage);
  };
  auto adapter = adapter_asked_for(arguments);
  if (!adapter) return wrong(adapter.error());
  Times times;
  if (const auto path = arguments.value("times")) {
    if (auto opened = times.open(world, *path); !opened) return wrong(opened.error());
  }
  auto stream = world.files.open(arguments.positionals.front());
  if (!stream) return wrong(stream.error());
  LineSplitter lines(**stream);
  if (auto printed = print_signals(lines, **adapter, times, world); !printed) {
    return wrong(printed.error());
  }
  for (const std::string& remark : (*adapter)->take_remarks()) {
    world.err.write(fmt::format("tend signals: {}\n", on_one_line(remark)));
  }
  return kExitYes;
}

}  // namespace tend
