// SPDX-License-Identifier: Apache-2.0
// Codes of keys on a GPU.
#pragma once

#include <tilehash/analysis/lane_codes.hpp>
#include <tilehash/space/cuda_algorithms.cuh>

#include "lease.cuh"

namespace tilehash::python {

namespace codes = tilehash::analysis::detail;

struct widen_codes {
  const u32* from;
  std::int64_t* to;
  TILEHASH_FN void operator()(u64 i) const { to[i] = from[i] == codes::no_code ? -1 : std::int64_t(from[i]); }
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
  factors_of(gpu_place at, const Key* keys, u64 n, bool missing_is_key, u32* out)
      : space_(at), n_(n), keys_(keys), own_codes_(*space_, out == nullptr ? n : 0) {
    codes_ = out == nullptr ? own_codes_.data() : out;
    if (n == 0) return;
    (*space_).check_pointer(keys, n, "the keys");
    const auto how = missing_is_key ? codes::missing_rows::are_a_key : codes::missing_rows::excluded;
    first_rows_ = codes::code_on_lanes(*space_, std::span<const Key>(keys, n), codes_, how);
  }
  u64 size() const override { return first_rows_.size(); }
  const u32* first_row_words() const override { return first_rows_.data(); }
  void codes(std::int64_t* out) const override { (*space_).for_each(n_, widen_codes{codes_, out}); }
  void first_rows(std::int64_t* out) const override {
    (*space_).for_each(size(), widen_codes{first_rows_.data(), out});
  }
  void values(void* out) const override {
    (*space_).for_each(size(), take_rows<Key>{keys_, first_rows_.data(), static_cast<Key*>(out)});
  }
  void counts(std::int64_t* out) const override {
    reduce_on_gpu({(*space_).device(), reinterpret_cast<std::uintptr_t>((*space_).stream())}, codes_, n_,
                  size(), {}, "count", 0, out);
  }

 private:
  leased_space space_;  // outlives the buffers
  u64 n_;
  const Key* keys_;
  u32* codes_;
  buffer<u32, cuda> own_codes_, first_rows_;
};

// The different keys alone, by first appearance: a map of first rows, or an array for a small range, sorted by row. It looks no key
// up again, and has neither codes nor counts.
template <class Key>
class first_keys final : public gpu_factors {
 public:
  first_keys(gpu_place at, const Key* keys, u64 n) : space_(at) {
    if (n == 0) return;
    (*space_).check_pointer(keys, n, "the keys");
    if (const auto dense = codes::least_rows_of_range(*space_, std::span<const Key>(keys, n));
        dense.range.size != 0) {
      codes::words_by_row<cuda> found(*space_, dense);
      first_rows_ = std::move(found.rows);
      values_ = buffer<Key, cuda>(*space_, first_rows_.size());
      (*space_).for_each(values_.size(), codes::write_keys_of_words<Key>{found.words.data(),
                                                                         dense.range.least, values_.data()});
      return;
    }
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
  const u32* first_row_words() const override { return first_rows_.data(); }
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
    return factorize_on_gpu<Key>(at, keys, n, true, nullptr);
}

template <class Key>
std::unique_ptr<gpu_factors> factorize_on_gpu(gpu_place at, const void* keys, u64 n, bool missing_is_key,
                                              u32* codes) {
  return std::make_unique<factors_of<Key>>(at, static_cast<const Key*>(keys), n, missing_is_key, codes);
}

}  // namespace tilehash::python
