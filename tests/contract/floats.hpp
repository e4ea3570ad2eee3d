// SPDX-License-Identifier: Apache-2.0
// Floating-point keys compare by value: -0.0 is 0.0 and NaN is refused; bitwise<T> compares by bits.
#pragma once

#include <bit>
#include <limits>

#include <contract/question.hpp>

namespace tilehash::contract {

template <class Key, class Value>
struct floats : question<Key, Value> {
  using typename question<Key, Value>::maker;
  using typename question<Key, Value>::test;
  using typename question<Key, Value>::keys;
  static constexpr const char* name = "floats";
  static constexpr abilities needs = {};

  static void zeros_are_one_key(const maker& make) {
    if constexpr (std::floating_point<Key>) {
      auto random = numbers_of_this_test();
      for (const Key& zero : {Key(0), -Key(0)}) {
        const auto table = make();
        model<Key, Value> expected(make.can);
        expected.build(*table, {zero, Key(1)}, floats::values_for(random, {zero, Key(1)}));
        expected.verify(*table, {Key(0), -Key(0), -Key(1)});
        if (make.can.inserts) {
          const auto report =
              expected.insert(*table, {-zero, zero}, floats::values_for(random, {-zero, zero}));
          ASSERT_EQ(report.present, 2U);
        }
        if (make.can.erases) {
          expected.erase(*table, {-zero});
          expected.verify(*table, {Key(0), -Key(0)});
        }
      }
    }
  }

  static void nan_is_refused_by_name(const maker& make) {
    if constexpr (std::floating_point<Key>) {
      auto random = numbers_of_this_test();
      const keys nans = all_nans();
      auto k = floats::random_keys(random, make.at_most(3'000));
      k.insert(k.end(), nans.begin(), nans.end());
      std::shuffle(k.begin(), k.end(), random);
      const auto table = make();
      model<Key, Value> expected(make.can);
      const auto built = expected.build(*table, k, floats::values_for(random, k));
      ASSERT_EQ(built.refused, nans.size());
      expected.verify(*table);
      for (const auto& found : table->find(nans)) ASSERT_FALSE(found);
      for (const auto& found : table->find_by_view(nans)) ASSERT_FALSE(found);
      for (u32 n : table->count(nans)) ASSERT_EQ(n, 0U);
      if (make.can.inserts) {
        ASSERT_EQ(expected.insert(*table, nans, floats::values_for(random, nans)).refused, nans.size());
      }
      if (make.can.erases) {
        ASSERT_EQ(table->erase(nans), 0U);
      }
      expected.verify(*table);
    }
  }

  static void by_bits_all_are_different(const maker& make) {
    if constexpr (requires { typename Key::bits_type; }) {
      auto random = numbers_of_this_test();
      keys k = {Key(0.0F), Key(-0.0F), Key(std::numeric_limits<float>::infinity())};
      for (float nan : floats<float, Value>::all_nans()) k.push_back(Key(nan));
      for (u32 bits : {~0U, ~0U - 1, 0x7fffffffU, 0x7fffffffU - 1})
        k.push_back(Key(std::bit_cast<float>(bits)));
      const auto table = make();
      model<Key, Value> expected(make.can);
      const auto report = expected.build(*table, k, floats::values_for(random, k));
      ASSERT_EQ(report.refused, 0U);
      expected.verify(*table);
    }
  }

  // Quiet and signalling NaNs of both signs, and those with all bits set.
  static keys all_nans() {
    using bits = std::conditional_t<sizeof(Key) == 4, u32, u64>;
    const bits infinity = std::bit_cast<bits>(std::numeric_limits<Key>::infinity());
    keys nans;
    for (bits payload : {infinity + 1, infinity + 12345, static_cast<bits>(~bits(0) >> 1),
                         static_cast<bits>(~bits(0)), static_cast<bits>(~bits(0) - 1)})
      nans.push_back(std::bit_cast<Key>(payload));
    nans.push_back(std::numeric_limits<Key>::quiet_NaN());
    return nans;
  }

  static constexpr test tests[] = {
      {"zeros_are_one_key", zeros_are_one_key, {}, std::floating_point<Key>},
      {"nan_is_refused_by_name", nan_is_refused_by_name, {}, std::floating_point<Key>},
      {"by_bits_all_are_different", by_bits_all_are_different, {}, requires {typename Key::bits_type;
}
}  // namespace tilehash::contract
,
}
;
}
;

}  // namespace tilehash::contract
