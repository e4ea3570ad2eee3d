// SPDX-License-Identifier: Apache-2.0
// The scans and sorts of the space `cuda`, by CUB.
#pragma once

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include <tilehash/space/cuda.cuh>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

// CUB's two calls: the first returns the size of the scratch, the second does the work.
template <class Call>
void cuda::with_scratch(Call call) {
  const detail::device_guard on(device_);
  size_t bytes = 0;
  detail::check_cuda(call(nullptr, bytes), "a CUB algorithm");
  buffer<char, cuda> scratch(*this, bytes < 1 ? 1 : bytes);
  detail::check_cuda(call(scratch.data(), bytes), "a CUB algorithm");
}

template <class T>
void cuda::exclusive_scan(const T* from, T* to, u64 n) {
  with_scratch([&](void* scratch, size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(scratch, bytes, from, to, static_cast<i64>(n), stream_);
  });
}

template <class Key, class Value>
void cuda::sort_pairs(Key* keys, Value* values, u64 n, u32 bits) {
  buffer<Key, cuda> other_keys(*this, n);
  buffer<Value, cuda> other_values(*this, n);
  cub::DoubleBuffer<Key> k(keys, other_keys.data());
  cub::DoubleBuffer<Value> v(values, other_values.data());
  with_scratch([&](void* scratch, size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(scratch, bytes, k, v, static_cast<i64>(n), 0,
                                           static_cast<int>(bits), stream_);
  });
  if (k.Current() != keys) copy(keys, k.Current(), n * sizeof(Key));
  if (v.Current() != values) copy(values, v.Current(), n * sizeof(Value));
}

template <class Key, class Value>
void cuda::sort_pairs(const Key* keys, const Value* values, Key* sorted_keys, Value* sorted_values, u64 n,
                      u32 bits) {
  with_scratch([&](void* scratch, size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, sorted_keys, values, sorted_values,
                                           static_cast<i64>(n), 0, static_cast<int>(bits), stream_);
  });
}

template <class T>
void cuda::sort(T* data, u64 n) {
  buffer<T, cuda> sorted(*this, n);
  with_scratch([&](void* scratch, size_t& bytes) {
    return cub::DeviceRadixSort::SortKeys(scratch, bytes, data, sorted.data(), static_cast<i64>(n), 0,
                                          static_cast<int>(8 * sizeof(T)), stream_);
  });
  copy(data, sorted.data(), sorted.bytes());
}

TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
