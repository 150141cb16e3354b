// The patrol of a home as people and programs see it from outside: by its lock, the time of its
// beat, and what it wrote down with its last sweep.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "app/home_option.h"
#include "base/result.h"
#include "base/time.h"

namespace tend {

enum class PatrolIs : std::uint8_t {
  at_work,
  hung,   // holds its lock, and does not beat
  gone,   // it was killed: a keeper starts another one
  ended,  // it was told to, or made one sweep only
  none,   // there never was one
};
inline constexpr std::array<std::string_view, 5> kPatrolIsWords{"at_work", "hung", "gone", "ended",
                                                                "none"};

struct SeenPatrol {
  PatrolIs is = PatrolIs::none;
  std::int64_t pid = 0;  // of the one that is there or was there last; 0: not known
  Duration interval{};   // that it was started with; 0: what the configuration says
  WallTime beat{};
  WallTime swept{};       // 1970: never, or not known
  WallTime next_sweep{};  // of one at work; 1970: not known
};

Result<SeenPatrol> see_patrol(Home& home);

/// On one line, without a newline.
std::string patrol_words(const SeenPatrol& patrol, WallTime now);
nlohmann::ordered_json patrol_json(const SeenPatrol& patrol);

}  // namespace tend
