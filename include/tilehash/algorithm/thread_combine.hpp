// SPDX-License-Identifier: Apache-2.0
// Combines items of equal keys on a CPU before they go to a table. Keys and values may have any size.
//
//   items   | share | share | share | ...    each thread takes shares of the input
//                |       |
//   caches    [ slot | slot | ... ]          of a thread: an item is combined with the item of its key, takes
//                |       |                   a free slot, or is evicted (algorithm/item_cache.hpp)
//   parts   | part 0 | part 1 | ...          evicted items, by their hashes, in nodes
//                |        |
//   list    | keys | values |                each key once: a thread combines the items of a part, with an
//                                            index of a part's keys that fits its core's cache
//
// Few or hot keys stay in the caches, so their items cost no access to far memory. Items of many keys pass
// through memory twice, at the rate of sequential accesses. A full cache grows if the thread has many items for
// each key, and enough of them miss the cache. A full cache that serves few items is emptied, and the thread
// sends most shares to the parts directly.
//
// Equal keys have equal hashes, so all items of a key meet in one part. A hash decides only where items meet;
// keys are compared.
//
// An op that is not associative must meet the values of a key one after the other, and the stored value first.
// Then all items go to the parts directly, and a part begins each key with its stored value.
//
// Source: V. Leis, P. Boncz, A. Kemper, T. Neumann, Morsel-Driven Parallelism (SIGMOD 2014), section 4.4. Caches
// that grow, keep the keys that come first, and are left out while they do not serve, are ours.
#pragma once

#include <algorithm>
#include <bit>
#include <type_traits>

#include <tilehash/algorithm/item_cache.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/key.hpp>
#include <tilehash/core/op.hpp>
#include <tilehash/core/options.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/prefetch.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// The items of arrays. A set's items have no values.
template <class Key, class Value>
struct key_value_arrays {
  using key_type = Key;
  using value_type = std::conditional_t<std::is_void_v<Value>, nothing, Value>;
  const Key* keys;
  const Value* values;  // null in a set
  const Key& key(u64 i) const { return keys[i]; }
  value_type value(u64 i) const {
    if constexpr (std::is_void_v<Value>)
      return {};
    else
      return values[i];
  }
};

// The same for an op whose arguments are not values (core/op.hpp): each is lifted when it is read.
template <class Key, class Value, class Given, class Op>
struct lifted_arrays {
  using key_type = Key;
  using value_type = Value;
  const Key* keys;
  const Given* given;  // null if the op takes keys alone
  const Key& key(u64 i) const { return keys[i]; }
  Value value(u64 i) const {
    if constexpr (std::is_same_v<Given, nothing>)
      return Op::template lift<Value>(nothing{});
    else
      return Op::template lift<Value>(given[i]);
  }
};

// Applies an op that is not associative: op(stored, given), one given value after the other.
template <class View, class Op>
struct stored_first {
  static constexpr bool in_order = true;
  View view;  // of the table, which does not change meanwhile
  bool empty;
  Op op;
  // The value of a key after its first item.
  template <class Key, class Value>
  Value first(const Key& key, const Value& given) const {
    if (empty) return given;
    const auto hit = view.find(key);
    return hit.found() ? op(hit.value(), given) : given;
  }
  template <class Value>
  Value operator()(const Value& stored, const Value& given) const {
    return op(stored, given);
  }
};

// Each key once. `size` and `illegal` are 0 where the combining stopped: `clash` says so.
template <class Key, class Value, class Space>
struct combined_list {
  buffer<Key, Space> keys;
  buffer<Value, Space> values;  // none in a set
  u64 size = 0;
  u64 illegal = 0;  // items whose key is NaN, which are not on the list
  bool clash = false;
};

// `Hash` maps keys to 64 bits. If it stops at a clash, combining stops when two keys of the list have one hash.
template <class Source, class Hash, class Op, class Space>
class thread_combine {
  using key_type = typename Source::key_type;
  using value_type = typename Source::value_type;
  static constexpr bool has_values = !std::is_same_v<value_type, nothing>;
  static constexpr bool keeps = std::is_same_v<Op, keep_one> || !has_values;
  static constexpr bool in_order = requires { requires Op::in_order; };
  using cache = item_cache<Source, Op>;
  using item = typename cache::item;
  static constexpr u64 node_items = std::max<u64>(16, tuning::cpu::combining_node / sizeof(item));
  static constexpr u64 share = tuning::cpu::combined_share;
  static constexpr u32 no_node = ~u32(0);

  // The nodes of a part that a thread has filled, and the one that it fills.
  struct chain {
    item *at, *end;
    u32 last, nodes;
    u64 items() const { return nodes * node_items - static_cast<u64>(end - at); }
  };

 public:
  using value_element = std::conditional_t<has_values, value_type, char>;
  using list = combined_list<key_type, value_element, Space>;

  // Memory, in bytes of the items: 1 for the parts, 3/8 for the caches, and at most 1 for the list and the
  // keys of a part. It is touched only as far as items leave the caches or fill them. Throws out_of_memory,
  // and what `op` throws.
  thread_combine(Space& space, const Source& source, u64 n, const Hash& hash, const Op& op)
      : source_(source),
        n_(n),
        hash_(hash),
        op_(op),
        workers_(static_cast<u64>(space.threads())),
        cached_(cache::most_slots(n / workers_)),
        part_bits_(std::min<u32>(tuning::cpu::combined_part_bits,
                                 static_cast<u32>(std::bit_width(n / tuning::cpu::combined_part_items)))),
        chains_(space, (workers_ << part_bits_) * sizeof(chain)),
        before_(space, n / node_items + (workers_ << part_bits_)),
        nodes_(space, before_.size() * node_items * sizeof(item)) {}

  // May be called once.
  list run(Space& space) {
    for (u64 c = 0; c < workers_ << part_bits_; ++c)
      put_new(chain_of(0, 0) + c, chain{nullptr, nullptr, no_node, 0});
    space.for_each_block(workers_, 1, in_order ? 0 : cache::bytes(cached_), [this](const auto& block) {
      chain* const own = this->chain_of(block.index(), 0);
      const u64 illegal = in_order ? this->send_in_order(own) : this->send_combined(block, own);
      if (illegal != 0) fetch_add(&illegal_, illegal);
    });
    list result;
    u64 all = 0;
    for (u64 part = 0; part < parts(); ++part) {
      u64 items = 0;
      for (u64 w = 0; w < workers_; ++w) items += chain_of(w, part)->items();
      largest_ = std::max(largest_, items);
      all += items;
    }
    result.keys = buffer<key_type, Space>(space, all);
    if constexpr (has_values) result.values = buffer<value_type, Space>(space, all);
    list_keys_ = result.keys.data();
    if constexpr (has_values) list_values_ = result.values.data();
    space.for_each_block(parts(), 1, part_bytes(), [this](const auto& block) { this->combine_part(block); });
    result.clash = clash_ != 0;
    result.size = result.clash ? 0 : size_;
    result.illegal = illegal_;
    return result;
  }

 private:
  u64 parts() const { return u64(1) << part_bits_; }
  u64 part_of(u64 hash) const { return hash >> 1 >> (63 - part_bits_); }
  static u32 tag_of(u64 hash) { return static_cast<u32>(hash >> 1); }
  chain* chain_of(u64 worker, u64 part) const {
    return reinterpret_cast<chain*>(chains_.data()) + (worker << part_bits_) + part;
  }
  item* node_at(u64 node) const { return reinterpret_cast<item*>(nodes_.data()) + node * node_items; }

  // ---- from the input to the parts ----
  // Each returns how many items have no legal key.
  u64 send_in_order(chain* own) {
    u64 illegal = 0;
    for (u64 first; (first = fetch_add(&next_, share)) < n_;)
      illegal += send_share(own, first, std::min(n_, first + share));
    return illegal;
  }
  template <class Block>
  u64 send_combined(const Block& block, chain* own) {
    const auto send_item = [this, own](const item& x) { this->send(own, this->hash_(x.key), x); };
    cache items(block.memory, cached_, source_, op_, seed_);
    u64 skipped = 0, illegal = 0;
    u64 met = 0, hits_before = 0;  // items since the cache was empty, and the hits before them
    for (u64 first; (first = fetch_add(&next_, share)) < n_;) {
      const u64 last = std::min(n_, first + share), n = last - first;
      if (skipped != 0) {
        --skipped;
        illegal += send_share(own, first, last);
        continue;
      }
      const u64 before = items.hits();
      items.combine(first, last, send_item);
      met += n;
      if (!items.is_full()) continue;
      const u64 hits = items.hits() - before;
      if (items.can_grow() && larger_cache_pays(items, hits, n)) {
        items.grow();
        continue;
      }
      const u64 one_in = items.is_large() ? tuning::cpu::combining_large_hits : tuning::cpu::combining_hits;
      if (hits * one_in >= n) continue;
      if ((items.hits() - hits_before) * one_in < met) skipped = tuning::cpu::combining_skipped;
      items.flush(send_item);
      met = 0, hits_before = items.hits();
    }
    items.flush(send_item);
    return illegal + items.illegal();
  }
  // A cache whose slots/2 keys meet `hits` of n items is one of about slots/2 * n / hits keys. A larger one meets the
  // other items at best.
  bool larger_cache_pays(const cache& items, u64 hits, u64 n) const {
    const u64 own = n_ / workers_;
    return hits * own >= items.slots() / 2 * n * tuning::cpu::combining_copies &&
           (n - hits) * own >= items.grown_slots() * n * tuning::cpu::combining_missed;
  }
  u64 send_share(chain* own, u64 first, u64 last) {
    u64 illegal = 0;
    for (u64 i = first; i < last; ++i) {
      const key_type& key = source_.key(i);
      if (is_legal(key))
        send(own, hash_(key), item{key, source_.value(i)});
      else
        ++illegal;
    }
    return illegal;
  }
  void send(chain* own, u64 hash, const item& x) {
    chain& to = own[part_of(hash)];
    if (to.at == to.end) add_node(to);
    put_new(to.at++, x);
    prefetch_to_write(reinterpret_cast<const char*>(to.at) + tuning::cpu::sent_ahead);
  }
  __attribute__((noinline)) void add_node(chain& to) {
    const u32 node = static_cast<u32>(fetch_add(&used_, u64(1)));
    before_.data()[node] = to.last;
    to = {node_at(node), node_at(node) + node_items, node, to.nodes + 1};
  }

  // ---- from a part to the list ----
  u64 most_slots() const { return std::bit_ceil(2 * largest_ + 2); }
  u64 keys_at() const { return most_slots() * sizeof(u64); }
  u64 values_at() const { return align_up(keys_at() + largest_ * sizeof(key_type)); }
  u64 part_bytes() const { return values_at() + (has_values ? largest_ * sizeof(value_type) : 0); }
  static u64 align_up(u64 bytes) { return divide_up(bytes, 64) * 64; }

  // The keys of a part, with an index: a slot has the tag of a key and its number, from 1 on. 0: it is free.
  struct part_table {
    const thread_combine& of;
    u64* slots;
    key_type* keys;
    value_type* values;
    u64 mask;
    u64 size = 0;
    bool clash = false;

    void clear() { std::fill(slots, slots + mask + 1, u64(0)); }
    void grow() {
      mask = 2 * mask + 1;
      clear();
      for (u64 number = 0; number < size;) {
        const u32 tag = tag_of(of.hash_(keys[number]));
        u64 at = tag & mask;
        while (slots[at] != 0) at = (at + 1) & mask;
        slots[at] = slot(tag, ++number);
      }
    }
    static u64 slot(u32 tag, u64 number) { return u64(tag) << 32 | number; }

    // The items of a node. Meanwhile requests the node `next`.
    void combine(const item* items, u64 n, const item* next) {
      constexpr u32 round = tuning::cpu::combining_round;
      u64 hash[round];
      for (u64 first = 0; first < n && !clash; first += round) {
        const u32 now = static_cast<u32>(std::min<u64>(round, n - first));
        for (u32 k = 0; k < now; ++k) {
          prefetch(next + first + k);
          hash[k] = of.hash_(items[first + k].key);
        }
        for (u32 k = 0; k < now && !clash; ++k) combine(items[first + k], hash[k]);
      }
    }
    void combine(const item& x, u64 hash) {
      const u32 tag = tag_of(hash);
      u64 at = tag & mask;
      for (u64 seen; (seen = slots[at]) != 0; at = (at + 1) & mask) {
        if (seen >> 32 != tag) continue;
        const u64 number = static_cast<u32>(seen) - 1;
        if (same_key(keys[number], x.key)) {
          if constexpr (!keeps) values[number] = of.op_(values[number], x.value);
          return;
        }
        if constexpr (Hash::stops_at_clash) clash = clash || of.hash_(keys[number]) == hash;
      }
      put_new(keys + size, x.key);
      if constexpr (in_order)
        put_new(values + size, of.op_.first(x.key, x.value));
      else if constexpr (has_values)
        put_new(values + size, x.value);
      slots[at] = slot(tag, ++size);
      if (2 * size > mask) grow();
    }
  };

  template <class Block>
  void combine_part(const Block& block) {
    char* const memory = static_cast<char*>(block.memory);
    u64 items = 0;
    for (u64 w = 0; w < workers_; ++w) items += chain_of(w, block.index())->items();
    if (items == 0 || load_relaxed(&clash_) != 0) return;
    // Parts have about as many keys each, so an index starts with the slots that the last one needed.
    const u64 slots = std::min(load_relaxed(&start_), std::bit_ceil(2 * items + 2));
    part_table table{*this, reinterpret_cast<u64*>(memory), reinterpret_cast<key_type*>(memory + keys_at()),
                     reinterpret_cast<value_type*>(memory + values_at()), slots - 1};
    table.clear();
    for (u64 w = 0; w < workers_ && !table.clash; ++w) {
      const chain& from = *chain_of(w, block.index());
      u32 node = from.last;
      for (u64 left = from.items(); left != 0 && !table.clash;) {
        const u64 full = left % node_items, now = full == 0 ? node_items : full;
        const u32 before = before_.data()[node];
        table.combine(node_at(node), now, node_at(before == no_node ? node : before));
        left -= now;
        node = before;
      }
    }
    if (table.clash) return store_relaxed(&clash_, 1U);
    if (table.mask + 1 > slots) store_relaxed(&start_, table.mask + 1);
    const u64 at = fetch_add(&size_, table.size);
    copy_new(table.keys, table.size, list_keys_ + at);
    if constexpr (has_values) copy_new(table.values, table.size, list_values_ + at);
  }

  const Source source_;
  const u64 n_;
  const Hash hash_;
  const Op op_;
  const u64 seed_ = drawn_seed();  // of the caches
  const u64 workers_;
  const u64 cached_;  // slots of a thread's cache, at most
  const u32 part_bits_;
  const buffer<char, Space> chains_;
  const buffer<u32, Space> before_;  // the node before a node in its chain
  const buffer<char, Space> nodes_;
  u64 largest_ = 0;  // items of a part, at most
  key_type* list_keys_ = nullptr;
  value_type* list_values_ = nullptr;
  // Threads change these.
  u64 next_ = 0;     // the first item of the next share
  u64 used_ = 0;     // nodes
  u64 illegal_ = 0;  // items
  u64 size_ = 0;     // of the list
  u64 start_ = 256;  // slots of the next part's index
  u32 clash_ = 0;
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
