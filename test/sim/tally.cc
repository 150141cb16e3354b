// Adding up worlds, and writing the sums for machines and for people.
#include "tally.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "store/json.h"

namespace tend::sim {
namespace {

constexpr std::size_t kLargestTally = std::size_t{256} * 1024 * 1024;
constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

/// The plain numbers, by the names they have in JSON.
struct TallyKey {
  const char* name;
  std::uint64_t Tally::* member;
};
constexpr TallyKey kNumbers[] = {
    {"worlds", &Tally::worlds}, {"broken_worlds", &Tally::broken_worlds},
    {"agents", &Tally::agents}, {"finished", &Tally::finished},
    {"lives", &Tally::lives},   {"kills", &Tally::kills},
    {"merges", &Tally::merges}, {"false_kills", &Tally::false_kills},
};

/// As text and as JSON: hexadecimal digits, because many readers of JSON lose the last bits of a
/// number.
std::string hash_text(const Tally& tally) { return fmt::format("{:016x}", tally.digest); }

void add(HangTally& to, const HangTally& more) {
  to.delays.insert(to.delays.end(), more.delays.begin(), more.delays.end());
  to.missed += more.missed;
  to.open += more.open;
}

void add(BrokenTally& to, const BrokenTally& more) {
  for (const std::string& text : more.said) {
    if (to.said.size() < BrokenTally::kMostSaid) to.said.push_back(text);
  }
  to.times += more.times;
  to.soonest = std::min(to.soonest, more.soonest);
  for (const std::uint64_t seed : more.seeds) {
    const bool new_one = std::ranges::find(to.seeds, seed) == to.seeds.end();
    if (new_one && to.seeds.size() < BrokenTally::kMostSeeds) to.seeds.push_back(seed);
  }
}

void add_violation(Tally& tally, std::uint64_t seed, const std::string& check,
                   const std::string& what, Duration at) {
  add(tally.broken[check], {.times = 1, .seeds = {seed}, .said = {what}, .soonest = at});
}

// --- JSON ----------------------------------------------------------------------------------------

WriteJson hang_json(const HangTally& hangs) {
  WriteJson delays = WriteJson::array();
  for (const Duration delay : hangs.delays) delays.push_back(delay.count());
  return {{"delays_ms", std::move(delays)}, {"missed", hangs.missed}, {"open", hangs.open}};
}

WriteJson number_json(const std::uint64_t& number) { return number; }

template <class Map, std::size_t N>
WriteJson by_word(const Map& map, const std::array<std::string_view, N>& words,
                  WriteJson (*to_json)(const typename Map::mapped_type&)) {
  WriteJson json = WriteJson::object();
  for (const auto& [kind, value] : map) {
    json[std::string(words.at(static_cast<std::size_t>(kind)))] = to_json(value);
  }
  return json;
}

WriteJson broken_json(const BrokenTally& broken) {
  WriteJson json{{"times", broken.times}, {"seeds", broken.seeds}, {"said", broken.said}};
  json["soonest_ms"] = nullptr;
  if (broken.soonest != kNoLimit) json["soonest_ms"] = broken.soonest.count();
  return json;
}

std::vector<std::uint64_t> numbers_in(const ReadJson& object, const char* key) {
  std::vector<std::uint64_t> numbers;
  const ReadJson* const list = find_field(object, key);
  if (list == nullptr || !list->is_array()) return numbers;
  for (const ReadJson& each : *list) {
    if (each.is_number_unsigned()) numbers.push_back(each.get<std::uint64_t>());
  }
  return numbers;
}

HangTally read_hangs(const ReadJson& object) {
  HangTally hangs;
  for (const std::uint64_t delay : numbers_in(object, "delays_ms")) {
    hangs.delays.emplace_back(static_cast<Duration::rep>(delay));
  }
  hangs.missed = whole_number(object, "missed", kMost);
  hangs.open = whole_number(object, "open", kMost);
  return hangs;
}

BrokenTally read_broken(const ReadJson& object) {
  BrokenTally broken;
  broken.times = whole_number(object, "times", kMost);
  broken.seeds = numbers_in(object, "seeds");
  if (find_field(object, "soonest_ms") != nullptr) {
    broken.soonest = Duration{static_cast<Duration::rep>(
        whole_number(object, "soonest_ms", static_cast<std::uint64_t>(kNoLimit.count())))};
  }
  const ReadJson* const said = find_field(object, "said");
  if (said == nullptr || !said->is_array()) return broken;
  for (const ReadJson& text : *said) {
    if (text.is_string()) broken.said.push_back(text.get<std::string>());
  }
  return broken;
}

std::uint64_t read_number(const ReadJson& number) {
  return number.is_number_unsigned() ? number.get<std::uint64_t>() : 0;
}

/// False if it is missing, or has a word that is unknown.
template <class Enum, class Value, std::size_t N>
bool read_by_word(const ReadJson& tally, const char* key,
                  const std::array<std::string_view, N>& words, std::map<Enum, Value>& to,
                  Value (*read)(const ReadJson&)) {
  const ReadJson* const object = find_field(tally, key);
  if (object == nullptr || !object->is_object()) return false;
  for (const auto& [word, value] : object->items()) {
    const auto known = from_word<Enum>(words, word);
    if (!known) return false;
    to[*known] = read(value);
  }
  return true;
}

// --- Text ----------------------------------------------------------------------------------------

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

std::string describe_hangs(std::string_view kind, const HangTally& hangs) {
  std::string text = fmt::format("  {}: {} of {} found", kind, hangs.delays.size(), hangs.all());
  if (!hangs.delays.empty()) {
    text +=
        fmt::format(" within {:.0f} s (half), {:.0f} s (99 of 100), {:.0f} s (all)",
                    seconds(percentile(hangs.delays, 50)), seconds(percentile(hangs.delays, 99)),
                    seconds(percentile(hangs.delays, 100)));
  }
  if (hangs.missed > 0) text += fmt::format(", {} MISSED", hangs.missed);
  if (hangs.open > 0) text += fmt::format(", {} ended before", hangs.open);
  return text + "\n";
}

std::string describe_false_kills(const Tally& tally) {
  std::vector<std::string> in;
  in.reserve(tally.false_kills_in.size());
  for (const auto& [kind, count] : tally.false_kills_in) {
    in.push_back(fmt::format("{} {}", kStepWords.at(static_cast<std::size_t>(kind)), count));
  }
  return fmt::format("{} of them false{}", tally.false_kills,
                     in.empty() ? "" : fmt::format(" ({})", fmt::join(in, ", ")));
}

template <class T>
std::span<const T> first_of(const std::vector<T>& all, std::size_t most) {
  return std::span(all).first(std::min(most, all.size()));
}

/// All that was said of one world, a little of what was said of many.
std::string describe_broken(const std::string& check, const BrokenTally& broken) {
  constexpr std::size_t kMostShown = 10;
  const bool one = broken.seeds.size() == 1;
  std::string text = fmt::format("{}: {}, {}, seed{} {}{}\n",
                                 is_of_safety(check) ? "violated" : "violated, too late", check,
                                 broken.times == 1 ? "once" : fmt::format("{} times", broken.times),
                                 one ? "" : "s", fmt::join(first_of(broken.seeds, kMostShown), " "),
                                 broken.seeds.size() > kMostShown ? " ..." : "");
  for (const std::string& what : first_of(broken.said, one ? BrokenTally::kMostSaid : 3)) {
    text += fmt::format("  {}\n", what);
  }
  return text;
}

std::string plural(std::uint64_t count, std::string_view word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

}  // namespace

Duration percentile(std::vector<Duration> delays, std::size_t percent) {
  const auto at =
      delays.begin() + static_cast<std::ptrdiff_t>((delays.size() * percent + 99) / 100 - 1);
  std::ranges::nth_element(delays, at);
  return *at;
}

double hours(Duration duration) {
  return std::chrono::duration<double, std::ratio<3600>>(duration).count();
}

bool is_of_safety(std::string_view check) {
  return std::ranges::find(kChecksOfLiveness, check) == kChecksOfLiveness.end();
}

Tally& Tally::operator+=(const Tally& other) {
  for (const TallyKey& key : kNumbers) this->*key.member += other.*key.member;
  agent_time += other.agent_time;
  digest += other.digest;
  for (const auto& [kind, count] : other.faults) faults[kind] += count;
  for (const auto& [kind, count] : other.false_kills_in) false_kills_in[kind] += count;
  for (const auto& [kind, more] : other.hangs) add(hangs[kind], more);
  for (const auto& [check, more] : other.broken) add(broken[check], more);
  return *this;
}

std::uint64_t Tally::fault_count() const {
  std::uint64_t sum = 0;
  for (const auto& [kind, count] : faults) sum += count;
  return sum;
}

std::uint64_t Tally::hang_count() const {
  std::uint64_t sum = 0;
  for (const auto& [kind, of_kind] : hangs) sum += of_kind.all();
  return sum;
}

std::uint64_t Tally::found_count() const {
  std::uint64_t sum = 0;
  for (const auto& [kind, of_kind] : hangs) sum += of_kind.delays.size();
  return sum;
}

std::uint64_t Tally::violations() const {
  std::uint64_t sum = 0;
  for (const auto& [check, of_check] : broken) sum += of_check.times;
  return sum;
}

std::uint64_t Tally::violations_of_safety() const {
  std::uint64_t sum = 0;
  for (const auto& [check, of_check] : broken) sum += is_of_safety(check) ? of_check.times : 0;
  return sum;
}

std::string Tally::first_broken() const {
  const auto first =
      std::ranges::min_element(broken, {}, [](const auto& check) { return check.second.soonest; });
  return first == broken.end() ? "" : first->first;
}

Tally tally_of(std::uint64_t seed, const Outcome& outcome) {
  Tally tally;
  tally.worlds = 1;
  tally.broken_worlds = outcome.violations.empty() ? 0 : 1;
  tally.agents = outcome.agents;
  tally.finished = outcome.finished;
  tally.lives = outcome.lives;
  tally.kills = outcome.kills;
  tally.false_kills = outcome.false_kills;
  tally.merges = outcome.merges;
  tally.agent_time = outcome.agent_time;
  tally.digest = outcome.digest;
  tally.faults = outcome.faults;
  tally.false_kills_in = outcome.false_kills_in;
  for (const HangTruth& hang : outcome.hangs) {
    HangTally& of_kind = tally.hangs[hang.kind];
    if (hang.missed) {
      ++of_kind.missed;
    } else if (hang.known > Duration::zero()) {
      of_kind.delays.push_back(hang.known - hang.since);
    } else {
      ++of_kind.open;
    }
  }
  for (const Violation& each : outcome.violations) {
    add_violation(
        tally, seed, each.check,
        fmt::format("{} (at {:.3f} s)", each.what, std::chrono::duration<double>(each.at).count()),
        each.at);
  }
  return tally;
}

Tally tally_of_failure(std::uint64_t seed, const std::string& check, const std::string& what) {
  Tally tally;
  tally.worlds = 1;
  tally.broken_worlds = 1;
  add_violation(tally, seed, check, what, kNoLimit);
  return tally;
}

namespace {

WriteJson to_json(WriteJson json, const Tally& tally) {
  for (const TallyKey& key : kNumbers) json[key.name] = tally.*key.member;
  json["hash"] = hash_text(tally);
  json["violations_of_safety"] = tally.violations_of_safety();
  json["agent_ms"] = tally.agent_time.count();
  json["faults"] = by_word(tally.faults, kFaultWords, number_json);
  json["false_kills_in"] = by_word(tally.false_kills_in, kStepWords, number_json);
  json["hangs"] = by_word(tally.hangs, kStepWords, hang_json);
  json["broken"] = WriteJson::object();
  for (const auto& [check, broken] : tally.broken) json["broken"][check] = broken_json(broken);
  return json;
}

/// Nothing unless it is as hash_text() writes it.
std::optional<std::uint64_t> read_hash(const std::string& text) {
  std::uint64_t hash = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, hash, 16);
  if (text.size() != 16 || read.ec != std::errc{} || read.ptr != end) return std::nullopt;
  return hash;
}

}  // namespace

std::string format_tally(const Tally& tally) {
  return to_line(to_json(WriteJson::object(), tally));
}

std::string format_tally(const char* key, std::uint64_t seed, const Tally& tally, bool broken_off) {
  WriteJson json{{key, seed}};
  if (broken_off) json["broken_off"] = true;
  return to_line(to_json(std::move(json), tally));
}

Result<Tally> parse_tally(std::string_view text) {
  const auto json = parse_object(text, kLargestTally);
  if (!json) return fail("tally: the text is no JSON object");
  Tally tally;
  for (const TallyKey& key : kNumbers) {
    if (!json->contains(key.name)) return fail(fmt::format("tally: has no \"{}\"", key.name));
    tally.*key.member = whole_number(*json, key.name, kMost);
  }
  const auto hash = read_hash(exact_text(*json, "hash", 16));
  if (!hash) return fail("tally: \"hash\" is not 16 hexadecimal digits");
  tally.digest = *hash;
  tally.agent_time =
      Duration{static_cast<Duration::rep>(whole_number(*json, "agent_ms", kMost / 2))};
  const bool known =
      read_by_word(*json, "faults", kFaultWords, tally.faults, read_number) &&
      read_by_word(*json, "false_kills_in", kStepWords, tally.false_kills_in, read_number) &&
      read_by_word(*json, "hangs", kStepWords, tally.hangs, read_hangs);
  const ReadJson* const broken = find_field(*json, "broken");
  if (!known || broken == nullptr || !broken->is_object()) {
    return fail("tally: what is counted by kind is missing, or of an unknown kind");
  }
  for (const auto& [check, each] : broken->items()) tally.broken[check] = read_broken(each);
  return tally;
}

std::string describe_tally(const Tally& tally) {
  std::string text =
      fmt::format("{}, {}, {} finished, {}, {:.1f} agent-hours\n", plural(tally.worlds, "world"),
                  plural(tally.agents, "agent"), tally.finished,
                  fmt::format("{} {}", tally.lives, tally.lives == 1 ? "life" : "lives"),
                  hours(tally.agent_time));
  text += fmt::format("{}, {}, {}, {}\n", plural(tally.fault_count(), "fault"),
                      plural(tally.kills, "kill"), describe_false_kills(tally),
                      plural(tally.merges, "merge"));
  for (const auto& [kind, count] : tally.faults) {
    text += fmt::format("  {}: {}\n", kFaultWords.at(static_cast<std::size_t>(kind)), count);
  }
  text += fmt::format("{} of {} found\n", tally.found_count(), plural(tally.hang_count(), "hang"));
  for (const auto& [kind, hangs] : tally.hangs) {
    text += describe_hangs(kStepWords.at(static_cast<std::size_t>(kind)), hangs);
  }
  for (const auto& [check, broken] : tally.broken) text += describe_broken(check, broken);
  text += tally.broken.empty()
              ? "nothing was violated\n"
              : fmt::format("{}, {} of safety\n", plural(tally.violations(), "violation"),
                            tally.violations_of_safety());
  return text + fmt::format("hash {}\n", hash_text(tally));
}

}  // namespace tend::sim
