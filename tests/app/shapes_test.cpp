// SPDX-License-Identifier: Apache-2.0
// The shapes that `tilehash bench shapes` measures, and the rows that fail: made-up numbers.
#include "bench/ours/shapes.hpp"

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
// Rates of a machine on which a read is ten times as fast as an update, and both are the same everywhere.
access_rates even_rates(std::string_view /*space*/, u64 /*bytes*/) {
  return {.reads = 3000, .updates = 300, .reads_alone = 600, .updates_alone = 150, .steps = 30, .call = 0.5};
}
std::vector<judged_shape> judged_evenly(std::span<const shape_row> rows, std::span<const shape_bound> bounds,
                                        double least) {
  return judge(rows, bounds, even_rates, least);
}

TEST(Shapes, FailUnderAQuarterOfTheBestOfTheirVerbWidthAndSpace) {
  std::vector<shape_row> rows{row(of(insert, shape_keys::distinct), 1000),
                              row(of(insert, shape_keys::sorted), 251),
                              row(of(insert, shape_keys::one_key), 249),
                              // Alone with their verb or width, and so the best of it:
                              row(of(find, shape_keys::distinct), 10),
                              row(of(insert, shape_keys::distinct, sync, empty, shape_width::of_8), 10)};
  rows.push_back(rows[2]);
  rows.back().space = "cuda";
  const auto judged = judged_evenly(rows, {}, quarter);
  ASSERT_EQ(judged.size(), rows.size());
  EXPECT_TRUE(judged[0].fails());
  EXPECT_EQ(judged[0].verdict, shape_verdict::slow);
  EXPECT_EQ(judged[0].row.what.keys, shape_keys::one_key);
  EXPECT_EQ(judged[0].row.space, "cpu");
  EXPECT_NEAR(judged[0].share, 0.249, 1e-9);
  EXPECT_EQ(std::ranges::count_if(judged, &judged_shape::fails), 1);
  EXPECT_EQ(std::ranges::count_if(judged_evenly(rows, {}, 0), &judged_shape::fails), 0)
      << "any speed will do";
}

TEST(Shapes, FailUnlessTheyReachAQuarterOfWhatMemoryAllows) {
  const std::vector<shape_row> rows{row(of(insert, shape_keys::distinct), 1000),
                                    row(of(insert, shape_keys::one_key, async, half), 100)};
  const auto verdict_with = [&](const shape_bound& bound) {
    return judged_evenly(rows, std::span(&bound, 1), quarter).front();
  };
  const shape_bound all{.forms = "async", .cost = {.updates = 1}, .reason = "the reason"};
  EXPECT_EQ(verdict_with(all).verdict, shape_verdict::bounded);
  EXPECT_EQ(verdict_with(all).reason, "the reason");
  EXPECT_NEAR(verdict_with(all).bound, 1 / (1.0 / 300 + 1.0 / 100), 1e-9) << "accesses and instructions";
  EXPECT_FALSE(verdict_with(all).fails());
  const shape_bound cheap{.forms = "async", .cost = {.reads_alone = 1}, .reason = "the reason"};
  EXPECT_EQ(verdict_with(cheap).verdict, shape_verdict::slow) << "100 of 600";
  EXPECT_EQ(verdict_with(cheap).reason, "the reason");
  EXPECT_EQ(verdict_with({}).verdict, shape_verdict::slow) << "no access, no bound";
  EXPECT_EQ(verdict_with({.space = "cpu",
                          .verbs = "find insert",
                          .widths = "8 4",
                          .keys = "zipf one_key",
                          .forms = "async",
                          .states = "half empty",
                          .cost = {.updates = 1}})
                .verdict,
            shape_verdict::bounded);
  for (const shape_bound& other : {shape_bound{.space = "cuda", .cost = {.updates = 1}},
                                   shape_bound{.verbs = "insert_or_assign find", .cost = {.updates = 1}},
                                   shape_bound{.widths = "8", .cost = {.updates = 1}},
                                   shape_bound{.keys = "distinct", .cost = {.updates = 1}},
                                   shape_bound{.forms = "sync", .cost = {.updates = 1}},
                                   shape_bound{.states = "empty", .cost = {.updates = 1}}})
    EXPECT_EQ(verdict_with(other).verdict, shape_verdict::slow);
}

// The best row of the same bound says what the instructions take, if it is not slow itself.
TEST(Shapes, AreComparedWithTheBestRowOfTheirBound) {
  std::vector<shape_row> rows{row(of(insert, shape_keys::distinct), 1000),
                              row(of(insert, shape_keys::one_key, async, half), 20),
                              row(of(insert, shape_keys::zipf, async, half), 100)};
  const shape_bound asynchronous{.forms = "async", .cost = {.updates = 1}, .reason = "the reason"};
  const auto judged = [&] { return judged_evenly(rows, std::span(&asynchronous, 1), quarter); };
  EXPECT_EQ(judged()[0].row.what.keys, shape_keys::one_key);
  EXPECT_NEAR(judged()[0].bound, 75, 1e-9);
  EXPECT_EQ(judged()[0].verdict, shape_verdict::bounded) << "20 of 75";
  EXPECT_EQ(judged()[1].verdict, shape_verdict::bounded);
  rows[1].seconds = spread({1000 / 18.0});
  EXPECT_EQ(judged()[0].verdict, shape_verdict::slow) << "18 of 75";
  rows[1].seconds = spread({1000 / 20.0});
  rows[2].seconds = spread({1000 / 74.0});
  EXPECT_NEAR(judged()[0].bound, 300, 1e-9) << "no other row of the bound reaches a quarter of 300";
  EXPECT_EQ(judged()[0].verdict, shape_verdict::slow);
  EXPECT_EQ(judged()[1].verdict, shape_verdict::slow);
  rows[2].wrong = 1;
  EXPECT_NEAR(judged()[1].bound, 300, 1e-9) << "a wrong row is no measure";
}

TEST(Shapes, KnowWhatMemoryAllows) {
  const auto rate = [](const shape_row& its, const shape_cost& cost) {
    return rate_by_cost(its, cost, even_rates);
  };
  const shape_row distinct = row(of(insert, shape_keys::distinct), 1),
                  groups = row(of(insert, shape_keys::groups_10), 1);
  EXPECT_NEAR(rate(distinct, {.reads = 2, .updates = 0.5}), 1 / (2.0 / 3000 + 0.5 / 300), 1e-6);
  EXPECT_NEAR(rate(distinct, {.reads_alone = 1, .updates_alone = 1, .steps = 1}),
              1 / (1.0 / 600 + 1.0 / 150 + 1.0 / 30), 1e-6);
  EXPECT_NEAR(rate(groups, {.updates = 1}), 300, 1e-6);
  shape_row on_gpu = distinct;
  on_gpu.space = "cuda";
  EXPECT_NEAR(rate(on_gpu, {.updates = 1}), 1000 / (1000.0 / 300 + 1e-4), 1e-6)
      << "and the start of the call";
  EXPECT_NEAR(rate(groups, {.updates = 1, .by_key = true}), 30000, 1e-3) << "10 keys of 1000 items";
  EXPECT_NEAR(rate(groups, {.updates = 1, .by_key = true, .combined = 1}), 1000 / (10.0 / 300 + 1000.0 / 300),
              1e-6);
  EXPECT_NEAR(rate(groups, {.one_line = 1}), 1000 / (100 / 300.0), 1e-6)
      << "a tenth of the items has one key";
  EXPECT_NEAR(rate(row(of(insert, shape_keys::half_one_key), 1), {.one_line = 1}), 1000 / (500 / 300.0),
              1e-6);
  EXPECT_NEAR(rate(row(of(insert, shape_keys::zipf), 1), {.one_line = 1}), 1000 / (158.5 / 300.0), 1)
      << "zipf_number() has ln 2 / ln 62 of 938 items";
  EXPECT_NEAR(rate(groups, {.updates = 1, .by_key = true, .waits = 4}), 1000 / (10.0 / 300 + 4 * 0.5), 1e-6);
  shape_row grown = distinct;
  grown.held = 3000;
  EXPECT_NEAR(rate(grown, {.updates = 1, .moved = 1}), 75, 1e-6) << "each item moves three";
  shape_row record = distinct;
  record.what.width = shape_width::of_16;
  EXPECT_NEAR(rate(record, {.updates = 1}), 150, 1e-6) << "an id and a record";
  record.what.width = shape_width::record;
  EXPECT_NEAR(rate(record, {.updates = 1}), 100, 1e-6) << "of two lines";

  const auto bytes_of = [&](shape_state state, u64 held, shape_verb verb = insert) {
    shape_row its = row(of(verb, shape_keys::distinct, sync, state), 1);
    its.held = held;
    return table_bytes(its);
  };
  EXPECT_EQ(bytes_of(empty, 0), 10000) << "1000 items of 8 bytes at load factor 0.8";
  EXPECT_EQ(bytes_of(empty, 0, find), 10000) << "made for the keys that it is asked for";
  EXPECT_EQ(bytes_of(present, 1000), 10000);
  EXPECT_EQ(bytes_of(half, 1000), 20000);
  EXPECT_EQ(bytes_of(half, 1000, find), 20000);
  EXPECT_EQ(bytes_of(near_full, 15000), 16000 * 8 * 100 / 95);
}

TEST(Shapes, FailWithWrongAnswersRefusedItemsAndOverTheLimit) {
  std::vector<shape_row> rows{
      row(of(insert, shape_keys::distinct), 1000), row(of(insert, shape_keys::distinct, async), 990),
      row(of(insert, shape_keys::distinct, fixed), 980), row(of(insert, shape_keys::distinct, growing), 970)};
  rows[1].over_limit = true;
  rows[2].refused = 1;
  rows[3].wrong = 1;
  EXPECT_EQ(verdicts(judged_evenly(rows, {}, quarter)),
            (std::vector{shape_verdict::wrong, shape_verdict::refused, shape_verdict::over_limit,
                         shape_verdict::fine}))
      << "those that fail come first";
  for (u64 i = 1; i < rows.size(); ++i) EXPECT_TRUE(judged_evenly(rows, {}, 0)[i - 1].fails()) << i;

  const shape_bound tenth{.forms = "fixed", .refused = 0.1, .reason = "full"};
  const auto refused_as = [&](u64 refused) {
    rows[2].refused = refused;
    return judged_evenly(std::span(rows).subspan(2, 1), std::span(&tenth, 1), quarter)[0];
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
  EXPECT_EQ(judged_evenly(rows, {}, quarter).back().verdict, shape_verdict::fine);
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
  // Every verb, width, distribution, form and state has a row.
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
