// Opens each trace, plays it before the judge, and shows what is decided in the view asked for.
#include "app/replay_command.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "app/replay_diff.h"
#include "app/replay_json.h"
#include "app/replay_settings.h"
#include "app/timeline.h"
#include "base/quote.h"
#include "run/expectations.h"
#include "run/replay.h"
#include "run/twin_replay.h"
#include "sense/trace_reader.h"

namespace tend {
namespace {

constexpr std::uint64_t kMostReports = 1000;  // of bad lines of one trace

std::string shown_name(const std::string& path) {
  return path == "-" ? "standard input" : on_one_line(path);
}

/// "I004" for "traces/I004.jsonl": what a trace without an id is called.
std::string base_name(const std::string& path) {
  if (path == "-") return path;
  std::string name = path.substr(path.rfind('/') + 1);
  if (name.ends_with(".jsonl")) name.resize(name.size() - 6);
  return name;
}

/// A trace that is open: its reader, its header, and whom to tell of its bad lines.
class OpenTrace {
 public:
  OpenTrace(std::string path, World& world)
      : path_(std::move(path)), name_(shown_name(path_)), err_(world.err) {}

  Result<void> open(Files& files) {
    auto source = files.open(path_);
    if (!source) return std::unexpected(source.error());
    source_ = *std::move(source);
    const auto report = [this](std::uint64_t line, std::string_view what) {
      if (++reports_ <= kMostReports) err_.write(fmt::format("{}:{}: {}\n", name_, line, what));
    };
    reader_ = std::make_unique<TraceReader>(*source_, name_, report);
    auto header = reader_->open();
    if (!header) return std::unexpected(header.error());
    header_ = *std::move(header);
    if (header_.id.empty()) header_.id = base_name(path_);
    return {};
  }

  /// Says that there were more bad lines than were named.
  ~OpenTrace() {
    if (reports_ <= kMostReports) return;
    err_.write(fmt::format("{}: {} more lines like these\n", name_, reports_ - kMostReports));
  }
  OpenTrace(const OpenTrace&) = delete;
  OpenTrace& operator=(const OpenTrace&) = delete;

  void complain(std::string_view what) { err_.write(fmt::format("{}: {}\n", name_, what)); }

  TraceHeader& header() { return header_; }
  TraceReader& reader() { return *reader_; }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::string path_;
  std::string name_;
  Output& err_;
  std::unique_ptr<ByteSource> source_;
  std::unique_ptr<TraceReader> reader_;
  TraceHeader header_;
  std::uint64_t reports_ = 0;
};

/// Gives each decision to the view and to the expectations.
class Tee final : public DecisionSink {
 public:
  Tee(ReplayView& view, Expectations& expectations) : view_(view), expectations_(expectations) {}
  void decided(Instant at, const Decision& decision) override {
    expectations_.take(at, decision);
    view_.decided(at, decision);
  }

 private:
  ReplayView& view_;
  Expectations& expectations_;
};

TraceTitle title_of(const TraceHeader& header, const Judge& judge) {
  TraceTitle title{header.id, header.about, judge.policy().name};
  if (!header.judge.empty()) {
    title.first = FirstVerdict{header.at.value_or(Instant{}), judge.verdict(), judge.phase()};
  }
  return title;
}

/// Plays the whole trace and on to `at_least`; gives the time of its end. Where a journal ends in
/// decisions, it is played as far as these.
template <class AnyReplay>
Result<Instant> play(TraceReader& reader, AnyReplay& replay, Instant at_least) {
  Moment moment;
  while (true) {
    const auto more = reader.next(moment);
    if (!more) return std::unexpected(more.error());
    if (!*more) break;
    replay.take(moment);
  }
  const Instant last = std::max(reader.last(), at_least);
  replay.run_to(last);
  return last;
}

class ReplayCommand {
 public:
  ReplayCommand(ReplaySettings settings, World& world)
      : settings_(std::move(settings)), world_(world) {
    using Form = ReplayDiff::Form;
    if (settings_.diff) {
      diff_ = std::make_unique<ReplayDiff>(settings_.json ? Form::json : Form::text, world.out,
                                           world.environment);
    } else if (settings_.json) {
      view_ = std::make_unique<ReplayJson>(world.out);
    } else {
      view_ = std::make_unique<Timeline>(world.out, world.environment);
    }
  }

  int run(const std::vector<std::string>& paths) {
    int worst = kExitYes;
    for (const std::string& path : paths) {
      const auto code = judge(path);
      if (!code) {
        world_.err.write("tend: " + code.error().text + "\n");
        failed_.push_back(base_name(path));
      }
      worst = std::max(worst, code.value_or(kExitUsage));
    }
    if (paths.size() > 1) sum(paths.size());
    return worst;
  }

 private:
  Result<int> judge(const std::string& path) {
    OpenTrace trace(path, world_);
    if (const auto opened = trace.open(world_.files); !opened) {
      return std::unexpected(opened.error());
    }
    return diff_ ? compare(trace) : check(trace);
  }

  /// The judge to begin with, by the policy of the trace or by the one asked for.
  Result<Judge> judge_of(OpenTrace& trace) {
    const auto complain = [&](std::string_view what) { trace.complain(what); };
    auto policy = policy_for(trace.header(), settings_, world_, complain);
    if (!policy) return std::unexpected(policy.error());
    auto judge = first_judge(trace.header(), *std::move(policy));
    if (judge && settings_.changes_policy()) judge->look_again();
    return judge;
  }

  /// The judge of --diff.
  Result<Judge> other_judge_of(OpenTrace& trace) {
    Policy policy = *settings_.diff;
    apply_header_limits(trace.header(), policy, [](std::string_view) {});  // complained of already
    auto judge = first_judge(trace.header(), std::move(policy));
    if (judge) judge->look_again();
    return judge;
  }

  Result<int> check(OpenTrace& trace) {
    auto judge = judge_of(trace);
    if (!judge) return fail(trace.name() + ": " + judge.error().text);
    const TraceHeader& header = trace.header();
    view_->begin(title_of(header, *judge));
    Expectations expectations(std::move(trace.header().expect), judge->verdict());
    Tee tee(*view_, expectations);
    Replay replay(*std::move(judge), trace.reader(), tee);
    const auto played = play(trace.reader(), replay, expectations.last());
    if (!played) return std::unexpected(played.error());
    TraceResult result{header.id, expectations.size(), expectations.finish()};
    view_->end(result);
    if (result.failed.empty()) return kExitYes;
    failed_.push_back(result.id);
    return kExitNo;
  }

  Result<int> compare(OpenTrace& trace) {
    auto judge = judge_of(trace);
    if (!judge) return fail(trace.name() + ": " + judge.error().text);
    auto other = other_judge_of(trace);
    if (!other) return fail(trace.name() + ": " + other.error().text);
    const TraceHeader& header = trace.header();
    diff_->begin(title_of(header, *judge), other->policy().name);
    const Expectations expectations(std::move(trace.header().expect));
    TwinReplay replay(*std::move(judge), *std::move(other), trace.reader(), *diff_);
    const auto last = play(trace.reader(), replay, expectations.last());
    if (!last) return std::unexpected(last.error());
    if (!diff_->end(*last)) return kExitYes;
    failed_.push_back(header.id);
    return kExitNo;
  }

  void sum(std::size_t traces) {
    if (diff_) {
      diff_->sum(traces, failed_);
    } else {
      view_->sum({traces, failed_});
    }
  }

  ReplaySettings settings_;
  World& world_;
  std::unique_ptr<ReplayView> view_;
  std::unique_ptr<ReplayDiff> diff_;
  std::vector<std::string> failed_;
};

}  // namespace

int replay_command(const Arguments& arguments, World& world) {
  auto settings = replay_settings(arguments, world);
  if (!settings) {
    world.err.write("tend: " + settings.error().text + "\n");
    return kExitUsage;
  }
  if (arguments.positionals.empty()) {
    world.err.write("tend: replay wants a trace: a file, or - for standard input\n");
    return kExitUsage;
  }
  return ReplayCommand(*std::move(settings), world).run(arguments.positionals);
}

}  // namespace tend
