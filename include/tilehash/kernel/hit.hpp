// SPDX-License-Identifier: Apache-2.0
// Hits: the results that a lookup passes to its sink.
#pragma once

#include <tilehash/core/item.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/core/sentinel_cells.hpp>
#include <tilehash/designs/concepts.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// A lookup calls sink(i, hit) once for each key, keys[i]. A hit has found(), value(), count() and probes().

template <class Slot>
struct slot_hit {
  lookup_answer<typename Slot::value_bits> got;
  u32 steps;

  TILEHASH_FN bool found() const { return got.what == lookup_state::found; }
  TILEHASH_FN auto value() const { return detail::from_bits<typename Slot::mapped_type>(got.value); }
  TILEHASH_FN u32 count() const { return found(); }
  TILEHASH_FN u32 probes() const { return steps; }  // buckets read
};

// The hit of a design that stores values apart: value() reads the value only when the sink calls it.
template <class Value>
struct apart_hit {
  lookup_state what;
  u32 steps;
  const Value* at;  // null unless found

  TILEHASH_FN bool found() const { return what == lookup_state::found; }
  TILEHASH_FN auto value() const
    requires(!std::is_void_v<Value>)
  {
    return *at;
  }
  TILEHASH_FN u32 count() const { return found(); }
  TILEHASH_FN u32 probes() const { return steps; }  // buckets read
};

template <class Design>
struct hit_type {
  using type = slot_hit<typename Design::slot_type>;
};
template <values_apart Design>
struct hit_type<Design> {
  using type = apart_hit<typename Design::mapped_type>;
};
// The hit that lookups in this design pass to a sink.
template <class Design>
using hit_of = typename hit_type<Design>::type;

// The hit for the result of the bucket at `bucket`, the last one read.
template <class Design>
TILEHASH_FN hit_of<Design> hit_at(const Design& design, const typename Design::word* bucket,
                                  const answer_of<Design>& result, u32 steps) {
  if constexpr (values_apart<Design>)
    return {result.what, steps, result.found() ? design.value_at(bucket + result.slot) : nullptr};
  else
    return {result, steps};
}
// The hit of a key that needs no bucket: an illegal key, or a key of a sentinel cell.
template <class Design>
TILEHASH_FN hit_of<Design> hit_without_buckets(const sentinel_cells<typename Design::slot_type>& sentinels,
                                               const query<typename Design::slot_type>& q) {
  if constexpr (values_apart<Design>)
    return {lookup_state::absent, 1, nullptr};
  else
    return {q.legal ? sentinels.find(q.bits) : lookup_answer<typename Design::slot_type::value_bits>{}, 1};
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
