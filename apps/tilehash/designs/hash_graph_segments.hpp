#pragma once

#include <tilehash/designs/hash_graph.hpp>

#include <string_view>

namespace tilehash::app::designs {

struct hash_graph_segments {
  static constexpr std::string_view paper =
      "A. Kolushev, Algorithms and data structures for hashing on GPU, 2021, section 3.4.1";
  static constexpr std::string_view summary = "hash_graph version 1 on segments, with counters apart";
  template <class Key, class Value>
  using design = tilehash::hash_graph<Key, Value, murmur, std::uint32_t, builders::segments>;
};

}  // namespace tilehash::app::designs
