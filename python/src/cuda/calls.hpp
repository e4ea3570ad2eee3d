// SPDX-License-Identifier: Apache-2.0
// The calls of the module tilehash._cuda: arrays are addresses in a GPU's memory, checked by the package's Python
// files. nvcc compiles the units that define them, each for one type; the binding needs no nvcc.
#pragma once

#include <cstdint>
#include <memory>

namespace tilehash::python {

// Where a call works: results are written in the order of the stream's work.
struct gpu_place {
  int device = 0;
  std::uintptr_t stream = 0;
};

// The rows of each key, and what follows from them. The object holds temporary memory.
class gpu_factors {
 public:
  virtual ~gpu_factors() = default;
  virtual std::uint64_t size() const = 0;                // different keys
  virtual void codes(std::int64_t* out) const = 0;       // of each row; -1 where it is missing
  virtual void first_rows(std::int64_t* out) const = 0;  // size() of them
  virtual void values(void* out) const = 0;              // size() of them
  virtual void counts(std::int64_t* out) const = 0;      // size() of them
};

// Synchronizes once. Throws invalid_argument, out_of_memory, cuda_error.
template <class Key>
std::unique_ptr<gpu_factors> factorize_on_gpu(gpu_place at, const void* keys, std::uint64_t n,
                                              bool missing_is_key);
// The same, but without codes and counts; NaN is a value.
template <class Key>
std::unique_ptr<gpu_factors> unique_on_gpu(gpu_place at, const void* keys, std::uint64_t n);
// The same; out[i]: is keys[i] among the wanted ones?
template <class Key>
void isin_on_gpu(gpu_place at, const void* keys, std::uint64_t n, const void* wanted, std::uint64_t m,
                 bool* out);

struct gpu_report {
  std::uint64_t inserted = 0, present = 0, refused = 0;
};

// A map of words of 4 or 8 bytes, or a set: then `values` and `missing` are unused. Changes synchronize; lookups
// do not. Calls on different streams are in the order of their calls.
class gpu_table {
 public:
  virtual ~gpu_table() = default;
  virtual std::uint64_t size() const = 0;
  virtual gpu_report insert(std::uintptr_t stream, const void* keys, const void* values, std::uint64_t n) = 0;
  virtual gpu_report assign(std::uintptr_t stream, const void* keys, const void* values, std::uint64_t n) = 0;
  virtual void find(std::uintptr_t stream, const void* keys, std::uint64_t n, void* values,
                    std::uint64_t missing) = 0;
  virtual void contains(std::uintptr_t stream, const void* keys, std::uint64_t n, bool* out) = 0;
  virtual std::uint64_t erase(std::uintptr_t stream, const void* keys, std::uint64_t n) = 0;
  virtual void items(std::uintptr_t stream, void* keys, void* values) = 0;  // size() of each
};

template <class Key, class Value>
std::unique_ptr<gpu_table> table_on_gpu(gpu_place at, std::uint64_t capacity);

}  // namespace tilehash::python
