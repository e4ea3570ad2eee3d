// SPDX-License-Identifier: Apache-2.0
// Codes of keys on a GPU.
#pragma once

#include <optional>

#include <tilehash/analysis/lane_codes.hpp>
#include <tilehash/analysis/lane_folds.hpp>
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
      : space_(at), n_(n), keys_(keys), codes_(out) {
    if (n == 0) return;
    (*space_).check_pointer(keys, n, "the keys");
    const auto how = missing_is_key ? codes::missing_rows::are_a_key : codes::missing_rows::excluded;
    coded_.emplace(*space_, std::span<const Key>(keys, n), how);
    if (out == nullptr) return;
    coded_->codes(*space_, out);
    first_rows_ = std::move(coded_->first_rows());
    coded_.reset();
  }
  u64 size() const override { return rows().size(); }
  const u32* first_row_words() const override { return rows().data(); }
  void codes(std::int64_t* out) const override {
    if (coded_)
      coded_->codes(*space_, out);
    else
      (*space_).for_each(n_, widen_codes{codes_, out});
  }
  void first_rows(std::int64_t* out) const override {
    (*space_).for_each(size(), widen_codes{rows().data(), out});
  }
  void values(void* out) const override {
    (*space_).for_each(size(), take_rows<Key>{keys_, rows().data(), static_cast<Key*>(out)});
  }
  void counts(std::int64_t* out) const override {
    if (n_ == 0) return;
    if (coded_) {
      buffer<u32, cuda> of_rows(*space_, n_), counts(*space_, size());
      coded_->codes(*space_, of_rows.data());
      (*space_).fill(counts.data(), counts.size(), u32(0));
      codes::fold_on_lanes(*space_, of_rows.data(), n_, counts.size(), codes::ones{}, counts.data(),
                           op::sum{});
      (*space_).for_each(counts.size(), widen_codes{counts.data(), out});
      return;
    }
    reduce_on_gpu({(*space_).device(), reinterpret_cast<std::uintptr_t>((*space_).stream())}, codes_, n_,
                  size(), {}, "count", 0, out);
  }

 private:
  const buffer<u32, cuda>& rows() const { return coded_ ? coded_->first_rows() : first_rows_; }

  leased_space space_;  // outlives the buffers
  u64 n_;
  const Key* keys_;
  u32* codes_;  // null: coded_ writes them as they are wanted
  mutable std::optional<codes::coded_keys<Key, cuda>> coded_;
  buffer<u32, cuda> first_rows_;
};

// The different keys alone, by first appearance. No key is looked up, so there are neither codes nor counts.
template <class Key>
class first_keys final : public gpu_factors {
 public:
  first_keys(gpu_place at, const Key* keys, u64 n) : space_(at) {
    if (n == 0) return;
    (*space_).check_pointer(keys, n, "the keys");
    codes::coded_keys<Key, cuda> coded(*space_, std::span<const Key>(keys, n),
                                       codes::missing_rows::are_a_key);
    first_rows_ = std::move(coded.first_rows());
    values_ = buffer<Key, cuda>(*space_, first_rows_.size());
    (*space_).for_each(values_.size(), take_rows<Key>{keys, first_rows_.data(), values_.data()});
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
