// SPDX-License-Identifier: Apache-2.0
// A map with the rule of `tiled` and nothing else: what the rule costs at least where one thread calls for one key.
//
// A key goes to its first bucket of 64 bytes, or to its second if the first is full. If both are full, one key
// moves to its other bucket. There is no filter, so a lookup of a key that is not in its first bucket reads
// both. Whole keys are stored, one key marks a free slot, and a hash is one product.
#pragma once

#include <tilehash/core/config.hpp>
#include <tilehash/core/hash.hpp>

#include <bit>
#include <optional>
#include <utility>
#include <vector>

namespace tilehash::bench {

template <class Key, class Value>
class bare_buckets {
 public:
  // `no_key` is not inserted. The seed is another one for each map, as in any table of ours.
  bare_buckets(u64 items, Key no_key, u64 seed) : no_key_(no_key), seed_(seed) { make(items); }

  bool insert(Key key, Value value) {
    if (size_ == most_) grow();
    bucket& first = of_[hash(key, first_factor)];
    if (match(first, key) != 0) return false;
    const u32 open = match(first, no_key_);
    if (open == 0) return insert_beyond(first, {key, value});
    first.slots[std::countr_zero(open)] = {key, value};
    ++size_;
    return true;
  }
  std::optional<Value> find(Key key) const {
    for (const u64 factor : {first_factor, second_factor}) {
      const bucket& b = of_[hash(key, factor)];
      if (const u32 mine = match(b, key)) return b.slots[std::countr_zero(mine)].value;
    }
    return std::nullopt;
  }
  Value at(Key key) const { return find(key).value_or(Value(0)); }  // of a key that is present

 private:
  struct slot {
    Key key;
    Value value;
  };
  static constexpr u32 size_of_bucket = 64 / sizeof(slot);
  struct alignas(64) bucket {
    slot slots[size_of_bucket];
  };
  static constexpr u32 most_steps = 256;
  static constexpr u64 first_factor = 0x9e3779b97f4a7c15ULL, second_factor = 0xff51afd7ed558ccdULL;

  void make(u64 items) {
    bucket free;
    for (slot& s : free.slots) s = {no_key_, 0};
    of_.assign(items / 4 * 5 / size_of_bucket + 2, free);  // load factor 0.8
    most_ = of_.size() * size_of_bucket / 5 * 4;
    size_ = 0;
  }
  u64 hash(Key key, u64 factor) const {
    const u128 all = static_cast<u128>(u64(key) ^ seed_) * factor;
    return mul_high(static_cast<u64>(all) ^ static_cast<u64>(all >> 64), of_.size());
  }
  static u32 match(const bucket& b, Key key) {
    u32 mask = 0;
    for (u32 i = 0; i < size_of_bucket; ++i) mask |= u32(b.slots[i].key == key) << i;
    return mask;
  }
  bucket& other(const bucket& b, Key key) {
    bucket& first = of_[hash(key, first_factor)];
    return &first == &b ? of_[hash(key, second_factor)] : first;
  }
  __attribute__((noinline)) bool insert_beyond(bucket& first, slot x) {
    bucket& second = of_[hash(x.key, second_factor)];
    if (match(second, x.key) != 0) return false;
    ++size_;
    if (const u32 open = match(second, no_key_))
      second.slots[std::countr_zero(open)] = x;
    else
      displace(first, x);
    return true;
  }
  // Puts x into a full bucket, from which a key moves.
  void displace(bucket& full, slot x) {
    bucket* from = &full;
    for (u32 step = 0; step < most_steps; ++step) {
      for (slot& s : from->slots) {
        bucket& to = other(*from, s.key);
        if (const u32 open = match(to, no_key_)) {
          to.slots[std::countr_zero(open)] = s;
          s = x;
          return;
        }
      }
      std::swap(x, from->slots[step % size_of_bucket]);
      from = &other(*from, x.key);
    }
    grow();
    insert(x.key, x.value);
  }
  void grow() {
    const auto old = std::move(of_);
    make(2 * most_);
    for (const bucket& b : old) {
      for (const slot& s : b.slots) {
        if (s.key != no_key_) insert(s.key, s.value);
      }
    }
  }

  Key no_key_;
  u64 seed_;
  std::vector<bucket> of_;
  u64 size_ = 0, most_ = 0;
};

}  // namespace tilehash::bench
