// SPDX-License-Identifier: Apache-2.0
// The items of a multimap, what its keys must have, and the measurements.
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/index.hpp>
#include <tilehash/instances/multimap.hpp>
#include <tilehash/papers/published/multi_value.hpp>
#include <tilehash/rows.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/table.hpp>

#include "alcantara/thesis_multiplicity.hpp"
#include "measure.hpp"
#include "numbered.hpp"

namespace tilehash::bench {

// Items in random order: the i-th has the number order(i), and its key that number over `copies`.
struct make_copies {
  u64 copies;
  shuffled order;
  u32 *keys, *values;
  u32* counts;  // of each key
  u64* sums;    // of its values

  TILEHASH_FN void operator()(u64 i) const {
    const u64 number = order(i) / copies;
    keys[i] = key_of<u32>(number);
    values[i] = static_cast<u32>(i);
    detail::fetch_add(counts + number, 1U);
    detail::fetch_add(sums + number, i);
  }
};
struct make_questions {
  shuffled order;
  u32* keys;
  TILEHASH_FN void operator()(u64 i) const { keys[i] = key_of<u32>(order(i)); }
};
// Has the i-th question the values it should?
struct check_values {
  shuffled order;
  const u64* offsets;
  const u32* values;
  const u32* counts;
  const u64* sums;
  u64* wrong;
  TILEHASH_FN void operator()(u64 i) const {
    const u64 number = order(i);
    u64 sum = 0;
    for (u64 at = offsets[i]; at < offsets[i + 1]; ++at) sum += values[at];
    if (offsets[i + 1] - offsets[i] != counts[number] || sum != sums[number])
      detail::fetch_add(wrong, u64(1));
  }
};
struct check_counts {
  shuffled order;
  const u32 *counted, *counts;
  u64* wrong;
  TILEHASH_FN void operator()(u64 i) const {
    if (counted[i] != counts[order(i)]) detail::fetch_add(wrong, u64(1));
  }
};
// ... and the i-th item's key?
struct check_item_counts {
  make_copies items;
  const u32* counted;
  u64* wrong;
  TILEHASH_FN void operator()(u64 i) const {
    if (counted[i] != items.counts[items.order(i) / items.copies]) detail::fetch_add(wrong, u64(1));
  }
};

struct check_same {
  const u32 *a, *b;
  u64* wrong;
  TILEHASH_FN void operator()(u64 i) const {
    if (a[i] != b[i]) detail::fetch_add(wrong, u64(1));
  }
};
// Is the i-th item's key the one that its id stands for?
struct check_ids {
  const u32 *keys, *ids, *list;
  u32 size;
  u64* wrong;
  TILEHASH_FN void operator()(u64 i) const {
    if (ids[i] >= size || list[ids[i]] != keys[i]) detail::fetch_add(wrong, u64(1));
  }
};

// Two-way indexes of the keys of all items.
template <class Space>
void measure_indexes(Space& space, const buffer<u32, Space>& keys, unsigned repeat, u64* wrong,
                     multiplicity_row& row) {
  const u64 n = keys.size();
  const buffer<u32, Space> ids(space, n);
  const auto time = [&](multiplicity_op op, auto run) {
    row.seconds[static_cast<u32>(op)] = measure(
        space, repeat, [] {}, run);
  };
  const auto check = [&](std::span<const u32> list) {
    row.wrong += list.size() != row.what.keys();
    space.for_each(n, check_ids{keys.data(), ids.data(), list.data(), static_cast<u32>(list.size()), wrong});
  };
  {
    papers::published::compacting<Space> table(space, n);
    bool built = true;
    time(multiplicity_op::compact, [&] { built = built && table.build(space, keys.span(), 1); });
    time(multiplicity_op::compact_find, [&] { table.find_ids_async(space, keys.span(), ids.span()); });
    row.wrong += !built;
    check(table.keys());
  }
  {
    papers::published::two_level_compacting<Space> table(space, n);
    bool built = true;
    time(multiplicity_op::two_level, [&] { built = built && table.build(space, keys.span(), 1).complete; });
    time(multiplicity_op::two_level_find, [&] { table.find_ids_async(space, keys.span(), ids.span()); });
    row.wrong += !built;
    check(table.keys());
  }
  {
    papers::published::compacted_list<Space> list(space, n);
    time(multiplicity_op::list, [&] { list.build(space, keys.span()); });
    time(multiplicity_op::list_find, [&] { list.find_ids_async(space, keys.span(), ids.span()); });
    check(list.keys());
  }
  index<u32, Space> table(space);
  time(multiplicity_op::index_build, [&] {
    table.clear(space);
    row.wrong += table.insert(space, keys.span()).refused;
  });
  time(multiplicity_op::index_find, [&] { table.find_ids(space, keys.span(), ids.span()); });
  const buffer<u32, Space> back(space, n);
  table.keys_of(space, ids.span(), back.span());
  row.wrong += table.size() != row.what.keys();
  space.for_each(n, check_same{keys.data(), back.data(), wrong});
}

// One of the thesis' multi-value tables.
template <class Table, class Space>
void measure_values(Space& space, const make_copies& items, u64 n, unsigned repeat, multiplicity_op build,
                    u64* wrong, multiplicity_row& row) {
  const auto time = [&](multiplicity_op op, auto run) {
    row.seconds[static_cast<u32>(op)] = measure(
        space, repeat, [] {}, run);
  };
  const std::span<const u32> keys(items.keys, n), values(items.values, n);
  const buffer<u32, Space> begins(space, n), counts(space, n);
  Table table(space, n);
  bool built = true;
  time(build, [&] { built = built && table.build(space, keys, values, 1); });
  time(static_cast<multiplicity_op>(static_cast<u32>(build) + 1),
       [&] { table.find_async(space, keys, begins.span(), counts.span()); });
  row.wrong += !built || table.size() != row.what.keys();
  space.for_each(n, check_item_counts{items, counts.data(), wrong});
}

template <class Space>
multiplicity_row measure_multiplicity(Space& space, const std::string& space_name,
                                      const multiplicity_case& the_case, unsigned repeat) {
  const u64 n = the_case.items, k = the_case.keys();
  multiplicity_row row{.what = the_case, .space = space_name};
  const auto time = [&](multiplicity_op op, auto run) {
    row.seconds[static_cast<u32>(op)] = measure(
        space, repeat, [] {}, run);
  };
  buffer<u32, Space> keys(space, n), values(space, n), counts(space, k), questions(space, k);
  buffer<u64, Space> sums(space, k), wrong(space, 1);
  space.fill(counts.data(), k, 0U);
  space.fill(sums.data(), k, u64(0));
  space.fill(wrong.data(), 1, u64(0));
  const make_copies make{the_case.copies, {0, n}, keys.data(), values.data(), counts.data(), sums.data()};
  const shuffled order(0, k);
  insert_report report;
  space.for_each(n, make);
  space.for_each(k, make_questions{order, questions.data()});
  {
    buffer<u32, Space> sorted(space, n), carried(space, n);
    time(multiplicity_op::sort, [&] {
      space.sort_pairs(static_cast<const u32*>(keys.data()), static_cast<const u32*>(values.data()),
                       sorted.data(), carried.data(), n, 32);
    });
  }
  {
    table<hash_graph<u32, u32>, Space> graph(space);
    time(multiplicity_op::graph_build, [&] { report = graph.build(space, keys.span(), values.span()); });
    buffer<u32, Space> counted(space, k);
    time(multiplicity_op::graph_retrieve, [&] { graph.count(space, questions.span(), counted.span()); });
    row.wrong += n - report.inserted;
    space.for_each(k, check_counts{order, counted.data(), counts.data(), wrong.data()});
  }
  multimap<u32, u32, Space> map(space);
  buffer<u64, Space> offsets(space, k + 1);
  buffer<u32, Space> out(space, n);
  const auto build = [&](multiplicity_op op, grouping how) {
    time(op, [&] { report = map.build(space, keys.span(), values.span(), how); });
    row.wrong += n - report.inserted;
    map.retrieve(space, questions.span(), offsets.span(), out.span());
    space.for_each(k,
                   check_values{order, offsets.data(), out.data(), counts.data(), sums.data(), wrong.data()});
  };
  build(multiplicity_op::by_sort, grouping::by_sort);
  build(multiplicity_op::by_count, grouping::by_count);
  build(multiplicity_op::automatic, grouping::automatic);
  row.bytes = static_cast<double>(map.bytes()) / static_cast<double>(n);
  time(multiplicity_op::retrieve, [&] { map.retrieve(space, questions.span(), offsets.span(), out.span()); });
  time(multiplicity_op::look_up, [&] { map.count(space, keys.span(), out.span()); });
  space.for_each(n, check_item_counts{make, out.data(), wrong.data()});
  measure_indexes(space, keys, repeat, wrong.data(), row);
  measure_values<papers::published::multi_value_by_sort<Space>>(
      space, make, n, repeat, multiplicity_op::single_values, wrong.data(), row);
  measure_values<papers::published::multi_value_by_count<Space>>(
      space, make, n, repeat, multiplicity_op::two_values, wrong.data(), row);
  row.wrong += read_one(space, wrong.data());
  return row;
}

}  // namespace tilehash::bench
