// SPDX-License-Identifier: Apache-2.0
// Codes of keys, and the test for wanted keys, on a GPU.
#pragma once

#include <tilehash/analysis/lane_codes.hpp>
#include <tilehash/set.hpp>
#include <tilehash/space/cuda_algorithms.cuh>

#include "lease.cuh"

namespace tilehash::python {

namespace codes = tilehash::analysis::detail;

struct widen_codes {
  const u32* from;
  std::int64_t* to;
  TILEHASH_FN void operator()(u64 i) const { to[i] = from[i] == codes::no_code ? -1 : std::int64_t(from[i]); }
};
struct count_codes {
  const u32* of;
  unsigned long long* counts;
  __device__ void operator()(u64 i) const {
    if (of[i] != codes::no_code) atomicAdd(counts + of[i], 1ULL);
  }
};
template <class T>
struct take_rows {
  const T* from;
  const u32* rows;
  T* to;
  TILEHASH_FN void operator()(u64 i) const { to[i] = from[rows[i]]; }
};

template <class Key>
class factors_of final : public gpu_factors {
 public:
  factors_of(gpu_place at, const Key* keys, u64 n, bool missing_is_key)
      : space_(at), keys_(keys), codes_(*space_, n) {
    if (n == 0) return;
    (*space_).check_pointer(keys, n, "the keys");
    const auto how = missing_is_key ? codes::missing_rows::are_a_key : codes::missing_rows::excluded;
    first_rows_ = codes::code_by_map(*space_, std::span<const Key>(keys, n), codes_.data(), how);
  }
  u64 size() const override { return first_rows_.size(); }
  void codes(std::int64_t* out) const override {
    (*space_).for_each(codes_.size(), widen_codes{codes_.data(), out});
  }
  void first_rows(std::int64_t* out) const override {
    (*space_).for_each(size(), widen_codes{first_rows_.data(), out});
  }
  void values(void* out) const override {
    (*space_).for_each(size(), take_rows<Key>{keys_, first_rows_.data(), static_cast<Key*>(out)});
  }
  void counts(std::int64_t* out) const override {
    if (size() == 0) return;
    (*space_).fill(out, size(), std::int64_t(0));
    (*space_).for_each(codes_.size(), count_codes{codes_.data(), reinterpret_cast<unsigned long long*>(out)});
  }

 private:
  leased_space space_;  // outlives the buffers
  const Key* keys_;
  buffer<u32, cuda> codes_, first_rows_;
};

// The different keys alone, by first appearance: a map of first rows, whose items are sorted by row. It looks no key
// up again, and has neither codes nor counts.
template <class Key>
class first_keys final : public gpu_factors {
 public:
  first_keys(gpu_place at, const Key* keys, u64 n) : space_(at) {
    if (n == 0) return;
    (*space_).check_pointer(keys, n, "the keys");
    const buffer<u32, cuda> numbers(*space_, n);
    (*space_).for_each(n, codes::write_number{numbers.data()});
    map<Key, u32, cuda> least(*space_, 0);
    const std::span<const u32> rows = numbers.span();
    const auto report = least.insert_or_apply(*space_, std::span<const Key>(keys, n), rows, op::minimum{});
    if (report.refused != 0) throw out_of_memory("unique: the GPU has no memory for all keys");
    first_rows_ = buffer<u32, cuda>(*space_, least.size());
    values_ = buffer<Key, cuda>(*space_, least.size());
    static_cast<void>(least.retrieve_all(*space_, values_.span(), first_rows_.span()));
    (*space_).sort_pairs(first_rows_.data(), values_.data(), values_.size(), 32);
  }
  u64 size() const override { return values_.size(); }
  void codes(std::int64_t* /*out*/) const override { refuse(); }
  void first_rows(std::int64_t* out) const override {
    (*space_).for_each(size(), widen_codes{first_rows_.data(), out});
  }
  void values(void* out) const override {
    if (size() != 0) (*space_).copy(out, values_.data(), size() * sizeof(Key));
  }
  void counts(std::int64_t* /*out*/) const override { refuse(); }

 private:
  [[noreturn]] static void refuse() {
    throw invalid_argument("unique: the call was for keys and first rows alone");
  }

  leased_space space_;  // outlives the buffers
  buffer<u32, cuda> first_rows_;
  buffer<Key, cuda> values_;
};

template <class Key>
std::unique_ptr<gpu_factors> unique_on_gpu(gpu_place at, const void* keys, u64 n) {
  if constexpr (std::is_integral_v<Key>)
    return std::make_unique<first_keys<Key>>(at, static_cast<const Key*>(keys), n);
  else  // NaN is a value, too
    return factorize_on_gpu<Key>(at, keys, n, true);
}

template <class Key>
std::unique_ptr<gpu_factors> factorize_on_gpu(gpu_place at, const void* keys, u64 n, bool missing_is_key) {
  return std::make_unique<factors_of<Key>>(at, static_cast<const Key*>(keys), n, missing_is_key);
}

template <class Key>
void isin_on_gpu(gpu_place at, const void* keys, u64 n, const void* wanted, u64 m, bool* out) {
  const leased_space space(at);
  set<Key, cuda> among(*space, m);
  if (m != 0) static_cast<void>(among.insert(*space, std::span(static_cast<const Key*>(wanted), m)));
  if (n != 0) among.contains_async(*space, std::span(static_cast<const Key*>(keys), n), flags(out, n));
}

}  // namespace tilehash::python
