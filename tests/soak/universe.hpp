// SPDX-License-Identifier: Apache-2.0
// The keys of one round, by number, and what a table holds of them. Numbers make a model of millions of items
// cheap: an array in place of a map.
//
// A value is made from a word of 64 bits and read back as one. Where keys are unique, the word has the call
// and, in its low bits, the copy of the key in that call; where all items are kept, it has the key.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include <contract/keys.hpp>
#include <contract/model.hpp>
#include <soak/soak.hpp>

namespace tilehash::soak {

template <class Value>
constexpr u64 word_mask = sizeof(Value) >= 8 ? ~u64(0) : (u64(1) << 8 * (sizeof(Value) & 7)) - 1;

template <class Value>
Value value_from(u64 word) {
  return contract::key_from<Value>(word);
}
template <class Value>
u64 word_from(const Value& value) {
  u64 word = 0;
  std::memcpy(&word, &value, std::min(sizeof value, sizeof word));
  return word;
}

// A table's items of one key. The sum is of checksums of the items, and order does not matter to it.
struct held {
  u64 word = 0;  // where keys are unique
  u64 sum = 0;
  u32 count = 0;
};

template <class Key>
u64 checksum(const Key& key, u64 word) {
  return mix64(contract::bytes_hash{}(contract::one_representation(key)) + word * 0x9e3779b97f4a7c15ULL);
}

// About `n` different keys of a kind that the dice choose; some have the same hash in a table of known_seed.
template <class Key>
std::vector<Key> any_keys(round& r, u64 n) {
  auto& dice = r.dice;
  const u64 start = dice(), odd = dice() | 1;
  std::vector<Key> keys;
  switch (dice.below(n <= 20'000 ? 9 : 6)) {
    case 0:
      keys = contract::keys_by<Key>(n, [](u64 i) { return i; });
      break;
    case 1:
      keys = contract::keys_by<Key>(n, [](u64 i) { return ~i; });
      break;
    case 2:
      keys = contract::keys_by<Key>(n, [&](u64 i) { return start + i * odd; });
      break;
    case 3:
      keys = contract::keys_by<Key>(n, [](u64 i) { return i << 12; });
      break;
    case 4:
    case 5:
      keys = contract::keys_by<Key>(n, [&](u64) { return dice(); });
      break;
    default: {
      auto all = contract::families<Key>(dice, n);
      for (u32 i = 0; i < 2; ++i) {
        const auto& more = all[dice.below(all.size())].keys;
        keys.insert(keys.end(), more.begin(), more.end());
      }
    }
  }
  if (dice.one_in(2)) {
    const auto special = contract::special_keys<Key>();
    keys.insert(keys.end(), special.begin(), special.end());
  }
  std::erase_if(keys, [](const Key& k) { return contract::is_nan(k); });
  for (Key& k : keys) k = contract::one_representation(k);
  std::sort(keys.begin(), keys.end(),
            [](const Key& a, const Key& b) { return std::memcmp(&a, &b, sizeof a) < 0; });
  keys.erase(std::unique(keys.begin(), keys.end(), contract::same_bytes<Key>), keys.end());
  if (dice.one_in(2)) std::shuffle(keys.begin(), keys.end(), dice);
  if (keys.empty()) keys.push_back(contract::key_from<Key>(1));
  return keys;
}

// The keys of one call, by number: few or many, each once, some often, all the same.
inline std::vector<u32> any_numbers(round& r, u64 universe, u64 n) {
  auto& dice = r.dice;
  std::vector<u32> numbers(n);
  const u64 first = dice.below(universe), few = 1 + dice.below(1 + universe / 50);
  const auto at = [&](u64 i) { return static_cast<u32>((first + i) % universe); };
  switch (dice.below(6)) {
    case 0:  // as they come
      for (u64 i = 0; i < n; ++i) numbers[i] = at(i);
      break;
    case 1:  // some far more often than others
      for (u32& x : numbers) {
        const double u = static_cast<double>(dice() >> 11) * 0x1p-53;
        x = at(static_cast<u64>(static_cast<double>(universe) * u * u * u * u));
      }
      break;
    case 2:  // few
      for (u32& x : numbers) x = at(dice.below(few));
      break;
    case 3:  // one of them half of the time
      for (u32& x : numbers) x = dice.one_in(2) ? at(0) : at(dice.below(universe));
      break;
    default:
      for (u32& x : numbers) x = at(dice.below(universe));
  }
  return numbers;
}

}  // namespace tilehash::soak
