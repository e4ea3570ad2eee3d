// SPDX-License-Identifier: Apache-2.0
// The codes of an array's keys on a CPU: 0, 1, 2, ... in the order in which different keys first appear.
//
//   keys    | 7 | 4 | 7 | 9 | 4 |        codes   | 0 | 1 | 0 | 2 | 1 |        first rows   | 0 | 1 | 3 |
//
// A thread works on blocks of rows. It hashes a block and prefetches the slots, and meanwhile probes for the
// block before. A slot has a word and a code side by side. A key of up to 8 bytes is its word; a wider key has
// a hash as its word, and the slot also has the row where the key is stored.
//
// Several threads divide the hashes among them. Each reads all keys and serves those of its own hashes, so no
// slot is shared and each key's first row is exact. They write first rows instead of codes; coded_rows.hpp
// turns first rows into codes. Memory is allocated between their turns, by the caller's thread alone.
#pragma once

#include <algorithm>
#include <bit>
#include <utility>

#include <tilehash/core/key.hpp>
#include <tilehash/core/options.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/cpu.hpp>
#include <tilehash/space/prefetch.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace analysis::detail {

using namespace tilehash::TILEHASH_ABI::detail;

inline constexpr u32 no_code = ~u32(0);
inline constexpr u32 block_rows = tuning::cpu::coded_rows;

// The rows of an array of keys. Any other class with these members will do, too.
template <class Key>
struct array_rows {
  static constexpr bool exact = packed_bytes<Key> <= 8;  // do equal words mean equal keys?
  using word = bits_t<exact ? packed_bytes<Key> : 8>;

  const Key* keys;
  murmur hash{};  // of wide keys

  // Writes the words of rows [first, first + n), and which of them are missing. Returns whether any is.
  bool load(u64 first, u32 n, word* words, bool* missing) const {
    bool any = false;
    for (u32 i = 0; i < n; ++i) {
      if constexpr (exact)
        words[i] = key_to_bits<word>(keys[first + i]);
      else
        words[i] = hash_key(hash, keys[first + i]);
      if constexpr (has_nan<Key>) any |= missing[i] = !is_legal(keys[first + i]);
    }
    return any;
  }
  // Are two keys of equal words equal?
  bool same(u64 row, u64 other) const {
    if constexpr (exact)
      return true;
    else
      return same_key(keys[row], keys[other]);
  }
};

template <class Word, bool Exact>
struct code_slot {
  Word word;
  u32 code;
};
template <class Word>
struct code_slot<Word, false> {
  Word word;
  u32 code, row;
};

// The threads that share a call: this one serves the hashes of share `me` of `all`.
struct hash_share {
  u32 me = 0, all = 1;
  bool serves(u64 hash) const {  // by the low bits: the high ones choose the slot
    return all == 1 || ((hash & 0xffff'ffffU) * all) >> 32 == me;
  }
  bool serves_missing() const { return me == 0; }
};

template <class Rows>
class code_table {
  using word = typename Rows::word;
  using slot = code_slot<word, Rows::exact>;

 public:
  // Throws out_of_memory.
  code_table(cpu& space, u64 seed)
      : space_(&space), seed_(mix64(seed)), spare_(space, tuning::cpu::first_code_slots) {
    move_to_spare();
  }

  // Codes rows [first, end): writes to codes[i] the code of row i, or, by row, the row where its key was
  // first; no_code where it is missing. `found(row)` is called for the first row of each key. Rows of other
  // shares stay as they are. If missing rows are a key, then all of them are one key.
  // Returns the row at which there are too few slots for more keys, or `end`. The caller then calls
  // provide(), and this function for the rows from there on.
  template <bool ByRow, class Code, class Found>
  u64 code(const Rows& rows, u64 first, u64 end, Code* codes, bool missing_is_key, hash_share share,
           const Found& found) {
    if (spare_.size() != 0) move_to_spare();
    block ring[2];
    load(rows, first, end, ring[0], share);
    for (u32 turn = 0; first < end && !is_full(); turn ^= 1) {
      const u64 next = std::min(end, first + block_rows);
      load(rows, next, end, ring[turn ^ 1], share);
      const block& now = ring[turn];
      // The first missing row is numbered in its turn.
      u32 missing = missing_is_key && share.serves_missing() ? first_missing(now, end) : block_rows;
      for (u32 k = 0; k < now.items; ++k) {
        if (now.at[k] > missing) number_missing<ByRow>(now.base + std::exchange(missing, block_rows), found);
        const u64 row = now.base + now.at[k];
        codes[row] = static_cast<Code>(code_of<ByRow>(rows, row, now.words[k], now.hashes[k], found));
      }
      if (missing != block_rows) number_missing<ByRow>(now.base + missing, found);
      if (now.any_missing && share.serves_missing())
        for (u32 k = 0; k < block_rows && now.base + k < end; ++k)
          if (now.missing[k])
            codes[now.base + k] = missing_is_key ? static_cast<Code>(missing_code_) : static_cast<Code>(-1);
      first = next;
    }
    return first;
  }
  // Allocates more slots, which the next code() moves all keys to. Throws out_of_memory.
  void provide() {
    const u64 factor = slots_.size() * sizeof(slot) < tuning::cpu::core_cache ? 4 : 2;
    spare_ = buffer<slot, cpu>(*space_, slots_.size() * factor);
  }
  u64 next_slots() const { return std::max(slots_.size(), spare_.size()); }  // of the next code()
  // Calls use(row, code) for each row of [first, end): the code of an equal key in the table, or no_code.
  // other.same(row, first row) compares a wide key with one of the table.
  template <class Other, class Use>
  void find(const Other& rows, u64 first, u64 end, u32 missing_code, Use use) const {
    block ring[2];
    load(rows, first, end, ring[0], {});
    for (u32 turn = 0; first < end; turn ^= 1) {
      const u64 next = std::min(end, first + block_rows);
      load(rows, next, end, ring[turn ^ 1], {});
      const block& now = ring[turn];
      for (u32 k = 0; k < now.items; ++k)
        use(now.base + now.at[k], lookup(now.words[k], now.hashes[k], rows, now.base + now.at[k]));
      for (u32 k = 0; now.any_missing && k < block_rows && now.base + k < end; ++k)
        if (now.missing[k]) use(now.base + k, missing_code);
      first = next;
    }
  }

  u32 size() const { return size_; }
  u32 missing_code() const { return missing_code_; }  // of missing rows, if they are a key

 private:
  // The rows that this share serves of a block.
  struct block {
    u64 base = 0, hashes[block_rows];
    word words[block_rows];
    u32 at[block_rows], items = 0;
    bool missing[block_rows] = {}, any_missing = false;
  };

  u64 hash_of(word w) const {
    if constexpr (Rows::exact) {
      const u128 product = static_cast<u128>(static_cast<u64>(w) ^ seed_) * 0x9e37'79b9'7f4a'7c15ULL;
      return static_cast<u64>(product >> 64) ^ static_cast<u64>(product);
    } else {
      return w;
    }
  }

  template <class Other>
  void load(const Other& rows, u64 first, u64 end, block& b, hash_share share) const {
    b.items = 0;
    b.any_missing = false;
    if (first >= end) return;
    b.base = first;
    const u32 n = static_cast<u32>(std::min<u64>(block_rows, end - first));
    word words[block_rows];
    b.any_missing = rows.load(first, n, words, b.missing);
    u32 items = 0;
    for (u32 i = 0; i < n; ++i) {  // without branches: what the share serves is random
      const u64 hash = hash_of(words[i]);
      b.words[items] = words[i];
      b.hashes[items] = hash;
      b.at[items] = i;
      items += share.serves(hash) && !(b.any_missing && b.missing[i]);
    }
    b.items = items;
    const slot* const slots = slots_.data();
    for (u32 k = 0; k < items; ++k) prefetch(slots + (b.hashes[k] >> shift_));
  }

  template <bool ByRow, class Found>
  u32 code_of(const Rows& rows, u64 row, word w, u64 hash, const Found& found) {
    slot* const slots = slots_.data();
    for (u64 at = hash >> shift_;; at = (at + 1) & mask_) {
      slot& s = slots[at];
      if (s.code == no_code) {
        s.word = w;
        s.code = ByRow ? static_cast<u32>(row) : size_;
        if constexpr (!Rows::exact) s.row = static_cast<u32>(row);
        ++size_;
        found(row);
        return s.code;
      }
      if (s.word == w) {
        if constexpr (Rows::exact) return s.code;
        if constexpr (!Rows::exact)
          if (rows.same(row, s.row)) return s.code;
      }
    }
  }
  template <class Other>
  u32 lookup(word w, u64 hash, const Other& rows, u64 row) const {
    const slot* const slots = slots_.data();
    for (u64 at = hash >> shift_;; at = (at + 1) & mask_) {
      const slot& s = slots[at];
      if (s.code == no_code) return no_code;
      if (s.word == w) {
        if constexpr (Rows::exact) return s.code;
        if constexpr (!Rows::exact)
          if (rows.same(row, s.row)) return s.code;
      }
    }
  }
  // The block's row that is the first missing one of all, or block_rows.
  u32 first_missing(const block& b, u64 end) const {
    if (!b.any_missing || missing_code_ != no_code) return block_rows;
    for (u32 k = 0; k < block_rows && b.base + k < end; ++k)
      if (b.missing[k]) return k;
    return block_rows;
  }
  template <bool ByRow, class Found>
  void number_missing(u64 row, const Found& found) {
    missing_code_ = ByRow ? static_cast<u32>(row) : size_;
    ++size_;
    found(row);
  }

  // Could the next block leave too few free slots? (A probe ends at a free slot.)
  bool is_full() const { return (u64(size_) + block_rows) * 8 > slots_.size() * 5; }
  // The high bits of a hash choose the slot, so old slots in order are new slots nearly in order.
  void move_to_spare() {
    const buffer<slot, cpu> old = std::exchange(slots_, std::move(spare_));
    slot free{};
    free.code = no_code;
    std::fill_n(slots_.data(), slots_.size(), free);
    mask_ = slots_.size() - 1;
    shift_ = 64 - static_cast<u32>(std::bit_width(mask_));
    for (const slot& s : old.span()) {
      if (s.code == no_code) continue;
      u64 at = hash_of(s.word) >> shift_;
      while (slots_.data()[at].code != no_code) at = (at + 1) & mask_;
      slots_.data()[at] = s;
    }
  }

  cpu* space_;
  u64 seed_, mask_ = 0;
  u32 shift_ = 0, size_ = 0, missing_code_ = no_code;
  buffer<slot, cpu> slots_, spare_;
};

}  // namespace analysis::detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
