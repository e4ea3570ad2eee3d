// SPDX-License-Identifier: Apache-2.0
// Several reductions of the same groups in one pass over the rows, which reads the codes once.
//
//   group 0: | word of reduction 0 | of 1 | ... |   group 1: | ...          neighbours, so that a row meets one line
//
// A block has the words of few groups in its shared memory, in several copies if there are very few. Columns of
// contiguous numbers of 4 bytes that only want the least or the greatest have words of 4 bytes.
#include <algorithm>
#include <array>
#include <bit>

#include <tilehash/analysis/reductions.hpp>

#include "columns.cuh"
#include "lease.cuh"

namespace tilehash::python {
namespace {

using analysis::no_code;

constexpr u32 at_most = 8;  // reductions of a kernel
constexpr u32 block_size = 512, blocks_of_multiprocessor = 3, copies_at_most = 32;
constexpr u64 scratch_of_block = 24 * 1024, scratch_of_multiprocessor = 216 * 1024;

enum class fold : u8 { count, integers, numbers, least, greatest };

struct part {
  column_view any;
  const void* data;
  number_type type;
  fold how;
};
struct parts_of_call {
  part of[at_most];
  u32 many;
  u32 apart;  // words of a group: a power of two
};

// ---- numbers of a type that is known at run time, which have been loaded as words of 4 or 8 bytes ----

__device__ bool is_nan(number_type type, u64 raw) {
  if (type == number_type::f32) return (raw & 0x7fffffff) > 0x7f800000;
  return type == number_type::f64 && (raw & ~u64(0) >> 1) > u64(0x7ff) << 52;
}
__device__ double number_of(number_type type, u64 raw) {
  switch (type) {
    case number_type::f64:
      return __longlong_as_double(static_cast<long long>(raw));
    case number_type::f32:
      return static_cast<double>(__uint_as_float(static_cast<u32>(raw)));
    case number_type::u32:
    case number_type::u64:
      return static_cast<double>(raw);
    case number_type::i32:
      return static_cast<double>(static_cast<int>(raw));
    default:
      return static_cast<double>(static_cast<i64>(raw));
  }
}
__device__ u64 integer_of(number_type type, u64 raw) {
  return type == number_type::i32 ? static_cast<u64>(static_cast<i64>(static_cast<int>(raw))) : raw;
}
// As column_view::ordered().
__device__ u64 ordered_of(number_type type, u64 raw) {
  constexpr u64 sign = u64(1) << 63;
  if (type >= number_type::f16) {
    const u64 bits = static_cast<u64>(__double_as_longlong(number_of(type, raw) + 0.0));
    return (bits & sign) != 0 ? ~bits : bits | sign;
  }
  return type >= number_type::u8 ? raw : integer_of(type, raw) ^ sign;
}
// The same in 4 bytes.
__device__ u32 narrow_ordered_of(number_type type, u32 raw) {
  constexpr u32 sign = u32(1) << 31;
  if (type == number_type::u32) return raw;
  if (type == number_type::i32) return raw ^ sign;
  if ((raw & ~sign) == 0) raw = 0;
  return (raw & sign) != 0 ? ~raw : raw | sign;
}
__device__ u64 widened(number_type type, u32 word) {
  constexpr u32 sign = u32(1) << 31;
  if (word == 0 && type == number_type::f32) return 0;
  if (word == ~u32(0) && type == number_type::f32) return ~u64(0);
  const u32 raw = type == number_type::u32   ? word
                  : type == number_type::i32 ? word ^ sign
                  : (word & sign) != 0       ? word ^ sign
                                             : ~word;
  return ordered_of(type, raw);
}

// ---- words of a group ----

template <class Word>
__device__ Word identity(fold how) {
  return how == fold::least ? static_cast<Word>(~u64(0)) : 0;
}
__device__ unsigned long long* of_cuda(u64* at) { return reinterpret_cast<unsigned long long*>(at); }
__device__ u32* of_cuda(u32* at) { return at; }
template <class Word>
__device__ void combine(fold how, Word* at, Word x) {
  if (how == fold::least) {
    if (x < *static_cast<volatile Word*>(at)) atomicMin(of_cuda(at), x);
  } else if (how == fold::greatest) {
    if (x > *static_cast<volatile Word*>(at)) atomicMax(of_cuda(at), x);
  } else if constexpr (sizeof(Word) == 8) {
    if (how == fold::numbers)
      atomicAdd(reinterpret_cast<double*>(at), __longlong_as_double(static_cast<long long>(x)));
    else
      atomicAdd(of_cuda(at), x);
  }
}

// A row's word of one part; false: it is missing. Raw: how columns are loaded; void: by column_view.
template <class Word, class Raw>
__device__ bool word_of(const part& p, Raw raw, Word& word) {
  if (is_nan(p.type, raw)) return false;
  if constexpr (sizeof(Word) == 4) {
    word = narrow_ordered_of(p.type, raw);
  } else {
    switch (p.how) {
      case fold::count:
        word = 1;
        break;
      case fold::integers:
        word = integer_of(p.type, raw);
        break;
      case fold::numbers:
        word = static_cast<u64>(__double_as_longlong(number_of(p.type, raw)));
        break;
      default:
        word = ordered_of(p.type, raw);
    }
  }
  return true;
}
__device__ bool word_of(const part& p, u64 row, u64& word) {
  if (p.any.is_missing(row)) return false;
  switch (p.how) {
    case fold::count:
      word = 1;
      break;
    case fold::integers:
      word = p.any.integer(row);
      break;
    case fold::numbers:
      word = static_cast<u64>(__double_as_longlong(p.any.number(row)));
      break;
    default:
      word = p.any.ordered(row);
  }
  return true;
}

// Rows of a thread, which requests the words of all before it uses the first.
template <u32 Most>
inline constexpr u32 rows_at_once = Most == at_most ? 2 : 4;

// Calls use(code, part, word) for all parts of this thread's rows, of at most `Most` parts.
template <class Word, class Raw, u32 Most, class Use>
__device__ void for_each_word(const u32* codes, u64 n, const parts_of_call& parts, const Use& use) {
  constexpr u32 rows = rows_at_once<Most>;
  const u64 step = u64(gridDim.x) * blockDim.x;
  for (u64 first = u64(blockIdx.x) * blockDim.x + threadIdx.x; first < n; first += rows * step) {
    u32 code[rows];
    Raw raw[rows][Most];
#pragma unroll
    for (u32 k = 0; k < rows; ++k) {
      const u64 i = first + k * step;
      code[k] = i < n ? codes[i] : no_code;
#pragma unroll
      for (u32 c = 0; c < Most; ++c) {
        if (c < parts.many && i < n) raw[k][c] = static_cast<const Raw*>(parts.of[c].data)[i];
      }
    }
#pragma unroll
    for (u32 k = 0; k < rows; ++k) {
      if (code[k] == no_code) continue;
#pragma unroll
      for (u32 c = 0; c < Most; ++c) {
        Word word;
        if (c < parts.many && word_of<Word, Raw>(parts.of[c], raw[k][c], word)) use(code[k], c, word);
      }
    }
  }
}
// The same for columns of any type and stride.
template <class Use>
__device__ void for_each_word_of_any(const u32* codes, u64 n, const parts_of_call& parts, const Use& use) {
  const u64 step = u64(gridDim.x) * blockDim.x;
  for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    if (codes[i] == no_code) continue;
    for (u32 c = 0; c < parts.many; ++c) {
      u64 word;
      if (word_of(parts.of[c], i, word)) use(codes[i], c, word);
    }
  }
}
template <class Word, class Raw, u32 Most, class Use>
__device__ void for_words(const u32* codes, u64 n, const parts_of_call& parts, const Use& use) {
  if constexpr (std::is_void_v<Raw>)
    for_each_word_of_any(codes, n, parts, use);
  else
    for_each_word<Word, Raw, Most>(codes, n, parts, use);
}

template <class Word, class Raw, u32 Most>
__global__ void __launch_bounds__(block_size)
    fold_in_blocks(const u32* codes, u64 n, u32 groups, u32 copies, parts_of_call parts, Word* out) {
  extern __shared__ u64 scratch[];
  Word* const words = reinterpret_cast<Word*>(scratch);
  const u32 many = parts.many, all = groups * many * copies;
  for (u32 i = threadIdx.x; i < all; i += blockDim.x)
    words[i] = identity<Word>(parts.of[i / copies % many].how);
  __syncthreads();
  const u32 copy = threadIdx.x % copies;
  for_words<Word, Raw, Most>(codes, n, parts, [&](u32 code, u32 c, Word word) {
    combine(parts.of[c].how, words + (code * many + c) * copies + copy, word);
  });
  __syncthreads();
  for (u32 i = threadIdx.x; i < groups * many; i += blockDim.x) {
    const fold how = parts.of[i % many].how;
    for (u32 k = 0; k < copies; ++k) {
      const Word word = words[i * copies + (k + threadIdx.x) % copies];
      if (word != identity<Word>(how)) combine(how, out + u64(i / many) * parts.apart + i % many, word);
    }
  }
}
template <class Word, class Raw, u32 Most>
__global__ void __launch_bounds__(block_size)
    fold_in_place(const u32* codes, u64 n, parts_of_call parts, Word* out) {
  for_words<Word, Raw, Most>(codes, n, parts, [&](u32 code, u32 c, Word word) {
    combine(parts.of[c].how, out + u64(code) * parts.apart + c, word);
  });
}
// The least and the greatest alone, in words of 4 bytes: a row reads all words of its group at once.
template <u32 Apart>
struct alignas(4 * Apart) words_of_group {
  u32 of[Apart];
};
template <u32 Apart>
__device__ words_of_group<Apart> words_in_l2(const u32* at) {
  words_of_group<Apart> seen;
  if constexpr (Apart >= 4) {
#pragma unroll
    for (u32 c = 0; c < Apart; c += 4) {
      const uint4 some = __ldcg(reinterpret_cast<const uint4*>(at + c));
      seen.of[c] = some.x, seen.of[c + 1] = some.y, seen.of[c + 2] = some.z, seen.of[c + 3] = some.w;
    }
  } else {
#pragma unroll
    for (u32 c = 0; c < Apart; ++c) seen.of[c] = __ldcg(at + c);
  }
  return seen;
}
template <u32 Apart>
__global__ void __launch_bounds__(block_size)
    fold_extremes_in_place(const u32* codes, u64 n, parts_of_call parts, u32* out) {
  constexpr u32 rows = rows_at_once<Apart>;
  const u64 step = u64(gridDim.x) * blockDim.x;
  for (u64 first = u64(blockIdx.x) * blockDim.x + threadIdx.x; first < n; first += rows * step) {
    u32 code[rows], raw[rows][Apart];
    words_of_group<Apart> seen[rows];
#pragma unroll
    for (u32 k = 0; k < rows; ++k) {
      const u64 i = first + k * step;
      code[k] = i < n ? codes[i] : no_code;
#pragma unroll
      for (u32 c = 0; c < Apart; ++c) {
        if (c < parts.many && i < n) raw[k][c] = static_cast<const u32*>(parts.of[c].data)[i];
      }
    }
#pragma unroll
    for (u32 k = 0; k < rows; ++k) {
      if (code[k] != no_code) seen[k] = words_in_l2<Apart>(out + u64(code[k]) * Apart);
    }
#pragma unroll
    for (u32 k = 0; k < rows; ++k) {
      if (code[k] == no_code) continue;
      u32* const at = out + u64(code[k]) * Apart;
#pragma unroll
      for (u32 c = 0; c < Apart; ++c) {
        if (c >= parts.many || is_nan(parts.of[c].type, raw[k][c])) continue;
        const u32 word = narrow_ordered_of(parts.of[c].type, raw[k][c]);
        if (parts.of[c].how == fold::least && word < seen[k].of[c]) atomicMin(at + c, word);
        if (parts.of[c].how == fold::greatest && word > seen[k].of[c]) atomicMax(at + c, word);
      }
    }
  }
}
template <class Word>
__global__ void __launch_bounds__(block_size) begin_words(parts_of_call parts, u64 groups, Word* out) {
  const u64 step = u64(gridDim.x) * blockDim.x, all = groups * parts.apart;
  for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < all; i += step)
    out[i] = identity<Word>(parts.of[i % parts.apart].how);
}

template <class Word, class Raw, u32 Most>
buffer<Word, cuda> folded(cuda& space, const u32* codes, u64 n, u64 groups, const parts_of_call& parts) {
  buffer<Word, cuda> out(space, groups * parts.apart);
  const tilehash::TILEHASH_ABI::detail::device_guard on(space.device());
  const u64 at_once = space.large_blocks_at_once();
  const auto blocks = [&](u64 items, u64 each) {
    return static_cast<u32>(std::min<u64>((items + block_size - 1) / block_size, each * at_once));
  };
  begin_words<Word><<<blocks(out.size(), 4), block_size, 0, space.stream()>>>(parts, groups, out.data());
  const u64 bytes = groups * parts.many * sizeof(Word);
  // (The words of all blocks are combined at last: as many as a share of the rows.)
  if (n != 0 && bytes <= scratch_of_multiprocessor && groups * parts.many * at_once <= n) {
    const u32 copies = static_cast<u32>(
        std::min<u64>(copies_at_most, std::bit_floor(std::max<u64>(1, scratch_of_block / bytes))));
    const u64 scratch = bytes * copies, resident = scratch_of_multiprocessor / scratch;
    const u32 many = blocks(n, std::clamp<u64>(resident, 1, blocks_of_multiprocessor));
    const auto kernel = fold_in_blocks<Word, Raw, Most>;
    tilehash::TILEHASH_ABI::detail::check_cuda(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(scratch)),
        "asking for shared memory");
    kernel<<<many, block_size, scratch, space.stream()>>>(codes, n, static_cast<u32>(groups), copies, parts,
                                                          out.data());
  } else if (n != 0) {
    if constexpr (sizeof(Word) == 4) {
      const auto kernel = parts.apart == 1   ? fold_extremes_in_place<1>
                          : parts.apart == 2 ? fold_extremes_in_place<2>
                          : parts.apart == 4 ? fold_extremes_in_place<4>
                                             : fold_extremes_in_place<8>;
      kernel<<<blocks(n, 4), block_size, 0, space.stream()>>>(codes, n, parts, out.data());
    } else {
      fold_in_place<Word, Raw, Most>
          <<<blocks(n, 4), block_size, 0, space.stream()>>>(codes, n, parts, out.data());
    }
  }
  tilehash::TILEHASH_ABI::detail::check_cuda(cudaGetLastError(), "reductions");
  return out;
}

// A result: its part, and the part of the counts that divide it (a mean).
struct result {
  column_view values;
  number_type type;
  fold how;
  u32 part, counts;
  bool narrow;  // words of 4 bytes
  void* out;
};
template <class Word>
struct write_results {
  const Word* words;
  u32 apart;
  result to;
  __device__ void operator()(u64 g) const {
    const Word word = words[g * apart + to.part];
    if (to.how == fold::least || to.how == fold::greatest) {
      to.values.write_ordered(to.out, g,
                              sizeof(Word) == 4 ? widened(to.type, static_cast<u32>(word)) : u64(word));
    } else if (to.counts != no_code) {
      const u64 count = words[g * apart + to.counts];
      const double sum = __longlong_as_double(static_cast<long long>(word));
      static_cast<double*>(to.out)[g] =
          count != 0 ? sum / static_cast<double>(count) : __longlong_as_double(~0LL);
    } else {
      static_cast<u64*>(to.out)[g] = word;
    }
  }
};

// The parts of one kernel, and what follows from them.
struct batch {
  parts_of_call parts{};
  std::vector<result> results;
};
// How a column is loaded: 4 or 8: as contiguous words of so many bytes; 0: by column_view.
u32 words_of(const gpu_column& c) {
  return c.stride == c.bytes && (c.bytes == 4 || c.bytes == 8) ? static_cast<u32>(c.bytes) : 0;
}

template <class Word, class Raw, u32 Most>
void run_at_most(cuda& space, const u32* codes, u64 n, u64 groups, const batch& all) {
  const auto words = folded<Word, Raw, Most>(space, codes, n, groups, all.parts);
  for (const result& to : all.results)
    space.for_each(groups, write_results<Word>{words.data(), all.parts.apart, to});
}
template <class Word, class Raw>
void run(cuda& space, const u32* codes, u64 n, u64 groups, batch& all) {
  if (all.results.empty()) return;
  all.parts.apart = std::bit_ceil(all.parts.many);
  if (std::is_void_v<Raw> || all.parts.many > 4)
    run_at_most<Word, Raw, at_most>(space, codes, n, groups, all);
  else if (all.parts.many > 1)
    run_at_most<Word, Raw, 4>(space, codes, n, groups, all);
  else
    run_at_most<Word, Raw, 1>(space, codes, n, groups, all);
}
void run_kind(cuda& space, const u32* codes, u64 n, u64 groups, u32 kind, batch& all) {
  if (kind == 0) run<u32, u32>(space, codes, n, groups, all);
  if (kind == 1) run<u64, u32>(space, codes, n, groups, all);
  if (kind == 2) run<u64, u64>(space, codes, n, groups, all);
  if (kind == 3) run<u64, void>(space, codes, n, groups, all);
}

}  // namespace

void reduce_many_on_gpu(gpu_place at, const u32* codes, u64 n, u64 groups,
                        const std::vector<gpu_column>& values, const std::vector<std::string>& ops,
                        const std::vector<void*>& out) {
  if (groups == 0) return;
  const leased_space space(at);
  std::array<batch, 4> of_kinds;
  for (u64 i = 0; i < values.size(); ++i) {
    const gpu_column& c = values[i];
    const std::string& op = ops[i];
    const column_view view(c);
    const bool extreme = op == "min" || op == "max";
    if (!extreme && op != "sum" && op != "count" && op != "mean")
      throw invalid_argument("reduce_many: sum, min, max, count and mean are reduced together");
    const fold how = op == "min"                       ? fold::least
                     : op == "max"                     ? fold::greatest
                     : op == "count"                   ? fold::count
                     : op == "mean" || view.is_float() ? fold::numbers
                                                       : fold::integers;
    const u32 width = words_of(c), kind = width == 4 ? (extreme ? 0 : 1) : width == 8 ? 2 : 3;
    batch& to = of_kinds[kind];
    const u32 wanted = op == "mean" ? 2 : 1;
    if (to.parts.many + wanted > at_most) {
      run_kind(*space, codes, n, groups, kind, to);
      to = {};
    }
    const u32 first = to.parts.many;
    to.parts.of[first] = {view, c.data, type_of(c), how};
    if (wanted == 2) to.parts.of[first + 1] = {view, c.data, type_of(c), fold::count};
    to.parts.many += wanted;
    to.results.push_back(
        {view, type_of(c), how, first, wanted == 2 ? first + 1 : no_code, kind == 0, out[i]});
  }
  for (u32 kind = 0; kind < of_kinds.size(); ++kind) run_kind(*space, codes, n, groups, kind, of_kinds[kind]);
}

}  // namespace tilehash::python
