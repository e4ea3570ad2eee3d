// SPDX-License-Identifier: Apache-2.0
// The types that the contract is checked on.
#pragma once

#include <array>
#include <string>

#include <contract/table_subject.hpp>

namespace tilehash::contract {

using ivec3 = std::array<std::int32_t, 3>;
using ivec4 = std::array<std::int32_t, 4>;
using wide_key = std::array<u64, 4>;
using wide_value = std::array<u32, 21>;

template <class... A, class... B>
auto operator+(pairs<A...>, pairs<B...>) -> pairs<A..., B...>;
template <class First, class... Rest>
pairs<First> first_pair(pairs<First, Rest...>);
template <class Pairs>
using first_of = decltype(first_pair(Pairs{}));

// Words of 4, 8 and 16 bytes, with and without spare bits: each in one pair or more.
using slot_pairs = pairs<pair_of<u32, u32>, pair_of<u64, u64>, pair_of<u64, u32>, pair_of<u32, void>,
                         pair_of<u16, u8>, pair_of<double, std::int64_t>>;
// Further types of users.
using more_slot_pairs = pairs<pair_of<u32, u64>, pair_of<u8, void>, pair_of<bitwise<float>, u32>>;
// A key that fills a word of 16 bytes.
using big_key_pairs = pairs<pair_of<ivec4, void>>;
// Pairs that fit no slot.
using wide_pairs = pairs<pair_of<ivec4, u32>, pair_of<wide_key, wide_value>>;
// For a design that shares all but its probe sequence or placement with a design tested on all pairs.
using few_pairs = pairs<pair_of<u32, u32>, pair_of<u64, void>, pair_of<u16, u8>, pair_of<ivec4, void>>;

// A word without spare bits, a small one with some, and one of 16 bytes: where a sanitizer makes tests slow.
using word_pairs = pairs<pair_of<u32, u32>, pair_of<u16, u8>, pair_of<double, std::int64_t>>;

}  // namespace tilehash::contract
