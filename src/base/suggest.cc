// Optimal string alignment distance, with three rows instead of the whole matrix.
#include "base/suggest.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/quote.h"

namespace tend {
namespace {

constexpr std::size_t kLongestWord = 64;  // nobody mistypes a longer one
using Row = std::array<std::size_t, kLongestWord + 1>;

/// Requires that neither word is longer than kLongestWord.
std::size_t steps_between(std::string_view a, std::string_view b) {
  Row before{};
  Row above{};
  Row row{};
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = above;
    above = row;
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replace, above[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::string did_you_mean(std::string_view word, std::span<const std::string_view> known) {
  if (word.size() > kLongestWord) return "";
  std::string_view best;
  std::size_t best_steps = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : known) {
    if (candidate.size() > kLongestWord) continue;
    const std::size_t steps = steps_between(word, candidate);
    const bool shares_something = steps < candidate.size();
    if (!shares_something || steps >= best_steps) continue;
    best = candidate;
    best_steps = steps;
  }
  return best.empty() ? "" : "; did you mean " + in_quotes(best) + "?";
}

}  // namespace tend
