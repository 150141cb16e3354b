// Which keys a kind of store needs and which it may have is one table, kKinds: it makes the
// checks and their words.
#include "store/config_stores.h"

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
#include "base/suggest.h"
#include "store/foreign/json_edit.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr Duration kLongestDeadline = 60s;

/// The keys whose need depends on the kind.
enum KindKey : std::uint8_t { path, field, session, label, command, set, folder, id, counter };
constexpr std::array<std::string_view, 9> kKindKeys{
    "path", "field", "session", "label", "command", "set", "folder", "id", "counter"};
constexpr std::array<std::string_view, 9> kExamples{
    R"(path = "~/gt/deacon/heartbeat.json")",
    R"(field = "timestamp")",
    R"(session = "hq-deacon")",
    R"(label = "heartbeat")",
    R"(command = ["bd", "show", "hq-deacon", "--json"])",
    R"(set = ["bd", "update", "hq-deacon", "--add-label={label}"])",
    R"(folder = "~/gt")",
    R"(id = "{agent}")",
    R"(counter = "cycle")"};

constexpr unsigned bit(KindKey key) { return 1U << key; }

struct KindRow {
  StoreKind kind;
  unsigned needs;
  unsigned may_have;
  bool believed;  // its state, unless told otherwise
};
constexpr std::array<KindRow, kStoreKindWords.size()> kKinds{{
    {StoreKind::json_time, bit(path) | bit(field), bit(counter), false},
    {StoreKind::mtime, bit(path), 0, false},
    {StoreKind::session_state, bit(path), bit(field), true},
    {StoreKind::registry, bit(path) | bit(field), bit(id), true},
    {StoreKind::lease_file, bit(path), bit(field) | bit(id), false},
    {StoreKind::heartbeat_dir, bit(path), 0, true},
    {StoreKind::label, bit(command), bit(label) | bit(set) | bit(folder), false},
    {StoreKind::command, bit(command) | bit(field), bit(folder), false},
    {StoreKind::tmux, bit(session), 0, false},
}};
constexpr bool in_order() {
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    if (kKinds[i].kind != static_cast<StoreKind>(i)) return false;
  }
  return true;
}
static_assert(in_order(), "kKinds: a row is missing, doubled or out of order");

class StoreReader {
 public:
  StoreReader(ConfigValues& values, bool is_sink) : values_(values), is_sink_(is_sink) {}

  void read(const toml::node& value, const ConfigPlace& place, std::vector<AgentStore>& into);

 private:
  struct Draft {
    AgentStore made;
    std::optional<StoreKind> kind;
    std::optional<bool> believed;
    unsigned given = 0;  // of KindKey
  };
  using Row = ConfigRow<StoreReader, Draft>;

  void read_name(Draft& draft, const toml::node& value, const ConfigPlace& place);
  void read_agent(Draft& draft, const toml::node& value, const ConfigPlace& place);
  void read_role(Draft& draft, const toml::node& value, const ConfigPlace& place);
  void read_kind(Draft& draft, const toml::node& value, const ConfigPlace& place);
  void read_its_path(Draft& draft, const toml::node& value, const ConfigPlace& place);
  void read_field(Draft& draft, const toml::node& value, const ConfigPlace& place);
  void read_session(Draft& draft, const toml::node& value, const ConfigPlace& place);
  void read_label(Draft& draft, const toml::node& value, const ConfigPlace& place);
  void read_command(Draft& draft, const toml::node& value, const ConfigPlace& place);
  void read_set(Draft& draft, const toml::node& value, const ConfigPlace& place);
  void read_folder(Draft& draft, const toml::node& value, const ConfigPlace& place);
  void read_id(Draft& draft, const toml::node& value, const ConfigPlace& place);
  void read_counter(Draft& draft, const toml::node& value, const ConfigPlace& place);
  void read_stale(Draft& draft, const toml::node& value, const ConfigPlace& place);
  void read_may_lag(Draft& draft, const toml::node& value, const ConfigPlace& place);
  void read_believed(Draft& draft, const toml::node& value, const ConfigPlace& place);
  void read_ignore_pid(Draft& draft, const toml::node& value, const ConfigPlace& place);
  void read_deadline(Draft& draft, const toml::node& value, const ConfigPlace& place);
  void read_locked(Draft& draft, const toml::node& value, const ConfigPlace& place);
  void read_refresh_after(Draft& draft, const toml::node& value, const ConfigPlace& place);
  void check(const Draft& draft, const ConfigPlace& place);
  void check_kind(const Draft& draft, const ConfigPlace& place);

  ConfigValues& values_;
  bool is_sink_;
};

void StoreReader::read(const toml::node& value, const ConfigPlace& place,
                       std::vector<AgentStore>& into) {
  static constexpr std::array<Row, 15> kSourceKeys{{
      {"name", &StoreReader::read_name},
      {"agent", &StoreReader::read_agent},
      {"role", &StoreReader::read_role},
      {"kind", &StoreReader::read_kind},
      {"path", &StoreReader::read_its_path},
      {"field", &StoreReader::read_field},
      {"session", &StoreReader::read_session},
      {"label", &StoreReader::read_label},
      {"command", &StoreReader::read_command},
      {"folder", &StoreReader::read_folder},
      {"stale", &StoreReader::read_stale},
      {"may_lag", &StoreReader::read_may_lag},
      {"believe_state", &StoreReader::read_believed},
      {"ignore_pid", &StoreReader::read_ignore_pid},
      {"deadline", &StoreReader::read_deadline},
  }};
  static constexpr std::array<Row, 15> kSinkKeys{{
      {"name", &StoreReader::read_name},
      {"agent", &StoreReader::read_agent},
      {"role", &StoreReader::read_role},
      {"kind", &StoreReader::read_kind},
      {"path", &StoreReader::read_its_path},
      {"field", &StoreReader::read_field},
      {"label", &StoreReader::read_label},
      {"command", &StoreReader::read_command},
      {"folder", &StoreReader::read_folder},
      {"set", &StoreReader::read_set},
      {"deadline", &StoreReader::read_deadline},
      {"locked", &StoreReader::read_locked},
      {"id", &StoreReader::read_id},
      {"counter", &StoreReader::read_counter},
      {"refresh_after", &StoreReader::read_refresh_after},
  }};
  const std::size_t told = values_.told();
  Draft draft;
  draft.made.line = place.line;
  if (is_sink_) {
    read_keys(*this, values_, kSinkKeys, draft, value, place);
  } else {
    read_keys(*this, values_, kSourceKeys, draft, value, place);
  }
  if (values_.told() == told) check(draft, place);
  if (values_.told() > told) return;
  AgentStore made = std::move(draft.made);
  made.store.kind = *draft.kind;
  made.believed =
      draft.believed.value_or(kKinds.at(static_cast<std::size_t>(*draft.kind)).believed);
  const auto same = std::ranges::find_if(into, [&](const AgentStore& other) {
    return other.name == made.name && other.agent == made.agent && other.role == made.role;
  });
  if (same != into.end()) {
    return values_.problem(place, fmt::format("there is another {} of this agent in line {}; each "
                                              "has a name of its own",
                                              in_quotes(made.name), same->line));
  }
  into.push_back(std::move(made));
}

void StoreReader::check(const Draft& draft, const ConfigPlace& place) {
  const AgentStore& made = draft.made;
  if (made.name.empty()) values_.problem(place, "lacks its name, like name = \"session\"");
  if (made.agent.empty() == made.role.empty()) {
    values_.problem(place, made.agent.empty()
                               ? "lacks whose it is: agent = \"deacon\" or role = \"witness\""
                               : "has both agent and role; keep one");
  }
  check_kind(draft, place);
}

void StoreReader::check_kind(const Draft& draft, const ConfigPlace& place) {
  if (!draft.kind) {
    return values_.problem(
        place, fmt::format("lacks its kind; allowed: {}", fmt::join(kStoreKindWords, ", ")));
  }
  const KindRow& row = kKinds.at(static_cast<std::size_t>(*draft.kind));
  unsigned needs = row.needs;
  if (is_sink_ && row.kind == StoreKind::label) needs |= bit(set);
  if (is_sink_ && (row.kind == StoreKind::tmux || row.kind == StoreKind::command)) {
    return values_.problem(place,
                           fmt::format("is of kind {}, which can only be read", word(row.kind)));
  }
  for (std::size_t i = 0; i < kKindKeys.size(); ++i) {
    const unsigned key = 1U << i;
    if ((needs & key) != 0 && (draft.given & key) == 0) {
      values_.problem(place, fmt::format("is of kind {} and lacks {}, like {}", word(row.kind),
                                         kKindKeys.at(i), kExamples.at(i)));
    } else if ((draft.given & key) != 0 && ((needs | row.may_have) & key) == 0) {
      values_.problem(
          place, fmt::format("has {}, which is not for kind {}", kKindKeys.at(i), word(row.kind)));
    }
  }
  const bool chooses = draft.made.store.field.find('[') != std::string::npos;
  if (row.kind == StoreKind::registry && (draft.given & bit(field)) != 0 && !chooses) {
    values_.problem(place,
                    "is of kind registry, so its field chooses an entry, like field = "
                    "\"agents[assigned_role=orchestrator].last_heartbeat\"");
  }
}

void StoreReader::read_name(Draft& draft, const toml::node& value, const ConfigPlace& place) {
  const auto name = values_.text(value, "a name", place);
  if (!name) return;
  draft.made.name = *name;
  if (is_bare(*name)) return;
  values_.problem(
      place, fmt::format("a store's name is 1 to {} letters, digits, - and _", kLongestConfigName));
}

void StoreReader::read_agent(Draft& draft, const toml::node& value, const ConfigPlace& place) {
  const auto name = values_.line(value, "the name of an agent", kLongestAgent, place);
  draft.made.agent = name.value_or("");
}

void StoreReader::read_role(Draft& draft, const toml::node& value, const ConfigPlace& place) {
  draft.made.role = values_.line(value, "a role", kLongestAgent, place).value_or("");
}

void StoreReader::read_kind(Draft& draft, const toml::node& value, const ConfigPlace& place) {
  const auto written = values_.text(value, "a kind of store", place);
  if (!written) return;
  draft.kind = from_word<StoreKind>(kStoreKindWords, *written);
  if (draft.kind) return;
  values_.unknown(place, "kind " + in_quotes(*written), *written, kStoreKindWords);
}

void StoreReader::read_its_path(Draft& draft, const toml::node& value, const ConfigPlace& place) {
  draft.given |= bit(path);
  draft.made.store.path = values_.path(value, place).value_or("");
}

void StoreReader::read_field(Draft& draft, const toml::node& value, const ConfigPlace& place) {
  draft.given |= bit(field);
  const auto text =
      values_.line(value, "the path of a field, like \"timestamp\"", kLongestPath, place);
  if (!text) return;
  draft.made.store.field = *text;
  if (const auto parsed = parse_json_path(*text); !parsed) {
    values_.problem(place, parsed.error().text);
  }
}

void StoreReader::read_session(Draft& draft, const toml::node& value, const ConfigPlace& place) {
  draft.given |= bit(session);
  draft.made.store.session =
      values_.line(value, "a session of tmux", kLongestAgent, place).value_or("");
}

void StoreReader::read_label(Draft& draft, const toml::node& value, const ConfigPlace& place) {
  draft.given |= bit(label);
  draft.made.store.label =
      values_.line(value, "what stands before the colon of a label", kLongestAgent, place)
          .value_or("");
}

void StoreReader::read_command(Draft& draft, const toml::node& value, const ConfigPlace& place) {
  draft.given |= bit(command);
  const auto words = values_.command(value, "[\"bd\", \"show\", \"hq-deacon\", \"--json\"]", place);
  if (words) draft.made.store.command = *words;
}

void StoreReader::read_set(Draft& draft, const toml::node& value, const ConfigPlace& place) {
  draft.given |= bit(set);
  const auto words =
      values_.command(value, "[\"bd\", \"update\", \"hq-deacon\", \"--add-label={label}\"]", place);
  if (!words) return;
  draft.made.store.set = *words;
  const bool has_place = std::ranges::any_of(*words, [](const std::string& each) {
    return each.contains("{labels}") || each.contains("{label}");
  });
  if (!has_place) values_.problem(place, "has no {label} or {labels}, where the new one is put in");
}

void StoreReader::read_folder(Draft& draft, const toml::node& value, const ConfigPlace& place) {
  draft.given |= bit(folder);
  draft.made.store.folder = values_.path(value, place).value_or("");
}

void StoreReader::read_id(Draft& draft, const toml::node& value, const ConfigPlace& place) {
  draft.given |= bit(id);
  draft.made.id = values_.line(value, "an id", kLongestAgent, place).value_or("");
}

void StoreReader::read_counter(Draft& draft, const toml::node& value, const ConfigPlace& place) {
  draft.given |= bit(counter);
  draft.made.counter = values_.line(value, "a key", kLongestAgent, place).value_or("");
}

void StoreReader::read_stale(Draft& draft, const toml::node& value, const ConfigPlace& place) {
  draft.made.stale = values_.duration_above_zero(value, place);
}

void StoreReader::read_may_lag(Draft& draft, const toml::node& value, const ConfigPlace& place) {
  draft.made.may_lag = values_.flag(value, place).value_or(false);
}

void StoreReader::read_believed(Draft& draft, const toml::node& value, const ConfigPlace& place) {
  draft.believed = values_.flag(value, place);
}

void StoreReader::read_ignore_pid(Draft& draft, const toml::node& value, const ConfigPlace& place) {
  draft.made.store.ignores_pid = values_.flag(value, place).value_or(false);
}

void StoreReader::read_deadline(Draft& draft, const toml::node& value, const ConfigPlace& place) {
  const auto deadline = values_.duration_above_zero(value, place);
  if (!deadline) return;
  draft.made.store.deadline = *deadline;
  if (*deadline <= kLongestDeadline) return;
  values_.problem(place, fmt::format("must be {} or less", format_duration(kLongestDeadline)));
}

void StoreReader::read_locked(Draft& draft, const toml::node& value, const ConfigPlace& place) {
  draft.made.store.locked = values_.flag(value, place).value_or(false);
}

void StoreReader::read_refresh_after(Draft& draft, const toml::node& value,
                                     const ConfigPlace& place) {
  if (const auto after = values_.duration(value, place)) draft.made.refresh_after = *after;
}

// ---- [store.NAME] ----

class ForeignReader {
 public:
  explicit ForeignReader(ConfigValues& values) : values_(values) {}

  void read(std::string_view name, const toml::node& value, const ConfigPlace& place,
            Config& config);

 private:
  using Row = ConfigRow<ForeignReader, ForeignSetting>;

  void read_preset(ForeignSetting& made, const toml::node& value, const ConfigPlace& place);
  void read_root(ForeignSetting& made, const toml::node& value, const ConfigPlace& place) {
    made.root = values_.path(value, place).value_or("");
  }
  void read_session(ForeignSetting& made, const toml::node& value, const ConfigPlace& place) {
    made.session = values_.line(value, "a session of tmux", kLongestAgent, place).value_or("");
  }
  void read_stale(ForeignSetting& made, const toml::node& value, const ConfigPlace& place) {
    made.stale = values_.duration_above_zero(value, place);
  }
  void read_very_stale(ForeignSetting& made, const toml::node& value, const ConfigPlace& place) {
    made.very_stale = values_.duration_above_zero(value, place);
  }
  void read_poke(ForeignSetting& made, const toml::node& value, const ConfigPlace& place);
  void read_poke_after(ForeignSetting& made, const toml::node& value, const ConfigPlace& place) {
    made.poke_after = values_.duration_above_zero(value, place);
  }
  void read_kill(ForeignSetting& made, const toml::node& value, const ConfigPlace& place) {
    made.kill = values_.flag(value, place).value_or(false);
  }
  void check(const ForeignSetting& made, const ConfigPlace& place);

  ConfigValues& values_;
};

void ForeignReader::read(std::string_view name, const toml::node& value, const ConfigPlace& place,
                         Config& config) {
  static constexpr std::array<Row, 8> kKeys{{
      {"preset", &ForeignReader::read_preset},
      {"root", &ForeignReader::read_root},
      {"session", &ForeignReader::read_session},
      {"stale", &ForeignReader::read_stale},
      {"very_stale", &ForeignReader::read_very_stale},
      {"poke", &ForeignReader::read_poke},
      {"poke_after", &ForeignReader::read_poke_after},
      {"kill", &ForeignReader::read_kill},
  }};
  const std::size_t told = values_.told();
  if (name.empty() || name.size() > kLongestAgent || on_one_line(name) != name) {
    values_.problem(place,
                    fmt::format("an agent's name is one line of 1 to {} bytes", kLongestAgent));
  }
  ForeignSetting made;
  made.line = place.line;
  read_keys(*this, values_, kKeys, made, value, place);
  if (values_.told() == told) check(made, place);
  if (values_.told() == told) config.stores.emplace(name, std::move(made));
}

void ForeignReader::check(const ForeignSetting& made, const ConfigPlace& place) {
  if (made.preset == Preset::teaparty && made.root.empty()) {
    values_.problem(place,
                    "is of preset teaparty and lacks root, the folder of the job, like "
                    "root = \"~/project/.teaparty/jobs/job-1--fix\"");
  }
  if (!made.preset && !made.root.empty()) {
    values_.problem(place, "has root, which is for a preset");
  }
  if (!made.preset && !made.session.empty()) {
    values_.problem(place, "has session, which is for a preset; write a [[source]] of kind tmux");
  }
  if (made.stale && made.very_stale && *made.very_stale <= *made.stale) {
    values_.problem(place,
                    fmt::format("very_stale ({}) must be above stale ({})",
                                format_duration(*made.very_stale), format_duration(*made.stale)));
  }
  if (made.poke_after && !made.poke && made.preset != Preset::gastown) {
    values_.problem(place, "has poke_after and no poke");
  }
}

void ForeignReader::read_preset(ForeignSetting& made, const toml::node& value,
                                const ConfigPlace& place) {
  const auto written = values_.text(value, "the name of a preset", place);
  if (!written) return;
  made.preset = from_word<Preset>(kPresetWords, *written);
  if (!made.preset) {
    values_.unknown(place, "preset " + in_quotes(*written), *written, kPresetWords);
  }
}

void ForeignReader::read_poke(ForeignSetting& made, const toml::node& value,
                              const ConfigPlace& place) {
  if (const auto* const list = value.as_array(); list != nullptr && list->empty()) {
    made.poke.emplace();  // nobody, whatever the preset says
    return;
  }
  made.poke = values_.command(value, "[\"gt\", \"nudge\", \"deacon\", \"wake up\"]", place);
}

void read_stores(ConfigValues& values, const toml::node& value, const ConfigPlace& place,
                 bool is_sink, std::vector<AgentStore>& into) {
  const toml::array* const list = value.as_array();
  const std::string_view what = is_sink ? "sink" : "source";
  if (list == nullptr) {
    return values.wrong_type(place, fmt::format("a list of {0}s: [[{0}]]", what), value);
  }
  if (list->size() > kMostStores) {
    return values.problem(place,
                          fmt::format("{} {}s; at most {}", list->size(), what, kMostStores));
  }
  StoreReader reader(values, is_sink);
  for (const toml::node& each : *list) {
    reader.read(each, {line_of(each.source()), place.key}, into);
  }
}

}  // namespace

void read_foreign_agents(ConfigValues& values, const toml::node& value, const ConfigPlace& place,
                         Config& config) {
  const toml::table* const table = value.as_table();
  if (table == nullptr) {
    return values.wrong_type(place, "a table of agents of other systems: [store.NAME]", value);
  }
  if (table->size() > kMostStores) {
    return values.problem(place, fmt::format("{} agents; at most {}", table->size(), kMostStores));
  }
  ForeignReader reader(values);
  for (const auto& [key, each] : *table) reader.read(key.str(), each, inside(place, key), config);
}

void read_sources(ConfigValues& values, const toml::node& value, const ConfigPlace& place,
                  Config& config) {
  read_stores(values, value, place, false, config.sources);
}

void read_sinks(ConfigValues& values, const toml::node& value, const ConfigPlace& place,
                Config& config) {
  read_stores(values, value, place, true, config.sinks);
}

}  // namespace tend
