// SPDX-License-Identifier: Apache-2.0
// A table in which one thread of a CPU combines the items of equal keys.
//
//   slots    | item | item |      | item | ...     an item's hash selects its home slot; an item whose home is
//               home   next                        taken takes the next free slot
//
// The table starts with few slots, so that it fits a core's cache, and grows as far as its memory allows. Half
// of the slots stay free. A full table that does not grow keeps its items, and evicts all others. Frequent keys
// come early, so most of them are in the table, and at home. So a full table compares an item with its home alone: to
// evict an item costs less than to search for its key.
//
// Items are taken in rounds. A first loop computes the homes of a round and requests them. A second one compares
// the items there. The second loop has no branch that depends on a comparison where the op permits, because the
// processor cannot predict it. A third loop takes the items that are not at home.
//
// Invariant: all slots begin with a copy of the first item, which is used only in that item's home. So a
// comparison with a home slot needs no test whether the slot is used.
#pragma once

#include <algorithm>
#include <bit>
#include <new>
#include <type_traits>

#include <tilehash/core/capacity.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/core/key.hpp>
#include <tilehash/core/op.hpp>
#include <tilehash/space/prefetch.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// A new object in this memory. (std::construct_at is in <memory>, to read which takes a fifth of the time that
// map.hpp takes to compile.)
template <class T, class Given>
void put_new(T* at, const Given& x) {
  ::new (static_cast<void*>(at)) T(x);
}
template <class T>
void copy_new(const T* from, u64 n, T* to) {
  for (u64 i = 0; i < n; ++i) put_new(to + i, from[i]);
}

// Keeps the stored value: an op for inserts, where any one of equal keys wins.
struct keep_one {
  static constexpr bool is_associative = true;
  template <class Value>
  TILEHASH_FN Value operator()(const Value& stored, const Value& /*given*/) const {
    return stored;
  }
};

template <class Key, class Value>
struct keyed_item {
  Key key;
  [[no_unique_address]] Value value;
};

// Selects a home from the high bits. One product, as keys that share a home cost only time.
template <class Key>
u64 home_hash(const Key& key, u64 seed) {
  constexpr u32 size = packed_bytes<Key>;
  if constexpr (size <= 8) {
    return rehash(key_to_bits<bits_t<size>>(key) ^ seed);
  } else if constexpr (size <= 16) {
    constexpr u64 odd = 0x9e3779b97f4a7c15ULL;
    const u128 bits = key_to_bits<bits_t<size>>(key);
    const u128 all = static_cast<u128>(static_cast<u64>(bits) ^ seed) * (static_cast<u64>(bits >> 64) ^ odd);
    return static_cast<u64>(all) ^ static_cast<u64>(all >> 64);
  } else {
    return hash_key(murmur(seed), key);
  }
}

// `Source` gives keys and values by number. `combine()` may be called with several ranges.
template <class Source, class Op>
class item_cache {
  using key_type = typename Source::key_type;
  using value_type = typename Source::value_type;
  static constexpr bool keeps = std::is_same_v<Op, keep_one> || std::is_same_v<value_type, nothing>;
  // May the op be called with values of different keys? Its result is then not used.
  static constexpr bool without_branch = keeps || combines_in_place<Op, value_type>;
  static constexpr u32 round = tuning::cpu::combining_round;
  static constexpr u64 word_slots = 8 * sizeof(u64);  // whose bits are a word

 public:
  using item = keyed_item<key_type, value_type>;
  static constexpr u64 least_slots =
      std::max<u64>(word_slots, std::bit_floor(tuning::cpu::combining_cache / sizeof(item)));

  // The slots of a table for a thread that gets `items` items.
  static u64 most_slots(u64 items) {
    const u64 most = std::min<u64>(tuning::cpu::combining_memory / sizeof(item), items / 4);
    return most <= least_slots ? least_slots : std::bit_floor(most);
  }
  // Memory for a table that grows to `most` slots: it moves between both ends.
  static u64 bytes(u64 most) { return bytes_of(most) + (most > least_slots ? bytes_of(most / 2) : 0); }

  // In `bytes(most)` of memory.
  item_cache(void* memory, u64 most, const Source& source, const Op& op, u64 seed)
      : memory_(static_cast<char*>(memory)), most_(most), source_(source), op_(op), seed_(seed) {}

  u64 hits() const { return hits_; }
  u64 illegal() const { return illegal_; }  // items whose key is NaN
  u64 slots() const { return slots_; }
  bool is_full() const { return begun_ && size_ >= slots_ / 2; }
  bool is_large() const { return slots_ > least_slots; }
  bool can_grow() const { return begun_ && slots_ < most_; }
  u64 grown_slots() const { return std::min(most_, slots_ * tuning::cpu::combining_growth); }

  // Combines the items from `first` to `last`. Calls evict(item) for each item that finds no slot.
  template <class Evict>
  void combine(u64 first, u64 last, const Evict& evict) {
    while (!begun_ && first != last) begin(first++);
    for (u64 now; first != last; first += now) {
      now = last - first < round ? last - first : round;
      combine_round(first, static_cast<u32>(now), evict);
    }
  }
  // Requires can_grow(). Homes come in the order of the old slots, so each new slot is written once on the way: with an
  // item, or with the copy of the first item. Items in the first word of slots may have found no slot at the table's
  // end, so that word comes last.
  void grow() {
    const item_cache old = *this;
    const u64 slots = grown_slots();
    const bool at_front = reinterpret_cast<char*>(slot_) == memory_;
    const item x = slot_[first_];
    take(memory_ + (at_front ? bytes(most_) - bytes_of(slots) : 0), slots);
    first_ = home_of(x.key);
    mark_used(first_);
    u64 filled = 0;
    const auto fill_to = [&](u64 end) {
      for (; filled < end; ++filled) put_new(slot_ + filled, x);
    };
    old.for_each_used(1, [&](u64 from) {
      if (from == old.first_) return;
      const item& y = old.slot_[from];
      const u64 at = this->free_from(this->home_of(y.key));
      fill_to(at + 1);
      this->use(at, y);
    });
    fill_to(slots);
  }
  // Evicts all items. Later the table is empty, and does not grow.
  template <class Evict>
  void flush(const Evict& evict) {
    if (begun_) for_each_used(0, [&](u64 at) { evict(slot_[at]); });
    begun_ = false;
    most_ = least_slots;
  }

 private:
  static u64 bytes_of(u64 slots) {
    return divide_up(slots * sizeof(item), 64) * 64 + divide_up(slots / 8, 64) * 64;
  }
  // An empty table, whose slots are yet to be written.
  void take(char* memory, u64 slots) {
    slot_ = reinterpret_cast<item*>(memory);
    used_ = reinterpret_cast<u64*>(memory + divide_up(slots * sizeof(item), 64) * 64);
    slots_ = slots, size_ = 0;
    std::fill_n(used_, slots / word_slots, u64(0));
  }
  bool is_used(u64 at) const { return (used_[at / word_slots] >> (at % word_slots) & 1) != 0; }
  void mark_used(u64 at) {
    used_[at / word_slots] |= u64(1) << (at % word_slots);
    ++size_;
  }
  void use(u64 at, const item& x) {
    mark_used(at);
    put_new(slot_ + at, x);
  }
  // From a word of slots to the last one, then the words before.
  template <class Use>
  void for_each_used(u64 first_word, const Use& use) const {
    const u64 words = slots_ / word_slots;
    for (u64 i = 0; i < words; ++i) {
      const u64 w = (first_word + i) % words;
      for (u64 bits = used_[w]; bits != 0; bits &= bits - 1)
        use(word_slots * w + static_cast<u64>(std::countr_zero(bits)));
    }
  }
  u64 home_of(const key_type& key) const { return home_hash(key, seed_) >> (64 - std::countr_zero(slots_)); }
  u64 free_from(u64 at) const {
    while (is_used(at)) at = (at + 1) & (slots_ - 1);
    return at;
  }
  // The first item with a legal key.
  void begin(u64 i) {
    const key_type& key = source_.key(i);
    if (!is_legal(key)) {
      ++illegal_;
      return;
    }
    const item x{key, source_.value(i)};
    take(memory_, least_slots);
    for (u64 at = 0; at < least_slots; ++at) put_new(slot_ + at, x);
    first_ = home_of(key);
    mark_used(first_);
    begun_ = true;
  }

  // Both lines of an item that may cross from one to the next.
  static void request(const item* x) {
    prefetch_to_write(x);
    if constexpr (!std::has_single_bit(sizeof(item)))
      prefetch_to_write(reinterpret_cast<const char*>(x + 1) - 1);
  }
  template <class Evict>
  void combine_round(u64 first, u32 n, const Evict& evict) {
    u32 home[round], left[round];
    item* const slot = slot_;
    const bool is_far = is_large();
    for (u32 k = 0; k < n; ++k) {
      home[k] = static_cast<u32>(home_of(source_.key(first + k)));
      if (is_far) request(slot + home[k]);
    }
    u32 left_n = 0;
    for (u32 k = 0; k < n; ++k) {
      item& x = slot[home[k]];
      const bool met = same_key(x.key, source_.key(first + k));
      if constexpr (without_branch) {
        if constexpr (!keeps) {
          const value_type value = op_(x.value, source_.value(first + k));
          x.value = met ? value : x.value;
        }
        left[left_n] = k;
        left_n += !met;
      } else if (met) {
        x.value = op_(x.value, source_.value(first + k));
      } else {
        left[left_n++] = k;
      }
    }
    hits_ += n - left_n;
    for (u32 j = 0; j < left_n; ++j) combine_apart(first + left[j], home[left[j]], evict);
  }
  // The item was not at its home when the round began.
  template <class Evict>
  void combine_apart(u64 i, u64 at, const Evict& evict) {
    const key_type& key = source_.key(i);
    const bool has_space = size_ < slots_ / 2;
    for (; has_space && is_used(at); at = (at + 1) & (slots_ - 1)) {
      item& x = slot_[at];
      if (!same_key(x.key, key)) continue;
      ++hits_;
      if constexpr (!keeps) x.value = op_(x.value, source_.value(i));
      return;
    }
    if (!is_legal(key)) {
      ++illegal_;
      return;
    }
    const item x{key, source_.value(i)};
    if (has_space)
      use(at, x);
    else
      evict(x);
  }

  char* const memory_;
  u64 most_;
  item* slot_ = nullptr;
  u64* used_ = nullptr;  // a bit for each slot
  u64 slots_ = 0, size_ = 0;
  u64 first_ = 0;  // the home of the first item
  const Source& source_;
  const Op& op_;
  const u64 seed_;
  u64 hits_ = 0, illegal_ = 0;
  bool begun_ = false;
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
