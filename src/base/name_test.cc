// Names that are too long to keep whole.
#include "base/name.h"

#include <gtest/gtest.h>

#include <string>

namespace tend {
namespace {

TEST(Name, shows_a_short_text_whole) { EXPECT_EQ(Name("toolu_01").shown(), "toolu_01"); }

TEST(Name, tells_long_texts_apart_by_what_it_does_not_show) {
  const std::string common(100, 'x');
  EXPECT_EQ(Name(common + "a").shown(), Name(common + "b").shown());
  EXPECT_FALSE(Name(common + "a") == Name(common + "b"));
}

TEST(Name, comes_back_from_its_parts) {
  const Name name(std::string(100, 'y'));
  EXPECT_EQ(Name::restored(name.shown(), name.hash()), name);
}

}  // namespace
}  // namespace tend
