// SPDX-License-Identifier: Apache-2.0
// The functions that run for each row, section or key to build and change rows with free entries between them
// (designs/dynamic_hash_graph.hpp).
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/key.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/kernel/lookup.hpp>
#include <tilehash/space/prefetch.hpp>
#include <tilehash/space/tuning.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// ---- from rows without free entries ----
// Sets entries[s], the capacity of section s, from its items or the expected number, whichever is larger.
template <class Design>
struct size_sections {
  typename Design::graph from;
  u64 expected;
  double slack;
  u64* entries;
  TILEHASH_FN void operator()(u64 s) const {
    const u64 items = from.items_of(s * Design::section_rows, (s + 1) * Design::section_rows);
    const u64 all = items > expected ? items : expected;
    entries[s] = all + static_cast<u64>(slack * static_cast<double>(all)) + 1;
  }
};
// Writes the heads of the rows, with the free entries of a section divided evenly among its rows. Copies the
// entries of all rows except long ones, which it counts.
template <class Design>
struct spread_rows {
  static constexpr u64 longest = tuning::here::copied_row;
  Design to;
  typename Design::graph from;
  const u64* sections;  // the begin of each
  u64* long_rows;
  TILEHASH_FN void operator()(u64 r) const {
    using index = typename Design::index;
    const u64 s = r / Design::section_rows, first = s * Design::section_rows;
    if (r == to.capacity()) {
      to.section_at(s) = {sections[s], 0};
      return;
    }
    const u64 at = from.begin(r), size = from.begin(r + 1) - at;
    const u64 items = from.items_of(first, first + Design::section_rows);
    const u64 free = sections[s + 1] - sections[s] - items;
    const u64 begin = sections[s] + (at - from.begin(first)) + free * (r - first) / Design::section_rows;
    to.heads()[r] = {index::word(begin, 0, index::filter_in(from.offsets()[r])), size};
    if (r == first) to.section_at(s) = {sections[s], items};
    if (size > longest)
      fetch_add(long_rows, u64(1));
    else
      for (u64 i = 0; i < size; ++i) to.entries()[begin + i] = from.entries()[at + i];
  }
};
// Copies the entries of long rows: in row `r`, the entry with number `i` among those of all rows.
template <class Design>
struct list_begins {
  typename Design::graph from;
  u64* begins;
  TILEHASH_FN void operator()(u64 r) const { begins[r] = from.begin(r); }
};
template <class Design>
struct spread_long_rows {
  Design to;
  typename Design::graph from;
  TILEHASH_FN void operator()(u64 r, u64 i) const {
    if (to.heads()[r].count > spread_rows<Design>::longest)
      to.entries()[to.begin(r) + (i - from.begin(r))] = from.entries()[i];
  }
};

// ---- from rows with free entries: all items ----
template <class Design>
struct count_rows {
  Design rows;
  u64* counts;
  TILEHASH_FN void operator()(u64 r) const { counts[r] = rows.heads()[r].count; }
};
template <class Design>
struct list_entries {
  Design rows;
  const u64* begins;
  typename Design::key_type* keys;
  std::conditional_t<Design::is_set, char, typename Design::mapped_type>* values;
  TILEHASH_FN void operator()(u64 r, u64 i) const {
    const typename Design::entry& e = rows.entries()[rows.begin(r) + (i - begins[r])];
    keys[i] = e.key;
    if constexpr (!Design::is_set) values[i] = e.value;
  }
};
template <class Design, class F>
struct give_entries {
  Design rows;
  const u64* begins;
  F f;
  TILEHASH_FN void operator()(u64 r, u64 i) const {
    const typename Design::entry& e = rows.entries()[rows.begin(r) + (i - begins[r])];
    if constexpr (Design::is_set)
      f(e.key);
    else
      f(e.key, e.value);
  }
};

// ---- changes ----
template <class Design>
struct empty_rows {
  Design rows;
  TILEHASH_FN void operator()(u64 r) const {
    rows.heads()[r] = {rows.begin(r), 0};
    if (r % Design::section_rows == 0) rows.section_at(r / Design::section_rows).filled = 0;
  }
};
// Counts the sections with too few free entries for their new items, or with so many new items that their
// threads would run much longer than the others.
template <class Design>
struct count_crowded_sections {
  static constexpr u64 most = tuning::here::section_items;
  Design rows;
  typename Design::graph items;  // a row for each section
  u64* crowded;
  TILEHASH_FN void operator()(u64 s) const {
    const u64 come = items.items_of(s, s + 1);
    if (come > rows.free_in(s) || come > most) fetch_add(crowded, u64(1));
  }
};
// Puts the new items into their sections. A CPU's thread takes neighbouring sections, and prefetches for its
// next items.
template <class Design>
struct put_items {
  Design rows;
  typename Design::graph items;
  TILEHASH_FN void operator()(u64 s) const {
    const auto come = items.whole_row(s);
    for (auto e = come.first; e != come.last; ++e) rows.put(s, *e);
    if (come.first != come.last) rows.section_at(s).filled += static_cast<u64>(come.last - come.first);
  }
  void operator()(u64 from, u64 to) const {
    const auto* const come = items.entries();
    const u64 last = items.begin(to);
    for (u64 s = from, i = items.begin(from); i < last; ++i) {
      if (i + in_flight < last) prefetch_to_write(rows.heads() + rows.locate(come[i + in_flight].key).row);
      if (i + in_flight / 2 < last)
        prefetch_to_write(rows.entries() + rows.begin(rows.locate(come[i + in_flight / 2].key).row));
      while (items.begin(s + 1) <= i) ++s;
      rows.put(s, come[i]);
    }
    for (u64 s = from; s < to; ++s) rows.section_at(s).filled += items.items_of(s, s + 1);
  }
};
template <class Design, class Space>
void put_in(Space& space, const Design& rows, const typename Design::graph& items) {
  const put_items<Design> work{rows, items};
  if constexpr (Space::has_lanes)
    space.for_each(rows.sections(), work);
  else
    space.for_each_share(rows.sections(), work, tuning::cpu::put_sections);
}

// Marks the entries of a key and the key's row, and counts the entries. If several keys are equal, only the
// thread that marks their first entry first goes on.
template <class Design>
struct mark_erased {
  static constexpr u32 counters = tuning::table::row_counters;
  using key_type = typename Design::key_type;
  Design rows;
  const key_type* keys;
  u32 *entries, *touched;  // a bit for each
  u64* erased;             // counters: their sum

  TILEHASH_FN void operator()(u64 i) const {
    const auto location = rows.locate(keys[i]);
    mark(keys[i], location, rows.row(location));
  }
  void operator()(u64 from, u64 to) const {
    for_each_row_of(rows, keys, from, to,
                    [this](u64 i, const auto& location, const auto& row) { mark(keys[i], location, row); });
  }

 private:
  TILEHASH_FN void mark(const key_type& key, const typename Design::location& p,
                        const typename Design::range& row) const {
    if (!is_legal(key)) return;
    u64 found = 0;
    for (auto e = row.first; e != row.last; ++e) {
      if (!same_key(e->key, key)) continue;
      if (!set_bit(entries, static_cast<u64>(e - rows.entries())) && found == 0) return;
      ++found;
    }
    if (found == 0) return;
    set_bit(touched, p.row);
    fetch_add(erased + p.row % counters, found);
  }
};
// The first thread that reaches a marked row closes its gaps.
template <class Design>
struct close_rows {
  using key_type = typename Design::key_type;
  Design rows;
  const key_type* keys;
  const u32* entries;
  u32* touched;
  TILEHASH_FN void operator()(u64 i) const {
    const u64 r = rows.locate(keys[i]).row;
    if (is_mine(r)) close(r);
  }
  void operator()(u64 from, u64 to) const {
    u64 mine[in_flight];
    for (; from < to; from += in_flight) {
      const u32 size = to - from < in_flight ? static_cast<u32>(to - from) : in_flight;
      u32 some = 0;
      for (u32 k = 0; k < size; ++k) {
        mine[some] = rows.locate(keys[from + k]).row;
        if (is_mine(mine[some])) prefetch_to_write(rows.heads() + mine[some++]);
      }
      for (u32 k = 0; k < some; ++k) prefetch_to_write(rows.entries() + rows.begin(mine[k]));
      for (u32 k = 0; k < some; ++k) close(mine[k]);
    }
  }

 private:
  TILEHASH_FN bool is_mine(u64 r) const {
    return (load_relaxed(touched + r / 32) >> (r % 32) & 1) != 0 && clear_bit(touched, r);
  }
  TILEHASH_FN void close(u64 r) const {
    const u64 gone = rows.close_gaps(r, [&](u64 e) { return (entries[e / 32] >> (e % 32) & 1) != 0; });
    fetch_add(&rows.section_at(r / Design::section_rows).filled, ~gone + 1);
  }
};
template <class Design, class Space>
void erase_from(Space& space, const Design& rows, const typename Design::key_type* keys, u64 n, u32* entries,
                u32* touched, u64* erased) {
  const mark_erased<Design> mark{rows, keys, entries, touched, erased};
  const close_rows<Design> close{rows, keys, entries, touched};
  if constexpr (Space::has_lanes) {
    space.for_each(n, mark);
    space.for_each(n, close);
  } else {
    space.for_each_share(n, mark);
    space.for_each_share(n, close);
  }
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
