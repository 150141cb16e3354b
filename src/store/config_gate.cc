// A time of a probe that is not written makes room for the one that is.
#include "store/config_gate.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/duration.h"
#include "base/quote.h"
#include "judge/words.h"

namespace tend {
namespace {

constexpr std::size_t kLongestGateText = 1'000;  // bytes
constexpr std::size_t kMostLanguages = 64;
constexpr std::uint32_t kMostTries = 1'000;
constexpr int kUnanswered = 3;  // questions in a deadline, unless told otherwise

// ---- [gate] ----

class GateReader {
 public:
  GateReader(ConfigValues& values, Config& config) : values_(values), config_(config) {}

  void read(const toml::node& value, const ConfigPlace& place);

 private:
  struct Texts {
    std::optional<std::string> degraded;
    std::optional<std::string> recovered;
  };
  using Row = ConfigRow<GateReader, GateSettings>;
  using TextRow = ConfigRow<GateReader, Texts>;

  void read_degraded(GateSettings& made, const toml::node& value, const ConfigPlace& place);
  void read_language(GateSettings& made, const toml::node& value, const ConfigPlace& place);
  void read_lease(GateSettings& made, const toml::node& value, const ConfigPlace& place);
  void read_most_tries(GateSettings& made, const toml::node& value, const ConfigPlace& place);
  void read_reply_every(GateSettings& made, const toml::node& value, const ConfigPlace& place);
  void read_mirror(GateSettings& made, const toml::node& value, const ConfigPlace& place);
  void read_texts(GateSettings& made, const toml::node& value, const ConfigPlace& place);

  void read_texts_of(std::string_view language, const toml::node& value, const ConfigPlace& place,
                     GateSettings& made);
  void read_degraded_text(Texts& texts, const toml::node& value, const ConfigPlace& place) {
    texts.degraded = text(value, place);
  }
  void read_recovered_text(Texts& texts, const toml::node& value, const ConfigPlace& place) {
    texts.recovered = text(value, place);
  }
  std::optional<std::string> text(const toml::node& value, const ConfigPlace& place);
  void check_language(const GateSettings& made, const ConfigPlace& place);
  void note_line(const ConfigPlace& place) { config_.lines[place.key] = place.line; }

  ConfigValues& values_;
  Config& config_;
};

void GateReader::read(const toml::node& value, const ConfigPlace& place) {
  static constexpr std::array<Row, 7> kKeys{{
      {"degraded", &GateReader::read_degraded},
      {"language", &GateReader::read_language},
      {"lease", &GateReader::read_lease},
      {"most_tries", &GateReader::read_most_tries},
      {"reply_every", &GateReader::read_reply_every},
      {"mirror", &GateReader::read_mirror},
      {"texts", &GateReader::read_texts},
  }};
  const std::size_t told = values_.told();
  GateSettings made;
  read_keys(*this, values_, kKeys, made, value, place);
  if (values_.told() == told) check_language(made, place);
  if (values_.told() == told) config_.gate = std::move(made);
}

void GateReader::read_degraded(GateSettings& made, const toml::node& value,
                               const ConfigPlace& place) {
  const auto written = values_.text(value, "\"hold\" or \"reject\"", place);
  if (!written) return;
  const auto word = from_word<WhileDown>(kWhileDownWords, *written);
  if (!word) return values_.unknown(place, "way " + in_quotes(*written), *written, kWhileDownWords);
  made.while_down = *word;
}

void GateReader::read_language(GateSettings& made, const toml::node& value,
                               const ConfigPlace& place) {
  note_line(place);
  if (auto written = values_.text(value, "a language, like \"en\"", place)) {
    made.language = *std::move(written);
  }
}

void GateReader::read_lease(GateSettings& made, const toml::node& value, const ConfigPlace& place) {
  note_line(place);
  if (const auto lease = values_.duration_above_zero(value, place)) made.lease = *lease;
}

void GateReader::read_most_tries(GateSettings& made, const toml::node& value,
                                 const ConfigPlace& place) {
  if (const auto most = values_.count(value, 1, kMostTries, place)) made.most_tries = *most;
}

void GateReader::read_reply_every(GateSettings& made, const toml::node& value,
                                  const ConfigPlace& place) {
  note_line(place);
  if (const auto every = values_.duration(value, place)) made.reply_every = *every;
}

void GateReader::read_mirror(GateSettings& made, const toml::node& value,
                             const ConfigPlace& place) {
  if (auto path = values_.path(value, place)) made.mirror = *std::move(path);
}

void GateReader::read_texts(GateSettings& made, const toml::node& value, const ConfigPlace& place) {
  const toml::table* const table = value.as_table();
  if (table == nullptr) {
    return values_.wrong_type(place, "a table of languages: [gate.texts.LANGUAGE]", value);
  }
  if (table->size() > kMostLanguages) {
    return values_.problem(place,
                           fmt::format("{} languages; at most {}", table->size(), kMostLanguages));
  }
  for (const auto& [key, each] : *table) read_texts_of(key.str(), each, inside(place, key), made);
}

void GateReader::read_texts_of(std::string_view language, const toml::node& value,
                               const ConfigPlace& place, GateSettings& made) {
  static constexpr std::array<TextRow, 2> kKeys{{
      {"degraded", &GateReader::read_degraded_text},
      {"recovered", &GateReader::read_recovered_text},
  }};
  if (!is_bare(language)) {
    return values_.problem(place,
                           fmt::format("a language is 1 to {} letters, digits, - and _, like "
                                       "en or pt-BR",
                                       kLongestConfigName));
  }
  const std::size_t told = values_.told();
  Texts written;
  read_keys(*this, values_, kKeys, written, value, place);
  if (values_.told() > told) return;
  const bool is_new = !made.texts.contains(language);
  if (is_new && (!written.degraded || !written.recovered)) {
    return values_.problem(
        place, fmt::format("is a new language and lacks {}, what is told {}",
                           written.degraded ? "recovered" : "degraded",
                           written.degraded ? "when the agent is well again" : "while it is down"));
  }
  GateTexts& texts = made.texts[std::string(language)];
  if (written.degraded) texts.degraded = *std::move(written.degraded);
  if (written.recovered) texts.recovered = *std::move(written.recovered);
}

std::optional<std::string> GateReader::text(const toml::node& value, const ConfigPlace& place) {
  auto written = values_.text(value, "a text", place);
  if (!written) return std::nullopt;
  const auto is_plain = [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t';
  };
  if (!written->empty() && written->size() <= kLongestGateText &&
      std::ranges::all_of(*written, is_plain)) {
    return written;
  }
  values_.problem(place, fmt::format("must be a text of 1 to {} bytes, without control characters",
                                     kLongestGateText));
  return std::nullopt;
}

void GateReader::check_language(const GateSettings& made, const ConfigPlace& place) {
  if (made.texts.contains(made.language)) return;
  std::vector<std::string_view> there;
  for (const auto& [language, texts] : made.texts) there.push_back(language);
  const std::string key = place.key + ".language";
  values_.problem({config_.lines[key], key},
                  fmt::format("there are no texts in {}; there are: {}; write [gate.texts.{}]",
                              in_quotes(made.language), fmt::join(there, ", "),
                              is_bare(made.language) ? made.language : "LANGUAGE"));
}

// ---- [probe.NAME] ----

/// The keys that belong to one channel.
enum ChannelKey : std::uint8_t { target, command, file };
struct ChannelKeyRow {
  std::string_view key;
  ProbeChannel channel;
  std::string_view example;  // "": it need not be there
};
constexpr std::array<ChannelKeyRow, 3> kChannelKeys{{
    {"target", ProbeChannel::tmux_keys, ""},
    {"command", ProbeChannel::command, R"(command = ["tmux-send", "{agent}", "{text}"])"},
    {"file", ProbeChannel::file, R"(file = "inbox.txt")"},
}};

std::string_view word_of(ProbeChannel channel) {
  return kProbeChannelWords.at(static_cast<std::size_t>(channel));
}

bool leaves_its_folder(std::string_view path) {
  return path == ".." || path.starts_with("../") || path.ends_with("/..") || path.contains("/../");
}

class ProbeReader {
 public:
  ProbeReader(ConfigValues& values, Config& config) : values_(values), config_(config) {}

  void read(std::string_view name, const toml::node& value, const ConfigPlace& place);

 private:
  struct Draft {
    ProbeSettings made;
    std::optional<ProbeChannel> channel;
    std::optional<Duration> interval;
    std::optional<Duration> deadline;
    std::array<bool, kChannelKeys.size()> given{};
  };
  using Row = ConfigRow<ProbeReader, Draft>;

  void read_channel(Draft& draft, const toml::node& value, const ConfigPlace& place);
  void read_interval(Draft& draft, const toml::node& value, const ConfigPlace& place) {
    draft.interval = time(value, place);
  }
  void read_deadline(Draft& draft, const toml::node& value, const ConfigPlace& place) {
    draft.deadline = time(value, place);
  }
  void read_target(Draft& draft, const toml::node& value, const ConfigPlace& place);
  void read_command(Draft& draft, const toml::node& value, const ConfigPlace& place);
  void read_file(Draft& draft, const toml::node& value, const ConfigPlace& place);
  void read_env_file(Draft& draft, const toml::node& value, const ConfigPlace& place);
  void read_direct(Draft& draft, const toml::node& value, const ConfigPlace& place) {
    draft.made.direct = values_.flag(value, place).value_or(false);
  }
  void read_deliver(Draft& draft, const toml::node& value, const ConfigPlace& place) {
    draft.made.deliver = values_.flag(value, place).value_or(false);
  }

  std::optional<Duration> time(const toml::node& value, const ConfigPlace& place);
  void settle_channel(Draft& draft, const ConfigPlace& place);
  void settle_times(Draft& draft, const ConfigPlace& place);

  ConfigValues& values_;
  Config& config_;
};

void ProbeReader::read(std::string_view name, const toml::node& value, const ConfigPlace& place) {
  static constexpr std::array<Row, 9> kKeys{{
      {"channel", &ProbeReader::read_channel},
      {"interval", &ProbeReader::read_interval},
      {"deadline", &ProbeReader::read_deadline},
      {"target", &ProbeReader::read_target},
      {"command", &ProbeReader::read_command},
      {"file", &ProbeReader::read_file},
      {"env_file", &ProbeReader::read_env_file},
      {"direct", &ProbeReader::read_direct},
      {"deliver", &ProbeReader::read_deliver},
  }};
  const std::size_t told = values_.told();
  if (name.empty() || name.size() > kLongestAgent || on_one_line(name) != name) {
    values_.problem(place,
                    fmt::format("an agent's name is one line of 1 to {} bytes", kLongestAgent));
  }
  Draft draft;
  draft.made.line = place.line;
  read_keys(*this, values_, kKeys, draft, value, place);
  if (values_.told() > told) return;
  settle_channel(draft, place);
  settle_times(draft, place);
  if (values_.told() == told) config_.probes.emplace(name, std::move(draft.made));
}

void ProbeReader::settle_channel(Draft& draft, const ConfigPlace& place) {
  if (!draft.channel) {
    return values_.problem(place, fmt::format("lacks channel, the way on which it is asked: {}",
                                              fmt::join(kProbeChannelWords, ", ")));
  }
  draft.made.channel = *draft.channel;
  for (std::size_t i = 0; i < kChannelKeys.size(); ++i) {
    const ChannelKeyRow& row = kChannelKeys.at(i);
    const bool is_its = row.channel == *draft.channel;
    if (draft.given.at(i) && !is_its) {
      values_.problem(place, fmt::format("has {}, which is for channel {}; this one is {}", row.key,
                                         word_of(row.channel), word_of(*draft.channel)));
    } else if (!draft.given.at(i) && is_its && !row.example.empty()) {
      values_.problem(place, fmt::format("is of channel {} and lacks {}, like {}",
                                         word_of(*draft.channel), row.key, row.example));
    }
  }
}

void ProbeReader::settle_times(Draft& draft, const ConfigPlace& place) {
  ProbeSettings& made = draft.made;
  if (draft.interval) {
    made.interval = *draft.interval;
    made.deadline = std::min(*draft.interval, kLongestTime / kUnanswered) * kUnanswered;
  } else if (draft.deadline) {
    made.interval = std::clamp(*draft.deadline / kUnanswered, Duration{1}, made.interval);
  }
  made.deadline = draft.deadline.value_or(made.deadline);
  if (made.deadline >= made.interval) return;
  const std::string key = place.key + ".deadline";
  values_.problem({config_.lines[key], key},
                  fmt::format("{} is below the interval of {}: it is over before the next "
                              "question; {} would be {} of them",
                              format_duration(made.deadline), format_duration(made.interval),
                              format_duration(kUnanswered * made.interval), kUnanswered));
}

std::optional<Duration> ProbeReader::time(const toml::node& value, const ConfigPlace& place) {
  config_.lines[place.key] = place.line;
  return values_.duration_above_zero(value, place);
}

void ProbeReader::read_channel(Draft& draft, const toml::node& value, const ConfigPlace& place) {
  const auto written = values_.text(value, "the name of a channel", place);
  if (!written) return;
  draft.channel = from_word<ProbeChannel>(kProbeChannelWords, *written);
  if (!draft.channel) {
    values_.unknown(place, "channel " + in_quotes(*written), *written, kProbeChannelWords);
  }
}

void ProbeReader::read_target(Draft& draft, const toml::node& value, const ConfigPlace& place) {
  draft.given.at(target) = true;
  draft.made.target = values_.line(value, "a pane of tmux", kLongestAgent, place).value_or("");
}

void ProbeReader::read_command(Draft& draft, const toml::node& value, const ConfigPlace& place) {
  draft.given.at(command) = true;
  const auto words = values_.command(value, R"(["tmux-send", "{agent}", "{text}"])", place);
  if (words) draft.made.command = *words;
}

void ProbeReader::read_file(Draft& draft, const toml::node& value, const ConfigPlace& place) {
  draft.given.at(file) = true;
  draft.made.file = values_.line(value, "a path", kLongestPath, place).value_or("");
  if (leaves_its_folder(draft.made.file)) values_.problem(place, "must not have .. in it");
}

void ProbeReader::read_env_file(Draft& draft, const toml::node& value, const ConfigPlace& place) {
  draft.made.env_file = values_.path(value, place).value_or("");
}

}  // namespace

void read_gate(ConfigValues& values, const toml::node& value, const ConfigPlace& place,
               Config& config) {
  GateReader(values, config).read(value, place);
}

void read_probes(ConfigValues& values, const toml::node& value, const ConfigPlace& place,
                 Config& config) {
  const toml::table* const table = value.as_table();
  if (table == nullptr) {
    return values.wrong_type(place, "a table of agents that are asked: [probe.NAME]", value);
  }
  if (table->size() > kMostStores) {
    return values.problem(place, fmt::format("{} agents; at most {}", table->size(), kMostStores));
  }
  ProbeReader reader(values, config);
  for (const auto& [key, each] : *table) reader.read(key.str(), each, inside(place, key));
}

}  // namespace tend
