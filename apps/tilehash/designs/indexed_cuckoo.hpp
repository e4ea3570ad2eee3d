#pragma once

#include <tilehash/papers/indexed_cuckoo.hpp>

#include <string_view>

namespace tilehash::app::designs {

struct indexed_cuckoo {
  static constexpr std::string_view paper =
      "A. Kolushev, Algorithms and data structures for hashing on GPU, 2021, section 3.3";
  static constexpr std::string_view summary =
      "6 hash functions for indices with tags; items of any size stay in place";
  template <class Key, class Value>
  using design = tilehash::papers::indexed_cuckoo<Key, Value>;
};

}  // namespace tilehash::app::designs
