// A judge as one line of JSON and back. Every field of the state is named once, in a fields()
// function, and the same list writes and reads: the two cannot drift apart. Reading trusts nothing:
// types, ranges, words and bounds are checked, and the first thing wrong refuses the whole.
//
// Texts may hold any bytes; each byte is one code point below 256, so that the line stays ASCII.
#include <nlohmann/json.hpp>

#include <charconv>
#include <concepts>
#include <limits>
#include <type_traits>

#include "judge/judge.h"
#include "judge/state.h"

namespace tend {

namespace {

constexpr int kSnapshotVersion = 1;

using Json = nlohmann::json;

template <class T>
inline constexpr bool kIsTimePoint = false;
template <class Clock>
inline constexpr bool kIsTimePoint<std::chrono::time_point<Clock, Duration>> = true;
template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <class T>
inline constexpr bool kIsVector = false;
template <class T>
inline constexpr bool kIsVector<std::vector<T>> = true;

// ---- How many enumerators each enum has

consteval std::size_t count_of(Verdict) { return kVerdictWords.size(); }
consteval std::size_t count_of(Phase) { return kPhaseWords.size(); }
consteval std::size_t count_of(ProcessState) { return kProcessStateWords.size(); }
consteval std::size_t count_of(Status) { return kStatusWords.size(); }
consteval std::size_t count_of(SelfState) { return kSelfStateWords.size(); }
consteval std::size_t count_of(ParentState) { return kParentStateWords.size(); }
consteval std::size_t count_of(Want) { return kWantWords.size(); }
consteval std::size_t count_of(Cause) { return kCauseWords.size(); }
consteval std::size_t count_of(Unfit) { return kUnfitWords.size(); }
consteval std::size_t count_of(Stage) { return static_cast<std::size_t>(Stage::rest) + 1; }
consteval std::size_t count_of(ExitBy) { return static_cast<std::size_t>(ExitBy::drain) + 1; }
consteval std::size_t count_of(Exit::How) {
  return static_cast<std::size_t>(Exit::How::signal) + 1;
}
consteval std::size_t count_of(Because) {
  return static_cast<std::size_t>(Because::not_answered_yet) + 1;
}

// ---- The fields of the plain structs

template <class Io>
void fields(Io& io, Exit& v) {
  io("how", v.how);
  io("value", v.value);
}

template <class Io>
void fields(Io& io, Tool& v) {
  io("id", v.id);
  io("tool", v.tool);
  io("task", v.task);
  io("limit", v.limit);
  io("opened", v.opened);
  io("beaten_to", v.beaten_to);
  io("declared", v.declared);
  io("background", v.background);
  io("child", v.child);
  io("circling", v.circling);
  io("over", v.over);
}

template <class Io>
void fields(Io& io, Child& v) {
  io("name", v.name);
  io("verdict", v.verdict);
  io("for_parent", v.for_parent);
  io("told", v.told);
  io("doubted", v.doubted);
  io("ended", v.ended);
  io("asked", v.asked);
}

template <class Io>
void fields(Io& io, ClaimedTask& v) {
  io("name", v.name);
  io("claimed", v.claimed);
}

template <class Io>
void fields(Io& io, Ping& v) {
  io("id", v.id);
  io("sent", v.sent);
  io("overtaken", v.overtaken);
  io.later("asked", v.asked);
}

template <class Io>
void fields(Io& io, Hold& v) {
  io("cause", v.cause);
  io("task", v.task);
  io("until", v.until);
  io("opened", v.opened);
  io("began", v.began);
  io("first", v.first);
  io("last", v.last);
  io("over", v.over);
  io.later("waited", v.waited);
  io.later("to_wait", v.to_wait);
  io("announced", v.announced);
  io("notified", v.notified);
}

template <class Io>
void fields(Io& io, End& v) {
  io("cause", v.cause);
  io("phase", v.phase);
  io("tool", v.tool);
  io("times", v.times);
}

template <class Io>
void fields(Io& io, Reason& v) {
  io("because", v.because);
  io("phase", v.phase);
  io("process", v.process);
  io("count", v.count);
  io("age", v.age);
  io("limit", v.limit);
  io("exit", v.exit);
  io("name", v.name);
}

template <class Io>
void fields(Io& io, Exiting& v) {
  io("by", v.by);
  io("from", v.from);
}

template <class Io>
void fields(Io& io, Watch& v) {
  io("unfit_since", v.unfit_since);
  io("trouble_before", v.trouble_before);
  io("fit_since", v.fit_since);
  io("excused", v.excused);
  io("excuse_over", v.excuse_over);
  io.later("new_policy", v.new_policy);
  io("stalled", v.stalled);
  io("weak", v.weak);
}

template <class Io>
void fields(Io& io, Episode& v) {
  io("open", v.open);
  io("warned", v.warned);
  io("stall_counted", v.stall_counted);
  io("killed", v.killed);
  io("kill_escalated", v.kill_escalated);
  io("escalated_instead", v.escalated_instead);
  io("resumed", v.resumed);
  io("resume_escalated", v.resume_escalated);
  io("orphaned", v.orphaned);
  io("reassigned", v.reassigned);
}

template <class Io>
void fields_of_signs(Io& io, Life& v) {
  io("probe", v.probe);
  io("exit", v.exit);
  io("was_stopped", v.was_stopped);
  io("spawned", v.spawned);
  io("clock_restarted", v.clock_restarted);
  io("by_resume", v.by_resume);
  io("killed", v.killed);
  io("worked_since_kill", v.worked_since_kill);
  io("went", v.went);
  io("went_in_hold", v.went_in_hold);
  io("real_seen", v.real_seen);
  io("stream_seen", v.stream_seen);
  io("last_real", v.last_real);
  io("last_stream", v.last_stream);
  io("last_weak", v.last_weak);
  io("last_sign", v.last_sign);
  io("ack_spent", v.ack_spent);
}

template <class Io>
void fields_of_turn(Io& io, Life& v) {
  io("stage", v.stage);
  io("rest_by_word", v.rest_by_word);
  io("rested", v.rested);
  io("turn_ended", v.turn_ended);
  io("turn_failed", v.turn_failed);
  io("turn_error", v.turn_error);
  io("compacting", v.compacting);
  io("tools", v.tools, kMostTools);
  io("circling_tool", v.circling_tool);
  io("circling_task", v.circling_task);
  io("background_left", v.background_left);
  io("background_awaited", v.background_awaited);
  io("background_changed", v.background_changed);
  io("questions", v.questions, kMostQuestions);
  io("person_since", v.person_since);
  io("hold", v.hold);
  io("retries_since", v.retries_since);
  io("children", v.children, kMostChildren);
  io("children_awaited", v.children_awaited);
}

template <class Io>
void fields(Io& io, Life& v) {
  fields_of_signs(io, v);
  fields_of_turn(io, v);
  io("state", v.state);
  io("stated", v.stated);
  io("quiet_until", v.quiet_until);
  io("stuck", v.stuck);
  io("idle_in_tool", v.idle_in_tool);
  io("exiting", v.exiting);
  io("record", v.record);
  io("turn_after_record", v.turn_after_record);
  io("sign_after_record", v.sign_after_record);
  io("beat_seen", v.beat_seen);
  io("beat_failed", v.beat_failed);
  io("last_beat", v.last_beat);
  io("pings", v.pings, kMostPings);
  io("last_error", v.last_error);
  io("error_stands", v.error_stands);
  io("final_error", v.final_error);
  io("parent", v.parent);
  io("parent_died", v.parent_died);
  io.later("answered", v.answered);
}

template <class Io, class T>
  requires requires(Io& io, T& v) { v.fields(io); }
void fields(Io& io, T& v) {
  v.fields(io);
}

template <class Io>
void fields(Io& io, JudgeState& v) {
  io("clocks", v.clocks);
  io("evidence", v.evidence);
  io("exiting", v.exiting);
  io("fitness", v.fitness);
  io("watch", v.watch);
  io("ladder", v.ladder);
  io("verdict", v.verdict);
  io("phase", v.phase);
  io("stepped", v.stepped);
  io("next", v.next);
}

// ---- Writing

class Writer {
 public:
  template <class T>
  void operator()(std::string_view key, T& value, std::size_t = 0) {
    text_ += text_.back() == '{' ? "\"" : ",\"";
    text_ += key;
    text_ += "\":";
    write(value);
  }

  /// A field that a snapshot of an older keeper lacks: it stays as it is.
  template <class T>
  void later(std::string_view key, T& value) {
    (*this)(key, value);
  }

  /// Writes `value` as an object.
  template <class T>
  void object(T& value) {
    text_ += '{';
    fields(*this, value);
    text_ += '}';
  }

  std::string text_;

 private:
  template <class T>
  void write(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      text_ += value ? "true" : "false";
    } else if constexpr (std::is_enum_v<T>) {
      number(static_cast<std::uint64_t>(value));
    } else if constexpr (std::integral<T>) {
      number(value);
    } else if constexpr (std::is_same_v<T, Duration>) {
      number(value.count());
    } else if constexpr (kIsTimePoint<T>) {
      number(value.time_since_epoch().count());
    } else if constexpr (std::is_same_v<T, Name>) {
      name(value);
    } else if constexpr (kIsOptional<T>) {
      value ? write(*value) : void(text_ += "null");
    } else if constexpr (kIsVector<T>) {
      text_ += '[';
      for (auto& item : value) {
        if (text_.back() != '[') text_ += ',';
        write(item);
      }
      text_ += ']';
    } else {
      object(value);
    }
  }

  template <std::integral T>
  void number(T value) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    text_.append(digits, end);
  }

  void name(const Name& value) {
    static constexpr char kHex[] = "0123456789abcdef";
    text_ += "[\"";
    for (const char c : value.shown()) {
      const auto byte = static_cast<unsigned char>(c);
      const bool plain = byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\';
      if (plain) {
        text_ += c;
      } else {
        text_ += "\\u00";
        text_ += kHex[byte >> 4U];
        text_ += kHex[byte & 15U];
      }
    }
    text_ += "\",";
    number(value.hash());
    text_ += ']';
  }
};

// ---- Reading

class Reader {
 public:
  explicit Reader(const Json& json) : json_(&json) {}

  template <class T>
  void operator()(std::string_view key, T& value, std::size_t most = kMostEnds) {
    if (!wrong_.empty()) return;
    const auto found = json_->find(key);
    if (found == json_->end()) return refuse(key, "is missing");
    if (!read(*found, value, most)) refuse(key, "does not fit");
  }

  template <class T>
  void later(std::string_view key, T& value) {
    if (json_->contains(key)) (*this)(key, value);
  }

  [[nodiscard]] const std::string& wrong() const { return wrong_; }

 private:
  void refuse(std::string_view key, std::string_view what) {
    if (wrong_.empty()) wrong_ = std::string(key) + " " + std::string(what);
  }

  template <class T>
  bool read(const Json& json, T& value, std::size_t most) {
    if constexpr (std::is_same_v<T, bool>) {
      if (!json.is_boolean()) return false;
      value = json.get<bool>();
      return true;
    } else if constexpr (std::is_enum_v<T>) {
      std::int64_t number = 0;
      if (!integer(json, 0, static_cast<std::int64_t>(count_of(T{})) - 1, number)) return false;
      value = static_cast<T>(number);
      return true;
    } else if constexpr (std::integral<T>) {
      std::int64_t number = 0;
      if (!integer(json, std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), number)) {
        return false;
      }
      value = static_cast<T>(number);
      return true;
    } else if constexpr (std::is_same_v<T, Duration>) {
      std::int64_t number = 0;
      if (!integer(json, -kNoLimit.count(), kNoLimit.count(), number)) return false;
      value = Duration{number};
      return true;
    } else if constexpr (kIsTimePoint<T>) {
      std::int64_t number = 0;
      if (!integer(json, -kNoLimit.count(), kNoLimit.count(), number)) return false;
      value = T{Duration{number}};
      return true;
    } else if constexpr (std::is_same_v<T, Name>) {
      return name(json, value);
    } else if constexpr (kIsOptional<T>) {
      value.reset();
      return json.is_null() || read(json, value.emplace(), most);
    } else if constexpr (kIsVector<T>) {
      if (!json.is_array() || json.size() > most) return false;
      value.clear();
      for (const Json& item : json) {
        if (!read(item, value.emplace_back(), most)) return false;
      }
      return true;
    } else {
      if (!json.is_object()) return false;
      Reader inner(json);
      fields(inner, value);
      if (!inner.wrong_.empty()) refuse(inner.wrong_, "");
      return inner.wrong_.empty();
    }
  }

  static bool integer(const Json& json, std::int64_t least, std::int64_t most, std::int64_t& out) {
    if (!json.is_number_integer()) return false;
    const bool too_large = json.is_number_unsigned() &&
                           json.get<std::uint64_t>() >
                               static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (too_large) return false;
    out = json.get<std::int64_t>();
    return out >= least && out <= most;
  }

  static bool name(const Json& json, Name& value) {
    const bool shape =
        json.is_array() && json.size() == 2 && json[0].is_string() && json[1].is_number_unsigned();
    if (!shape) return false;
    std::string bytes;
    const auto& utf8 = json[0].get_ref<const std::string&>();
    for (std::size_t i = 0; i < utf8.size(); ++i) {
      const auto byte = static_cast<unsigned char>(utf8[i]);
      if (byte < 0x80) {
        bytes += utf8[i];
      } else {  // U+0080 to U+00FF: two bytes, the first c2 or c3
        if ((byte != 0xc2 && byte != 0xc3) || i + 1 >= utf8.size()) return false;
        const auto low = static_cast<unsigned char>(utf8[++i]) & 0x3fU;
        bytes += static_cast<char>(((byte & 3U) << 6U) | low);
      }
    }
    if (bytes.size() > Name::kShown) return false;
    value = Name::restored(bytes, json[1].get<std::uint64_t>());
    return true;
  }

  const Json* json_;
  std::string wrong_;
};

}  // namespace

template <class Io>
void Evidence::fields(Io& io) {
  io("life_number", life_number);
  io("spawned", spawned);
  io("seen", seen);
  io("life", life);
  io("want", want);
  io("wanted", wanted);
  io("inbox", inbox);
  io("inbox_since", inbox_since);
  io("tasks", tasks, kMostTasks);
  io("stream_ever", stream_ever);
  io("parents_replaced", parents_replaced);
  io("refills", refills);
  io("next_life_by_resume", next_life_by_resume);
  io("void_pings", void_pings_, kMostVoidPings);
}

template <class Io>
void Ladder::fields(Io& io) {
  io("episode", episode_);
  io("spending", spending_);
  io("healthy_since", healthy_since_);
  io("refills_seen", refills_seen_);
  io("dead_life", dead_life_);
  io("dead_since", dead_since_);
  io("death_is_free", death_is_free_);
  io("death_answered", death_answered_);
  io("failed_starts", failed_starts_);
  io("looping_until", looping_until_);
  io("loop_told", loop_told_);
  io("granted", granted_);
  io("looping_because", looping_because_);
  io("degraded", degraded_);
  io("adoptions_seen", adoptions_seen_);
  io("person_told", person_told_);
  io("person_reminders", person_reminders_);
  io("unfit_told", unfit_told_);
  io("stopped_told", stopped_told_);
  io("stuck_told", stuck_told_);
  io("lingers_since", lingers_since_);
  io("lingers_told", lingers_told_);
  io("silence_told", silence_told_);
  io("rungs_taken", rungs_taken_);
  io("rungs_base", rungs_base_);
}

std::string Judge::snapshot() const {
  Writer writer;
  writer.text_.reserve(4096);
  writer.text_ = "{\"snapshot\":" + std::to_string(kSnapshotVersion) + ",\"judge\":";
  writer.object(*state_);
  writer.text_ += '}';
  return std::move(writer.text_);
}

Result<Judge> Judge::restore(Policy policy, std::string_view snapshot) {
  const Json json = Json::parse(snapshot, nullptr, false);
  if (!json.is_object() || !json.contains("snapshot")) {
    return fail("this is no snapshot of a judge");
  }
  const Json& version = json["snapshot"];
  if (!version.is_number_integer()) return fail("the snapshot is damaged: it names no version");
  if (version != kSnapshotVersion) {
    return fail("a snapshot of version " + std::to_string(version.get<std::int64_t>()) +
                " cannot be read, only version " + std::to_string(kSnapshotVersion) +
                "; use the tend that wrote it");
  }
  if (!json.contains("judge") || !json["judge"].is_object()) {
    return fail("the snapshot is damaged: judge is missing");
  }
  Judge judge(std::move(policy));
  Reader reader(json["judge"]);
  fields(reader, *judge.state_);
  if (!reader.wrong().empty()) return fail("the snapshot is damaged: " + reader.wrong());
  return judge;
}

}  // namespace tend
