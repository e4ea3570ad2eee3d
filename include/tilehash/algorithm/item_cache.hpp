// SPDX-License-Identifier: Apache-2.0
// A cache in which one thread of a CPU combines the items of equal keys.
//
//   set      | way 0 | way 1 | way 2 | way 3 |     an item's hash selects its home entry, and so its set
//               home    new ->        -> evicted
//
// An item is combined with the entry of its key. The item of a new key takes a free entry of its set, or one
// that is not its home, whose item is evicted. Later items of that key exchange it with its home entry, so
// that frequent keys are found there at once.
//
// Items are taken in rounds. A first loop computes the homes of a round, and a second one compares the home
// entries. The second loop has no branch that depends on a comparison where the op permits, because the
// processor cannot predict it: with Zipf's law a third of the keys are absent. A third loop takes the rest.
//
// Invariant: an entry, once used, stays used. All entries begin with a copy of one item, which is used only in
// that item's home. So a comparison with a home entry needs no test whether the entry is used.
#pragma once

#include <algorithm>
#include <bit>
#include <new>
#include <type_traits>

#include <tilehash/core/hash.hpp>
#include <tilehash/core/key.hpp>
#include <tilehash/core/op.hpp>
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
  constexpr u64 odd = 0x9e3779b97f4a7c15ULL;
  const auto product = [](u64 a, u64 b) {
    const u128 all = static_cast<u128>(a) * b;
    return static_cast<u64>(all) ^ static_cast<u64>(all >> 64);
  };
  if constexpr (size <= 8) {
    return product(key_to_bits<bits_t<size>>(key) ^ seed, odd);
  } else if constexpr (size <= 16) {
    const u128 bits = key_to_bits<bits_t<size>>(key);
    return product(static_cast<u64>(bits) ^ seed, static_cast<u64>(bits >> 64) ^ odd);
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
  static constexpr u32 ways = 4, round = tuning::cpu::combining_round;

 public:
  using item = keyed_item<key_type, value_type>;
  static constexpr u64 entries = std::bit_floor(tuning::cpu::combining_cache / (ways * sizeof(item))) * ways;
  static constexpr u64 bytes = entries * sizeof(item) + entries / ways;
  static_assert(entries > ways);

  // In `bytes` of memory.
  item_cache(void* memory, const Source& source, const Op& op, u64 seed)
      : entries_(static_cast<item*>(memory)),
        used_(static_cast<u8*>(memory) + entries * sizeof(item)),
        source_(source),
        op_(op),
        seed_(seed) {}

  u64 hits() const { return hits_; }
  u64 illegal() const { return illegal_; }  // items whose key is NaN

  // Combines the items from `first` to `last`. Calls evict(item) for each item that has to go.
  template <class Evict>
  void combine(u64 first, u64 last, const Evict& evict) {
    while (!begun_ && first != last) begin(first++);
    for (u64 now; first != last; first += now) {
      now = last - first < round ? last - first : round;
      combine_round(first, static_cast<u32>(now), evict);
    }
  }
  // Evicts all items.
  template <class Evict>
  void flush(const Evict& evict) {
    if (!begun_) return;
    for (u64 e = 0; e < entries; ++e) {
      if (is_used(e)) evict(entries_[e]);
    }
  }

 private:
  bool is_used(u64 e) const { return (used_[e / ways] >> (e % ways) & 1) != 0; }
  void use(u64 e, const item& x) {
    used_[e / ways] = static_cast<u8>(used_[e / ways] | 1U << (e % ways));
    put_new(entries_ + e, x);
  }
  u64 home_of(const key_type& key) const {
    return home_hash(key, seed_) >> (64 - std::bit_width(entries - 1));
  }
  static void exchange(item& a, item& b) {
    const item x = a;
    put_new(&a, b);
    put_new(&b, x);
  }
  // The first item with a legal key.
  void begin(u64 i) {
    const key_type& key = source_.key(i);
    if (!is_legal(key)) {
      ++illegal_;
      return;
    }
    const item x{key, source_.value(i)};
    for (u64 e = 0; e < entries; ++e) put_new(entries_ + e, x);
    std::fill_n(used_, entries / ways, u8(0));
    use(home_of(key), x);
    begun_ = true;
  }

  template <class Evict>
  void combine_round(u64 first, u32 n, const Evict& evict) {
    u32 home[round], left[round];
    for (u32 k = 0; k < n; ++k) home[k] = static_cast<u32>(home_of(source_.key(first + k)));
    u32 left_n = 0;
    for (u32 k = 0; k < n; ++k) {
      item& x = entries_[home[k]];
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
    for (u32 j = 0; j < left_n; ++j) combine_in_set(first + left[j], home[left[j]], evict);
  }
  // The item was not at its home when the round began.
  template <class Evict>
  void combine_in_set(u64 i, u64 home, const Evict& evict) {
    const key_type& key = source_.key(i);
    const u64 set = home / ways * ways;
    u64 free = entries;
    for (u32 way = 0; way < ways; ++way) {
      if (!is_used(set + way)) {
        if (free == entries || set + way == home) free = set + way;
      } else if (same_key(entries_[set + way].key, key)) {
        ++hits_;
        item& x = entries_[set + way];
        if constexpr (!keeps) x.value = op_(x.value, source_.value(i));
        if (i % ways == 0 && is_used(home)) exchange(x, entries_[home]);
        return;
      }
    }
    if (!is_legal(key)) {
      ++illegal_;
      return;
    }
    if (free == entries) {
      free = set + (home + 1 + i % (ways - 1)) % ways;
      evict(entries_[free]);
    }
    use(free, {key, source_.value(i)});
  }

  item* const entries_;
  u8* const used_;  // a bit for each entry of a set
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
