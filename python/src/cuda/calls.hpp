// SPDX-License-Identifier: Apache-2.0
// The calls of the module tilehash._cuda: arrays are addresses in a GPU's memory, checked by the package's Python
// files. nvcc compiles the units that define them, each for one type; the binding needs no nvcc.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tilehash::python {

// Where a call works: results are written in the order of the stream's work.
struct gpu_place {
  int device = 0;
  std::uintptr_t stream = 0;
};

// A column of numbers in a GPU's memory; the stride is in bytes.
struct gpu_column {
  const void* data = nullptr;
  std::int64_t stride = 0;
  char kind = 'i';  // as NumPy's: b, i, u, f
  int bytes = 8;
};

// The rows of each key, and what follows from them. The object holds temporary memory.
class gpu_factors {
 public:
  virtual ~gpu_factors() = default;
  virtual std::uint64_t size() const = 0;                    // different keys
  virtual const std::uint32_t* first_row_words() const = 0;  // size() of them, on the GPU
  virtual void codes(std::int64_t* out) const = 0;           // of each row; -1 where it is missing
  virtual void first_rows(std::int64_t* out) const = 0;      // size() of them
  virtual void values(void* out) const = 0;                  // size() of them
  virtual void counts(std::int64_t* out) const = 0;          // size() of them
};

// Synchronizes. Throws invalid_argument, out_of_memory, cuda_error. Writes the code of each row to `codes`, which outlive
// the object. If that is null, the object's codes() and counts() read the keys, which outlive it then. The code of a row
// without a key has all bits set.
template <class Key>
std::unique_ptr<gpu_factors> factorize_on_gpu(gpu_place at, const void* keys, std::uint64_t n,
                                              bool missing_is_key, std::uint32_t* codes);
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
std::unique_ptr<gpu_table> table_on_gpu(gpu_place at, std::uint64_t capacity, bool grow);

// Ids 0, 1, 2, ... of keys, in the order in which the keys first come. Calls as those of a table; add() and keys_of()
// synchronize.
class gpu_index {
 public:
  virtual ~gpu_index() = default;
  virtual std::uint64_t size() const = 0;
  virtual void add(std::uintptr_t stream, const void* keys, std::uint64_t n, std::int64_t* ids) = 0;
  virtual void find(std::uintptr_t stream, const void* keys, std::uint64_t n, std::int64_t* ids,
                    std::int64_t missing) = 0;
  // False if an id is no key's; nothing is written for that id.
  virtual bool keys_of(std::uintptr_t stream, const std::int64_t* ids, std::uint64_t n, void* keys) = 0;
};
std::unique_ptr<gpu_index> index_on_gpu(gpu_place at, int key_bytes);

// ---- columns, groups and joins (columns.cu, groups.cu, joins.cu). Codes are words of 32 bits, as above. ----

// Writes the low bytes of a word to n elements of `bytes` bytes, 1 or 8.
void fill_on_gpu(gpu_place at, void* out, std::uint64_t n, std::uint64_t word, int bytes);
// Copies a column to words of `bytes` bytes: integers with their sign, floats as floats with one zero.
void widen_on_gpu(gpu_place at, const gpu_column& column, std::uint64_t n, void* out, int bytes);
// out[i] = column[rows[i]]; 0 for a row of -1.
void gather_on_gpu(gpu_place at, const gpu_column& column, const std::int64_t* rows, std::uint64_t n,
                   void* out);
// The factors of rows by several columns of integers; null if the columns' ranges are too large together. Writes
// the code of each row to `out`. Synchronizes.
std::unique_ptr<gpu_factors> group_columns_on_gpu(gpu_place at, const std::vector<gpu_column>& columns,
                                                  std::uint64_t n, std::uint32_t* out);
// The factors of rows whose two columns have these codes; the second ones are below `number`. A row without a code in
// either has none. Synchronizes.
std::unique_ptr<gpu_factors> combine_on_gpu(gpu_place at, const std::uint32_t* codes,
                                            const std::uint32_t* more, std::uint64_t n, std::uint64_t number,
                                            std::uint32_t* out);
// Reduces the values of each group, without NaN. op: sum (8 bytes: signed, unsigned or floating-point as the values),
// count (8 bytes; without a column, of rows), any, all (1 byte), mean, var, std, quantile (double), min, max, first,
// last (as the values; NaN for none), argmin, argmax (8 bytes, -1 for none), reproducible_sum (double; of floats: the same
// bits for rows in any order). argument: ddof, or the quantile.
void reduce_on_gpu(gpu_place at, const std::uint32_t* codes, std::uint64_t n, std::uint64_t groups,
                   const gpu_column& values, const std::string& op, double argument, void* out);
// Several reductions, each of a column of its own, which read the codes once: sum, min, max, count and mean.
void reduce_many_on_gpu(gpu_place at, const std::uint32_t* codes, std::uint64_t n, std::uint64_t groups,
                        const std::vector<gpu_column>& values, const std::vector<std::string>& ops,
                        const std::vector<void*>& out);
// Combines values with those of present keys of a table, and adds the others; op is sum, min or max. Values have the
// type of the table's. The report counts different keys. Synchronizes.
gpu_report update_on_gpu(gpu_place at, gpu_table& table, int key_bytes, const void* keys,
                         const gpu_column& values, std::uint64_t n, const std::string& op);

// The rows of a join by codes that are below `number`.
class gpu_joined {
 public:
  virtual ~gpu_joined() = default;
  virtual std::uint64_t size() const = 0;
  virtual void left(std::int64_t* out) const = 0;
  virtual void right(std::int64_t* out) const = 0;  // -1 for none; not after a semi or anti join
};
// kind: inner, left, outer, semi, anti. Synchronizes.
std::unique_ptr<gpu_joined> join_on_gpu(gpu_place at, const std::uint32_t* left, std::uint64_t n,
                                        const std::uint32_t* right, std::uint64_t m, std::uint64_t number,
                                        const std::string& kind);

}  // namespace tilehash::python
