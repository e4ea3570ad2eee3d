// SPDX-License-Identifier: Apache-2.0
// Groups by several columns of integers: one number of each row, of digits that are the columns' offsets from their least.
//
//   columns  3 5 | 9 8   ->   ranges 3..5 | 8..9   ->   numbers  (3 - 3) * 2 + (9 - 8) = 1,  (5 - 3) * 2 + (8 - 8) = 4
#include <algorithm>
#include <bit>

#include <tilehash/analysis/lane_codes.hpp>
#include <tilehash/space/cuda_algorithms.cuh>

#include "columns.cuh"
#include "known_codes.cuh"
#include "lease.cuh"

namespace tilehash::python {
namespace {

namespace parts = tilehash::analysis::detail;
using parts::no_code;

constexpr u32 columns_at_most = 8, extent_block = 512, extent_blocks = 4, warp = 32;

// Columns of contiguous integers of one width. A word has the order of the integer.
template <class Word>
struct plain_columns {
  using word = Word;
  const Word* data[columns_at_most];
  Word flips[columns_at_most];  // the sign bit of signed integers
  u32 many;

  explicit plain_columns(const std::vector<gpu_column>& columns) : many(static_cast<u32>(columns.size())) {
    for (u32 c = 0; c < many; ++c) {
      data[c] = static_cast<const Word*>(columns[c].data);
      flips[c] = columns[c].kind == 'i' ? Word(1) << (8 * sizeof(Word) - 1) : Word(0);
    }
  }
  static bool fits(const std::vector<gpu_column>& columns) {
    return std::all_of(columns.begin(), columns.end(), [](const gpu_column& c) {
      return c.bytes == sizeof(Word) && c.stride == sizeof(Word) && c.kind != 'f';
    });
  }
  __device__ Word operator()(u32 c, u64 row) const { return data[c][row] ^ flips[c]; }
};
// Any columns of integers.
struct any_columns {
  using word = u64;
  column_view columns[columns_at_most];
  u32 many;

  explicit any_columns(const std::vector<gpu_column>& given) : many(static_cast<u32>(given.size())) {
    for (u32 c = 0; c < many; ++c) columns[c] = column_view(given[c]);
  }
  __device__ u64 operator()(u32 c, u64 row) const { return columns[c].ordered(row); }
};

__device__ unsigned long long* of_cuda(u64* at) { return reinterpret_cast<unsigned long long*>(at); }

// The least and the greatest word of each column: extents[2 * c], extents[2 * c + 1].
template <class Columns>
__global__ void __launch_bounds__(extent_block) find_extents(Columns of, u64 n, u64* extents) {
  using word = typename Columns::word;
  __shared__ u64 of_block[2 * columns_at_most];
  if (threadIdx.x < 2 * columns_at_most) of_block[threadIdx.x] = threadIdx.x % 2 == 0 ? ~u64(0) : 0;
  __syncthreads();
  word least[columns_at_most], greatest[columns_at_most];
#pragma unroll
  for (u32 c = 0; c < columns_at_most; ++c) least[c] = static_cast<word>(~u64(0)), greatest[c] = 0;
  const u64 step = u64(gridDim.x) * blockDim.x;
  for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += 2 * step) {
    const u64 next = i + step < n ? i + step : i;
    word a[columns_at_most], b[columns_at_most];
#pragma unroll
    for (u32 c = 0; c < columns_at_most; ++c) {
      if (c < of.many) a[c] = of(c, i), b[c] = of(c, next);
    }
#pragma unroll
    for (u32 c = 0; c < columns_at_most; ++c) {
      if (c < of.many) {
        least[c] = min(least[c], min(a[c], b[c]));
        greatest[c] = max(greatest[c], max(a[c], b[c]));
      }
    }
  }
#pragma unroll
  for (u32 c = 0; c < columns_at_most; ++c) {
    if (c >= of.many) continue;
    for (u32 by = warp / 2; by != 0; by /= 2) {
      least[c] = min(least[c], __shfl_xor_sync(~0U, least[c], by));
      greatest[c] = max(greatest[c], __shfl_xor_sync(~0U, greatest[c], by));
    }
    if (threadIdx.x % warp == 0) {
      atomicMin(of_cuda(of_block + 2 * c), u64(least[c]));
      atomicMax(of_cuda(of_block + 2 * c + 1), u64(greatest[c]));
    }
  }
  __syncthreads();
  if (threadIdx.x >= 2 * of.many) return;
  if (threadIdx.x % 2 == 0)
    atomicMin(of_cuda(extents + threadIdx.x), of_block[threadIdx.x]);
  else
    atomicMax(of_cuda(extents + threadIdx.x), of_block[threadIdx.x]);
}

// A row's number.
template <class Columns>
struct packed_columns {
  Columns columns;
  u64 least[columns_at_most], factors[columns_at_most];

  __device__ u64 operator()(u64 row) const {
    typename Columns::word words[columns_at_most];
#pragma unroll
    for (u32 c = 0; c < columns_at_most; ++c) {
      if (c < columns.many) words[c] = columns(c, row);
    }
    u64 number = 0;
#pragma unroll
    for (u32 c = 0; c < columns_at_most; ++c) {
      if (c < columns.many) number += (u64(words[c]) - least[c]) * factors[c];
    }
    return number;
  }
};
template <class Columns>
struct write_numbers {
  packed_columns<Columns> of;
  u64* out;
  __device__ void operator()(u64 row) const { out[row] = of(row); }
};
// Writes the number of row `first` + i, and lowers its word in the table.
template <class Columns>
struct write_numbers_of_range {
  packed_columns<Columns> of;
  u64 first;
  bool from_cache;
  u32 *out, *rows;
  __device__ void operator()(u64 i) const {
    const u64 row = first + i;
    const u32 number = static_cast<u32>(of(row));
    out[row] = number;
    u32* const at = rows + number;
    parts::lower_to(at, static_cast<u32>(row), from_cache ? parts::load_cached(at) : no_code);
  }
};

// The number of words of a range; 0 if it is more than 64 bits have.
u64 times(u64 a, u64 least, u64 greatest) {
  const u64 many = greatest - least + 1;
  return many == 0 || a > ~u64(0) / many ? 0 : a * many;
}

template <class Columns>
std::unique_ptr<gpu_factors> group(gpu_place at, const Columns& columns, u64 n, u32* out) {
  auto leased = std::make_unique<leased_space>(at);
  cuda& space = **leased;
  packed_columns<Columns> of{columns, {}, {}};
  u64 found[2 * columns_at_most];
  {
    buffer<u64, cuda> extents(space, 2 * columns_at_most);
    u64* const word = extents.data();
    space.for_each(2 * columns_at_most, [=] __device__(u64 i) { word[i] = i % 2 == 0 ? ~u64(0) : 0; });
    const tilehash::TILEHASH_ABI::detail::device_guard on(space.device());
    const u64 blocks =
        std::min<u64>((n + extent_block - 1) / extent_block, extent_blocks * space.large_blocks_at_once());
    find_extents<<<static_cast<u32>(blocks), extent_block, 0, space.stream()>>>(columns, n, word);
    tilehash::TILEHASH_ABI::detail::check_cuda(cudaGetLastError(), "reading the range of keys");
    space.copy_to_host(found, word, sizeof found);
  }
  u64 range = 1;
  for (u32 c = 0; c < columns.many && range != 0; ++c) {
    of.least[c] = found[2 * c];
    of.factors[c] = range;
    range = times(range, found[2 * c], found[2 * c + 1]);
  }
  if (range == 0) return nullptr;
  const u64 most = std::min<u64>(std::max<u64>(tilehash::TILEHASH_ABI::detail::tuning::gpu::dense_share * n,
                                               tilehash::TILEHASH_ABI::detail::tuning::gpu::least_dense),
                                 no_code);
  if (range > most) {
    buffer<u64, cuda> numbers(space, n);
    space.for_each(n, write_numbers<Columns>{of, numbers.data()});
    auto rows =
        parts::code_on_lanes(space, std::span<const u64>(numbers.span()), out, parts::missing_rows::excluded);
    return std::make_unique<known_codes>(std::move(leased), out, n, std::move(rows));
  }
  // The numbers are in the memory of the codes, which replace them.
  buffer<u32, cuda> rows(space, range);
  space.fill(rows.data(), range, no_code);
  const u64 alone = parts::rows_alone_in_range(n, range);
  space.for_each(alone, write_numbers_of_range<Columns>{of, 0, false, out, rows.data()});
  space.for_each(n - alone, write_numbers_of_range<Columns>{of, alone, true, out, rows.data()});
  auto first_rows = parts::number_range(space, rows, n);
  parts::for_rows(space, 0, n, parts::write_codes_of_range<u32, u32>{{out, 0, rows.data()}, out});
  return std::make_unique<known_codes>(std::move(leased), out, n, std::move(first_rows));
}

}  // namespace

std::unique_ptr<gpu_factors> group_columns_on_gpu(gpu_place at, const std::vector<gpu_column>& columns, u64 n,
                                                  u32* out) {
  if (columns.size() > columns_at_most) return nullptr;
  if (n == 0)
    return std::make_unique<known_codes>(std::make_unique<leased_space>(at), out, 0, buffer<u32, cuda>());
  if (plain_columns<u32>::fits(columns)) return group(at, plain_columns<u32>(columns), n, out);
  if (plain_columns<u64>::fits(columns)) return group(at, plain_columns<u64>(columns), n, out);
  return group(at, any_columns(columns), n, out);
}

}  // namespace tilehash::python
