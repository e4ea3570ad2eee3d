// SPDX-License-Identifier: Apache-2.0
// The base of every question. A question is a struct template over the key's and the value's type with a list
// of tests; each test makes its tables with the given maker.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include <contract/keys.hpp>
#include <contract/model.hpp>
#include <contract/random.hpp>
#include <contract/subject.hpp>

namespace tilehash::contract {

// The random numbers of the test that is running.
inline random_numbers numbers_of_this_test() {
  const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
  return random_numbers(std::string(info->test_suite_name()) + "." + info->name());
}

template <class Key, class Value>
struct question {
  using maker = contract::maker<Key, Value>;
  using model = contract::model<Key, Value>;
  using keys = std::vector<Key>;
  using values = std::vector<value_of<Value>>;
  struct test {
    const char* name;
    void (*body)(const maker&);
    abilities needs = {};     // in addition to those of the question
    bool is_of_types = true;  // whether the test applies to these types
  };

  static values values_for(random_numbers& random, const keys& k) {
    return any_values<value_of<Value>>(random, k.size());
  }
  // Keys from random numbers; small types repeat theirs.
  static keys random_keys(random_numbers& random, u64 n) {
    return keys_by<Key>(n, [&](u64) { return random(); });
  }
  // Distinct random keys: n, or half of all keys of a small type.
  static keys distinct_keys(random_numbers& random, u64 n) {
    if constexpr (sizeof(Key) <= 2) n = std::min(n, u64(1) << (8 * sizeof(Key) - 1));
    const u64 odd = random() | 1, start = random();
    keys k;
    for (u64 i = 0; k.size() < n; ++i) {
      k.push_back(key_from<Key>(mix_in_place(i * odd + start)));
      if constexpr (std::floating_point<Key>) {  // NaNs became infinities
        if (std::isinf(k.back()) || k.back() == 0) k.pop_back();
      }
    }
    return k;
  }
  static u64 mix_in_place(u64 x) {
    if constexpr (sizeof(Key) >= 8)
      return mix64(x);
    else if constexpr (sizeof(Key) == 4)
      return mix32(static_cast<u32>(x));
    else
      return x;
  }
  static keys part(const keys& k, u64 first, u64 last) {
    return keys(k.begin() + static_cast<std::ptrdiff_t>(std::min(first, k.size())),
                k.begin() + static_cast<std::ptrdiff_t>(std::min(last, k.size())));
  }
};

}  // namespace tilehash::contract
