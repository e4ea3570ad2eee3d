// SPDX-License-Identifier: Apache-2.0
// Parts of kernels over rows on a GPU: several rows of a lane at once, a word that only falls, and ranks of rows.
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/tuning.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace analysis::detail {

using namespace tilehash::TILEHASH_ABI::detail;

// A lane requests the words of all its rows before it uses the first. Body: load(row) returns what it needs of a row,
// seek(x) requests what that names, use(row, x) writes. Rows of a warp are neighbours.
template <class Body>
struct rows_at_once {
  static constexpr u32 each = Body::at_once, apart = tuning::gpu::lanes_block;
  Body body;
  u64 first, end;  // of the rows

  template <class Lane>
  TILEHASH_FN void operator()(Lane lane) const {
    if constexpr (requires { lane.index(); })
      run(lane.index());
    else
      run(lane);
  }

 private:
  TILEHASH_FN void run(u64 lane) const {
    const u64 from = first + lane / apart * (u64(apart) * each) + lane % apart;
    typename Body::of_row x[each] = {};
    TILEHASH_UNROLL
    for (u32 k = 0; k < each; ++k)
      if (from + u64(k) * apart < end) x[k] = body.load(from + u64(k) * apart);
    TILEHASH_UNROLL
    for (u32 k = 0; k < each; ++k)
      if (from + u64(k) * apart < end) body.seek(x[k]);
    TILEHASH_UNROLL
    for (u32 k = 0; k < each; ++k)
      if (from + u64(k) * apart < end) body.use(from + u64(k) * apart, x[k]);
  }
};
template <class Space, class Body>
void for_rows(Space& space, u64 first, u64 end, const Body& body) {
  using lanes = rows_at_once<Body>;
  if (first >= end) return;
  const u64 blocks = divide_up(end - first, u64(lanes::each) * lanes::apart);
  if constexpr (requires { Body::meets_others; })  // in tests, other lanes run between its steps
    space.for_each_lane(blocks * lanes::apart, lanes{body, first, end});
  else
    space.for_each(blocks * lanes::apart, lanes{body, first, end});
}
// The rows from which on most keys are present: kernels of their own, so that near caches have no older words.
inline u64 first_rows_alone(u64 n) {
  const u64 share = n / tuning::gpu::first_rows_share;
  const u64 rows = share < tuning::gpu::least_first_rows ? tuning::gpu::least_first_rows : share;
  return rows < n ? rows : n;
}

// Reads a word of 4 or 8 bytes that other lanes may change, maybe as it was before: from the near cache.
template <class Word>
TILEHASH_FN Word load_cached(const Word* at) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(Word) == 4) {
    u32 x;
    asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(x) : "l"(at));
    return x;
  } else {
    u64 x;
    asm volatile("ld.global.ca.u64 %0, [%1];" : "=l"(x) : "l"(at));
    return x;
  }
#else
  return load_relaxed(at);
#endif
}
// Lowers a word to x. `seen` is an earlier value of it.
template <class Word>
TILEHASH_FN void lower_to(Word* at, Word x, Word seen) {
  if (x < seen && x < load_relaxed(at)) fetch_min(at, x);
}

// A bit for each row, and how many are set before each 64 of them.
struct alignas(16) marked_rows {
  u64 marks, before;
};
struct row_ranks {
  marked_rows* words;
  TILEHASH_FN void mark(u64 row) const { set_bits(&words[row / 64].marks, u64(1) << row % 64); }
  TILEHASH_FN static u32 ones(u64 bits) {
    return count_ones(static_cast<u32>(bits)) + count_ones(static_cast<u32>(bits >> 32));
  }
  TILEHASH_FN u32 of(u64 row) const {
    const marked_rows w = words[row / 64];
    return static_cast<u32>(w.before) + ones(w.marks & ((u64(1) << row % 64) - 1));
  }
};
struct count_marks {
  const marked_rows* words;
  u32* counts;
  TILEHASH_FN void operator()(u64 i) const { counts[i] = row_ranks::ones(words[i].marks); }
};
struct write_before {
  const u32* counts;
  marked_rows* words;
  TILEHASH_FN void operator()(u64 i) const { words[i].before = counts[i]; }
};
struct write_marked_rows {
  const marked_rows* words;
  u32* rows;
  TILEHASH_FN void operator()(u64 i) const {
    u32* to = rows + words[i].before;
    for (u32 half = 0; half < 2; ++half)
      for (u32 bits = static_cast<u32>(words[i].marks >> 32 * half); bits != 0; bits &= bits - 1)
        *to++ = static_cast<u32>(64 * i + u64(32) * half + lowest(bits));
  }
};
// Memory: 3/8 of a byte a row.
template <class Space>
class lane_ranks {
 public:
  lane_ranks(Space& space, u64 n) : words_(space, divide_up(n, u64(64))) {
    space.fill(reinterpret_cast<char*>(words_.data()), words_.bytes(), char(0));
  }
  row_ranks view() const { return row_ranks{words_.data()}; }
  // Call it once, after all marks. Returns the marked rows. Synchronizes.
  buffer<u32, Space> rows(Space& space) {
    const u64 n = words_.size();
    buffer<u32, Space> counts(space, n + 1);
    space.fill(counts.data() + n, 1, u32(0));
    space.for_each(n, count_marks{words_.data(), counts.data()});
    space.exclusive_scan(counts.data(), counts.data(), n + 1);
    space.for_each(n, write_before{counts.data(), words_.data()});
    buffer<u32, Space> all(space, read_one(space, counts.data() + n));
    space.for_each(n, write_marked_rows{words_.data(), all.data()});
    return all;
  }

 private:
  buffer<marked_rows, Space> words_;
};

}  // namespace analysis::detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
