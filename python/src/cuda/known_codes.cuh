// SPDX-License-Identifier: Apache-2.0
// Factors whose codes are in the caller's memory already.
#pragma once

#include <utility>

#include "lease.cuh"

namespace tilehash::python {

struct widen_words {
  const u32* from;
  std::int64_t* to;
  __device__ void operator()(u64 i) const {
    to[i] = from[i] == ~u32(0) ? -1 : static_cast<std::int64_t>(from[i]);
  }
};

class known_codes final : public gpu_factors {
 public:
  known_codes(std::unique_ptr<leased_space> space, const u32* codes, u64 n, buffer<u32, cuda> rows)
      : space_(std::move(space)), n_(n), codes_(codes), rows_(std::move(rows)) {}
  u64 size() const override { return rows_.size(); }
  const u32* first_row_words() const override { return rows_.data(); }
  void codes(std::int64_t* out) const override { (**space_).for_each(n_, widen_words{codes_, out}); }
  void first_rows(std::int64_t* out) const override {
    (**space_).for_each(size(), widen_words{rows_.data(), out});
  }
  void values(void* /*out*/) const override { throw invalid_argument("codes of columns have no values"); }
  void counts(std::int64_t* /*out*/) const override {
    throw invalid_argument("codes of columns have no counts");
  }

 private:
  std::unique_ptr<leased_space> space_;  // outlives the buffer
  u64 n_;
  const u32* codes_;
  buffer<u32, cuda> rows_;
};

}  // namespace tilehash::python
