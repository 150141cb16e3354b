// Is the observer fit to judge? After a sleep, a lag of its own, a broken channel or a silence of
// half the fleet it first looks again: what it infers from silence then says more about itself.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "judge/clocks.h"
#include "judge/horizon.h"
#include "judge/signal.h"

namespace tend {

enum class Unfit : std::uint8_t { fit, lag, suspend, fault, fleet };
inline constexpr std::array<std::string_view, 5> kUnfitWords{"fit", "lag", "sleep", "fault",
                                                             "silent fleet"};
constexpr std::string_view word(Unfit u) { return kUnfitWords[static_cast<std::size_t>(u)]; }

class Fitness {
 public:
  /// Takes note of suspend, lag, fault and fleet lines. Requires that `clocks` already know of a
  /// sleep.
  void absorb(const Signal& signal, const Clocks& clocks);

  /// Why the observer is unfit now, if it is.
  [[nodiscard]] Unfit look(Horizon& horizon) const;
  /// True as long as the lines of a silent fleet go on, also past the time for which they excuse.
  [[nodiscard]] bool fleet_is_silent(Horizon& horizon) const;
  [[nodiscard]] std::uint32_t fleet_silent() const { return fleet_silent_; }
  [[nodiscard]] std::uint32_t fleet_of() const { return fleet_of_; }

  template <class Fields>
  void fields(Fields& io) {
    io("unfit_until", unfit_until_);
    io("cause", cause_);
    io("fleet_from", fleet_from_);
    io("fleet_last", fleet_last_);
    io("fleet_silent", fleet_silent_);
    io("fleet_of", fleet_of_);
  }

 private:
  void unfit(Unfit cause, const Clocks& clocks);

  std::optional<AwakeTime> unfit_until_;
  Unfit cause_ = Unfit::fit;
  std::optional<AwakeTime> fleet_from_;
  AwakeTime fleet_last_{};
  std::uint32_t fleet_silent_ = 0;
  std::uint32_t fleet_of_ = 0;
};

}  // namespace tend
