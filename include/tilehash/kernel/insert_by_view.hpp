// SPDX-License-Identifier: Apache-2.0
// The inserts of a view, after the walk of kernel/upsert.hpp: a displacement for an item whose buckets
// are full, and counters of the table's size.
#pragma once

#include <tilehash/algorithm/moves_together.hpp>
#include <tilehash/algorithm/short_moves.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/kernel/table_change.hpp>
#include <tilehash/space/solo_tile.hpp>
#include <tilehash/space/tuning.hpp>

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
// One move by each thread with `on`, all in step.
template <displacing_among_inserts Design, class Threads>
TILEHASH_FN_APART outcome move_in_step(Design design, typename Design::key_bits hash,
                                       typename Design::slot_type::value_bits value, Threads t, bool on) {
  using moves_type = moves_together<Design, Threads>;
  using verdict = typename moves_type::verdict;
  const moves_type moves(design, hash, value, t);
  verdict v = verdict::disturbed;
  TILEHASH_UNROLL_BY(1)
  for (u32 tries = 0; tries < moves_type::step_tries && t.any(on); ++tries) {
    const verdict now = moves.in_step(on);
    if (on) v = now;
    on = on && now == verdict::disturbed;
  }
  return v == verdict::done ? outcome::inserted : v == verdict::known ? outcome::present : outcome::refused;
}
// One move to three for the item of each thread with `on`, by groups of threads, of which there must be one.
template <displacing_among_inserts Design, class Threads>
TILEHASH_FN_APART outcome move_in_groups(Design design, typename Design::key_bits hash,
                                         typename Design::slot_type::value_bits value, Threads t, bool on) {
  using moves_type = moves_together<Design, Threads>;
  using verdict = typename moves_type::verdict;
  using key_bits = typename Design::key_bits;
  using value_bits = typename Design::slot_type::value_bits;
  const u32 groups = t.size() / moves_type::group, number = t.rank() / moves_type::group;
  u32 mine = 0, leaders = 0;
  TILEHASH_UNROLL_BY(1)
  for (u32 g = 0; g < groups; ++g) {
    const u32 its = t.ballot(number == g);
    if (number == g || g == 0) mine = its;
    leaders |= lowest(its) << (8 * g);
  }
  outcome became = outcome::refused;
  u32 left = t.ballot(on);
  TILEHASH_UNROLL_BY(1)
  for (u32 turn = 0; left != 0 && turn < moves_type::group_turns; ++turn) {
    const u32 active = turn % 4 == 3 ? 1 : groups;  // groups that disturb each other take turns
    u32 of = lowest(left), rest = left;
    bool has_item = false;
    TILEHASH_UNROLL_BY(1)
    for (u32 g = 0; g < active && rest != 0; ++g, rest &= rest - 1) {
      if (g == number) of = lowest(rest), has_item = true;
    }
    const key_bits its_hash = static_cast<key_bits>(t.broadcast(static_cast<u64>(hash), of));
    const value_bits its_value = static_cast<value_bits>(t.broadcast(static_cast<u64>(value), of));
    const moves_type moves(design, its_hash, its_value, t);
    const u32 its = static_cast<u32>(moves.by_a_group(mine, t.rank() % moves_type::group, turn, has_item));
    const u32 order = count_ones(t.before(left));
    const u32 v = t.broadcast(its, order < active ? leaders >> (8 * order) & 31 : lowest(left));
    if (on && order < active) {
      on = v == static_cast<u32>(verdict::disturbed);
      if (v == static_cast<u32>(verdict::done)) became = outcome::inserted;
      if (v == static_cast<u32>(verdict::known)) became = outcome::present;
    }
    left = t.ballot(on);
  }
  return became;
}
// Only words of 16 bytes: with smaller ones, kernels would need more registers for it.
template <class Design>
inline constexpr bool displaces_together = sizeof(typename Design::word) == 16;

template <displacing_among_inserts Design>
TILEHASH_FN outcome displace_alone(const Design& design, typename Design::key_bits hash,
                                   typename Design::slot_type::value_bits value) {
  outcome became = displace_by_short_moves<Design, false>(design, hash, value);
  if (became == outcome::refused) became = displace_by_short_moves<Design, true>(design, hash, value);
  return became != outcome::refused ? became : displace_along_path(design, hash, value);
}
// Threads that came together place the items of those with `on`: together, if that are Least and the threads are enough for a
// group. For few items the steps that others take for them cost more. Each function is called in one place, since a call
// takes registers of the caller's kernel.
template <u32 Least, displacing_among_inserts Design, class Threads>
TILEHASH_FN outcome displace_together(const Design& design, typename Design::key_bits hash,
                                      typename Design::slot_type::value_bits value, const Threads& t,
                                      bool on) {
  const bool many = t.size() >= moves_together<Design, Threads>::group && count_ones(t.ballot(on)) >= Least;
  outcome became = outcome::refused;
  if (many)
    became = move_in_step(design, hash, value, t, on);
  else if (on)
    became = displace_by_short_moves<Design, false>(design, hash, value);
  on = on && became == outcome::refused;
  if (many && t.any(on)) {
    const outcome now = move_in_groups(design, hash, value, t, on);
    if (on) became = now;
  } else if (on) {
    became = displace_by_short_moves<Design, true>(design, hash, value);
  }
  return !on || became != outcome::refused ? became : displace_along_path(design, hash, value);
}
// Places the item of a thread with `on`. All threads that came together call it.
template <displacing_among_inserts Design>
TILEHASH_FN outcome displace_among_inserts(const Design& design, typename Design::key_bits hash,
                                           typename Design::slot_type::value_bits value, bool on) {
#if defined(__CUDA_ARCH__)
  if constexpr (displaces_together<Design>)
    return displace_together<tuning::gpu::displaced_together>(design, hash, value,
                                                              gathered_threads{__activemask()}, on);
#endif
  return on ? displace_alone(design, hash, value) : outcome::refused;
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
