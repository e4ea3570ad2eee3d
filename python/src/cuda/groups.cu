// SPDX-License-Identifier: Apache-2.0
// Columns, codes of several columns, and reductions of groups.
//
// A fold combines a word of each row with the word of the row's group. A block combines the words of few groups in its
// shared memory first, several copies of them if there are very few, so that lanes rarely meet at one address.
#include <algorithm>
#include <bit>

#include <tilehash/analysis/reproducible_sum.hpp>
#include <tilehash/space/cuda_algorithms.cuh>

#include "columns.cuh"
#include "known_codes.cuh"
#include "lease.cuh"

namespace tilehash::python {
namespace {

using analysis::no_code;
namespace parts = tilehash::analysis::detail;

constexpr u32 shared_words = 4096, fold_block = 512, copies_at_most = 32, blocks_of_multiprocessor = 4,
              rows_at_once = 4;

enum class fold_op { add, add_numbers, least, greatest };

template <fold_op Op>
__host__ __device__ constexpr u64 identity() {
  return Op == fold_op::least ? ~u64(0) : 0;
}
template <fold_op Op>
__device__ void combine(u64* at, u64 x) {
  auto* const word = reinterpret_cast<unsigned long long*>(at);
  if constexpr (Op == fold_op::add)
    atomicAdd(word, x);
  else if constexpr (Op == fold_op::add_numbers)
    atomicAdd(reinterpret_cast<double*>(at), __longlong_as_double(static_cast<long long>(x)));
  else if constexpr (Op == fold_op::least) {
    if (x < *static_cast<volatile unsigned long long*>(word)) atomicMin(word, x);
  } else {
    if (x > *static_cast<volatile unsigned long long*>(word)) atomicMax(word, x);
  }
}

template <fold_op Op>
__device__ u64 combined(u64 a, u64 b) {
  if constexpr (Op == fold_op::add)
    return a + b;
  else if constexpr (Op == fold_op::add_numbers)
    return static_cast<u64>(__double_as_longlong(__longlong_as_double(static_cast<long long>(a)) +
                                                 __longlong_as_double(static_cast<long long>(b))));
  else
    return (Op == fold_op::least) == (a < b) ? a : b;
}

// What a fold takes of a row.
enum class measure { one, integer, number, distance, square, is_true, is_false, ordered, row, row_of_chosen };
struct measured {
  column_view values;
  measure what;
  const double* means = nullptr;  // of the groups, for squares of the distances from them
  const u64* chosen = nullptr;    // ordered words of the groups

  __device__ bool skips(u64 i, u32 code) const {
    return values.is_missing(i) || (what == measure::row_of_chosen && values.ordered(i) != chosen[code]);
  }
  __device__ u64 operator()(u64 i, u32 code) const {
    switch (what) {
      case measure::one:
        return 1;
      case measure::integer:
        return values.integer(i);
      case measure::number:
        return bits(values.number(i));
      case measure::distance:
        return bits(values.number(i) - means[code]);
      case measure::square: {
        const double d = values.number(i) - means[code];
        return bits(d * d);
      }
      case measure::is_true:
        return values.number(i) != 0 ? 1 : 0;
      case measure::is_false:
        return values.number(i) == 0 ? 1 : 0;
      case measure::ordered:
        return values.ordered(i);
      default:
        return i;
    }
  }

 private:
  __device__ static u64 bits(double x) { return static_cast<u64>(__double_as_longlong(x)); }
};
struct every_row {
  __device__ bool skips(u64, u32) const { return false; }
  __device__ u64 operator()(u64, u32) const { return 1; }
};

// Calls use(code, word) for the rows of a thread. Loads of several rows are in flight at once.
template <class Measured, class Use>
__device__ void for_each_word(const u32* codes, u64 n, const Measured& of, const Use& use) {
  const u64 step = u64(gridDim.x) * blockDim.x;
  for (u64 first = u64(blockIdx.x) * blockDim.x + threadIdx.x; first < n; first += rows_at_once * step) {
    u32 code[rows_at_once];
    u64 word[rows_at_once];
#pragma unroll
    for (u32 j = 0; j < rows_at_once; ++j) code[j] = first + j * step < n ? codes[first + j * step] : no_code;
#pragma unroll
    for (u32 j = 0; j < rows_at_once; ++j) {
      if (code[j] == no_code) continue;
      word[j] = of(first + j * step, code[j]);
      if (of.skips(first + j * step, code[j])) code[j] = no_code;
    }
#pragma unroll
    for (u32 j = 0; j < rows_at_once; ++j)
      if (code[j] != no_code) use(code[j], word[j]);
  }
}

template <fold_op Op, class Measured>
__global__ void __launch_bounds__(fold_block)
    fold_in_blocks(const u32* codes, u64 n, u32 groups, u32 copies, Measured of, u64* out) {
  extern __shared__ u64 words[];
  for (u32 i = threadIdx.x; i < groups * copies; i += blockDim.x) words[i] = identity<Op>();
  __syncthreads();
  const u32 copy = threadIdx.x % copies;
  for_each_word(codes, n, of, [&](u32 code, u64 word) { combine<Op>(words + code * copies + copy, word); });
  __syncthreads();
  // (Few atomic operations at one address: a thread takes all copies of a group.)
  for (u32 group = threadIdx.x; group < groups; group += blockDim.x) {
    u64 all = identity<Op>();
    for (u32 k = 0; k < copies; ++k)
      all = combined<Op>(all, words[group * copies + (k + threadIdx.x) % copies]);
    if (all != identity<Op>()) combine<Op>(out + group, all);
  }
}
template <fold_op Op, class Measured>
__global__ void __launch_bounds__(fold_block) fold_in_place(const u32* codes, u64 n, Measured of, u64* out) {
  for_each_word(codes, n, of, [&](u32 code, u64 word) { combine<Op>(out + code, word); });
}

template <fold_op Op, class Measured>
void fold(cuda& space, const u32* codes, u64 n, u64 groups, const Measured& of, u64* out) {
  if (groups == 0) return;
  space.fill(out, groups, identity<Op>());
  if (n == 0) return;
  const tilehash::TILEHASH_ABI::detail::device_guard on(space.device());
  const u64 wanted = (n + fold_block - 1) / fold_block;
  const u32 blocks =
      static_cast<u32>(std::min<u64>(wanted, blocks_of_multiprocessor * space.large_blocks_at_once()));
  if (groups <= shared_words) {
    const u32 many = static_cast<u32>(groups);
    const u32 copies = std::min(copies_at_most, std::bit_floor(shared_words / many));
    fold_in_blocks<Op><<<blocks, fold_block, many * copies * sizeof(u64), space.stream()>>>(codes, n, many,
                                                                                            copies, of, out);
  } else {
    fold_in_place<Op><<<blocks, fold_block, 0, space.stream()>>>(codes, n, of, out);
  }
  tilehash::TILEHASH_ABI::detail::check_cuda(cudaGetLastError(), "a reduction");
}

// The rows and values of one call.
struct call {
  cuda& space;
  const u32* codes;
  u64 n, groups;
  column_view values;

  template <fold_op Op>
  void into(u64* out, measured of) const {
    fold<Op>(space, codes, n, groups, of, out);
  }
  template <fold_op Op>
  buffer<u64, cuda> words(measure what) const {
    buffer<u64, cuda> all(space, groups);
    into<Op>(all.data(), {values, what});
    return all;
  }
};

void sums(const call& c, void* out) {
  auto* const words = static_cast<u64*>(out);
  if (c.values.is_float())
    c.into<fold_op::add_numbers>(words, {c.values, measure::number});
  else
    c.into<fold_op::add>(words, {c.values, measure::integer});
}
void truth(const call& c, bool all, void* out) {
  const auto found = c.words<fold_op::add>(all ? measure::is_false : measure::is_true);
  auto* const flags_out = static_cast<bool*>(out);
  const u64* const words = found.data();
  c.space.for_each(c.groups, [=] __device__(u64 g) { flags_out[g] = (words[g] != 0) != all; });
}
// sums[g] / (counts[g] - less), or its root.
void divide(const call& c, double* of, const u64* counts, double less, bool root) {
  c.space.for_each(c.groups, [=] __device__(u64 g) {
    const double by = static_cast<double>(counts[g]) - less;
    const double x = by > 0 ? of[g] / by : __longlong_as_double(~0LL);
    of[g] = root ? sqrt(x) : x;
  });
}
void moments(const call& c, const std::string& op, double ddof, void* out) {
  const auto counts = c.words<fold_op::add>(measure::one);
  auto* const result = static_cast<double*>(out);
  if (op == "mean") {
    c.into<fold_op::add_numbers>(static_cast<u64*>(out), {c.values, measure::number});
    divide(c, result, counts.data(), 0, false);
    return;
  }
  const buffer<double, cuda> means(c.space, c.groups);
  c.into<fold_op::add_numbers>(reinterpret_cast<u64*>(means.data()), {c.values, measure::number});
  divide(c, means.data(), counts.data(), 0, false);
  // The sum of the distances would be 0 if the means were exact; it corrects the squares.
  const buffer<double, cuda> distances(c.space, c.groups);
  c.into<fold_op::add_numbers>(reinterpret_cast<u64*>(distances.data()),
                               {c.values, measure::distance, means.data()});
  c.into<fold_op::add_numbers>(static_cast<u64*>(out), {c.values, measure::square, means.data()});
  const double* const off = distances.data();
  const u64* const many = counts.data();
  c.space.for_each(c.groups, [=] __device__(u64 g) {
    const double x = result[g] - off[g] * off[g] / static_cast<double>(many[g]);
    result[g] = x < 0 ? 0 : x;
  });
  divide(c, result, counts.data(), ddof, op == "std");
}
template <fold_op Op>
void extremes(const call& c, bool rows, void* out) {
  const auto found = c.words<Op>(measure::ordered);
  const u64* const words = found.data();
  if (!rows) {
    const column_view values = c.values;
    c.space.for_each(c.groups, [=] __device__(u64 g) { values.write_ordered(out, g, words[g]); });
    return;
  }
  c.into<fold_op::least>(static_cast<u64*>(out), {c.values, measure::row_of_chosen, nullptr, words});
}
void ends(const call& c, bool first, void* out) {
  // (The greatest row of none is 0, so counts tell which groups have a row.)
  const auto counts = c.words<fold_op::add>(measure::one);
  const auto rows = first ? c.words<fold_op::least>(measure::row) : c.words<fold_op::greatest>(measure::row);
  const u64 *const many = counts.data(), *const of = rows.data();
  const column_view values = c.values;
  c.space.for_each(c.groups, [=] __device__(u64 g) { values.write_row(out, g, of[g], many[g] != 0); });
}
void quantiles(const call& c, double q, void* out) {
  buffer<u64, cuda> words(c.space, c.n), places(c.space, c.n);
  buffer<u32, cuda> rows(c.space, c.n), begins(c.space, c.groups + 1);
  const column_view values = c.values;
  u64 *const word = words.data(), *const place = places.data();
  u32 *const row = rows.data(), *const begin = begins.data();
  const u32* const codes = c.codes;
  c.space.for_each(c.n, [=] __device__(u64 i) {
    word[i] = values.ordered(i);
    row[i] = static_cast<u32>(i);
  });
  c.space.sort_pairs(word, row, c.n, 64);
  c.space.fill(begin, c.groups + 1, u32(0));
  c.space.for_each(c.n, [=] __device__(u64 at) {
    const u32 code = values.is_missing(row[at]) ? no_code : codes[row[at]];
    place[at] = u64(code) << 32 | at;
    if (code != no_code) atomicAdd(begin + code, 1U);
  });
  c.space.sort(place, c.n);
  c.space.exclusive_scan(begin, begin, c.groups + 1);
  auto* const result = static_cast<double*>(out);
  c.space.for_each(c.groups, [=] __device__(u64 g) {
    const u32 many = begin[g + 1] - begin[g];
    if (many == 0) {
      result[g] = __longlong_as_double(~0LL);
      return;
    }
    const auto value = [&](u64 at) { return values.number(row[static_cast<u32>(place[begin[g] + at])]); };
    const double at = q * (many - 1);
    const u64 low = static_cast<u64>(at), high = low + 1 < many ? low + 1 : low;
    const double part = at - static_cast<double>(low), from = value(low);
    result[g] = part == 0 ? from : from + (value(high) - from) * part;
  });
}

// The sum without NaN, with the same bits for rows in any order.
void reproducible_sums(const call& c, double* out) {
  buffer<double, cuda> numbers(c.space, c.n);
  buffer<u32, cuda> kept(c.space, c.n);
  const column_view values = c.values;
  double* const number = numbers.data();
  u32* const code = kept.data();
  const u32* const codes = c.codes;
  c.space.for_each(c.n, [=] __device__(u64 i) {
    code[i] = values.is_missing(i) ? no_code : codes[i];
    number[i] = values.is_missing(i) ? 0 : values.number(i);
  });
  const auto sums = parts::sum_of_codes(c.space, std::span<const u32>(kept.span()), c.groups,
                                        static_cast<const double*>(number));
  c.space.copy(out, sums.data(), sums.bytes());
}

struct skip_row {
  const u32* from;
  u32 skipped;
  u32* to;
  __device__ void operator()(u64 i) const { to[i] = from[i < skipped ? i : i + 1]; }
};
// The factors of pairs, without the code of the pairs that miss a code.
std::unique_ptr<gpu_factors> without_code(gpu_place at, std::unique_ptr<gpu_factors> all, u32* codes, u64 n,
                                          u32 dropped) {
  auto space = std::make_unique<leased_space>(at);
  cuda& on = **space;
  buffer<u32, cuda> rows(on, all->size() - (dropped != no_code));
  on.for_each(rows.size(), skip_row{all->first_row_words(), dropped, rows.data()});
  if (dropped != no_code) on.for_each(n, parts::drop_code{dropped, codes});
  on.synchronize();  // before `all` gives its memory back
  return std::make_unique<known_codes>(std::move(space), codes, n, std::move(rows));
}

}  // namespace

void fill_on_gpu(gpu_place at, void* out, u64 n, u64 word, int bytes) {
  const leased_space space(at);
  (*space).for_each(n, [=] __device__(u64 i) {
    if (bytes == 1)
      static_cast<unsigned char*>(out)[i] = static_cast<unsigned char>(word);
    else
      static_cast<u64*>(out)[i] = word;
  });
}

void widen_on_gpu(gpu_place at, const gpu_column& column, u64 n, void* out, int bytes) {
  const leased_space space(at);
  const column_view from(column);
  const bool floats = from.is_float();
  (*space).for_each(n, [=] __device__(u64 i) {
    if (floats && bytes == 4)
      static_cast<float*>(out)[i] = static_cast<float>(from.number(i) + 0.0);  // (one zero)
    else if (floats)
      static_cast<double*>(out)[i] = from.number(i) + 0.0;
    else if (bytes == 4)
      static_cast<u32*>(out)[i] = static_cast<u32>(from.integer(i));
    else
      static_cast<u64*>(out)[i] = from.integer(i);
  });
}

void gather_on_gpu(gpu_place at, const gpu_column& column, const std::int64_t* rows, u64 n, void* out) {
  const leased_space space(at);
  const column_view from(column);
  (*space).for_each(n, [=] __device__(u64 i) {
    if (rows[i] >= 0)
      from.write_row(out, i, static_cast<u64>(rows[i]), true);
    else
      from.write_zero(out, i);
  });
}

std::unique_ptr<gpu_factors> combine_on_gpu(gpu_place at, const u32* codes, const u32* more, u64 n,
                                            u64 number, u32* out) {
  const leased_space space(at);
  buffer<u64, cuda> pairs(*space, n);
  buffer<u32, cuda> missing(*space, 1);
  (*space).fill(missing.data(), 1, no_code);
  (*space).for_each(n, parts::write_pair{codes, more, number, pairs.data(), missing.data()});
  auto all = factorize_on_gpu<u64>(at, pairs.data(), n, false, out);
  if (n == 0) return all;
  const u32 row = read_one(*space, missing.data());
  const u32 dropped = row == no_code ? no_code : read_one(*space, out + row);
  return without_code(at, std::move(all), out, n, dropped);
}

gpu_report update_on_gpu(gpu_place at, gpu_table& table, int key_bytes, const void* keys,
                         const gpu_column& values, u64 n, const std::string& op) {
  if (n == 0) return {};
  const leased_space space(at);
  // One value for each key of the call, then the present values.
  buffer<u32, cuda> codes(*space, n);
  const auto found = key_bytes == 4 ? factorize_on_gpu<u32>(at, keys, n, false, codes.data())
                                    : factorize_on_gpu<u64>(at, keys, n, false, codes.data());
  const u64 many = found->size();
  buffer<u64, cuda> keys_once(*space, many), given(*space, many), stored(*space, many), sums(*space, many);
  buffer<bool, cuda> present(*space, many);
  found->values(keys_once.data());
  const bool adds = op == "sum";
  reduce_on_gpu(at, codes.data(), n, many, values, op, 0, adds ? sums.data() : given.data());
  table.find(at.stream, keys_once.data(), many, stored.data(), 0);
  table.contains(at.stream, keys_once.data(), many, present.data());
  const column_view news({given.data(), values.bytes, values.kind, values.bytes});
  const column_view olds({stored.data(), values.bytes, values.kind, values.bytes});
  void* const out = given.data();
  const u64* const sum = sums.data();
  const bool *const is_present = present.data(), least = op == "min";
  (*space).for_each(many, [=] __device__(u64 i) {
    if (adds) {
      olds.write_sum(out, i, sum[i], i);  // an absent key's value is 0
    } else if (is_present[i]) {
      const bool stays = least ? olds.ordered(i) < news.ordered(i) : olds.ordered(i) > news.ordered(i);
      if (stays || news.is_missing(i)) olds.write_row(out, i, i, true);
    }
  });
  return table.assign(at.stream, keys_once.data(), out, many);
}

void reduce_on_gpu(gpu_place at, const u32* codes, u64 n, u64 groups, const gpu_column& values,
                   const std::string& op, double argument, void* out) {
  const leased_space space(at);
  if (values.data == nullptr) {
    fold<fold_op::add>(*space, codes, n, groups, every_row{}, static_cast<u64*>(out));
    return;
  }
  if (groups == 0) return;
  const call c{*space, codes, n, groups, column_view(values)};
  if (op == "sum")
    sums(c, out);
  else if (op == "reproducible_sum")
    reproducible_sums(c, static_cast<double*>(out));
  else if (op == "count")
    c.into<fold_op::add>(static_cast<u64*>(out), {c.values, measure::one});
  else if (op == "any" || op == "all")
    truth(c, op == "all", out);
  else if (op == "min" || op == "argmin")
    extremes<fold_op::least>(c, op == "argmin", out);
  else if (op == "max" || op == "argmax")
    extremes<fold_op::greatest>(c, op == "argmax", out);
  else if (op == "first" || op == "last")
    ends(c, op == "first", out);
  else if (op == "quantile")
    quantiles(c, argument, out);
  else
    moments(c, op, argument, out);
}

}  // namespace tilehash::python
