// SPDX-License-Identifier: Apache-2.0
// Which shapes `tilehash bench shapes` measures, and which rows fail: made-up numbers.
#include "bench/shapes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace tilehash::bench {
namespace {

using enum shape_verb;
using enum shape_form;
using enum shape_state;

shape_row row(const shape& what, double rate) {
  shape_row made{.what = what, .space = "cpu", .key_bytes = 4, .value_bytes = 4, .items = 1000};
  made.seconds = spread({1000 / rate});
  return made;
}
shape of(shape_verb verb, shape_keys keys, shape_form form = sync, shape_state state = empty,
         shape_width width = shape_width::of_4) {
  return {verb, width, keys, form, state};
}
std::vector<shape_verdict> verdicts(const std::vector<judged_shape>& judged) {
  std::vector<shape_verdict> all;
  all.reserve(judged.size());
  for (const judged_shape& j : judged) all.push_back(j.verdict);
  return all;
}
constexpr double quarter = 0.25;

TEST(Shapes, FailUnderAQuarterOfTheBestOfTheirVerbWidthAndSpace) {
  std::vector<shape_row> rows{row(of(insert, shape_keys::distinct), 1000),
                              row(of(insert, shape_keys::sorted), 251),
                              row(of(insert, shape_keys::one_key), 249),
                              // Alone with their verb or width, and so the best of it:
                              row(of(find, shape_keys::distinct), 10),
                              row(of(insert, shape_keys::distinct, sync, empty, shape_width::of_8), 10)};
  rows.push_back(rows[2]);
  rows.back().space = "cuda";
  const auto judged = judge(rows, {}, quarter);
  ASSERT_EQ(judged.size(), rows.size());
  EXPECT_TRUE(judged[0].fails());
  EXPECT_EQ(judged[0].verdict, shape_verdict::slow);
  EXPECT_EQ(judged[0].row.what.keys, shape_keys::one_key);
  EXPECT_EQ(judged[0].row.space, "cpu");
  EXPECT_NEAR(judged[0].share, 0.249, 1e-9);
  EXPECT_EQ(std::ranges::count_if(judged, &judged_shape::fails), 1);
  EXPECT_EQ(std::ranges::count_if(judge(rows, {}, 0), &judged_shape::fails), 0) << "any speed will do";
}

TEST(Shapes, FailUnlessABoundIsWrittenDownThatTheyReach) {
  const std::vector<shape_row> rows{row(of(insert, shape_keys::distinct), 1000),
                                    row(of(insert, shape_keys::one_key, async, half), 100)};
  const auto verdict_with = [&](const shape_bound& bound) {
    return judge(rows, std::span(&bound, 1), quarter).front();
  };
  const shape_bound all{.least = 0.05, .reason = "the reason"};
  EXPECT_EQ(verdict_with(all).verdict, shape_verdict::bounded);
  EXPECT_EQ(verdict_with(all).reason, "the reason");
  EXPECT_FALSE(verdict_with(all).fails());
  shape_bound too_high = all;
  too_high.least = 0.11;
  EXPECT_EQ(verdict_with(too_high).verdict, shape_verdict::slow) << "a bound has to be reached, too";
  EXPECT_EQ(verdict_with({.space = "cpu",
                          .verbs = "find insert",
                          .widths = "8 4",
                          .keys = "zipf one_key",
                          .forms = "async",
                          .states = "half empty",
                          .least = 0.05})
                .verdict,
            shape_verdict::bounded);
  for (const shape_bound& other :
       {shape_bound{.space = "cuda"}, shape_bound{.verbs = "insert_or_assign find"},
        shape_bound{.widths = "8"}, shape_bound{.keys = "distinct"}, shape_bound{.forms = "sync"},
        shape_bound{.states = "empty"}})
    EXPECT_EQ(verdict_with(other).verdict, shape_verdict::slow);
}

TEST(Shapes, FailWithWrongAnswersRefusedItemsAndOverTheLimit) {
  std::vector<shape_row> rows{
      row(of(insert, shape_keys::distinct), 1000), row(of(insert, shape_keys::distinct, async), 990),
      row(of(insert, shape_keys::distinct, fixed), 980), row(of(insert, shape_keys::distinct, growing), 970)};
  rows[1].over_limit = true;
  rows[2].refused = 1;
  rows[3].wrong = 1;
  EXPECT_EQ(verdicts(judge(rows, {}, quarter)), (std::vector{shape_verdict::wrong, shape_verdict::refused,
                                                             shape_verdict::over_limit, shape_verdict::fine}))
      << "those that fail come first";
  for (u64 i = 1; i < rows.size(); ++i) EXPECT_TRUE(judge(rows, {}, 0)[i - 1].fails()) << i;

  const shape_bound tenth{.forms = "fixed", .refused = 0.1, .reason = "full"};
  const auto refused_as = [&](u64 refused) {
    rows[2].refused = refused;
    return judge(std::span(rows).subspan(2, 1), std::span(&tenth, 1), quarter)[0];
  };
  EXPECT_EQ(refused_as(100).verdict, shape_verdict::fine);
  EXPECT_EQ(refused_as(100).reason, "full");
  EXPECT_EQ(refused_as(101).verdict, shape_verdict::refused);
}

TEST(Shapes, AreNotMeasuredByRowsThatDidLess) {
  std::vector<shape_row> rows{row(of(insert, shape_keys::distinct), 1000),
                              row(of(insert, shape_keys::one_key), 1e6),
                              row(of(insert, shape_keys::zipf), 1e6)};
  rows[1].wrong = 1;
  rows[2].over_limit = true;
  EXPECT_EQ(judge(rows, {}, quarter).back().verdict, shape_verdict::fine);
}

TEST(Shapes, AreThoseThatDifferInAtMostTwoThingsFromThePlainOne) {
  const auto shapes = all_shapes(1 << 22, true);
  const auto key = [](const shape& s) { return std::tuple(s.verb, s.width, s.keys, s.form, s.state); };
  std::set<decltype(key(shape{}))> seen;
  for (const shape& s : shapes) EXPECT_TRUE(seen.insert(key(s)).second);
  const auto has = [&](const shape& s) { return seen.contains(key(s)); };
  EXPECT_TRUE(has(of(insert, shape_keys::one_key, async)));
  EXPECT_TRUE(has(of(insert, shape_keys::one_key, sync, near_full)));
  EXPECT_TRUE(has(of(insert, shape_keys::distinct, by_tile, half)));
  EXPECT_FALSE(has(of(insert, shape_keys::one_key, async, half)));
  EXPECT_FALSE(has(of(insert, shape_keys::distinct, growing, near_full)));
  EXPECT_TRUE(has(of(find, shape_keys::one_key, async, present)));
  EXPECT_FALSE(has(of(find, shape_keys::one_key, growing, present))) << "a lookup";
  EXPECT_TRUE(has(of(insert_or_apply, shape_keys::groups_2097152)));
  // Every verb, width, distribution, form and state is there.
  for (unsigned i = 0; i < verb_names.size(); ++i)
    EXPECT_TRUE(std::ranges::any_of(shapes, [&](const shape& s) { return s.verb == shape_verb(i); })) << i;
  for (unsigned i = 0; i < width_names.size(); ++i)
    EXPECT_TRUE(std::ranges::any_of(shapes, [&](const shape& s) { return s.width == shape_width(i); })) << i;
  for (unsigned i = 0; i < keys_names.size(); ++i)
    EXPECT_TRUE(std::ranges::any_of(shapes, [&](const shape& s) { return s.keys == shape_keys(i); })) << i;
  for (unsigned i = 0; i < form_names.size(); ++i)
    EXPECT_TRUE(std::ranges::any_of(shapes, [&](const shape& s) { return s.form == shape_form(i); })) << i;
  for (unsigned i = 0; i < state_names.size(); ++i)
    EXPECT_TRUE(std::ranges::any_of(shapes, [&](const shape& s) { return s.state == shape_state(i); })) << i;

  for (const shape& s : all_shapes(1000, false)) {
    EXPECT_NE(s.form, by_tile) << "a space without lanes";
    EXPECT_LE(s.keys == shape_keys::groups_10 ? 20U : distinct_keys(s.keys, 1000), 1000U);
  }
}

}  // namespace
}  // namespace tilehash::bench
