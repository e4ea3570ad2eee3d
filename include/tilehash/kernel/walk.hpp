// SPDX-License-Identifier: Apache-2.0
// The walks of verbs that change a table, in both schedules (kernel/lookup.hpp). Each key goes from bucket to
// bucket, and its own lane or thread makes the changes there.
//
// A verb has a `design` and defines its action at a bucket:
//   walk                               the state of a key's walk: `key`, and `now`, its current location
//   examine(tile, bucket, stored)      the bucket's result for the key, a `position`. A collective
//   go_on(walk, result)                  acts on that result. True: the walk is at its next bucket now
//   step(walk)                         both, for one thread that works alone
#pragma once

#include <tilehash/core/bits.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/space/bucket.hpp>
#include <tilehash/space/prefetch.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// A GPU's schedule. The tile reads the first buckets of all its keys together, then two at a time of those
// that go on. The lanes act on the results of all first buckets, or of both later ones, at the same time.
template <class Verb, class Tile>
TILEHASH_FN void walk_along(const Verb& verb, Tile t, typename Verb::walk& w, bool walking) {
  constexpr u32 width = Tile::width;
  using bucket_type = typename std::remove_cvref_t<decltype(verb.design)>::template bucket_type<Tile>;
  using position = typename Verb::position;
  const auto& design = verb.design;
  {
    const auto stored = design.stored(w.now, w.key);
    const auto at = design.where(w.now);
    position result;
    bucket_type b[width];
    TILEHASH_UNROLL
    for (u32 j = 0; j < width; ++j) b[j] = bucket_type::read_stale(t, design.bucket_at(t.broadcast(at, j)));
    TILEHASH_UNROLL
    for (u32 j = 0; j < width; ++j) {
      const position p = verb.examine(t, b[j], t.broadcast(stored, j));
      if (t.rank() == j) result = p;
    }
    if (walking) walking = verb.go_on(w, result);
  }
  constexpr u32 at_once = width > 1 ? tuning::here::walked_at_once : 1;
  for (u32 todo = t.ballot(walking); t.any(todo != 0); todo = t.ballot(walking)) {
    const auto stored = design.stored(w.now, w.key);
    const auto at = design.where(w.now);
    u32 lane[at_once];
    bool is[at_once];
    bucket_type b[at_once];
    TILEHASH_UNROLL
    for (u32 q = 0; q < at_once; ++q, todo &= todo - 1) {
      is[q] = todo != 0;
      lane[q] = is[q] ? lowest(todo) : 0;
      b[q] = bucket_type::read_shared(t, design.bucket_at(t.broadcast(at, lane[q])), is[q]);
    }
    position result;
    bool mine = false;
    TILEHASH_UNROLL
    for (u32 q = 0; q < at_once; ++q) {
      const position p = verb.examine(t, b[q], t.broadcast(stored, lane[q]));
      if (is[q] && t.rank() == lane[q]) result = p, mine = true;
    }
    if (mine) walking = verb.go_on(w, result);
  }
}

// True if the verb has exclusive access to the table.
template <class Verb>
inline constexpr bool works_alone = requires { requires Verb::alone_in_the_table; };
template <class Verb>
using word_of = typename std::remove_cvref_t<decltype(std::declval<Verb>().design)>::word;

// One thread's step. True: the key is at its next bucket now.
template <class Verb>
TILEHASH_FN bool step_alone(const Verb& verb, typename Verb::walk& w) {
  const solo_tile t;
  using bucket_type = solo_bucket<std::remove_cvref_t<decltype(verb.design)>>;
  word_of<Verb>* const at = verb.design.bucket_at(verb.design.where(w.now));
  const auto b = works_alone<Verb> ? bucket_type::read(t, at) : bucket_type::read_shared(t, at);
  return verb.go_on(w, verb.examine(t, b, verb.design.stored(w.now, w.key)));
}

// A CPU's schedule: a thread cycles through a ring of keys and prefetches the memory of each long before it
// reads it. A key that goes on to another cache line waits until `in_flight` such keys are collected, and is
// then prefetched again. Buckets of single slots are the exception: many follow, at computed addresses, and the
// processor's own look-ahead is twice as fast. `Walk` may derive from the verb's. The ring calls end(walk)
// for each walk at its end.
//
// The loops themselves contain the prefetches: GCC considers a function that only prefetches free of effects,
// and omits calls of it.
template <class Verb, class Walk>
class walk_ring {
 public:
  explicit walk_ring(const Verb& verb) : verb_(verb) {}

  template <class End>
  __attribute__((TILEHASH_INLINED)) void add(const Walk& w, const End& end) {
    if (asked_ - looked_at_ == in_flight) look(ring_[looked_at_++ % in_flight], end);
    ring_[asked_++ % in_flight] = w;
    prefetch_to_write(verb_.design.address(w.now));
  }
  template <class End>
  void finish(const End& end) {
    finish_waiting(end);
    while (looked_at_ != asked_) waiting_[waiting_count_++] = ring_[looked_at_++ % in_flight];
    finish_waiting(end);
  }

 private:
  // A call for each key costs a third of the speed.
  template <class End>
  __attribute__((TILEHASH_INLINED)) void look(const Walk& p, const End& end) {
    Walk w = p;
    if (!goes_on(w)) return end(w);
    waiting_[waiting_count_++] = w;
    if (waiting_count_ == in_flight) finish_waiting(end);
  }
  // Takes all steps within the cache line first. The step is inlined, so it is called once only.
  __attribute__((TILEHASH_INLINED)) bool goes_on(Walk& w) const {
    const u64 here = line_of(w);
    bool more;
    do more = verb_.step(w);
    while (more && (single_slots || line_of(w) == here));
    return more;
  }
  template <class End>
  void finish_waiting(const End& end) {
    while (waiting_count_ != 0) {
      for (u32 k = 0; k < waiting_count_; ++k) prefetch_to_write(verb_.design.address(waiting_[k].now));
      u32 kept = 0;
      for (u32 k = 0; k < waiting_count_; ++k) {
        Walk w = waiting_[k];
        if (goes_on(w))
          waiting_[kept++] = w;
        else
          end(w);
      }
      waiting_count_ = kept;
    }
  }
  u64 line_of(const Walk& w) const { return reinterpret_cast<u64>(verb_.design.address(w.now)) / 64; }

  static constexpr bool single_slots = solo_bucket<std::remove_cvref_t<decltype(Verb::design)>>::slots == 1;

  const Verb& verb_;
  Walk ring_[in_flight], waiting_[in_flight];
  u32 asked_ = 0, looked_at_ = 0, waiting_count_ = 0;
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
