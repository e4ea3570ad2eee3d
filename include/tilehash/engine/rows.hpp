// SPDX-License-Identifier: Apache-2.0
// engine::rows: tables of rows with free entries between them (designs/dynamic_hash_graph.hpp). They are
// built from all items at once, and support inserts and erases.
//
//   a build      builds a graph without gaps, and spreads it out: both are in memory for a while
//   an insert    builds a graph from the call's items, with a row for each section of the table, and adds its
//                rows to the sections. If a section has too few free entries, or there are so many items that
//                it pays, all items are rebuilt.
//   an erase     marks entries, then closes the gaps of rows; if shrink_below requires it, rebuilds the
//                remaining items
//
// A call allocates all its memory before it changes anything.
#pragma once

#include <algorithm>
#include <tuple>
#include <utility>

#include <tilehash/algorithm/segments.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/error.hpp>
#include <tilehash/core/options.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/engine/storage.hpp>
#include <tilehash/kernel/rows.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/table_view.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace engine {

template <class Design, class Space>
class rows : public storage<Design, Space> {
  using base = storage<Design, Space>;
  using graph = typename Design::graph;
  using base::options_, base::memory_, base::view_, base::size_;

 public:
  using base::bytes, base::capacity;
  using typename base::key_type;
  using typename base::mapped_type;
  using typename base::value_element;
  using typename base::view_type;

  rows(Space& space, u64 items, const table_options& options) : base(options) {
    detail::require(options.slack >= 0 && options.slack <= 16, "the slack must be at least 0 and at most 16");
    this->require_shrink_below();
    adopt(built(space, nullptr, nullptr, 0, rows_for(items), items));
    reserved_ = items;
  }
  rows clone(Space& space) const { return rows(*this, space); }

  insert_report build_arrays(Space& space, const key_type* keys, const value_element* values, u64 n) {
    adopt(built(space, keys, values, n, rows_for(n), 0));
    reserved_ = 0;
    return {.inserted = size_, .refused = n - size_};
  }
  insert_report insert_arrays(Space& space, const key_type* keys, const value_element* values, u64 n) {
    if (n == 0) return {};
    const u64 before = size_;
    // (If more than three quarters of the free entries would be taken, some section is too full.)
    if (n > (entries_ - size_) / 4 * 3 || !put_in(space, keys, values, n)) rebuild(space, keys, values, n);
    return {.inserted = size_ - before, .refused = n - (size_ - before)};
  }
  u64 erase(Space& space, const key_type* keys, u64 n) {
    if (n == 0 || size_ == 0) return 0;
    const buffer<u32, Space> marks(space, entries_ / 32 + 1), touched(space, capacity() / 32 + 1);
    const buffer<u64, Space> erased(space, detail::mark_erased<Design>::counters);
    space.fill(marks.data(), marks.size(), u32(0));
    space.fill(touched.data(), touched.size(), u32(0));
    space.fill(erased.data(), erased.size(), u64(0));
    detail::erase_from(space, view_.design, keys, n, marks.data(), touched.data(), erased.data());
    u64 gone = 0;
    for (const u64 part : erased.to_host()) gone += part;
    size_ -= gone;
    if (static_cast<double>(size_) < options_.shrink_below * static_cast<double>(capacity())) {
      try {  // leaves capacity for half as many items again
        if (shrink_to(space, rows_for(size_ + size_ / 2)) != 0) reserved_ = 0;
      } catch (const out_of_memory&) {  // the table keeps its size
      }
    }
    return gone;
  }

  // Makes capacity for so many items, which later rebuilds keep; never fewer rows.
  u64 reserve(Space& space, u64 items) {
    const u64 all = std::max<u64>(reserved_, items), wanted = std::max(rows_for(items), capacity());
    const bool rebuilds = items > size_ && (wanted > capacity() || items > entries_);
    if (rebuilds) build_again(space, wanted, all);
    reserved_ = all;
    return rebuilds ? 1 : 0;
  }
  // Leaves no more rows than the items need, and no more free entries than a build; never more of either.
  u64 shrink_to_fit(Space& space) {
    const u64 rebuilds = shrink_to(space, rows_for(size_));
    reserved_ = 0;
    return rebuilds;
  }
  // Rebuilds with memory for max(items, size()), with the next hash function.
  u64 rehash(Space& space, u64 items) {
    const u64 seed = detail::seed_of(options_);
    options_.seed = seed + 1;
    try {
      const u64 all = items < size_ ? size_ : items;
      const u64 rebuilds = build_again(space, rows_for(all), all);
      reserved_ = items;
      return rebuilds;
    } catch (...) {
      options_.seed = seed;
      throw;
    }
  }
  void clear(Space& space) {
    space.for_each(capacity(), detail::empty_rows<Design>{view_.design});
    size_ = 0;
  }

  // ---- all items ----
  void copy_entries(Space& space, key_type* keys, value_element* values) const {
    for_each_entry(space, [&](const u64* begins) {
      return detail::list_entries<Design>{view_.design, begins, keys, values};
    });
  }
  template <class F>
  void for_each(Space& space, F f) const {
    for_each_entry(space, [&](const u64* begins) {
      return detail::give_entries<Design, F>{view_.design, begins, f};
    });
  }

 private:
  rows(const rows& other, Space& space) : base(other, space) {
    view_.design = other.view_.design.moved_to(memory_.data());
    entries_ = u64(other.entries_);
    reserved_ = u64(other.reserved_);
  }

  struct made {
    buffer<char, Space> memory;
    view_type view;
    u64 entries = 0, items = 0;
  };
  u64 rows_for(u64 items) const { return Design::rows_for(items, options_.load_factor); }

  // A table of these items, with capacity for at least `expected`.
  made built(Space& space, const key_type* keys, const value_element* values, u64 n, u64 row_count,
             u64 expected) const {
    const u64 seed = detail::seed_of(options_);
    const buffer<char, Space> memory(space, graph::bytes(row_count, n));
    graph from(memory.data(), row_count, n, seed);
    made m;
    m.items = from.build(space, keys, given(values), n);
    m.view.design = Design(nullptr, row_count, seed);
    const u64 sections = m.view.design.sections();
    const buffer<u64, Space> begins(space, sections + 1), long_rows(space, 1);
    space.fill(begins.data() + sections, 1, u64(0));
    space.fill(long_rows.data(), 1, u64(0));
    space.for_each(sections, detail::size_sections<Design>{from, detail::divide_up(expected, sections),
                                                           options_.slack, begins.data()});
    space.exclusive_scan(begins.data(), begins.data(), sections + 1);
    m.entries = read_one(space, begins.data() + sections);
    detail::require(m.entries <= Design::index::most_items, Design::index::too_many);
    m.memory = buffer<char, Space>(space, Design::bytes(row_count, m.entries));
    m.view.design = Design(m.memory.data(), row_count, seed);
    space.for_each(row_count + 1,
                   detail::spread_rows<Design>{m.view.design, from, begins.data(), long_rows.data()});
    if (read_one(space, long_rows.data()) != 0) {
      const buffer<u64, Space> of_rows(space, row_count + 1);
      space.for_each(row_count + 1, detail::list_begins<Design>{from, of_rows.data()});
      detail::for_each_in_segments(space, of_rows.data(), row_count, m.items,
                                   detail::spread_long_rows<Design>{m.view.design, from});
    }
    return m;
  }
  // Returns false, and changes nothing, if some of these items find no free entry.
  bool put_in(Space& space, const key_type* keys, const value_element* values, u64 n) {
    const Design& all = view_.design;
    const buffer<char, Space> memory(space, graph::bytes(all.sections(), n));
    const buffer<u64, Space> crowded(space, 1);
    graph items(memory.data(), all.sections(), n, detail::seed_of(options_));
    const u64 legal = items.build(space, keys, given(values), n);
    space.fill(crowded.data(), 1, u64(0));
    space.for_each(all.sections(), detail::count_crowded_sections<Design>{all, items, crowded.data()});
    if (read_one(space, crowded.data()) != 0) return false;
    detail::put_in(space, all, items);
    size_ += legal;
    return true;
  }
  // Rebuilds from all items and these. Keeps the number of rows, unless the load factor requires more.
  void rebuild(Space& space, const key_type* keys, const value_element* values, u64 n) {
    const u64 all = size_ + n, wanted = options_.grow ? rows_for(all) : 0;
    const buffer<key_type, Space> all_keys(space, all);
    const buffer<value_element, Space> all_values(space, Design::is_set ? 0 : all);
    copy_entries(space, all_keys.data(), all_values.data());
    space.copy(all_keys.data() + size_, keys, n * sizeof(key_type));
    if (!Design::is_set) space.copy(all_values.data() + size_, values, n * sizeof(value_element));
    adopt(built(space, all_keys.data(), all_values.data(), all, std::max(wanted, capacity()), reserved_));
  }
  // Rebuilds with at most so many rows, if that takes less memory.
  u64 shrink_to(Space& space, u64 row_count) {
    const u64 row_limit = std::min(row_count, capacity()), sections = row_limit / Design::section_rows;
    const u64 most = size_ + static_cast<u64>(options_.slack * static_cast<double>(size_)) + sections;
    if (Design::bytes(row_limit, most) >= bytes()) return 0;
    return build_again(space, row_limit, 0);
  }
  u64 build_again(Space& space, u64 row_count, u64 expected) {
    const buffer<key_type, Space> keys(space, size_);
    const buffer<value_element, Space> values(space, Design::is_set ? 0 : size_);
    copy_entries(space, keys.data(), values.data());
    adopt(built(space, keys.data(), values.data(), size_, row_count, expected));
    return 1;
  }
  void adopt(made m) {
    memory_ = std::move(m.memory);
    view_ = m.view;
    entries_ = m.entries;
    size_ = m.items;
  }

  // use(offsets) returns the function object to call with each entry's row and number.
  template <class Use>
  void for_each_entry(Space& space, const Use& use) const {
    if (size_ == 0) return;
    const u64 n = capacity();
    const buffer<u64, Space> begins(space, n + 1);
    space.fill(begins.data() + n, 1, u64(0));
    space.for_each(n, detail::count_rows<Design>{view_.design, begins.data()});
    space.exclusive_scan(begins.data(), begins.data(), n + 1);
    detail::for_each_in_segments(space, begins.data(), n, size_, use(begins.data()));
  }
  static auto given(const value_element* values) { return static_cast<const mapped_type*>(values); }

  detail::zero_when_moved<> entries_;
  detail::zero_when_moved<> reserved_;  // items that rebuilds leave capacity for
};

}  // namespace engine
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
