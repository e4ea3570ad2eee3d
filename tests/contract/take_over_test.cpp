// What regions left is put in one by one, and none of it is missing from the call's report
// (engine/take_over.hpp): asked of the function itself, as tables seldom leave anything over, and hardly ever
// where memory has just ended.
#include <gtest/gtest.h>

#include <tilehash/engine/take_over.hpp>

namespace tilehash {
namespace {

struct filled {
  bool lists_left = true;
  u64 inserted = 100, illegal = 2, left = 12;
  int rest() const { return 7; }
};
constexpr insert_report before = {.inserted = 1'000, .refused = 10, .restarts = 1};

// take_over() where one by one the rest becomes this.
struct taken_over {
  insert_report report = before;
  bool done = false;
  u32 asked = 0;

  explicit taken_over(const filled& regions) {
    done = detail::take_over(report, regions, [&](int its_rest) {
      EXPECT_EQ(its_rest, 7);
      ++asked;
      return insert_report{.inserted = 8, .present = 1, .refused = 3, .restarts = 2};
    });
  }
};

TEST(take_over, reports_what_regions_and_rest_became) {
  const taken_over t({});
  EXPECT_TRUE(t.done);
  EXPECT_EQ(t.asked, 1U);
  EXPECT_EQ(t.report, (insert_report{.inserted = 1'108, .refused = 15, .restarts = 3}));
}
TEST(take_over, asks_for_no_rest_where_there_is_none) {
  const taken_over t({.left = 0});
  EXPECT_TRUE(t.done);
  EXPECT_EQ(t.asked, 0U);
  EXPECT_EQ(t.report, (insert_report{.inserted = 1'100, .refused = 12, .restarts = 1}));
}
// Then the windows see all items again, the illegal ones too.
TEST(take_over, of_what_is_not_known_is_not_done) {
  const taken_over t({.lists_left = false});
  EXPECT_FALSE(t.done);
  EXPECT_EQ(t.asked, 0U);
  EXPECT_EQ(t.report, (insert_report{.inserted = 1'100, .refused = 10, .restarts = 1}));
}

}  // namespace
}  // namespace tilehash
