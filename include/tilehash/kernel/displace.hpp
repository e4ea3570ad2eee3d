// SPDX-License-Identifier: Apache-2.0
// Places pending items by moving other items (algorithm/displacement.hpp).
//
//   pending   | 0 0 1 0 | 0 0 0 0 | 1 1 0 0 | ...      a block takes some words,
//   list      | 2 8 9                                  lists their items in its scratch,
//   pending   | 0 0 0 0 | 0 0 0 0 | 0 1 0 0 | ...      and each free tile takes the next one
//
// The number of tries varies widely between items. So a tile takes the next item of the list as soon as it
// has settled one, independently of the other tiles. By then it has read that next item.
//
// The more items are given up, the fewer tries the others get: in a full table a few tries are enough to
// detect most items without a slot. A few items in a million are given up because they met locks too often.
// The next pass retries them, and their number says nothing about the table.
#pragma once

#include <utility>

#include <tilehash/algorithm/block.hpp>
#include <tilehash/algorithm/displacement.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/kernel/call.hpp>
#include <tilehash/kernel/late_items.hpp>
#include <tilehash/space/prefetch.hpp>
#include <tilehash/space/tuning.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

template <displacing Design, class Source, u32 Width, u32 Threads>
struct displace_items {
  static constexpr u32 block_size = Threads;
  static constexpr u32 resident_blocks = tuning::gpu_here::displace_occupancy(sizeof(typename Design::word));
  static constexpr u32 most_words = tuning::of_block<Threads>::displace_words;  // of a block
  static constexpr u32 tiles = Threads / Width == 0 ? 1 : Threads / Width;      // of a block
  using slot_type = typename Design::slot_type;
  using displacement = typename Design::displacement;
  using progress = typename displacement::progress;
  using sums = block_sums<Threads>;

  Design design;
  Source source;
  u64 first = 0, end = 0;  // of the items
  u32 words = 0;           // of `pending`, for one block
  bool updates = false;    // an item whose key is present stays pending: its value changes when no key moves
  outcome_recorder recorder{};
  u64* given_up = nullptr;
  call_end end_of_call{};  // if its blocks_done is not null, this kernel is the call's last

  // Scratch: the sums at the end of the call; the block's words with the bits that stay pending; the list;
  // the words of the scan; the number of list items taken.
  static constexpr u32 left_at = call_counters::kinds * sizeof(u64);
  static constexpr u64 scratch_bytes(u32 words) {
    return left_at + (words + words * bits_a_word / 2 + sums::words + 1) * sizeof(u32);
  }

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    serve(block, first / bits_a_word + block.index() * words);
    if (end_of_call.blocks_done != nullptr) end_of_call.by_last_block(block, block.template scratch<u64>());
  }
  // Places the pending items of the words from `first_word` on.
  template <class Block>
  TILEHASH_FN void serve(Block block, u64 first_word) const {
    if constexpr (ends_late<Source>) {
      if (first_word * bits_a_word >= source.end_of(end)) return;
    }
    scratch_of<Block> in(block, words, first_word);
    in.items = list_pending(block, in);
    if (in.items == 0) return;
    if (block.rank() == 0) in.taken_up[0] = 2 * tiles;
    block.barrier();
    place(block, in);
    block.barrier();
    if constexpr (!names_pending) write_back(block.rank(), in);
  }

 private:
  static constexpr bool names_pending = requires(Source s) { s.pending(u64(0)); };

  // A block's words of `pending`, and where they are in its scratch.
  template <class Block>
  struct scratch_of {
    decltype(std::declval<Block>().template scratch<u32>()) left, scan, taken_up;
    decltype(std::declval<Block>().template scratch<u16>()) list;
    u64 first_word;
    u32 items = 0;  // in the list

    TILEHASH_FN scratch_of(Block block, u32 words, u64 from)
        : left(block.template scratch<u32>(left_at)),
          scan(block.template scratch<u32>(left_at + (words + words * bits_a_word / 2) * sizeof(u32))),
          taken_up(scan + sums::words),
          list(block.template scratch<u16>(left_at + words * sizeof(u32))),
          first_word(from) {}
    TILEHASH_FN u64 number(u32 j) const {
      return first_word * bits_a_word + (j < items ? u32(list[j]) : u32(list[0]));
    }
  };

  // Lists the block's pending items, clears its words of those that stay pending, returns the list's length.
  template <class Block>
  TILEHASH_FN u32 list_pending(Block block, const scratch_of<Block>& in) const {
    u64 last_word = (end + bits_a_word - 1) / bits_a_word;
    if constexpr (ends_late<Source>) last_word = (source.end_of(end) + bits_a_word - 1) / bits_a_word;
    const u32 each = (words + Threads - 1) / Threads, from = block.rank() * each;
    const auto word_at = [&](u32 k) {
      const u64 w = in.first_word + from + k;
      if (k >= each || from + k >= words || w >= last_word) return 0U;
      if constexpr (names_pending)
        return source.pending(w);
      else
        return recorder.pending[w];
    };
    u32 mine = 0, all = 0;
    for (u32 k = 0; k < each; ++k) mine += count_ones(word_at(k));
    u32 at = sums::before(block, in.scan, mine, all);
    if (all == 0) return 0;
    for (u32 k = 0; k < each; ++k) {
      if (from + k < words) in.left[from + k] = 0U;
      for (u32 bits = word_at(k); bits != 0; bits &= bits - 1)
        in.list[at++] = static_cast<u16>((from + k) * bits_a_word + lowest(bits));
    }
    return all;
  }
  // Each tile takes one item after the other.
  template <class Block>
  TILEHASH_FN void place(Block block, const scratch_of<Block>& in) const {
    const auto t = block.template tile<Width>();
    const u32 me = block.rank(), all = in.items;
    u32 j = me / Width, following = j + tiles;
    item<slot_type> x = source(in.number(j)), next = source(in.number(following));
    prefetch_to_write(design.address(design.locate(x.key.bits)));
    u32 inserted = 0, waiting = 0;
    progress p;
    bool settled = false;
    while (t.any(j < all)) {
      const u32 fetched = t.broadcast(settled && t.rank() == 0 ? u32(fetch_add(in.taken_up, u32(1))) : 0U, 0);
      if (settled) following = fetched, next = source(in.number(following));
      settled = false;
      const u32 patience = t.broadcast(patience_now(), 0);
      prefetch_to_write(design.address(design.locate(next.key.bits)));
      const auto d = design.displacement_of(x.key.bits, slot_type::pack(x.key.bits, x.value));
      const auto v = attempt_of(d, t, p, j < all);
      if (j >= all || !p.ends_with(v, patience)) continue;
      if (t.rank() == 0) {
        const bool waits = settle(in, j, p.became);
        inserted += p.became == outcome::inserted;
        waiting += waits;
      }
      j = following;
      p = {};
      x = next;
      settled = true;
    }
    if (inserted != 0) recorder.counters.add(counter::inserted, in.first_word + me, inserted);
    if (waiting != 0) recorder.counters.add(counter::left, in.first_word + me, waiting, recorder.phase);
  }
  // Records the outcome of the list's j-th item. True: it stays pending.
  template <class Scratch>
  TILEHASH_FN bool settle(const Scratch& in, u32 j, outcome became) const {
    const u64 i = in.number(j);
    const bool waits = became == outcome::refused || (updates && became == outcome::present);
    if (waits) set_bits(in.left + u32(in.list[j]) / bits_a_word, 1U << u32(in.list[j]) % bits_a_word);
    if (recorder.outcomes != nullptr) recorder.outcomes[i] = became;
    if (became == outcome::refused) fetch_add(given_up, u64(1));
    return waits;
  }
  template <class Scratch>
  TILEHASH_FN void write_back(u32 me, const Scratch& in) const {
    const u64 last_word = (end + bits_a_word - 1) / bits_a_word;
    const u32 each = (words + Threads - 1) / Threads, from = me * each;
    for (u32 k = 0; k < each; ++k) {
      const u64 w = in.first_word + from + k;
      if (from + k < words && w < last_word) recorder.pending[w] = in.left[from + k];
    }
  }

  // The number of unsuccessful searches after which an item is given up.
  TILEHASH_FN u32 patience_now() const {
    const u64 usual = 32 + design.capacity() / 4096;  // items given up before the others get fewer
    constexpr u32 least = 4;
    const u64 n = load_relaxed(given_up);
    if (n < usual) return Design::max_searches;
    const u32 fewer = static_cast<u32>(Design::max_searches * usual / (2 * n));
    return fewer < least ? least : fewer;
  }
};

// Displaces for the pending items from `first` (a multiple of 256) to `end`. Does not synchronize with the
// host: on a GPU only the preceding phase knows their number.
template <class Design, class Space, class Source>
void displace(Space& space, const Design& design, const Source& source, u64 first, u64 end, bool updates,
              const outcome_recorder& recorder, u64* given_up, const call_end& end_of_call = {}) {
  if (first >= end) return;
  using called = called_source<typename Design::slot_type>;
  if constexpr (!Space::has_lanes && !std::same_as<Source, called>) {
    displace(space, design, called(source), first, end, updates, recorder, given_up, end_of_call);
  } else {
    using work_type =
        displace_items<Design, Source, Design::preferred_width, tuning::of<Space>::displace_block>;
    const u64 all = (end - first + bits_a_word - 1) / bits_a_word;
    u32 words = work_type::most_words;  // fewer if that gives work to more blocks
    const u64 blocks = tuning::of<Space>::displace_blocks(space);
    while (words > 1 && all / words < blocks) words /= 2;
    space.for_each_block(
        (all + words - 1) / words, work_type::block_size, work_type::scratch_bytes(words),
        work_type{design, source, first, end, words, updates, recorder, given_up, end_of_call});
  }
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
