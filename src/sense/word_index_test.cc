// Every word of a table is found, and no other.
#include "sense/word_index.h"

#include <gtest/gtest.h>

#include <string>

#include "judge/words.h"

namespace tend {
namespace {

constexpr auto kKinds = index_of<Kind>(kKindWords);

bool find(std::string_view word, Kind& found) {
  const std::string padded = std::string(word) + "\",\"padding behind\"";
  return kKinds.find({padded.data(), word.size()}, found);
}

TEST(WordIndex, finds_every_word_of_its_table) {
  for (std::size_t i = 0; i < kKindWords.size(); ++i) {
    Kind found = Kind::other;
    EXPECT_TRUE(find(kKindWords[i], found)) << kKindWords[i];
    EXPECT_EQ(found, static_cast<Kind>(i));
  }
}

TEST(WordIndex, finds_no_other_word) {
  Kind found = Kind::spawn;
  for (const std::string_view word : {"", "s", "spaw", "spawnn", "spXwn", "SPAWN", "tool-opem",
                                      "compact-startle", "compact-start, as they say"}) {
    EXPECT_FALSE(find(word, found)) << word;
  }
  EXPECT_EQ(found, Kind::spawn);
}

}  // namespace
}  // namespace tend
