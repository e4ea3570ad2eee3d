// Hits: what a lookup hands to its sink.
#pragma once

#include <tilehash/core/item.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/core/sentinel_cells.hpp>
#include <tilehash/designs/concepts.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// sink(i, hit) is called once for each key, keys[i]. A hit says found(), value(), count() and probes().

template <class Slot>
struct slot_hit {
  lookup_answer<typename Slot::value_bits> got;
  u32 steps;

  TILEHASH_FN bool found() const { return got.what == lookup_state::found; }
  TILEHASH_FN auto value() const { return detail::from_bits<typename Slot::mapped_type>(got.value); }
  TILEHASH_FN u32 count() const { return found(); }
  TILEHASH_FN u32 probes() const { return steps; }  // buckets read
};

// ... where values stand apart: it is read only when somebody asks for it.
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
// What a sink is given by lookups in this design.
template <class Design>
using hit_of = typename hit_type<Design>::type;

// From the answer of the bucket at `bucket`, the last that was read.
template <class Design>
TILEHASH_FN hit_of<Design> hit_at(const Design& design, const typename Design::word* bucket,
                                  const answer_of<Design>& told, u32 steps) {
  if constexpr (values_apart<Design>)
    return {told.what, steps, told.found() ? design.value_beside(bucket + told.slot) : nullptr};
  else
    return {told, steps};
}
// Of a key that no bucket is read for: one that is not legal, or one in a sentinel cell.
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
