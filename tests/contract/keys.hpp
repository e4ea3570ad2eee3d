// SPDX-License-Identifier: Apache-2.0
// Keys that are easy for tables, and keys that are not.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <contract/random.hpp>
#include <contract/subject.hpp>
#include <tilehash/core/hash.hpp>

namespace tilehash::contract {

template <class T>
bool same_bytes(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

// ---- makes a key from an integer: its low bytes, repeated in wider types ----
template <class Key>
bool is_nan(const Key& key) {
  if constexpr (std::floating_point<Key>)
    return std::isnan(key);
  else
    return false;
}
template <class Key>
Key key_from(u64 x) {
  Key key;
  for (u64 i = 0; i < sizeof key; i += 8)
    std::memcpy(reinterpret_cast<char*>(&key) + i, &x, std::min<u64>(8, sizeof key - i));
  if constexpr (std::floating_point<Key>) {
    if (std::isnan(key)) return std::numeric_limits<Key>::infinity();
  }
  return key;
}
template <class T>
T any_value(random_numbers& random) {
  if constexpr (std::is_same_v<T, char>)
    return 0;  // for a set
  else {
    T value;
    for (u64 i = 0; i < sizeof value; i += 8) {
      const u64 number = random();
      std::memcpy(reinterpret_cast<char*>(&value) + i, &number, std::min<u64>(8, sizeof value - i));
    }
    return value;
  }
}
template <class T>
std::vector<T> any_values(random_numbers& random, u64 n) {
  std::vector<T> values(n);
  for (T& v : values) v = any_value<T>(random);
  return values;
}

// ---- families ----
// Small types repeat their keys; the tests include that.
template <class Key>
std::vector<Key> keys_by(u64 n, auto number) {
  std::vector<Key> keys(n);
  for (u64 i = 0; i < n; ++i) keys[i] = key_from<Key>(number(i));
  return keys;
}

// Bits that may equal the marks of free slots, and the extremes of every type.
template <class Key>
std::vector<Key> special_keys() {
  std::vector<Key> keys;
  const u64 ones = ~u64(0);
  for (u64 x : {u64(0), u64(1), u64(2), u64(3), ones, ones - 1, ones - 2, u64(1) << 63, u64(1) << 31,
                ones >> 1, ones >> 32, (ones >> 32) - 1, ones << 8, ones << 16, ones << 32, ones << 1})
    keys.push_back(key_from<Key>(x));
  for (u32 byte = 0; byte < 8; ++byte) keys.push_back(key_from<Key>(ones ^ u64(1) << 8 * byte));
  if constexpr (std::floating_point<Key>) {
    using limits = std::numeric_limits<Key>;
    for (Key x : {Key(0), Key(1), limits::infinity(), limits::max(), limits::min(), limits::denorm_min(),
                  limits::epsilon()}) {
      keys.push_back(x);
      keys.push_back(-x);
    }
  }
  return keys;
}

// Keys of up to 64 bits whose default hash has equal high bits under the table's first seed: they all start
// in one bucket, or near one slot.
template <class Key>
std::vector<Key> one_bucket(random_numbers& random, u64 n) {
  const u64 seed = known_seed, offset = random();
  std::vector<Key> keys;
  if constexpr (sizeof(Key) == 8) {
    for (u64 i = 0; i < n; ++i) keys.push_back(key_from<Key>(unmix64((offset & ~u64(0) << 32) + i) ^ seed));
  } else {
    const u64 bits = sizeof(Key) < 4 ? 3 : 9;
    for (u64 tries = 0; keys.size() < n && tries < n << bits; ++tries) {
      const Key key = key_from<Key>(random());
      u64 number = 0;
      std::memcpy(&number, &key, std::min(sizeof key, sizeof number));
      if ((mix64(number ^ seed) ^ offset) >> (64 - bits) == 0) keys.push_back(key);
    }
  }
  return keys;
}

template <class Key>
struct family {
  std::string name;
  std::vector<Key> keys;
};

// About n keys of each family.
template <class Key>
std::vector<family<Key>> families(random_numbers& random, u64 n) {
  constexpr u32 bits = sizeof(Key) < 8 ? 8 * sizeof(Key) : 64;
  const u64 start = random(), few = std::max<u64>(1, n / 100);
  auto special = special_keys<Key>();
  special.resize(std::min(n, special.size()));
  return {
      {"random", keys_by<Key>(n, [&](u64) { return random(); })},
      {"sequential", keys_by<Key>(n, [](u64 i) { return i; })},
      {"sequential from anywhere", keys_by<Key>(n, [&](u64 i) { return start + i; })},
      {"sequential to the end", keys_by<Key>(n, [](u64 i) { return ~i; })},
      {"same low bits",
       keys_by<Key>(n, [&](u64 i) { return i << bits / 2 | (start & ((u64(1) << bits / 2) - 1)); })},
      {"multiples of 4096", keys_by<Key>(n, [](u64 i) { return i << 12; })},
      {"one bucket", one_bucket<Key>(random, std::min<u64>(n, sizeof(Key) == 8 ? 400 : 40))},
      {"few distinct", keys_by<Key>(n, [&](u64) { return mix64(random.below(few)); })},
      {"all equal", keys_by<Key>(n, [&](u64) { return start; })},
      {"all ones", keys_by<Key>(n, [](u64) { return ~u64(0); })},
      {"special", special},
  };
}

// About half of these keys are present in a table of `keys`.
template <class Key>
std::vector<Key> others(random_numbers& random, const std::vector<Key>& keys, u64 n) {
  auto result = keys_by<Key>(n, [&](u64) { return random(); });
  for (const Key& key : special_keys<Key>()) result.push_back(key);
  for (u64 i = 0; i < n && !keys.empty(); ++i) result.push_back(keys[random.below(keys.size())]);
  return result;
}

}  // namespace tilehash::contract
