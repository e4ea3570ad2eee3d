#pragma once

#include <tilehash/designs/dynamic_hash_graph.hpp>

#include <string_view>

namespace tilehash::app::designs {

struct dynamic_hash_graph {
  static constexpr std::string_view paper =
      "ours, after A. Kolushev, 2021, section 2.5, and B. Wheatman and H. Xu, Packed Compressed Sparse Row, "
      "2018";
  static constexpr std::string_view summary =
      "a hash_graph with room between its rows, which takes items and gives them back";
  template <class Key, class Value>
  using design = tilehash::dynamic_hash_graph<Key, Value>;
};

}  // namespace tilehash::app::designs
