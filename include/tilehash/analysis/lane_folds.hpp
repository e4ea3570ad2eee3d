// SPDX-License-Identifier: Apache-2.0
// Combines the values of groups on a GPU. A block combines those of few groups in its scratch first, in several copies
// of a group's value if there are very few groups, so that lanes rarely meet at one address.
#pragma once

#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>

#include <tilehash/algorithm/block.hpp>
#include <tilehash/analysis/lane_rows.hpp>
#include <tilehash/core/op.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace analysis::detail {

// A value that changes no other one, for the ops that have one.
template <class Op, class Value>
struct neutral {
  static constexpr bool is_known = false;
};
template <class Value>
  requires std::is_arithmetic_v<Value>
struct neutral<op::sum, Value> {
  static constexpr bool is_known = true;
  TILEHASH_FN static Value value() { return Value(0); }
};
template <class Value>
  requires std::is_arithmetic_v<Value>
struct neutral<op::minimum, Value> {
  static constexpr bool is_known = true;
  TILEHASH_FN static Value value() {
    if constexpr (ieee_float<Value>)
      return std::numeric_limits<Value>::quiet_NaN();
    else
      return std::numeric_limits<Value>::max();
  }
};
template <class Value>
  requires std::is_arithmetic_v<Value>
struct neutral<op::maximum, Value> {
  static constexpr bool is_known = true;
  TILEHASH_FN static Value value() {
    if constexpr (ieee_float<Value>)
      return std::numeric_limits<Value>::quiet_NaN();
    else
      return std::numeric_limits<Value>::lowest();
  }
};

template <class Op, class Value>
using folded = combinable<Op, Value>;

// Combines x with the value at `at`, in a block's scratch or not. An extreme is read first: most rows change nothing.
template <class Op, class Value, class At>
TILEHASH_FN void fold_into(At at, const Value& x, const Op& op) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<Op, op::sum> &&
                (std::is_same_v<Value, float> || std::is_same_v<Value, double>)) {
    atomicAdd(reinterpret_cast<Value*>(at), x);
    return;
  }
#endif
  if constexpr (std::is_same_v<Op, op::minimum> && std::is_integral_v<Value>) {
    if (!(x < Value(load_relaxed(at)))) return;
  } else if constexpr (std::is_same_v<Op, op::maximum> && std::is_integral_v<Value>) {
    if (!(Value(load_relaxed(at)) < x)) return;
  }
  combine_at(at, x, op);
}
template <class Op, class Value, class At>
TILEHASH_FN void fold_in_scratch(At at, const Value& x, const Op& op) {
  if constexpr (std::is_same_v<Op, op::sum> && std::is_integral_v<Value> && sizeof(Value) == 8)
    add_by_halves(at, static_cast<u64>(x));
  else
    fold_into(at, x, op);
}

// Values of rows.
template <class Value>
struct given_values {
  using value = Value;
  const Value* values;
  TILEHASH_FN Value operator()(u64 i) const { return values[i]; }
};
struct ones {
  using value = u32;
  TILEHASH_FN u32 operator()(u64 /*row*/) const { return 1; }
};

template <class Source>
struct row_of_group {
  u32 code;
  typename Source::value x;
};
template <class Source, class Op>
struct fold_row {
  static constexpr u32 at_once = tuning::gpu::coded_at_once;
  using value = typename Source::value;
  using of_row = row_of_group<Source>;
  const u32* codes;
  Source source;
  value* out;
  Op op;
  TILEHASH_FN of_row load(u64 i) const { return {codes[i], source(i)}; }
  TILEHASH_FN void seek(of_row& /*row*/) const {}
  TILEHASH_FN void use(u64 /*i*/, const of_row& row) const {
    if (row.code == no_code) return;
    fold_into(reinterpret_cast<folded<Op, value>*>(out + row.code), row.x, op);
  }
};
// Counts in place. The lanes of a warp that have the code of its first lane add once: a frequent key would make all take
// turns.
struct count_in_place {
  static constexpr u32 warp = 32, at_once = tuning::gpu::coded_at_once;
  const u32* codes;
  u64 n;
  u32* counts;

  template <class Lane>
  TILEHASH_FN void operator()(Lane lane) const {
    const auto t = lane.template tile<warp>();
    const u64 first = lane.index() / warp * (warp * at_once) + t.rank();
    u32 code[at_once];
    TILEHASH_UNROLL
    for (u32 k = 0; k < at_once; ++k) {
      const u64 row = first + u64(k) * warp;
      code[k] = row < n ? codes[row] : no_code;
    }
    TILEHASH_UNROLL
    for (u32 k = 0; k < at_once; ++k) {
      const u32 shared = t.broadcast(code[k], 0);
      const u32 lanes = t.ballot(code[k] == shared);
      if (code[k] == no_code || (code[k] == shared && t.rank() != 0)) continue;
      fetch_add(counts + code[k], t.rank() == 0 ? count_ones(lanes) : u32(1));
    }
  }
};
template <class Source, class Op>
struct fold_block {
  static constexpr u32 block_size = tuning::gpu::fold_block, at_once = tuning::gpu::coded_at_once;
  using value = typename Source::value;
  using word = folded<Op, value>;
  const u32* codes;
  u64 n;
  u32 groups, copies;
  Source source;
  value* out;
  Op op;

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const auto words = scratch_array<word>(groups * copies).in(block);
    const value neutral_value = neutral<Op, value>::value();
    for (u32 i = block.rank(); i < groups * copies; i += block.size()) words[i] = from_value(neutral_value);
    block.barrier();
    const u64 step = block.count() * block.size();
    for (u64 first = block.index() * block.size() + block.rank(); first < n; first += at_once * step) {
      row_of_group<Source> rows[at_once];
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) {
        const u64 i = first + k * step;
        rows[k] = {no_code, value{}};
        if (i < n) rows[k] = {codes[i], source(i)};
      }
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) {
        if (rows[k].code != no_code)
          fold_in_scratch(words + (rows[k].code * copies + block.rank() % copies), rows[k].x, op);
      }
    }
    block.barrier();
    for (u32 group = block.rank(); group < groups; group += block.size()) {
      value all = neutral_value;  // of all copies, first the one that no other thread of the warp reads now
      for (u32 k = 0; k < copies; ++k)
        all = op(all, to_value(words[group * copies + (k + block.rank()) % copies]));
      if (from_value(all) != from_value(neutral_value))
        fold_into(reinterpret_cast<word*>(out + group), all, op);
    }
  }

 private:
  TILEHASH_FN static word from_value(const value& x) { return to_bits<word>(x); }
  TILEHASH_FN static value to_value(word w) { return from_bits<value>(w); }
};

// Combines the value of each row with that of its group; rows of no_code have none. Does not synchronize.
template <class Space, class Source, class Op>
void fold_on_lanes(Space& space, const u32* codes, u64 n, u64 groups, const Source& source,
                   typename Source::value* out, Op op) {
  using value = typename Source::value;
  if (n == 0 || groups == 0) return;
  if constexpr (neutral<Op, value>::is_known && (sizeof(value) == 4 || sizeof(value) == 8)) {
    using work = fold_block<Source, Op>;
    const u64 bytes = groups * sizeof(value), most = tuning::gpu::fold_scratch;
    const u64 blocks = space.large_blocks_at_once();
    if (bytes <= most && groups * blocks <= n / 4) {
      const u64 few = std::max<u64>(1, tuning::gpu::few_fold_scratch / bytes);
      const u64 copies = std::min<u64>(tuning::gpu::fold_copies, std::bit_floor(few));
      const u64 resident = std::clamp<u64>(most / (bytes * copies), 1, tuning::gpu::fold_blocks);
      space.for_each_block(
          std::min(divide_up(n, work::block_size), blocks * resident), work::block_size, bytes * copies,
          work{codes, n, static_cast<u32>(groups), static_cast<u32>(copies), source, out, op});
      return;
    }
  }
  if constexpr (std::is_same_v<Source, ones>)
    space.for_each_lane(divide_up(n, u64(count_in_place::at_once)), count_in_place{codes, n, out});
  else
    for_rows(space, 0, n, fold_row<Source, Op>{codes, source, out, op});
}

}  // namespace analysis::detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
