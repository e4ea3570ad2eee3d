// SPDX-License-Identifier: Apache-2.0
// The inserts of a view, after the walk of kernel/upsert.hpp: a displacement for an item whose buckets
// are full, and counters of the table's size.
#pragma once

#include <tilehash/algorithm/short_moves.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/kernel/table_change.hpp>
#include <tilehash/space/solo_tile.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// A design whose displacement may run concurrently with inserts that take no locks.
template <class D>
concept displacing_among_inserts = requires { typename D::displacement_among_inserts; };

// Place an item by moving other keys, by one thread: by one move, by two, and by a path. They are not inlined,
// since few items come to the first, and ever fewer to the others. None calls the next, which would cost a GPU's
// kernel registers. They take the hash of the key, which the insert before has computed. If they took the key, each
// thread would store it in local memory for them, even a thread whose key is present.
template <displacing_among_inserts Design>
TILEHASH_FN auto displacement_of_hash(const Design& design, typename Design::key_bits hash,
                                      typename Design::slot_type::value_bits value) {
  return design.template displacement_from<typename Design::displacement_among_inserts>(
      design.location_of(hash), hash, Design::slot_type::pack(hash, value));
}
template <displacing_among_inserts Design, bool Two>
TILEHASH_FN_APART outcome displace_by_short_moves(Design design, typename Design::key_bits hash,
                                                  typename Design::slot_type::value_bits value) {
  using verdict = typename Design::displacement_among_inserts::verdict;
  const short_moves<Design> moves(displacement_of_hash(design, hash, value));
  const verdict v = Two ? moves.by_two_moves() : moves.by_one_move();
  return v == verdict::done ? outcome::inserted : v == verdict::known ? outcome::present : outcome::refused;
}
template <displacing_among_inserts Design>
TILEHASH_FN_APART outcome displace_along_path(Design design, typename Design::key_bits hash,
                                              typename Design::slot_type::value_bits value) {
  const auto d = displacement_of_hash(design, hash, value);
  return Design::displacement_among_inserts::tries::all_of(d, solo_tile{}, true);
}
template <displacing_among_inserts Design>
TILEHASH_FN outcome displace_among_inserts(const Design& design, typename Design::key_bits hash,
                                           typename Design::slot_type::value_bits value) {
  outcome became = displace_by_short_moves<Design, false>(design, hash, value);
  if (became == outcome::refused) became = displace_by_short_moves<Design, true>(design, hash, value);
  return became != outcome::refused ? became : displace_along_path(design, hash, value);
}

// Calls f with the tile of a view's caller. Threads of a GPU that insert alone and came together go on
// together until the last one has finished. A loop that each thread leaves by itself would part them, and a
// GPU runs parted threads one after the other.
template <class Tile, class F>
TILEHASH_FN auto by_tile_of_caller(Tile t, const F& f) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::same_as<Tile, solo_tile>) return f(together_tile{{}, __activemask()});
#endif
  return f(t);
}

// Counts an inserted key, or an erased one. On a GPU one lane adds for all lanes of its warp that are here,
// and the multiprocessors have different counters. One atomic operation for each lane would bound a GPU to
// some 4 * 10^9 items a second.
TILEHASH_FN void count_change(u64* counters, u64 hint, bool adds) {
#if defined(__CUDA_ARCH__)
  const u32 here = __activemask(), added = __ballot_sync(here, adds);
  u32 lane, processor;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm volatile("mov.u32 %0, %%smid;" : "=r"(processor));
  if (lane == lowest(here))
    fetch_add(counters + processor % size_stripes * size_stride,
              table_change::word(count_ones(added), count_ones(here & ~added)));
#else
  fetch_add(counters + mix64(hint) % size_stripes * size_stride, table_change::word(adds, !adds));
#endif
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
