// map<Key, Value, Space>: the table to take when nothing special is needed.
#pragma once

#include <tilehash/designs/bucketed_cuckoo.hpp>
#include <tilehash/designs/tiled.hpp>
#include <tilehash/engine/records.hpp>
#include <tilehash/table.hpp>

namespace tilehash {

namespace detail {

template <class Key, class Value>
struct default_design {
  using type = indexed<Key, Value>;
};
template <class Key, class Value>
  requires(sizeof(Key) + bytes_of<Value> <= 16)
struct default_design<Key, Value> {
  using type = std::conditional_t<sizeof(Key) <= 8 && bytes_of<Value> <= 8, tiled<Key, Value>,
                                  bucketed_cuckoo<Key, Value>>;
};

}  // namespace detail

// What stands behind map and set: `tiled` for keys and values of up to 8 bytes; `bucketed_cuckoo` for others
// that fit a word of 16 (on a GPU from sm_90 on); `indexed` for all that are larger.
template <class Key, class Value>
using default_design = typename detail::default_design<Key, Value>::type;

// Unique keys with a value each. See table.hpp for the verbs.
template <class Key, class Value, class Space>
using map = table<default_design<Key, Value>, Space>;

}  // namespace tilehash
