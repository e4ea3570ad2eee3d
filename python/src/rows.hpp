// SPDX-License-Identifier: Apache-2.0
// Rows of keys whose type is known at run time: numbers with any stride, and strings of bytes.
#pragma once

#include <cstring>
#include <memory>
#include <tuple>
#include <variant>

#include <tilehash/analysis/coded_rows.hpp>

#include "arrays.hpp"

namespace tilehash::python {

// Numbers of up to sizeof(Word) bytes.
template <class Word>
struct number_rows {
  static constexpr bool exact = true;
  using word = Word;
  using loader = bool (*)(const number_rows&, u64, u32, Word*, bool*);

  const char* data = nullptr;
  i64 stride = 0;  // bytes
  const std::uint8_t* valid = nullptr;
  loader read = nullptr;

  bool load(u64 first, u32 n, Word* words, bool* missing) const {
    bool any = read(*this, first, n, words, missing);
    if (valid == nullptr) return any;
    for (u32 i = 0; i < n; ++i) any |= missing[i] = missing[i] || valid[first + i] == 0;
    return any;
  }
  bool same(u64, u64) const { return true; }
};

enum class number_kind : u8 { integer, floating, time };  // a time's least number is NaT

// The words of signed integers are in their order, so that a range of few numbers is a range of few words.
template <class Word, class T, number_kind Kind, bool Contiguous>
bool load_numbers(const number_rows<Word>& from, u64 first, u32 n, Word* words, bool* missing) {
  const i64 stride = Contiguous ? i64(sizeof(T)) : from.stride;
  const char* at = from.data + static_cast<i64>(first) * stride;
  bool any = false;
  for (u32 i = 0; i < n; ++i, at += stride) {
    T x;
    std::memcpy(&x, at, sizeof x);
    if constexpr (Kind == number_kind::floating) {
      words[i] = tilehash::detail::to_bits<Word>(tilehash::detail::canonical(x));
      any |= missing[i] = tilehash::detail::is_nan(x);
    } else {
      constexpr T bias = std::is_signed_v<T> ? std::numeric_limits<T>::min() : T(0);
      words[i] = static_cast<std::make_unsigned_t<T>>(x ^ bias);
      if constexpr (Kind == number_kind::time)
        any |= missing[i] = x == bias;
      else
        missing[i] = false;
    }
  }
  return any;
}

template <class Word, class T, number_kind Kind = number_kind::integer>
number_rows<Word> rows_of(const char* data, i64 stride, const std::uint8_t* valid) {
  const bool dense = stride == i64(sizeof(T));
  return {data, stride, valid,
          dense ? load_numbers<Word, T, Kind, true> : load_numbers<Word, T, Kind, false>};
}

// Strings of bytes: of one width, or between offsets.
struct text_rows {
  static constexpr bool exact = false;
  using word = u64;

  const char* data = nullptr;
  i64 stride = 0, width = 0;
  const i64* offsets = nullptr;
  const std::uint8_t* valid = nullptr;
  u64 seed = 0;
  const text_rows* others = nullptr;  // whose rows same() compares with; this if null

  const char* begin(u64 row) const {
    return data + (offsets != nullptr ? offsets[row] : static_cast<i64>(row) * stride);
  }
  u64 size(u64 row) const {
    return static_cast<u64>(offsets != nullptr ? offsets[row + 1] - offsets[row] : width);
  }
  static u64 fold(u64 a, u64 b) {
    const u128 product = static_cast<u128>(a) * b;
    return static_cast<u64>(product >> 64) ^ static_cast<u64>(product);
  }
  u64 hash(u64 row) const {
    const char* at = begin(row);
    u64 left = size(row), h = seed ^ left;
    for (u64 part; left >= 8; at += 8, left -= 8) {
      std::memcpy(&part, at, 8);
      h = fold(h ^ part, 0x9e37'79b9'7f4a'7c15ULL) + seed;
    }
    u64 part = 0;
    std::memcpy(&part, at, left);
    return fold(h ^ part, 0xd6e8'feb8'6659'fd93ULL ^ seed);
  }
  bool load(u64 first, u32 n, u64* words, bool* missing) const {
    bool any = false;
    for (u32 i = 0; i < n; ++i) {
      any |= missing[i] = valid != nullptr && valid[first + i] == 0;
      words[i] = missing[i] ? 0 : hash(first + i);
    }
    return any;
  }
  bool same(u64 row, u64 other) const {
    const text_rows& of = others != nullptr ? *others : *this;
    return size(row) == of.size(other) && std::memcmp(begin(row), of.begin(other), size(row)) == 0;
  }
};

// A key column of Python. It keeps the arrays alive.
struct rows {
  std::variant<number_rows<u32>, number_rows<u64>, text_rows> of;
  u64 n = 0;
  std::string type;
  std::shared_ptr<void> kept;
};

}  // namespace tilehash::python
