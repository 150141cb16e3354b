// Times for people: ages that fit into a column, and what the calendar said, in UTC.
#pragma once

#include <string>

#include "base/time.h"

namespace tend {

/// "12s", "4m", "3h05m", "4d02h": at most six columns for anything below 1000 days.
std::string short_age(Duration age);

/// From then to now by the calendar, never below zero; "-" where nothing is known.
std::string age_label(WallTime then, WallTime now);

/// "14:03:07" and "2026-03-08".
std::string clock_label(WallTime at);
std::string date_label(WallTime at);

WallTime calendar_time(double seconds);

}  // namespace tend
