#pragma once

#include <tilehash/designs/hash_graph.hpp>

#include <string_view>

namespace tilehash::app::designs {

struct hash_graph {
  static constexpr std::string_view paper =
      "A. Kolushev, Algorithms and data structures for hashing on GPU, 2021, section 2.5";
  static constexpr std::string_view summary =
      "built in bulk, in the way that is fastest there; keeps every value of a key";
  template <class Key, class Value>
  using design = tilehash::hash_graph<Key, Value>;
};

}  // namespace tilehash::app::designs
