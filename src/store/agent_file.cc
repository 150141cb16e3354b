// The file is our own, so reading is strict: what is not as we write it is refused with its name.
// Texts are command lines and paths of a system where any byte but NUL may stand in them: one that
// is no UTF-8 is written as {"bytes":"..."}, each byte a code point below 256.
#include "store/agent_file.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/quote.h"
#include "base/suggest.h"
#include "store/json.h"

namespace tend {
namespace {

constexpr int kFormat = 1;
constexpr std::size_t kLargestFile = std::size_t{4} * 1024 * 1024;  // the texts, escaped at worst
constexpr std::size_t kLongestName = 128;
constexpr std::size_t kLongestText = 4096;
constexpr std::size_t kMostWords = 4096;
constexpr std::size_t kMostBytes = std::size_t{128} * 1024;  // of all words of one list
constexpr std::uint64_t kMostPid = std::numeric_limits<std::int32_t>::max();
constexpr std::uint64_t kMostFd = 1023;
constexpr auto kLongestMs = static_cast<std::uint64_t>(kLongestTime.count());

constexpr std::array<std::string_view, 28> kKeys{
    "format",         "agent",
    "session",        "role",
    "command",        "watched",
    "tmux",           "parent_heartbeat",
    "task_id",        "dispatched_by",
    "worktree",       "own_worktree",
    "working_folder", "environment_names",
    "inherit_input",  "ready_fd",
    "policy",         "limits",
    "adapter",        "as_is",
    "on_stall",       "restart",
    "beat_ms",        "max_life_ms",
    "notify",         "task",
    "store",          "listens",
};

// ---- Writing

WriteJson text_json(const std::string& text) {
  if (is_utf8(text)) return text;
  std::string points;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      points += c;
    } else {
      points += static_cast<char>(0xc0U | (byte >> 6U));
      points += static_cast<char>(0x80U | (byte & 0x3fU));
    }
  }
  return WriteJson::object({{"bytes", std::move(points)}});
}

WriteJson list_json(const std::vector<std::string>& words) {
  WriteJson list = WriteJson::array();
  for (const std::string& each : words) list.push_back(text_json(each));
  return list;
}

WriteJson process_json(const ProcessId& id) {
  return {{"pid", id.pid},
          {"start_ticks", id.start_ticks},
          {"pid_ns", id.pid_ns},
          {"boot_id", id.boot_id}};
}

// ---- Reading

/// Reads field by field; the first thing that is wrong refuses the whole file.
class Reader {
 public:
  explicit Reader(const ReadJson& object) : object_(object) {}

  Result<AgentFile> read();

 private:
  void refuse(std::string_view key, std::string_view what) {
    if (wrong_.empty()) wrong_ = fmt::format("{}: {}", key, what);
  }
  void read_who();
  void read_what();
  void read_how();
  void check_keys();
  void check_subject();

  void name(std::string_view key, std::string& into);
  void text(std::string_view key, std::size_t most, std::string& into);
  void path(std::string_view key, std::string& into);
  void list(std::string_view key, std::vector<std::string>& into);
  void flag(std::string_view key, bool& into);
  std::optional<std::uint64_t> number(std::string_view key, std::uint64_t least,
                                      std::uint64_t most);
  template <class Enum, std::size_t N>
  void choice(std::string_view key, const std::array<std::string_view, N>& words, Enum& into);
  void process(std::string_view key, std::optional<ProcessId>& into);

  const ReadJson& object_;
  AgentFile file_;
  std::string wrong_;
};

/// The bytes of a text, or what is wrong with it.
Result<std::string> text_of(const ReadJson& json) {
  if (json.is_string()) {
    const auto& text = json.get_ref<const std::string&>();
    if (text.find('\0') != std::string::npos) return fail("has a NUL");
    return text;
  }
  const ReadJson* const bytes = json.is_object() ? find_field(json, "bytes") : nullptr;
  if (bytes == nullptr || !bytes->is_string() || json.size() != 1) return fail("must be a text");
  const auto& points = bytes->get_ref<const std::string&>();
  std::string text;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto byte = static_cast<unsigned char>(points[i]);
    if (byte == 0) return fail("has a NUL");
    if (byte < 0x80) {
      text += points[i];
      continue;
    }
    if (byte > 0xc3) return fail("has a code point that is no byte");
    const auto low = static_cast<unsigned char>(points[++i]) & 0x3fU;  // whole: it was parsed
    text += static_cast<char>(((byte & 3U) << 6U) | low);
  }
  return text;
}

void Reader::text(std::string_view key, std::size_t most, std::string& into) {
  const ReadJson* const field = find_field(object_, key);
  if (field == nullptr) return;
  auto read = text_of(*field);
  if (!read) return refuse(key, read.error().text);
  if (read->size() > most) return refuse(key, fmt::format("is longer than {} bytes", most));
  into = *std::move(read);
}

void Reader::name(std::string_view key, std::string& into) {
  text(key, kLongestName, into);
  if (on_one_line(into) != into) refuse(key, "has control characters");
}

void Reader::path(std::string_view key, std::string& into) {
  text(key, kLongestText, into);
  if (!into.empty() && into.front() != '/') {
    refuse(key, fmt::format("must be an absolute path, not {}", in_quotes(into)));
  }
}

void Reader::list(std::string_view key, std::vector<std::string>& into) {
  const ReadJson* const field = find_field(object_, key);
  if (field == nullptr) return;
  if (!field->is_array()) return refuse(key, "must be a list of texts");
  if (field->size() > kMostWords) {
    return refuse(key, fmt::format("has more than {} entries", kMostWords));
  }
  std::size_t bytes = 0;
  for (const ReadJson& each : *field) {
    auto read = text_of(each);
    if (!read) return refuse(key, read.error().text);
    bytes += read->size() + 1;
    if (bytes > kMostBytes) return refuse(key, fmt::format("is longer than {} bytes", kMostBytes));
    into.push_back(*std::move(read));
  }
}

void Reader::flag(std::string_view key, bool& into) {
  const ReadJson* const field = find_field(object_, key);
  if (field == nullptr) return;
  if (!field->is_boolean()) return refuse(key, "must be true or false");
  into = field->get<bool>();
}

std::optional<std::uint64_t> Reader::number(std::string_view key, std::uint64_t least,
                                            std::uint64_t most) {
  const ReadJson* const field = find_field(object_, key);
  if (field == nullptr) return std::nullopt;
  if (field->is_number_unsigned()) {
    const auto value = field->get<std::uint64_t>();
    if (value >= least && value <= most) return value;
  }
  refuse(key, fmt::format("must be a whole number from {} to {}", least, most));
  return std::nullopt;
}

template <class Enum, std::size_t N>
void Reader::choice(std::string_view key, const std::array<std::string_view, N>& words,
                    Enum& into) {
  const ReadJson* const field = find_field(object_, key);
  if (field == nullptr) return;
  const std::string written = field->is_string() ? field->get<std::string>() : "";
  const auto known = from_word<Enum>(words, written);
  if (!known) {
    return refuse(key, fmt::format("is {}; allowed: {}{}", in_quotes(written),
                                   fmt::join(words, ", "), did_you_mean(written, words)));
  }
  into = *known;
}

void Reader::process(std::string_view key, std::optional<ProcessId>& into) {
  const ReadJson* const field = find_field(object_, key);
  if (field == nullptr) return;
  if (!field->is_object()) return refuse(key, "must be an object");
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  const ProcessId id{static_cast<std::int64_t>(whole_number(*field, "pid", kMostPid)),
                     whole_number(*field, "start_ticks", kMost),
                     whole_number(*field, "pid_ns", kMost),
                     exact_text(*field, "boot_id", kLongestName)};
  if (id.pid == 0) return refuse(key, "names no process");
  into = id;
}

void Reader::check_keys() {
  for (const auto& [key, value] : object_.items()) {
    if (std::ranges::find(kKeys, key) == kKeys.end()) {
      refuse(in_quotes(key), "is no field of it" + did_you_mean(key, kKeys));
    }
  }
}

/// A keeper needs exactly one thing to keep.
void Reader::check_subject() {
  const int subjects =
      int{!file_.command.empty()} + int{file_.watched.has_value()} + int{!file_.store.empty()};
  if (subjects != 1) {
    refuse("command", "exactly one of command, watched and store must be given");
  }
  if (!file_.tmux.empty() && !file_.watched) {
    refuse("tmux", "is for a watched process only");
  }
  if (!file_.command.empty() && file_.command.front().empty())
    refuse("command", "names no program");
}

void Reader::read_who() {
  name("agent", file_.agent);
  if (file_.agent.empty()) refuse("agent", "is missing");
  name("session", file_.session);
  name("role", file_.role);
  path("parent_heartbeat", file_.parent_heartbeat);
  text("task", kLongestText, file_.task);
  name("task_id", file_.task_id);
  process("dispatched_by", file_.dispatched_by);
}

void Reader::read_what() {
  list("command", file_.command);
  process("watched", file_.watched);
  text("tmux", kLongestText, file_.tmux);
  name("store", file_.store);
  check_subject();
  list("environment_names", file_.environment_names);
  path("working_folder", file_.working_folder);
  path("worktree", file_.worktree);
  flag("own_worktree", file_.own_worktree);
  flag("inherit_input", file_.inherit_input);
  flag("listens", file_.listens);
  if (const auto fd = number("ready_fd", 0, kMostFd)) file_.ready_fd = static_cast<int>(*fd);
}

void Reader::read_how() {
  text("policy", kLongestText, file_.policy);
  list("limits", file_.limits);
  choice("adapter", kAdapterWords, file_.adapter);
  flag("as_is", file_.as_is);
  choice("on_stall", kOnStallWords, file_.on_stall);
  choice("restart", kRestartWords, file_.restart);
  if (const auto beat = number("beat_ms", 1, kLongestMs)) {
    file_.beat = Duration{static_cast<std::int64_t>(*beat)};
  }
  if (const auto most = number("max_life_ms", 1, kLongestMs)) {
    file_.max_life = Duration{static_cast<std::int64_t>(*most)};
  }
  list("notify", file_.notify);
}

Result<AgentFile> Reader::read() {
  const ReadJson* const format = find_field(object_, "format");
  if (format == nullptr || *format != kFormat) {
    return fail(fmt::format("is not of format {}, the only one that this tend reads", kFormat));
  }
  check_keys();
  read_who();
  read_what();
  read_how();
  if (!wrong_.empty()) return fail(wrong_);
  return std::move(file_);
}

}  // namespace

std::string format_agent_file(const AgentFile& file) {
  WriteJson json{
      {"format", kFormat},
      {"agent", text_json(file.agent)},
      {"session", text_json(file.session)},
      {"role", text_json(file.role)},
      {"parent_heartbeat", text_json(file.parent_heartbeat)},
      {"command", list_json(file.command)},
      {"tmux", text_json(file.tmux)},
      {"environment_names", list_json(file.environment_names)},
      {"working_folder", text_json(file.working_folder)},
      {"worktree", text_json(file.worktree)},
      {"inherit_input", file.inherit_input},
      {"policy", text_json(file.policy)},
      {"limits", list_json(file.limits)},
      {"adapter", kAdapterWords[static_cast<std::size_t>(file.adapter)]},
      {"on_stall", kOnStallWords[static_cast<std::size_t>(file.on_stall)]},
      {"restart", kRestartWords[static_cast<std::size_t>(file.restart)]},
      {"beat_ms", file.beat.count()},
      {"notify", list_json(file.notify)},
  };
  if (!file.task.empty()) json["task"] = text_json(file.task);
  if (!file.task_id.empty()) json["task_id"] = text_json(file.task_id);
  if (file.dispatched_by) json["dispatched_by"] = process_json(*file.dispatched_by);
  if (file.own_worktree) json["own_worktree"] = true;
  if (file.as_is) json["as_is"] = true;
  if (file.watched) json["watched"] = process_json(*file.watched);
  if (!file.store.empty()) json["store"] = text_json(file.store);
  if (file.listens) json["listens"] = true;
  if (file.ready_fd) json["ready_fd"] = *file.ready_fd;
  if (file.max_life) json["max_life_ms"] = file.max_life->count();
  return to_line(json) + "\n";
}

Result<AgentFile> parse_agent_file(std::string_view text) {
  if (text.size() > kLargestFile) return fail("is larger than 4 MB");
  const auto object = parse_object(text, kLargestFile);
  if (!object) return fail("is no JSON object");
  return Reader(*object).read();
}

Result<AgentFile> read_agent_file(Folder& folder) {
  const std::string name(kAgentFile);
  const auto text = folder.read(name, kLargestFile);
  if (!text) return std::unexpected(text.error());
  const std::string path = on_one_line(folder.path()) + "/" + name;
  if (!*text) return fail(path + ": there is no such file");
  auto file = parse_agent_file(**text);
  if (!file) return fail(path + ": " + file.error().text);
  return file;
}

}  // namespace tend
