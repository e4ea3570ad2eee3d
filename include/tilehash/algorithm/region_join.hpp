// A join by regions: both sides are partitioned by their keys' hashes, and a block joins a region's rows in
// its own memory.
//
//   left   --partition-->  | bin 0 | bin 1 | ...
//   right  --partition-->  | bin 0 | bin 1 | ...
//                              |       |
//                          block 0  block 1 ...     each brings its right rows in order by hash in its
//                                                   scratch, and its left rows walk them
//
// That pass counts, and writes what there is room for, wherever the caller has room already: a row for each
// left row, say. Where that did not do, the regions are built and walked once more, to write, when it is
// known where each one's share of the result begins. What a group of lanes writes it reserves at once.
//
//   a block's scratch   ends    | 2 | 2 | 3 | 6 |       of each short list of right rows
//                       sorted  | d a | c | e b f |     hash and row number
//
// The work is linear in what there is to read and to write because no list is long and no bin much larger
// than the others. Regions where that does not hold, as keys come too often, are left to another way
// (rest()).
//
// Source: radix-partitioned hash joins (Manegold, Boncz and Kersten 2002; Balkesen et al., ICDE 2013).
// length: one kernel that counts, writes, or does both at once, and the class that partitions for it.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include <tilehash/algorithm/block_scan.hpp>
#include <tilehash/algorithm/compact.hpp>
#include <tilehash/algorithm/hash_route.hpp>
#include <tilehash/algorithm/partition.hpp>
#include <tilehash/algorithm/segments.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/join_kind.hpp>
#include <tilehash/core/remainder_slot.hpp>

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

// What is done with a region's rows.
enum class join_pass {
  count,
  write,            // where the counts say
  count_and_write,  // next to what other regions wrote, while there is room
};

template <class Slot, u32 Threads, join_pass Pass>
struct join_regions {
  using word = typename Slot::word;
  using key_bits = typename Slot::key_bits;
  using row = routed_item<Slot>;
  using sums = block_sums<Threads>;
  static constexpr u32 block_size = Threads;
  static constexpr u32 longest = 64;  // list that is walked
  static constexpr bool writes = Pass != join_pass::count, counts_too = Pass != join_pass::write;
  // Requests of a thread that are under way together; left rows that it walks for, and reserves room for, at
  // once.
  static constexpr u32 at_once = sizeof(word) <= 8 ? 8 : 4;
  static constexpr u32 of_a_lane = Threads > 1 ? at_once : 256;

  hash_route<Slot> way;
  uneven_bins<word> left, right;
  u32 room;       // right rows that the scratch can hold
  u32 lists;      // of a region
  u32 most_left;  // rows that one block should walk for
  join_kind kind;
  u64* counts;  // of each region, its rows; to write, where its next ones go
  u32* heavy;   // 1: a region that is left out
  join_output out;
  u64* next;       // to count and write: where the next rows of any region go,
  u64 room_there;  // and how many have room

  // Scratch: the right rows in order; a count for each list, then its end; the threads' sums; a flag. One in
  // 33 counts is left out, so that the threads of a warp, which add up neighbours, meet different banks.
  TILEHASH_FN static constexpr u32 padded(u32 l) { return l + (l >> 5); }
  static constexpr u64 scratch_bytes(u32 room, u32 lists) {
    return room * sizeof(word) + (padded(lists) + sums::words + 2) * sizeof(u32);
  }

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const u32 me = block.rank(), region = static_cast<u32>(block.index());
    const u32 rights = right.fill[region], lefts = left.fill[region];
    if (counts_too ? rights > room || lefts > most_left : heavy[region] != 0) {
      if (counts_too && me == 0) leave_out(region);
      return;
    }
    const auto sorted = block.template scratch<word>();
    const auto ends = block.template scratch<u32>(room * sizeof(word));
    const auto total = ends + padded(lists) + 1, flag = total + sums::words;

    for (u32 i = me; i < padded(lists) + 1; i += Threads) ends[i] = 0;
    if (me == 0) flag[0] = 0;
    block.barrier();
    for_each_right(block, [&](word w) { fetch_add(ends + padded(list_of(w)), u32(1)); });
    block.barrier();
    const u32 each = (lists + Threads - 1) / Threads, first = me * each < lists ? me * each : lists;
    const u32 last = first + each < lists ? first + each : lists;
    u32 mine = 0, all = 0, longest_here = 0;
    for (u32 l = first; l < last; ++l) {
      const u32 count = ends[padded(l)];
      mine += count;
      longest_here = count > longest_here ? count : longest_here;
    }
    if (longest_here > longest) fetch_add(flag, u32(1));
    u32 start = sums::before(block, total, mine, all);
    for (u32 l = first; l < last; ++l) {
      const u32 count = ends[padded(l)];
      ends[padded(l)] = start;
      start += count;
    }
    block.barrier();
    if (u32(flag[0]) != 0) {  // by all threads alike
      if (me == 0) leave_out(region);
      return;
    }
    for_each_right(block, [&](word w) { sorted[fetch_add(ends + padded(list_of(w)), u32(1))] = w; });
    block.barrier();
    const u32 counted = walk(block, region, lefts, sorted, ends);
    if constexpr (counts_too) {
      u32 of_all = 0;
      sums::before(block, total, counted, of_all);
      if (me == 0) {
        counts[region] = of_all;
        heavy[region] = 0;
      }
    }
  }

 private:
  TILEHASH_FN void leave_out(u32 region) const {
    counts[region] = 0;
    heavy[region] = 1;
  }
  TILEHASH_FN u32 list_of(word w) const {
    return hashed_buckets<Slot>::scale(way.within(row::hash_of(w)), lists);
  }
  template <class Block, class Use>
  TILEHASH_FN void for_each_right(Block block, const Use& use) const {
    const u32 region = static_cast<u32>(block.index()), n = right.fill[region];
    const word* const bin = right.at(region);
    for (u32 i = block.rank(); i < n; i += at_once * Threads) {
      word w[at_once];
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) w[k] = bin[i + k * Threads < n ? i + k * Threads : i];
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) {
        if (i + k * Threads < n) use(w[k]);
      }
    }
  }

  // The list in which a left row's matches are.
  template <class Words, class Ends>
  struct met {
    Words sorted;
    u32 begin, end;
    TILEHASH_FN met(const join_regions& of, Words words, Ends ends, word w)
        : sorted(words), begin(0), end(0) {
      const u32 list = of.list_of(w);
      if (list != 0) begin = ends[padded(list - 1)];
      end = ends[padded(list)];
    }
    TILEHASH_FN u32 count(key_bits hash) const {
      u32 n = 0;
      for (u32 r = begin; r < end; ++r) n += row::hash_of(sorted[r]) == hash;
      return n;
    }
  };
  // Gives how many rows this thread's left rows have.
  template <class Block, class Words, class Ends>
  TILEHASH_FN u32 walk(Block block, u32 region, u32 lefts, Words sorted, Ends ends) const {
    constexpr u32 group = sums::group;
    const auto t = block.template tile<group>();
    const word* const walkers = left.at(region);
    u32 counted = 0;
    for (u32 from = block.rank() / group * group * of_a_lane; from < lefts; from += Threads * of_a_lane) {
      word w[of_a_lane];
      u32 rows[of_a_lane];
      TILEHASH_UNROLL
      for (u32 k = 0; k < of_a_lane; ++k) {
        const u32 i = from + k * group + t.rank();
        w[k] = walkers[i < lefts ? i : 0];
      }
      TILEHASH_UNROLL
      for (u32 k = 0; k < of_a_lane; ++k) {
        rows[k] = 0;
        if (from + k * group + t.rank() < lefts)
          rows[k] = static_cast<u32>(
              joined_rows(kind, met<Words, Ends>(*this, sorted, ends, w[k]).count(row::hash_of(w[k]))));
        counted += rows[k];
      }
      if constexpr (writes) {
        u32 at[of_a_lane], of_group = 0;
        TILEHASH_UNROLL
        for (u32 k = 0; k < of_a_lane; ++k) {
          const u32 up_to = sums::up_to(t, rows[k]);
          at[k] = of_group + up_to - rows[k];
          of_group += t.broadcast(up_to, group - 1);
        }
        u64 base = 0;
        if (t.rank() == 0 && of_group != 0)
          base = fetch_add(counts_too ? next : counts + region, static_cast<u64>(of_group));
        base = t.broadcast(base, 0);
        if (counts_too && base + of_group > room_there) continue;  // (all lanes of the group)
        TILEHASH_UNROLL
        for (u32 k = 0; k < of_a_lane; ++k) put(w[k], rows[k], base + at[k], sorted, ends);
      }
    }
    return counted;
  }
  // Writes the rows of a left row.
  template <class Words, class Ends>
  TILEHASH_FN void put(word w, u32 rows, u64 to, Words sorted, Ends ends) const {
    if (rows == 0) return;
    const met<Words, Ends> list(*this, sorted, ends, w);
    const u32 number = static_cast<u32>(row::value_of(w));
    const key_bits hash = row::hash_of(w);
    const u64 end = to + rows;
    if (has_right_rows(kind)) {
      for (u32 r = list.begin; r < list.end; ++r) {
        const word x = sorted[r];
        if (row::hash_of(x) == hash) out.put(to++, number, static_cast<u32>(row::value_of(x)));
      }
    }
    if (to != end) out.put(to, number, no_match);
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
// ... copied from some of its bins; `offsets` says where each one's begin.
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
  static constexpr u64 least_rows = least_to_partition;  // of the right side, that are worth it
  // Right rows of a region, where a block's scratch has room for so many: then there are few regions, and
  // long runs to their bins.
  static constexpr u64 largest = sizeof(word) <= 8 ? 14336 : 7168;

  // Counts, and writes the rows to `there` if that has room for all of them. False where there are more
  // regions than can be. Waits. Throws out_of_memory.
  bool count(Space& space, std::span<const Key> left, std::span<const Key> right, join_kind kind, u64 seed,
             const join_output& there = {}, u64 room_there = 0) {
    const u64 most = most_regions<slot>(space);
    if (most == 0) return false;
    u64 regions = 0;
    for (u64 usual = largest; usual >= largest / 16; usual /= 2) {
      regions = std::min(most, std::max(divide_up(right.size(), usual), least_regions(space)));
      room_ = room_for(right.size(), regions);
      lists_ = static_cast<u32>(right.size() / regions) + 1;
      if (work<join_pass::count>::scratch_bytes(room_, lists_) <= space.largest_scratch()) break;
    }
    if (work<join_pass::count>::scratch_bytes(room_, lists_) > space.largest_scratch()) return false;
    keys_ = left;
    kind_ = kind;
    way_ = hash_route<slot>(static_cast<u32>(regions), seed);
    send(space, left_, left);
    send(space, right_, right);
    most_left_ = static_cast<u32>(
        std::min<u64>(16 * (left.size() / regions) + 16384, u64(1) << 25));  // times `longest`: below 2^32
    counts_ = buffer<u64, Space>(space, regions + 1);
    heavy_ = buffer<u32, Space>(space, regions);
    space.fill(counts_.data() + regions, 1, u64(0));
    if (room_there != 0)
      run<join_pass::count_and_write>(space, there, room_there);
    else
      run<join_pass::count>(space, {});
    space.exclusive_scan(counts_.data(), counts_.data(), regions + 1);
    size_ = read_one(space, counts_.data() + regions);
    written_ = size_ <= room_there;
    if (joined_rows(kind, 0) != 0) illegal_ = left_.illegal;
    return true;
  }
  // Rows, without those of rest().
  u64 size() const { return size_ + illegal_; }
  // How many of them were written while they were counted: the first ones.
  u64 written() const { return written_ ? size_ : 0; }
  void forget_written() { written_ = false; }
  // Writes the others, in their places among all. Once. Does not wait.
  void write(Space& space, const join_output& out) {
    if (!written_) run<join_pass::write>(space, out);
    if (illegal_ != 0) put_illegal_rows(space, keys_.data(), keys_.size(), out, size_);
  }
  // The rows of both sides that are still to be joined with each other. Waits. Throws out_of_memory.
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
  static u32 room_for(u64 n, u64 regions) { return static_cast<u32>(bin_capacity(n, regions)); }
  void send(Space& space, side& to, std::span<const Key> keys) {
    const u32 regions = way_.regions(), room = room_for(keys.size(), regions);
    const numbered_source<slot> source{keys.data()};
    to.entries = buffer<word, Space>(space, static_cast<u64>(room) * regions);
    to.fill = buffer<u32, Space>(space, regions);
    to.bins = {{to.entries.data(), room, to.fill.data()}, regions - 1, room};
    buffer<u64, Space> illegal(space, 1);
    space.fill(illegal.data(), 1, u64(0));
    send_to_bins(space, way_, source, keys.size(), to.bins, illegal.data());
    to.illegal = read_one(space, illegal.data());
    to.came = to.fill.to_host();
    if (grow_bins(space, to.bins, to.came, to.entries, to.starts))
      send_to_bins(space, way_, source, keys.size(), to.bins, illegal.data());
  }
  template <join_pass Pass>
  void run(Space& space, const join_output& out, u64 room_there = 0) const {
    buffer<u64, Space> next(space, Pass == join_pass::count_and_write);
    space.fill(next.data(), next.size(), u64(0));
    space.for_each_block(way_.regions(), work<Pass>::block_size, work<Pass>::scratch_bytes(room_, lists_),
                         work<Pass>{way_, left_.bins, right_.bins, room_, lists_, most_left_, kind_,
                                    counts_.data(), heavy_.data(), out, next.data(), room_there});
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
  u32 room_ = 0, lists_ = 0, most_left_ = 0;
  buffer<u64, Space> counts_;
  buffer<u32, Space> heavy_;
  u64 size_ = 0, illegal_ = 0;
  bool written_ = true;
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
