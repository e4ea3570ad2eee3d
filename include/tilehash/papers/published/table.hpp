// SPDX-License-Identifier: Apache-2.0
// A table of a baseline as its paper publishes it: a fixed number of slots, and inserts that may lose pairs.
//
// The other designs of this library lose nothing: they restart or grow, or refuse an item and say so. A paper
// that counts failed inserts measures the loss itself, so its baselines cannot be those designs. Keys and
// values have 32 bits, as in the papers, and one word holds both. All ones mark a free slot, so the key
// 0xffffffff cannot be stored.
//
// A design here is a trivially copyable view:
//   capacity_for(pairs, load_factor)   slots
//   words_for(capacity)                words of memory; all start as slot::empty_word, or Design::initial_word
//   Design(memory, capacity, seed, load_factor)
//   insert(key, value)                 one pair by one atomic operation at a time; never waits
//   find(key)                          the word of the key, or empty_word
// A design with a `width` works by the warp: insert(tile, key, value, active) and find(tile, key, active)
// serve a pair of each lane, and all lanes call them.
//
// Concurrency: inserts with inserts, lookups with lookups.
#pragma once

#include <span>
#include <vector>

#include <tilehash/algorithm/each_in_tiles.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/error.hpp>
#include <tilehash/core/slot.hpp>
#include <tilehash/space/buffer.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace papers::published {

using pair_slot = slot<u32, u32>;

// How the insert of one pair ended.
struct insert_end {
  bool lost;      // this pair, or one that it evicted, is in no slot
  bool known;     // the key was present, and has the new value
  u32 steps;      // pairs evicted, or slots probed
  u32 waits = 0;  // locks that were tried and not taken
};

// The inserts of one call.
struct insert_counts {
  u64 lost = 0, known = 0, reserved = 0;  // pairs; reserved: of the key 0xffffffff
  std::vector<u64> steps;                 // pairs by their number of steps, if that was asked for
  u64 waits = 0;                          // locks that were tried and not taken, if that was asked for
};

template <class Design>
concept works_in_tiles = requires { Design::width; };

template <class Design>
struct insert_body {
  static constexpr u32 lost = 0, known = 1, reserved = 2, waits = 3, all = 4;

  Design design;
  const u32 *keys, *values;
  u64 n;
  u64* counts;  // as above, then one for each number of steps
  u32 most_steps;

  TILEHASH_FN void operator()(u64 i) const {
    if (begin(i)) count(design.insert(keys[i], values[i]));
  }
  template <class Tile>
  TILEHASH_FN void operator()(Tile t, u64 i) const {
    const bool active = i < n && begin(i);
    const insert_end end = design.insert(t, active ? keys[i] : 0, active ? values[i] : 0, active);
    if (active) count(end);
  }

 private:
  // Counts the key that cannot be stored; false for it.
  TILEHASH_FN bool begin(u64 i) const {
    if (keys[i] != pair_slot::empty_mark) return true;
    detail::fetch_add(counts + reserved, u64(1));
    return false;
  }
  TILEHASH_FN void count(const insert_end& end) const {
    if (end.lost) detail::fetch_add(counts + lost, u64(1));
    if (end.known) detail::fetch_add(counts + known, u64(1));
    if (most_steps == 0) return;
    if (end.waits != 0) detail::fetch_add(counts + waits, u64(end.waits));
    detail::fetch_add(counts + all + (end.steps < most_steps ? end.steps : most_steps), u64(1));
  }
};

template <class Design>
struct find_body {
  Design design;
  const u32* keys;
  u64 n;
  u32* values;
  bool* found;

  TILEHASH_FN void operator()(u64 i) const {
    put(i, keys[i] == pair_slot::empty_mark ? pair_slot::empty_word : design.find(keys[i]));
  }
  template <class Tile>
  TILEHASH_FN void operator()(Tile t, u64 i) const {
    const bool active = i < n && keys[i] != pair_slot::empty_mark;
    const u64 word = design.find(t, active ? keys[i] : 0, active);
    if (i < n) put(i, word);
  }

 private:
  TILEHASH_FN void put(u64 i, u64 word) const {
    found[i] = word != pair_slot::empty_word;
    if (found[i]) values[i] = pair_slot::value_of(word);
  }
};

template <class Design, class Space>
class table {
 public:
  // Empty. Throws out_of_memory.
  table(Space& space, u64 pairs, double load_factor, u64 seed)
      : capacity_(Design::capacity_for(pairs, load_factor)),
        memory_(space, Design::words_for(capacity_)),
        design_(memory_.data(), capacity_, seed, load_factor) {
    clear(space);
  }

  u64 capacity() const { return capacity_; }
  u64 bytes() const { return memory_.bytes(); }
  Design view() const { return design_; }

  // O(capacity).
  void clear(Space& space) {
    u64 word = pair_slot::empty_word;
    if constexpr (requires { Design::initial_word; }) word = Design::initial_word;
    space.fill(memory_.data(), memory_.size(), word);
  }

  // Counts pairs by their steps up to `most_steps` if that is not 0. Synchronizes once.
  insert_counts insert(Space& space, std::span<const u32> keys, std::span<const u32> values,
                       u32 most_steps = 0) {
    detail::require(keys.size() == values.size(),
                    "published::table::insert: keys and values differ in number");
    using body = insert_body<Design>;
    const buffer<u64, Space> counts(space, body::all + most_steps + 1);
    space.fill(counts.data(), counts.size(), u64(0));
    run(space, keys.size(),
        body{design_, keys.data(), values.data(), keys.size(), counts.data(), most_steps});
    const std::vector<u64> host = counts.to_host();
    insert_counts result{host[body::lost], host[body::known], host[body::reserved], {}, host[body::waits]};
    if (most_steps != 0) result.steps.assign(host.begin() + body::all, host.end());
    return result;
  }

  // Writes found[i], and values[i] where the key is present. Does not synchronize.
  void find_async(Space& space, std::span<const u32> keys, std::span<u32> values,
                  std::span<bool> found) const {
    detail::require(keys.size() <= values.size() && keys.size() <= found.size(),
                    "published::table::find_async: fewer results than keys");
    run(space, keys.size(),
        find_body<Design>{design_, keys.data(), keys.size(), values.data(), found.data()});
  }

 private:
  template <class Body>
  static void run(Space& space, u64 n, const Body& body) {
    if constexpr (works_in_tiles<Design>)
      detail::for_each_in_tiles<Design::width>(space, n, body);
    else
      space.for_each(n, body);
  }

  u64 capacity_;
  buffer<u64, Space> memory_;
  Design design_;
};

}  // namespace papers::published
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(papers);
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
