// SPDX-License-Identifier: Apache-2.0
// The items of a shape: item -> number -> key and value, all arithmetic.
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/space/buffer.hpp>

#include <algorithm>
#include <span>

#include "numbered.hpp"
#include "ours/shapes.hpp"

namespace tilehash::bench {

// Keys and values of more than 8 bytes. Their sum is that of their words.
template <u32 Words>
struct words {
  u64 word[Words];

  words() = default;
  TILEHASH_FN explicit words(u64 x) {
    for (u32 i = 0; i < Words; ++i) word[i] = x * (i + 1);
  }
  TILEHASH_FN friend words operator+(words a, const words& b) {
    for (u32 i = 0; i < Words; ++i) a.word[i] += b.word[i];
    return a;
  }
  TILEHASH_FN friend bool operator==(const words& a, const words& b) {
    for (u32 i = 0; i < Words; ++i) {
      if (a.word[i] != b.word[i]) return false;
    }
    return true;
  }
};

// The number of an item: below `distinct`, and each at least once.
struct numbered_items {
  shape_keys keys;
  u64 items, distinct;
  shuffled order;

  numbered_items(shape_keys of, u64 n)
      : keys(of), items(n), distinct(std::min(distinct_keys(of, n), n)), order(0, n) {}

  TILEHASH_FN u64 operator()(u64 i) const {
    if (distinct == items) return i;
    if (distinct == 1) return 0;
    const u64 j = order(i);
    if (keys == shape_keys::half_one_key) return j < distinct ? j : 0;
    if (keys == shape_keys::zipf) return j < distinct ? j : zipf_number(j, distinct);
    return j % distinct;
  }
};

// The key of a number below `limit`, and its value: odd and small, so that no sum of it is 0.
template <class Key>
struct numbered_keys {
  using word = std::conditional_t<sizeof(Key) == 4, u32, u64>;
  shape_keys keys;
  u64 stride, gap;

  numbered_keys(shape_keys of, u64 limit) : keys(of), stride(1), gap(static_cast<word>(~word(0)) / limit) {
    while (stride < 1 << 20 && 2 * stride <= gap) stride *= 2;
  }
  TILEHASH_FN Key operator()(u64 number) const { return static_cast<Key>(word_of(number)); }

 private:
  TILEHASH_FN word word_of(u64 number) const {
    if (keys == shape_keys::sequential) return static_cast<word>(number);
    if (keys == shape_keys::strided) return static_cast<word>(number * stride);
    if (keys == shape_keys::sorted) return static_cast<word>(number * gap + mix64(number) % gap);
    return key_of<word>(number);
  }
};
TILEHASH_FN u64 small_value(u64 number) { return 1 + 2 * (mix64(number) % 500); }

template <class Key, class Value>
struct make_numbered {
  numbered_keys<Key> key;
  Key* keys;
  Value* values;
  TILEHASH_FN void operator()(u64 number) const {
    keys[number] = key(number);
    values[number] = static_cast<Value>(small_value(number));
  }
};
template <class Key, class Value>
struct make_shape_items {
  numbered_items number;
  numbered_keys<Key> key;
  Key* keys;
  Value* values;
  u32* times;  // of each number
  TILEHASH_FN void operator()(u64 i) const {
    const u64 mine = number(i);
    keys[i] = key(mine);
    values[i] = static_cast<Value>(small_value(mine));
    detail::fetch_add(times + mine, u32(1));
  }
};

// The items of a call, and the keys that a table can hold before it: the call's, whose numbers are below
// distinct(), and others, whose numbers follow.
template <class Key, class Value, class Space>
class shape_items {
  template <class T>
  using memory = buffer<T, Space>;

 public:
  shape_items(Space& space, shape_keys of, u64 n, u64 others_a_key)
      : number(of, n),
        keys(space, n),
        values(space, n),
        all_keys(space, number.distinct * (1 + others_a_key)),
        all_values(space, all_keys.size()),
        times(space, number.distinct) {
    const numbered_keys<Key> key(of, all_keys.size());
    space.fill(times.data(), times.size(), u32(0));
    space.for_each(n, make_shape_items<Key, Value>{number, key, keys.data(), values.data(), times.data()});
    space.for_each(all_keys.size(), make_numbered<Key, Value>{key, all_keys.data(), all_values.data()});
    space.synchronize();
  }

  shape_keys of() const { return number.keys; }
  u64 size() const { return number.items; }
  u64 distinct() const { return number.distinct; }

  numbered_items number;
  memory<Key> keys;
  memory<Value> values;
  memory<Key> all_keys;
  memory<Value> all_values;
  memory<u32> times;
};

// The effect of a key's item on the key's value.
struct expected_value {
  bool held;  // were the call's keys in the table before it?
  bool sums, counts, erases;

  // For a number that the call has so many times; 0: the key is absent.
  TILEHASH_FN u64 operator()(u64 number, u64 times) const {
    const u64 v = small_value(number);
    if (times == 0) return v;  // another key
    if (erases) return 0;
    const u64 before = held ? v : 0;
    return sums ? before + times * v : counts ? before + times : v;
  }
};
// Compares the values of all numbers; an absent key has 0. `lost`: items of the call whose key is absent.
template <class Value>
struct check_numbers {
  expected_value expected;
  u64 distinct;
  const u32* times;
  const Value* answers;
  u64 *wrong, *lost;
  TILEHASH_FN void operator()(u64 number) const {
    const u64 its_times = number < distinct ? times[number] : 0;
    const auto right = static_cast<Value>(expected(number, its_times));
    if (answers[number] == right) return;
    if (answers[number] == static_cast<Value>(0) && its_times != 0)
      detail::fetch_add(lost, its_times);
    else
      detail::fetch_add(wrong, u64(1));
  }
};
// Compares the answers of lookups, values or flags.
template <class Answer>
struct check_lookups {
  numbered_items number;
  bool held;
  const Answer* answers;
  u64* wrong;
  TILEHASH_FN void operator()(u64 i) const {
    if (answers[i] != static_cast<Answer>(held ? small_value(number(i)) : 0))
      detail::fetch_add(wrong, u64(1));
  }
};
// Compares the ids that a call gave with those that the table knows.
template <class View, class Key>
struct check_ids {
  View view;
  const Key* keys;
  const u32* ids;
  u64* wrong;
  TILEHASH_FN void operator()(u64 i) const {
    const auto hit = view.find(keys[i]);
    if (!hit.found() || hit.id() != ids[i]) detail::fetch_add(wrong, u64(1));
  }
};
// Compares the numbers of values of each key, and the values themselves.
struct check_counts_of_values {
  const u32* times;
  const u64* offsets;
  u64* wrong;
  TILEHASH_FN void operator()(u64 number) const {
    if (offsets[number + 1] - offsets[number] != times[number]) detail::fetch_add(wrong, u64(1));
  }
};
template <class Value>
struct check_values_of_keys {
  u64 distinct;
  const u64* offsets;
  const Value* values;
  u64* wrong;
  TILEHASH_FN void operator()(u64 i) const {
    u64 low = 0, high = distinct;  // the last number whose offset is at most i
    while (high - low > 1) {
      const u64 middle = low + (high - low) / 2;
      (offsets[middle] <= i ? low : high) = middle;
    }
    if (values[i] != static_cast<Value>(small_value(low))) detail::fetch_add(wrong, u64(1));
  }
};

}  // namespace tilehash::bench
