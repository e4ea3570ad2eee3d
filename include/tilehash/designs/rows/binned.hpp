// A builder of rows (designs/rows.hpp) in two steps: the items are put in order by bins of neighbouring rows,
// and then built as if they had come so.
//
//   items      d a c e b f        rows 3 0 2 3 0 3
//   bins     | a b | c d e f |    of two rows each: 0 and 1, 2 and 3
//   build      bin after bin, so that its counters, and then its entries, stay in the cache
//
// A block takes a share of the items, counts those of each bin in its scratch, finds them room in the bins
// side by side and writes them there.
//
// It pays where counters and entries do not fit the cache: then a build in the order of the items misses it
// with every item, once to count it and twice to put it in its place.
#pragma once

#include <tilehash/algorithm/block_scan.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/designs/rows.hpp>

namespace tilehash::inline TILEHASH_ABI::detail {

// Sends a share of the items to their bins; without `keys_out` it only counts them in `next`. Keys that are
// NaN are left out.
template <class Rows, class Key, class MappedPointer, u32 Threads>
struct fill_bins {
  using offset = typename Rows::offset;
  using mapped = std::remove_const_t<std::remove_pointer_t<MappedPointer>>;
  static constexpr u32 block_size = Threads;
  static constexpr u32 share = 16384;
  static constexpr u64 scratch_bytes(u32 bins) { return bins * sizeof(offset); }

  Rows rows;
  const Key* keys;
  MappedPointer values;
  u64 n;
  u32 shift, bins;  // a bin has 2^shift rows
  offset* next;     // of each bin, where its next item goes
  Key* keys_out;
  mapped* values_out;

  TILEHASH_FN u32 bin_of(u64 i) const { return static_cast<u32>(rows.locate(keys[i]).row >> shift); }
  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const auto here = block.template scratch<offset>();
    const u32 me = block.rank();
    const u64 first = block.index() * share, last = first + share < n ? first + share : n;
    for (u32 b = me; b < bins; b += Threads) here[b] = 0;
    block.barrier();
    for (u64 i = first + me; i < last; i += Threads) {
      if (is_legal(keys[i])) fetch_add(here + bin_of(i), offset(1));
    }
    block.barrier();
    for (u32 b = me; b < bins; b += Threads) {
      const offset came = here[b];
      if (came != 0) here[b] = fetch_add(next + b, came);
    }
    if (keys_out == nullptr) return;
    block.barrier();
    for (u64 i = first + me; i < last; i += Threads) {
      if (!is_legal(keys[i])) continue;
      const offset at = fetch_add(here + bin_of(i), offset(1));
      keys_out[at] = keys[i];
      if constexpr (!Rows::is_set) values_out[at] = values[i];
    }
  }
};

// Items in the order of their bins.
template <class Space, class Rows, class Key, class MappedPointer>
struct items_in_bins {
  using work = fill_bins<Rows, Key, MappedPointer, large_block<Space>>;
  using offset = typename Rows::offset;
  u32 shift, bins;
  buffer<Key, Space> keys;
  buffer<typename work::mapped, Space> values;
  buffer<offset, Space> ends;  // of each bin, and of all

  // Bins of 2^shift rows each. O(items + bins). Takes the items' bytes once. Does not wait.
  items_in_bins(Space& space, const Rows& rows, const Key* from, MappedPointer from_values, u64 n,
                u32 bin_shift)
      : shift(bin_shift),
        bins(static_cast<u32>((rows.capacity() - 1) >> shift) + 1),
        keys(space, n),
        values(space, Rows::is_set ? 0 : n),
        ends(space, bins + 1) {
    const segments<offset> order{ends.data(), bins};
    const auto pass = [&](Key* to) {
      space.for_each_block(divide_up(n, work::share), work::block_size, work::scratch_bytes(bins),
                           work{rows, from, from_values, n, shift, bins, ends.data(), to, values.data()});
    };
    order.start_counting(space);
    pass(nullptr);
    order.end_counting(space);
    pass(keys.data());
  }
  // How many. Waits, where a key may be NaN.
  u64 size(Space& space) const {
    return has_nan<Key> ? u64(read_one(space, ends.data() + bins)) : keys.size();
  }
  MappedPointer mapped() const { return MappedPointer(values.data()); }
};

}  // namespace tilehash::inline TILEHASH_ABI::detail

namespace tilehash::inline TILEHASH_ABI::builders {

// `Then` builds the rows from the items in their new order, or from the first one if the rows fit the cache.
// Takes the items' bytes once more than it does.
template <class Then>
struct binned {
  static constexpr const char* name = "hash_graph_v2";
  static constexpr double max_load_factor = Then::max_load_factor;
  static constexpr u64 most_bins = 1024;

  // Rows of a bin, as a power of two: what they have takes half the cache, and a block can count the bins.
  template <class Space, class Rows>
  static u32 shift_for(const Space& space, const Rows& rows, u64 n) {
    const double row = sizeof(typename Rows::offset) + static_cast<double>(n) /
                                                           static_cast<double>(rows.capacity()) *
                                                           sizeof(typename Rows::entry);
    u32 shift = 0;
    while (static_cast<double>(u64(2) << shift) * row <= static_cast<double>(space.cache_bytes()) / 2 ||
           (rows.capacity() - 1) >> shift >= most_bins)
      ++shift;
    return shift;
  }

  // O(items + rows).
  template <class Space, class Rows, class Key, class MappedPointer>
  static u64 build(Space& space, const Rows& rows, const Key* keys, MappedPointer values, u64 n) {
    const u32 shift = shift_for(space, rows, n);
    if ((rows.capacity() - 1) >> shift == 0) return Then::build(space, rows, keys, values, n);
    const detail::items_in_bins<Space, Rows, Key, MappedPointer> in(space, rows, keys, values, n, shift);
    return Then::build(space, rows, in.keys.data(), in.mapped(), in.size(space));
  }
};

}  // namespace tilehash::inline TILEHASH_ABI::builders
