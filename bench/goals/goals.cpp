// SPDX-License-Identifier: Apache-2.0
// tilehash_goals: measures the rates that calls off the bulk road must reach (docs/measured/goals.md), each
// answer checked. Prints a line a goal, and how many are met. Its exit status is 1 if an answer was wrong.
#include "goal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ours/calls.hpp"
#include "ours/ceilings.hpp"
#include "ours/shapes.hpp"
#include "ours/tail.hpp"

namespace tilehash::bench {
namespace {

using enum goal_unit;
using enum shape_verb;
using enum shape_width;
using enum shape_keys;
using enum shape_form;
using enum shape_state;

struct shape_goal {
  const char* call;
  goal_unit unit;
  double asked;
  u64 items;
  shape what;
  double goal_bounds::*rate = nullptr;  // that bounds it
};

constexpr u64 million = 1'000'000, two_22 = u64(1) << 22, two_24 = u64(1) << 24, two_26 = u64(1) << 26;

constexpr shape_goal shape_goals[] = {
    {"insert by a thread a key, 2^26",
     billions_a_second,
     12,
     two_26,
     {insert, of_4, distinct, by_thread, empty},
     &goal_bounds::two_buckets_26},
    {"... 2^22",
     billions_a_second,
     24,
     two_22,
     {insert, of_4, distinct, by_thread, empty},
     &goal_bounds::two_buckets_22},
    {"insert by tiles, 2^26",
     billions_a_second,
     12.3,
     two_26,
     {insert, of_4, distinct, by_tile, empty},
     &goal_bounds::two_buckets_26},
    {"... 2^22",
     billions_a_second,
     26,
     two_22,
     {insert, of_4, distinct, by_tile, empty},
     &goal_bounds::two_buckets_22},
    {"insert of present keys by a thread a key, 2^26",
     billions_a_second,
     27,
     two_26,
     {insert, of_4, distinct, by_thread, present}},
    {"erase by a thread a key, 2^26",
     billions_a_second,
     12,
     two_26,
     {erase, of_4, distinct, by_thread, present},
     &goal_bounds::swap_26},
    {"... 2^22",
     billions_a_second,
     22,
     two_22,
     {erase, of_4, distinct, by_thread, present},
     &goal_bounds::swap_22},
    {"find by a thread a key, 2^22",
     billions_a_second,
     50,
     two_22,
     {find, of_4, distinct, by_thread, present},
     &goal_bounds::find_22},
    {"insert with outcomes, 2^24", billions_a_second, 20, two_24, {insert, of_4, distinct, outcomes, empty}},
    {"insert_or_assign of 10^7 present keys",
     microseconds,
     400,
     10 * million,
     {insert_or_assign, of_4, distinct, sync, present}},
    {"... asynchronous", microseconds, 400, 10 * million, {insert_or_assign, of_4, distinct, async, present}},
    {"insert_or_assign of 10^3 present keys",
     microseconds,
     15,
     1000,
     {insert_or_assign, of_4, distinct, sync, present}},
    {"insert_or_apply of 10^3 present keys",
     microseconds,
     15,
     1000,
     {insert_or_apply, of_4, distinct, sync, present}},
    {"insert_or_assign of 2^24 items of one key, fixed table",
     milliseconds,
     0.8,
     two_24,
     {insert_or_assign, of_4, one_key, fixed, empty}},
    {"... asynchronous", milliseconds, 0.8, two_24, {insert_or_assign, of_4, one_key, async, empty}},
    {"insert of 2^24 items of 1 000 keys, fixed table",
     milliseconds,
     0.5,
     two_24,
     {insert, of_4, groups_1000, fixed, empty}},
    {"... asynchronous", milliseconds, 0.5, two_24, {insert, of_4, groups_1000, async, empty}},
    {"index::insert_and_find, 2^24, 4 bytes",
     billions_a_second,
     20,
     two_24,
     {insert_and_find, of_4, distinct, sync, empty}},
    {"... 8 bytes", billions_a_second, 12, two_24, {insert_and_find, of_8, distinct, sync, empty}},
    {"multimap::retrieve of 10^5 keys of one value",
     billions_a_second,
     10,
     100'000,
     {retrieve, of_4, distinct, sync, half}},
};

struct call_goal {
  const char *call, *name;  // in words; in the benchmark of calls
  double asked;             // microseconds
  u64 items;
  bool half_full;
  double goal_bounds::*least;
};
constexpr call_goal call_goals[] = {
    {"insert_async into an empty table, 10^3", "insert_async", 15, 1000, false, &goal_bounds::fill_3},
    {"... 10^5", "insert_async", 30, 100'000, false, &goal_bounds::fill_5},
    {"... 10^6", "insert_async", 40, million, false, &goal_bounds::fill_6},
    {"... 10^7", "insert_async", 270, 10 * million, false, &goal_bounds::fill_7},
    {"erase of 10^3 from a table of 2^24 slots", "erase", 12, 1000, true, &goal_bounds::erase_3},
    {"... asynchronous", "erase_async", 10, 1000, true, &goal_bounds::erase_async_3},
    {"insert_async of 10^6 into a table of 2^24 slots, half full", "insert_async", 90, million, true,
     &goal_bounds::half_full_6},
};

struct tail_goal {
  const char* call;
  double asked;  // 10^9 items a second
  u64 n;
  double load;
  unsigned bits;
};
constexpr tail_goal tail_goals[] = {
    {"insert of the last 1/16 of 2^26, load 0.8", 10.5, two_26, 0.8, 32},
    {"... 0.9", 9, two_26, 0.9, 32},
    {"... 0.95", 6.5, two_26, 0.95, 32},
    {"... of 2^22, load 0.8", 10, two_22, 0.8, 32},
    {"... of 2^26 pairs of 8 + 8 bytes, load 0.8", 9, two_26, 0.8, 64},
};

double least_seconds_of(const shape_goal& goal, const goal_bounds& bounds) {
  if (goal.what.verb == retrieve) return bounds.retrieve_5;
  if (goal.items == 1000) return bounds.update_3;
  return goal.rate == nullptr ? 0 : static_cast<double>(goal.items) / bounds.*goal.rate;
}

void measure_shape_goals(const goal_bounds& bounds, const tell_goal& tell) {
  for (const shape_goal& goal : shape_goals) {
    const shapes_case the_case{.items = goal.items, .repeat = goal.items < million ? 51u : 7u, .limit = 20};
    const auto tell_row = [&](const shape_row& row) {
      tell({.call = goal.call,
            .unit = goal.unit,
            .asked = goal.asked,
            .items = row.items,
            .seconds = row.seconds,
            .least_seconds = least_seconds_of(goal, bounds),
            .wrong = row.wrong,
            .refused = row.refused});
    };
    cuda_shapes(std::span(&goal.what, 1), the_case, tell_row);
  }
}

void measure_call_goals(const goal_bounds& bounds, const tell_goal& tell) {
  std::vector<call_row> rows;
  const calls_case the_case{.design = "tiled",
                            .items = {1000, 100'000, million, 10 * million},
                            .slots = two_24,
                            .batches = {1000, million}};
  cuda_calls(the_case, [&](const call_row& row) { rows.push_back(row); });
  for (const call_goal& goal : call_goals)
    for (const call_row& row : rows) {
      const bool of_half = row.held == the_case.slots / 2;
      if (row.call != goal.name || row.items != goal.items || of_half != goal.half_full) continue;
      if (!goal.half_full && row.held != 0) continue;
      tell({.call = goal.call,
            .unit = microseconds,
            .asked = goal.asked,
            .items = row.items,
            .seconds = row.done,
            .least_seconds = bounds.*goal.least,
            .wrong = row.wrong});
    }
}

void measure_tail_goals(const tell_goal& tell) {
  known_limits known;
  for (const tail_goal& goal : tail_goals) {
    const tail_case the_case{.op = tail_op::insert,
                             .n = goal.n,
                             .load_factor = goal.load,
                             .bits = goal.bits,
                             .items = goal.n / 16};
    const auto row = cuda_tail("tiled", the_case, known, 5);
    if (!row) continue;
    tell({.call = goal.call,
          .unit = billions_a_second,
          .asked = goal.asked,
          .items = goal.n / 16,
          .seconds = row->seconds,
          // For pairs of 8 + 8 bytes, another order of writes may take less than its three ways.
          .least_seconds = goal.bits == 32 ? measure_tail_bounds(goal.n, goal.load, goal.bits).least() : 0,
          .wrong = row->wrong,
          .refused = row->failed});
  }
  for (const auto& [bytes, rate] : known.by_size())
    fmt::print("ceiling at {:>5} MiB: 64-byte reads {:.1f}, a read and a compare-and-swap {:.1f} G/s\n",
               bytes >> 20, rate.reads / 1e9, rate.updates / 1e9);
}

constexpr const char* unit_name(goal_unit unit) {
  return unit == billions_a_second ? "G/s" : unit == milliseconds ? "ms" : "us";
}

}  // namespace

// Returns whether all answers were right.
bool measure_goals() {
  unsigned met = 0, possible = 0, all = 0;
  u64 wrong = 0;
  goal_bounds bounds = measure_goal_bounds();
  measure_small_bounds(bounds);
  fmt::print(
      "bare kernels, one thread a key: 64 bytes and a swap {:.1f} (2^26), {:.1f} (2^22); 64 bytes {:.1f} "
      "(2^22) G/s;\n"
      "inserts at load 0.8 into two buckets {:.1f} (2^26), {:.1f} (2^22), lookups there {:.1f} (2^22), "
      "inserts by linear "
      "probing {:.1f}, by double hashing {:.1f} (2^26) G/s; writes {:.2f} "
      "TB/s; a call {:.1f} us\n",
      bounds.swap_26 / 1e9, bounds.swap_22 / 1e9, bounds.read_22 / 1e9, bounds.two_buckets_26 / 1e9,
      bounds.two_buckets_22 / 1e9, bounds.find_22 / 1e9, bounds.linear_26 / 1e9, bounds.double_26 / 1e9,
      bounds.bytes_written / 1e12, bounds.call * 1e6);
  fmt::print("{:<68}{:>5}{:>9}{:>10}  {:<19}{:<20}\n", "call", "", "asked", "measured", "least to most", "");
  const auto tell = [&](const goal_row& row) {
    const double a = row.in_unit(row.seconds.min), b = row.in_unit(row.seconds.max);
    std::string note = row.is_met() ? "met" : row.is_possible() ? "not met" : "out of reach";
    if (!row.is_met() && row.least_seconds > 0)
      note += fmt::format(" (a bare kernel {:.4g})", row.in_unit(row.least_seconds));
    if (row.wrong != 0) note += fmt::format(", {} WRONG", row.wrong);
    if (row.refused != 0) note += fmt::format(", {} refused", row.refused);
    if (row.rival.seconds > 0)
      note += fmt::format("; {} {:.3g}", row.rival.name, row.in_unit(row.rival.seconds));
    fmt::print("{:<68}{:>5}{:>9.4g}{:>10.4g}  {:<19}{}\n", row.call, unit_name(row.unit), row.asked,
               row.in_unit(row.seconds.median),
               fmt::format("{:.4g} to {:.4g}", std::min(a, b), std::max(a, b)), note);
    std::fflush(stdout);
    met += row.is_met();
    possible += row.is_met() || row.is_possible();
    wrong += row.wrong;
    ++all;
  };
  measure_shape_goals(bounds, tell);
  view_goals(bounds, tell);
  measure_call_goals(bounds, tell);
  measure_tail_goals(tell);
  sums_goals(tell);
  growth_goals(tell);
  join_goals(bounds, tell);
  fmt::print("{} of {} goals met, {} out of reach\n", met, all, all - possible);
  return wrong == 0;
}

}  // namespace tilehash::bench

int main() {
  try {
    return tilehash::bench::measure_goals() ? 0 : 1;
  } catch (const std::exception& e) {
    fmt::print(stderr, "tilehash_goals: {}\n", e.what());
    return 2;
  }
}
