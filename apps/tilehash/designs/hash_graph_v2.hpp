#pragma once

#include <tilehash/designs/hash_graph.hpp>

#include <string_view>

namespace tilehash::app::designs {

struct hash_graph_v2 {
  static constexpr std::string_view paper =
      "A. Kolushev, Algorithms and data structures for hashing on GPU, 2021, algorithm 8";
  static constexpr std::string_view summary = "hash_graph whose items are put in order by bins first";
  template <class Key, class Value>
  using design =
      tilehash::hash_graph<Key, Value, murmur, std::uint32_t, builders::binned<builders::count_and_scatter>>;
};

}  // namespace tilehash::app::designs
