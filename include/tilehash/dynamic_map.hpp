// SPDX-License-Identifier: Apache-2.0
// dynamic_map<Key, Value, Space>: a table that grows and shrinks with its items, for keys and values of any
// size.
#pragma once

#include <tilehash/designs/dynamic_cuckoo.hpp>
#include <tilehash/designs/indexed.hpp>
#include <tilehash/engine/records.hpp>
#include <tilehash/engine/subtables.hpp>
#include <tilehash/space/forward.hpp>
#include <tilehash/table.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

namespace detail {

template <class Key, class Value, class Space>
struct dynamic_design {
  static constexpr u32 bytes = packed_bytes<Key>;
  static constexpr bool fits_word =
      bytes <= 16 && sizeof(bits_t < bytes <= 16 ? bytes : 16 >) <= widest_atomic<Space>;
  using type = std::conditional_t<fits_word, dynamic_cuckoo<Key, Value>,
                                  indexed<Key, Value, murmur, dynamic_cuckoo<fingerprint_type<Key>, u32>>>;
};

}  // namespace detail

/// A map whose memory grows and shrinks with its items. See table.hpp for the verbs.
///
/// The design is `dynamic_cuckoo` for keys of up to 16 bytes, in code for GPUs before sm_90 of up to 8 bytes.
/// Larger keys are stored in records, and a `dynamic_cuckoo` maps them to record ids. Only shrink_to_fit()
/// frees records, as far as ids allow.
template <class Key, class Value, class Space = detail::no_space>
using dynamic_map = table<typename detail::dynamic_design<Key, Value, Space>::type, Space>;

TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC(dynamic_map);
}  // namespace tilehash
