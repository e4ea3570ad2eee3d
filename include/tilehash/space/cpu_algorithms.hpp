// SPDX-License-Identifier: Apache-2.0
// The scans and sorts of the space `cpu`, with oneTBB if present. ThreadSanitizer's builds do without oneTBB,
// as the sanitizer cannot see how oneTBB orders its threads.
#pragma once

#include <algorithm>

#include <tilehash/space/cpu.hpp>

#if TILEHASH_HAS_TBB
#include <tilehash/core/prologue.hpp>

#include <tbb/parallel_scan.h>
#include <tbb/parallel_sort.h>

#include <tilehash/core/epilogue.hpp>
#endif

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

template <class T>
void cpu::exclusive_scan(const T* from, T* to, u64 n) {
#if TILEHASH_HAS_TBB && !defined(TILEHASH_INFORMS_TSAN)
  in_arena([&] {
    tbb::parallel_scan(
        tbb::blocked_range<u64>(0, n, default_grain), T(0),
        [&](const auto& r, T sum, bool final) {
          for (u64 i = r.begin(); i < r.end(); ++i) {
            const T x = from[i];
            if (final) to[i] = sum;
            sum += x;
          }
          return sum;
        },
        [](T a, T b) { return a + b; });
  });
#else
  T sum = 0;
  for (u64 i = 0; i < n; ++i) {
    const T x = from[i];
    to[i] = sum;
    sum += x;
  }
#endif
}

template <class T>
void cpu::sort(T* data, u64 n) {
#if TILEHASH_HAS_TBB && !defined(TILEHASH_INFORMS_TSAN)
  in_arena([&] { tbb::parallel_sort(data, data + n); });
#else
  std::sort(data, data + n);
#endif
}

template <class Key, class Value>
void cpu::sort_pairs(Key* keys, Value* values, u64 n, u32 bits) {
  sort_pairs(keys, values, keys, values, n, bits);
}

template <class Key, class Value>
void cpu::sort_pairs(const Key* keys, const Value* values, Key* sorted_keys, Value* sorted_values, u64 n,
                     u32 /*bits*/) {
  struct pair {
    Key key;
    Value value;
    bool operator<(const pair& other) const { return key < other.key; }
  };
  buffer<pair, cpu> pairs(*this, n);
  for_each(n, [&](u64 i) { pairs.data()[i] = {keys[i], values[i]}; });
  sort(pairs.data(), n);
  for_each(n, [&](u64 i) {
    sorted_keys[i] = pairs.data()[i].key;
    sorted_values[i] = pairs.data()[i].value;
  });
}

TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
