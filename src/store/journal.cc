// One keeper writes a journal, so bytes of ours that a failed write left in the file are known: the
// next write goes on behind them and nothing stands there twice.
#include "store/journal.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/quote.h"
#include "judge/reason.h"
#include "store/json.h"
#include "store/line_writer.h"
#include "store/policy_json.h"

namespace tend {
namespace {

constexpr std::size_t kMostPending = std::size_t{1} * 1024 * 1024;
constexpr std::size_t kLongestWords = 4096;

/// A trace names its limits in seconds and has no word for none: 3,000 years stand for it.
double limit_seconds(Duration limit) {
  return static_cast<double>(std::min(limit, kLongestTime).count()) / 1000;
}

/// Every limit that the policy's name alone does not tell.
WriteJson changed_limits(const Policy& policy) {
  const Limits known = built_in_policy(policy.name).value_or(*built_in_policy("agent")).limits;
  WriteJson limits = WriteJson::object();
  if (policy.limits.beats != known.beats) {
    limits["beats"] = WriteJson::array(
        {limit_seconds(policy.limits.beats.suspect), limit_seconds(policy.limits.beats.stalled)});
  }
  for (const LimitKey& key : kLimitKeys) {
    const Duration limit = policy.limits.*key.member;
    if (limit != known.*key.member) limits[std::string(key.name)] = limit_seconds(limit);
  }
  return limits;
}

std::string header_line(const JournalHeader& header) {
  std::string line = to_line({
      {"trace", 1},
      {"id", header.agent},
      {"policy", header.policy.name},
      {"limits", changed_limits(header.policy)},
      {"boot", header.boot_id},
      {"shift_ms", header.shift.count()},
      {"wall", rounded_seconds(header.wall)},
      {"at_ms", header.at.time_since_epoch().count()},
      {"offset", header.offsets.stream},
      {"said", header.offsets.said},
      {"beaten", header.offsets.beaten},
      {"actions", header.actions},
      {"life", header.life},
  });
  line.pop_back();
  line += ",\"policy_full\":" + format_policy_json(header.policy);
  if (!header.judge.empty()) line += ",\"judge\":" + header.judge;
  return line + "}\n";
}

void append_carried(std::string& to, Instant at, const CarriedOver& one) {
  LineWriter line(to, at);
  line.text("action", word(one.action));
  line.text("why", cut_text(one.why, kLongestWords));
  line.text("under", word(one.under));
  line.number("life", one.life);
  line.number("n", one.number);
  line.raw("carried", "true");
  line.end();
  to += '\n';
}

Result<char> last_byte(File& file, std::uint64_t size) {
  char last = 0;
  const auto got = file.read_at(size - 1, {&last, 1});
  if (!got) return std::unexpected(got.error());
  return last;
}

std::string because_json(const Decision& decision) {
  std::string list = "[";
  for (const Reason& reason : decision.because()) {
    if (list.size() > 1) list += ',';
    append_json_text(list, describe(reason));
  }
  return list + "]";
}

}  // namespace

Result<std::unique_ptr<Journal>> Journal::begin(Folder& folder, const JournalHeader& header,
                                                std::span<const CarriedOver> owed) {
  const std::string name(kJournalFile);
  std::string text = header_line(header);
  for (const CarriedOver& one : owed) append_carried(text, header.at, one);
  if (auto put = folder.replace(name, text, Folder::Sync::no); !put) {
    return std::unexpected(put.error());
  }
  auto file = folder.open(name, Folder::Open::append);
  if (!file) return std::unexpected(file.error());
  return std::unique_ptr<Journal>(new Journal(*std::move(file), text.size()));
}

Result<std::unique_ptr<Journal>> Journal::go_on(Folder& folder) {
  const std::string name(kJournalFile);
  const auto there = folder.facts(name);
  if (!there) return std::unexpected(there.error());
  if (!*there || (*there)->size == 0) {
    return fail(on_one_line(folder.path()) + "/" + name + ": there is nothing to go on from");
  }
  auto file = folder.open(name, Folder::Open::append);
  if (!file) return std::unexpected(file.error());
  const auto facts = (*file)->facts();
  if (!facts) return std::unexpected(facts.error());
  const auto last = last_byte(**file, facts->size);
  if (!last) return std::unexpected(last.error());
  std::unique_ptr<Journal> journal(new Journal(*std::move(file), facts->size));
  if (*last != '\n') {
    if (auto ended = journal->file_->append("\n"); !ended) return std::unexpected(ended.error());
    ++journal->size_;
  }
  return journal;
}

void Journal::signal(Instant at, const Signal& signal, const Offsets& offsets) {
  append_signal_line(pending_, at, signal, offsets);
  end_line(at);
}

void Journal::decision(Instant at, const Decision& decision, std::uint64_t number,
                       std::uint32_t life) {
  LineWriter line(pending_, at);
  if (decision.kind == Decision::Kind::verdict) {
    line.text("verdict", word(decision.verdict));
    line.text("phase", word(decision.phase));
    line.raw("because", because_json(decision));
  } else {
    line.text("action", word(decision.action));
    const auto because = decision.because();
    line.text("why", because.empty() ? "" : describe(because.front()));
    line.text("under", word(decision.verdict));
    line.number("life", life);
    line.number("n", number);
    if (!decision.task.empty()) line.text("task", decision.task.shown());
  }
  line.end();
  end_line(at);
}

void Journal::did(Instant at, Action action, std::uint64_t number, std::string_view result) {
  LineWriter line(pending_, at);
  line.text("did", word(action));
  line.number("n", number);
  line.text("result", cut_text(result, kLongestWords));
  line.end();
  end_line(at);
}

void Journal::remark(Instant at, std::string_view what) {
  LineWriter line(pending_, at);
  line.text("note", cut_text(what, kLongestWords));
  line.end();
  end_line(at);
}

Result<void> Journal::write() {
  if (pending_.empty()) return {};
  auto written = file_->append(pending_);
  if (written) {
    size_ += pending_.size();
    pending_.clear();
    in_line_ = false;
    return {};
  }
  take_off_written();
  drop_oldest();
  return written;
}

void Journal::end_line(Instant at) {
  pending_ += '\n';
  last_ = at;
}

/// What the file grew by is the beginning of what we tried to write.
void Journal::take_off_written() {
  const auto facts = file_->facts();
  if (!facts || facts->size <= size_) return;
  const std::size_t written = std::min<std::uint64_t>(facts->size - size_, pending_.size());
  in_line_ = pending_[written - 1] != '\n';
  pending_.erase(0, written);
  size_ = facts->size;
}

/// Keeps the newest lines of what is pending, and says that there were others.
void Journal::drop_oldest() {
  if (pending_.size() <= kMostPending) return;
  const std::size_t end = pending_.find('\n', pending_.size() - kMostPending / 2) + 1;
  const auto lines =
      std::count(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(end), '\n');
  std::string kept = pending_.substr(end);
  pending_ = in_line_ ? "\n" : "";  // ends the line that the file has the first half of
  in_line_ = false;
  remark(last_, fmt::format("{} lines were lost: the journal could not be written", lines));
  pending_ += kept;
}

}  // namespace tend
