// A window of signals that slides over the trace.
#include "sense/trace_reader.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/duration.h"

namespace tend {
namespace {

constexpr std::size_t kFewDropped = 64;  // signals that are not worth a move to the front
constexpr std::size_t kMostHeld = 2 * (TraceReader::kMostSignals + TraceReader::kMostAhead);

}  // namespace

TraceReader::TraceReader(ByteSource& bytes, std::string name, Report report)
    : lines_(bytes), name_(std::move(name)), report_(std::move(report)) {
  signals_.reserve(kMostHeld);
  times_.reserve(kMostHeld);
}

Result<TraceHeader> TraceReader::open() {
  read_signal();
  may_be_header_ = false;
  switch (last_step_) {
    case Step::header:
      return read_header();
    case Step::signal:
      return TraceHeader{};
    case Step::failed:
      return std::unexpected(lines_.error());
    case Step::end:
      break;
  }
  if (lines_.number() == 0) return fail(name_ + " is empty");
  return fail(name_ + " is no trace: not one of its lines can be read");
}

Result<TraceHeader> TraceReader::read_header() {
  auto header = parse_trace_header(lines_.text());
  if (!header) {
    return fail(name_ + ":" + std::to_string(lines_.number()) + ": " + header.error().text);
  }
  for (const std::string& oddity : header->oddities) report_(lines_.number(), oddity);
  offset_ = header->offset;
  said_ = header->said;
  beaten_ = header->beaten;
  if (!header->judge.empty()) now_ = header->at.value_or(now_);
  return header;
}

Result<bool> TraceReader::next(Moment& moment) {
  drop_given();
  if (begin_ < end_ || read_signal()) {
    moment.at = times_[begin_];
    next_ = begin_ + 1;
    while (next_ - begin_ < kMostSignals) {
      if (next_ == end_ && (!has_room() || !read_signal())) break;
      if (times_[next_] != moment.at) break;
      ++next_;
    }
    moment.signals = {signals_.data() + begin_, next_ - begin_};
  }
  if (last_step_ == Step::failed) return std::unexpected(lines_.error());
  return begin_ < next_;
}

bool TraceReader::was_there(Instant at) {
  while (!was_away(at)) {
    const bool looks_on = end_ - next_ < kMostAhead && has_room();
    if (!looks_on || !read_signal()) return true;
  }
  return false;
}

bool TraceReader::was_away(Instant at) const {
  return std::ranges::any_of(aways_,
                             [&](const Away& away) { return away.since < at && at < away.until; });
}

/// Forgets the moment that was given out last.
void TraceReader::drop_given() {
  begin_ = next_;
  const std::size_t ahead = end_ - begin_;
  if (begin_ >= kFewDropped && begin_ >= ahead) {
    std::copy_n(signals_.begin() + static_cast<std::ptrdiff_t>(begin_), ahead, signals_.begin());
    std::copy_n(times_.begin() + static_cast<std::ptrdiff_t>(begin_), ahead, times_.begin());
    dropped_ += begin_;
    begin_ = next_ = 0;
    end_ = ahead;
  }
  const std::uint64_t first_left = dropped_ + begin_;
  if (!aways_.empty()) {
    std::erase_if(aways_, [&](const Away& away) { return away.signal < first_left; });
  }
  if (first_left < turned_) return;
  turned_ = dropped_ + end_;
  turn_ ^= 1U;
  texts_[turn_].clear();
}

/// Reads one more signal to the end of those held. False at the end of the trace, or when reading
/// failed, and from then on.
bool TraceReader::read_signal() {
  if (last_step_ == Step::end || last_step_ == Step::failed) return false;
  if (end_ == signals_.size()) {
    CHECK(end_ < kMostHeld);
    signals_.emplace_back();
    times_.emplace_back();
  }
  last_step_ = read_line(signals_[end_]);
  if (last_step_ != Step::signal) return false;
  times_[end_] = now_;
  note_away(signals_[end_]);
  ++end_;
  return true;
}

void TraceReader::note_away(const Signal& signal) {
  if (signal.is != Kind::suspend && signal.is != Kind::lag) return;
  aways_.push_back({now_ - signal.seconds, now_, dropped_ + end_});
}

/// The next line that says something. Its time is in now_.
TraceReader::Step TraceReader::read_line(Signal& into) {
  using Got = LineSplitter::Got;
  using Found = TraceLineParser::Found;
  while (true) {
    const Got got = lines_.next();
    if (got == Got::end) return Step::end;
    if (got == Got::failed) return Step::failed;
    if (got == Got::too_long) {
      report_(lines_.number(), "it is longer than 16 MB; skipped");
      may_be_header_ = false;
      continue;
    }
    Instant seen{};
    switch (parser_.parse(lines_.text(), texts_[turn_], into, seen)) {
      case Found::signal:
        keep_time(seen);
        offset_ = parser_.offset(Field::offset, offset_);
        said_ = parser_.offset(Field::said, said_);
        beaten_ = parser_.offset(Field::beaten, beaten_);
        return Step::signal;
      case Found::record:
        if (parser_.is_decision()) last_decision_ = std::max(last_decision_, seen);
        if (record_) record_(lines_.text(), seen);
        break;
      case Found::nothing:
        continue;
      case Found::bad:
        report_(lines_.number(), std::string(parser_.problem()) + "; skipped");
        break;
      case Found::header:
        if (may_be_header_) return Step::header;
        report_(lines_.number(), "a header can only be the first line; skipped");
        break;
    }
    may_be_header_ = false;
  }
}

/// Time never falls: what claims to be older is judged now, since evidence is not thrown away.
void TraceReader::keep_time(Instant seen) {
  if (seen >= now_) {
    now_ = seen;
    return;
  }
  report_(lines_.number(), "its time falls back to " + format_seconds(seen.time_since_epoch()) +
                               "; judged at " + format_seconds(now_.time_since_epoch()));
}

}  // namespace tend
