// The trace parser does the reading; what is left is to say who may speak of what.
#include "sense/signals_file.h"

#include <algorithm>

namespace tend {
namespace {

/// Whether an agent, or a hook in its name, may say this.
bool may_be_said(const Signal& signal) {
  switch (signal.is) {
    case Kind::beat:
      return signal.by != BeatBy::keeper;
    case Kind::progress:
    case Kind::noise:
    case Kind::tool_open:
    case Kind::tool_beat:
    case Kind::tool_close:
    case Kind::compact_start:
    case Kind::compact_end:
    case Kind::retry:
    case Kind::ask:
    case Kind::answer:
    case Kind::turn_start:
    case Kind::turn_end:
    case Kind::error:
    case Kind::state:
    case Kind::ack:
    case Kind::activity:
    case Kind::task:
    case Kind::inbox:
      return true;
    case Kind::spawn:
    case Kind::process:
    case Kind::beat_failed:
    case Kind::status:
    case Kind::ping:
    case Kind::ping_failed:
    case Kind::child:
    case Kind::parent:
    case Kind::intent:
    case Kind::suspend:
    case Kind::lag:
    case Kind::clock_step:
    case Kind::fault:
    case Kind::fleet:
    case Kind::acted:
    case Kind::other:
      break;
  }
  return false;
}

Instant moved(Instant at, Duration shift) {
  const Duration time = at.time_since_epoch() + std::clamp(shift, -kLongestTime, kLongestTime);
  return Instant{std::clamp(time, Duration::zero(), kLongestTime)};
}

}  // namespace

SignalsFile::Took SignalsFile::take(std::string_view line, std::uint32_t life, Duration shift,
                                    SignalBatch& batch) {
  using Found = TraceLineParser::Found;
  Signal signal;
  Instant seen{};
  switch (parser_.parse(line, batch.texts, signal, seen)) {
    case Found::signal:
      break;
    case Found::nothing:
      return Took::taken;
    case Found::record:
      return Took::refused;
    case Found::header:
    case Found::bad:
      return Took::bad;
  }
  if (!may_be_said(signal)) return Took::refused;
  if (signal.life != 0 && signal.life < life) {
    return signal.is == Kind::ack ? Took::old_answer : Took::old_life;
  }
  if (signal.until) signal.until = moved(*signal.until, shift);
  batch.signals.push_back(signal);
  return Took::taken;
}

}  // namespace tend
