// SPDX-License-Identifier: Apache-2.0
// A join by regions: both sides are partitioned by their keys' hashes, and a block joins a region's rows in
// its scratch.
//
//   left   --partition-->  | bin 0 | bin 1 | ...
//   right  --partition-->  | bin 0 | bin 1 | ...
//                              |       |
//                          block 0  block 1 ...     each sorts its right rows by hash in its
//                                                   scratch; each left row walks a list
//
// That pass counts the rows. If the caller has an output already (a row for each left row, say), the pass
// also writes the rows that fit. If not all fit, a second pass builds and walks the regions again, and writes
// each region's rows at its offset in the result. A group of lanes reserves output for all its rows at once.
//
//   a block's scratch   ends    | 2 | 2 | 3 | 6 |       of each short list of right rows
//                       sorted  | d a | c | e b f |     hash and row number
//
// The work is linear in the rows read and written, because no list is long and no bin much larger than the
// others. Regions that violate this, as keys repeat too often, are left to the caller (rest()).
//
// Where right keys repeat, a GPU's blocks group their regions by key instead (algorithm/join_groups.hpp): one pass
// counts, and one writes.
//
// Source: radix-partitioned hash joins (Manegold, Boncz and Kersten 2002; Balkesen et al., ICDE 2013).
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include <tilehash/algorithm/compact.hpp>
#include <tilehash/algorithm/hash_route.hpp>
#include <tilehash/algorithm/join_groups.hpp>
#include <tilehash/algorithm/join_regions.hpp>
#include <tilehash/algorithm/partition.hpp>
#include <tilehash/algorithm/segments.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/join_options.hpp>
#include <tilehash/core/quotient_slot.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Keys with their numbers as values.
template <class Slot>
struct numbered_source {
  const typename Slot::key_type* keys;
  TILEHASH_FN item<Slot> operator()(u64 i) const {
    return {query<Slot>(keys[i]), static_cast<typename Slot::value_bits>(i), true};
  }
};

// Left rows whose key is NaN equal nothing, and go to no region.
template <class Key>
struct illegal_rows {
  const Key* keys;
  join_output out;
  TILEHASH_FN bool selects(u64 i) const { return !is_legal(keys[i]); }
  TILEHASH_FN void use(u64 i, u64 at) const { out.put(at, static_cast<u32>(i), no_match); }
};
// Writes them from number `at` on.
template <class Space, class Key>
void put_illegal_rows(Space& space, const Key* keys, u64 n, const join_output& out, u64 at) {
  buffer<u64, Space> count(space, 1);
  space.fill(count.data(), 1, at);
  compact(space, n, illegal_rows<Key>{keys, out}, count.data());
}

// Rows of one side with the numbers they have there.
template <class Key, class Space>
struct numbered_rows {
  buffer<Key, Space> keys;
  buffer<u32, Space> numbers;
};
// ... copied from some of its bins; `offsets` has the first row of each.
template <class Slot>
struct copy_bins {
  hash_route<Slot> way;
  uneven_bins<typename Slot::word> bins;
  const u32* regions;
  const u64* offsets;
  typename Slot::key_type* keys;
  u32* numbers;
  TILEHASH_FN void operator()(u64 segment, u64 at) const {
    const auto w = bins.at(regions[segment])[at - offsets[segment]];
    keys[at] = Slot::decode(way.unhash(routed_item<Slot>::hash_of(w)));
    numbers[at] = static_cast<u32>(routed_item<Slot>::value_of(w));
  }
};

// The join of two sides of at most 2^32 - 2 rows each; keys are of up to 8 bytes.
template <class Key, class Space>
class region_join {
  using slot = remainder_slot<Key, u32>;
  using word = typename slot::word;
  template <join_pass Pass>
  using work = join_regions<slot, large_block<Space>, Pass>;
  template <join_pass Pass>
  using grouping_work = join_groups<slot, large_block<Space>, Pass>;

  // One side in bins.
  struct side {
    buffer<word, Space> entries;
    buffer<u32, Space> fill;
    buffer<u64, Space> starts;
    std::vector<u32> came;
    uneven_bins<word> bins;
    u64 illegal = 0;
  };

 public:
  static constexpr u64 least_rows = least_to_partition<Space>;  // of the right side: fewer do not pay
  // Right rows of a region, if a block's scratch can hold so many. Few regions mean long runs to their bins.
  static constexpr u64 largest = tuning::of<Space>::joined_region(sizeof(word));

  // Counts the rows, and writes them to `there` if all fit. Regions of right keys that occur several times, so
  // `copies`, are grouped by key, and their rows are not yet written. Returns false if that takes more regions
  // than a block can count. Synchronizes with the host. Throws out_of_memory.
  bool count(Space& space, std::span<const Key> left, std::span<const Key> right, join_kind kind, u64 seed,
             const join_output& there = {}, u64 out_capacity = 0, u32 copies = 1) {
    const u64 most = most_regions<slot>(space);
    copies_ = Space::has_lanes && copies > 1 ? copies : 1;
    if (most == 0) return false;
    if (!choose_regions(space, right.size(), most)) {
      if (std::exchange(copies_, 1) == 1 || !choose_regions(space, right.size(), most)) return false;
    }
    keys_ = left;
    kind_ = kind;
    way_ = hash_route<slot>(regions_, seed);
    send(space, left_, left);
    send(space, right_, right);
    most_left_ = static_cast<u32>(std::min<u64>(tuning::of<Space>::walked_rows(left.size() / regions_),
                                                u64(1) << 25));  // times `longest`: below 2^32
    counts_ = buffer<u64, Space>(space, regions_ + 1);
    heavy_ = buffer<u32, Space>(space, regions_);
    space.fill(counts_.data() + regions_, 1, u64(0));
    if (copies_ != 1) out_capacity = 0;
    if (out_capacity != 0)
      run<join_pass::count_and_write>(space, there, out_capacity);
    else
      run<join_pass::count>(space, {});
    space.exclusive_scan(counts_.data(), counts_.data(), regions_ + 1);
    size_ = read_one(space, counts_.data() + regions_);
    written_ = size_ <= out_capacity;
    if (joined_rows(kind, 0) != 0) illegal_ = left_.illegal;
    return true;
  }
  // Rows, without those of rest().
  u64 size() const { return size_ + illegal_; }
  // The number of rows that count() has written: the first ones.
  u64 written() const { return written_ ? size_ : 0; }
  void forget_written() { written_ = false; }
  // Writes the other rows at their positions. Call it once. Does not synchronize with the host.
  void write(Space& space, const join_output& out) {
    if (!written_) run<join_pass::write>(space, out);
    if (illegal_ != 0) put_illegal_rows(space, keys_.data(), keys_.size(), out, size_);
  }
  // The rows of both sides that are still to be joined. Synchronizes with the host. Throws out_of_memory.
  void rest(Space& space, numbered_rows<Key, Space>& left, numbered_rows<Key, Space>& right) const {
    const auto heavy = heavy_.to_host();
    std::vector<u32> regions;
    for (u32 r = 0; r < heavy.size(); ++r)
      if (heavy[r] != 0) regions.push_back(r);
    if (regions.empty()) return;
    left = rows_of(space, left_, regions);
    right = rows_of(space, right_, regions);
  }

 private:
  // Rows of a region, at most: of keys that come so often, more rows go to one region by chance.
  u32 capacity_for(u64 n) const {
    const double mean = static_cast<double>(n) / regions_;
    return static_cast<u32>(mean + 8 * std::sqrt(copies_ * mean)) + 32;
  }
  // Chooses the regions for so many right rows, at most `most`. Returns false if a block's scratch is too small.
  bool choose_regions(Space& space, u64 rights, u64 most) {
    const u64 scratch = space.largest_scratch();
    const u64 first = copies_ == 1 ? largest : tuning::of<Space>::grouped_region(sizeof(word));
    for (u64 usual = first; usual >= first / 16; usual /= 2) {
      regions_ = static_cast<u32>(std::min(most, std::max(divide_up(rights, usual), least_regions(space))));
      capacity_ = capacity_for(rights);
      lists_ = static_cast<u32>(rights / regions_) + 1;
      if (copies_ == 1) {
        if (work<join_pass::count>::scratch_bytes(capacity_, lists_) <= scratch) return true;
        continue;
      }
      // The set takes what is left of the scratch: the keys may be more than they seem.
      const u64 numbers = grouping_work<join_pass::write>::scratch_bytes(capacity_, 0);
      const u64 of_32 = grouping_work<join_pass::write>::scratch_bytes(0, 32) -
                        grouping_work<join_pass::write>::scratch_bytes(0, 0);
      const u64 slots = numbers < scratch ? (scratch - numbers) / of_32 * 32 : 0;
      lists_ = static_cast<u32>(std::min<u64>(slots, 2 * u64(capacity_)));
      if (lists_ >= capacity_ / 2 && regions_ > 1) return true;
    }
    return false;
  }
  void send(Space& space, side& to, std::span<const Key> keys) {
    const u32 regions = way_.regions(), capacity = capacity_for(keys.size());
    const numbered_source<slot> source{keys.data()};
    to.entries = buffer<word, Space>(space, static_cast<u64>(capacity) * regions);
    to.fill = buffer<u32, Space>(space, regions);
    to.bins = {{to.entries.data(), capacity, to.fill.data()}, regions - 1, capacity};
    buffer<u64, Space> illegal(space, 1);
    space.fill(illegal.data(), 1, u64(0));
    send_to_bins(space, way_, source, keys.size(), to.bins, illegal.data());
    to.illegal = read_one(space, illegal.data());
    to.came = to.fill.to_host();
    if (grow_bins(space, to.bins, to.came, to.entries, to.starts))
      send_to_bins(space, way_, source, keys.size(), to.bins, illegal.data());
  }
  template <join_pass Pass>
  void run(Space& space, const join_output& out, u64 out_capacity = 0) const {
    if constexpr (Space::has_lanes && Pass != join_pass::count_and_write) {
      if (copies_ != 1) {
        using grouping = grouping_work<Pass>;
        const u64 most_rows = static_cast<u64>(most_left_) * copies_;
        space.for_each_block(way_.regions(), grouping::block_size, grouping::scratch_bytes(capacity_, lists_),
                             grouping{way_, left_.bins, right_.bins, capacity_, lists_, most_left_, most_rows,
                                      kind_, counts_.data(), heavy_.data(), out});
        return;
      }
    }
    buffer<u64, Space> next(space, Pass == join_pass::count_and_write);
    space.fill(next.data(), next.size(), u64(0));
    space.for_each_block(way_.regions(), work<Pass>::block_size, work<Pass>::scratch_bytes(capacity_, lists_),
                         work<Pass>{way_, left_.bins, right_.bins, capacity_, lists_, most_left_, kind_,
                                    counts_.data(), heavy_.data(), out, next.data(), out_capacity});
  }
  numbered_rows<Key, Space> rows_of(Space& space, const side& from, const std::vector<u32>& regions) const {
    std::vector<u64> offsets(1, 0);
    for (const u32 r : regions) offsets.push_back(offsets.back() + from.came[r]);
    const buffer<u32, Space> chosen(space, regions);
    const buffer<u64, Space> begins(space, offsets);
    numbered_rows<Key, Space> rows{buffer<Key, Space>(space, offsets.back()),
                                   buffer<u32, Space>(space, offsets.back())};
    for_each_in_segments(space, begins.data(), regions.size(), offsets.back(),
                         copy_bins<slot>{way_, from.bins, chosen.data(), begins.data(), rows.keys.data(),
                                         rows.numbers.data()});
    return rows;
  }

  std::span<const Key> keys_;  // of the left side
  join_kind kind_ = join_kind::inner;
  hash_route<slot> way_;
  side left_, right_;
  u32 regions_ = 0, copies_ = 1;
  u32 capacity_ = 0, lists_ = 0, most_left_ = 0;  // lists: of a region, or slots where it is grouped
  buffer<u64, Space> counts_;
  buffer<u32, Space> heavy_;
  u64 size_ = 0, illegal_ = 0;
  bool written_ = true;
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
