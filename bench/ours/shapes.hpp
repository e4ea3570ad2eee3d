// SPDX-License-Identifier: Apache-2.0
// The matrix that finds cliffs: every verb on keys of every width and distribution, in every form of call, on
// tables from empty to nearly full. The best row of a verb, of keys of one width, is the yardstick of its
// others.
#pragma once

#include <tilehash/core/config.hpp>

#include <array>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure.hpp"
#include "ours/ceilings.hpp"

namespace tilehash::bench {

enum class shape_verb {
  build,
  insert,
  insert_or_assign,
  insert_or_apply,  // op::sum
  count,            // insert_or_apply of op::count
  find,
  contains,
  erase,
  insert_and_find,  // of an index
  retrieve,         // of a multimap
};
enum class shape_width { of_4, of_8, of_16, record };  // of a record: 24 bytes, with a value of 32 bytes
enum class shape_keys {
  distinct,  // and random, as all groups are
  sequential,
  sorted,  // random and ascending
  strided,
  one_key,
  groups_10,
  groups_1000,
  groups_65536,
  groups_2097152,
  half_one_key,  // half of the items have one key, the others are distinct
  zipf,          // exponent 1, a sixteenth as many keys as items
};
enum class shape_form {
  sync,
  async,
  by_thread,  // a kernel of the caller, one thread an item
  by_tile,    // ... a lane of a tile an item
  growing,    // the table is made for what it holds before the call
  fixed,      // the table may not grow
  outcomes,   // the call reports the outcome of each item
};
// The table before the call. It is made for what it holds after the call, unless it grows.
enum class shape_state {
  empty,
  half,       // made for twice what it holds: other keys, for a lookup or an erase the call's
  near_full,  // load factor 0.95; the call adds the last sixteenth, or it looks up or erases all
  present,    // holds the call's keys
};

inline constexpr auto verb_names =
    std::to_array<std::string_view>({"build", "insert", "insert_or_assign", "insert_or_apply", "count",
                                     "find", "contains", "erase", "insert_and_find", "retrieve"});
inline constexpr auto width_names = std::to_array<std::string_view>({"4", "8", "16", "record"});
inline constexpr auto keys_names = std::to_array<std::string_view>(
    {"distinct", "sequential", "sorted", "strided", "one_key", "groups_10", "groups_1000", "groups_65536",
     "groups_2097152", "half_one_key", "zipf"});
inline constexpr auto form_names = std::to_array<std::string_view>(
    {"sync", "async", "by_thread", "by_tile", "growing", "fixed", "outcomes"});
inline constexpr auto state_names =
    std::to_array<std::string_view>({"empty", "half", "near_full", "present"});

struct shape {
  shape_verb verb{};
  shape_width width{};
  shape_keys keys{};
  shape_form form{};
  shape_state state{};

  std::string_view verb_name() const { return verb_names[static_cast<unsigned>(verb)]; }
  std::string_view width_name() const { return width_names[static_cast<unsigned>(width)]; }
  std::string_view keys_name() const { return keys_names[static_cast<unsigned>(keys)]; }
  std::string_view form_name() const { return form_names[static_cast<unsigned>(form)]; }
  std::string_view state_name() const { return state_names[static_cast<unsigned>(state)]; }
  // Does the call put its items into the table?
  bool adds() const {
    return verb != shape_verb::find && verb != shape_verb::contains && verb != shape_verb::erase &&
           verb != shape_verb::retrieve;
  }
  bool wide() const { return width == shape_width::of_16 || width == shape_width::record; }
};

// The shapes that make sense for so many items, in the order in which they are measured: those that differ in
// at most two of keys, form and state from the verb's plain shape (distinct keys, sync, its first state).
// `lanes`: does the space have tiles of several lanes?
std::vector<shape> all_shapes(u64 items, bool lanes);
// Different keys of so many items, and the items of the most frequent one (of Zipf's keys on average).
u64 distinct_keys(shape_keys keys, u64 items);
double most_frequent(shape_keys keys, u64 items);

struct shapes_case {
  u64 items = 0;
  unsigned repeat = 3;
  double limit = 1;  // seconds of a call; one that a part of the items predicts to take longer is not made
  int threads = 0;   // of the CPU
  measured_clock clock = measured_clock::wall;
};

struct shape_row {
  shape what{};
  std::string space{};
  unsigned key_bytes = 0, value_bytes = 0;
  u64 items = 0;  // of the call
  u64 held = 0;   // by the table before it
  spread seconds{};
  bool over_limit = false;  // then `items` is the part that was measured
  u64 refused = 0;          // items
  u64 wrong = 0;            // answers

  double rate() const { return seconds.median > 0 ? static_cast<double>(items) / seconds.median : 0; }
  double refused_share() const { return static_cast<double>(refused) / static_cast<double>(items); }
};

using tell_shape = std::function<void(const shape_row&)>;
// A shape whose verb or form the table of that width does not have gets no row.
void cpu_shapes(std::span<const shape> shapes, const shapes_case& the_case, const tell_shape& tell);
void cuda_shapes(std::span<const shape> shapes, const shapes_case& the_case, const tell_shape& tell);
// Those of 16 bytes and of records, for cuda_shapes(): a source of its own, as each compiles for minutes.
void cuda_wide_shapes(std::span<const shape> shapes, const shapes_case& the_case, const tell_shape& tell);

// Accesses of memory that a call cannot do without, for each item. Keys of 16 bytes and records are stored
// behind a table of ids, and take twice as many; records of 56 bytes, in two lines, three times.
struct shape_cost {
  double reads = 0, updates = 0, reads_alone = 0, updates_alone = 0,
         steps = 0;     // of the table (access_rates)
  bool by_key = false;  // these are for each key: equal keys are combined before the table meets them
  double combined = 0;  // updates of memory that a core's cache holds, where items of equal keys meet
  double one_line = 0;  // updates of one line, one after the other: for each item of the most frequent key
  double moved = 0;     // updates of the table for each item that it held before
  double waits = 0;     // of the host for a number that decides what runs next, with a kernel each
};
// The cost of some rows. Each text of names is a list, separated by spaces, or empty for all.
struct shape_bound {
  std::string_view space{}, verbs{}, widths{}, keys{}, forms{}, states{};
  shape_cost cost{};
  double refused = 0;  // share of the items that the table may refuse
  std::string_view reason{};
};
// The first that applies to a row is the row's.
std::span<const shape_bound> shape_bounds();

// Gives the rates of a space for memory of so many bytes.
using rates_of_memory = std::function<access_rates(std::string_view space, u64 bytes)>;

// Bytes of a row's table after the call.
u64 table_bytes(const shape_row& row);
// Items per second that memory, and on a GPU the start of a call, allow at most; infinite if the cost has no access.
double rate_by_cost(const shape_row& row, const shape_cost& cost, const rates_of_memory& rates);

enum class shape_verdict { wrong, refused, over_limit, slow, bounded, fine };
inline constexpr auto verdict_names =
    std::to_array<std::string_view>({"WRONG", "REFUSED", "OVER LIMIT", "SLOW", "bounded", ""});

struct judged_shape {
  shape_row row;
  double share = 0;  // of the rate of the verb's best row
  double bound = 0;  // items per second that are possible, if the share is under the least; 0: not known
  shape_verdict verdict{};
  std::string_view reason{};  // of a bound that applies

  bool fails() const { return verdict < shape_verdict::bounded; }
};

// A row fails if it has a wrong answer, refuses items or is over the limit. It fails, too, if it is slower than
// the least share of the best row of its space, verb and width, and than the least share of what is possible
// for it. That adds the time of its accesses, at the rates of memory, and the time of an item in the best row of
// the same bound, which has about the same instructions. If that row is slower than the least share of what
// memory allows, the accesses alone count. Rows that fail come first, slowest first.
std::vector<judged_shape> judge(std::span<const shape_row> rows, std::span<const shape_bound> bounds,
                                const rates_of_memory& rates, double least);

}  // namespace tilehash::bench
