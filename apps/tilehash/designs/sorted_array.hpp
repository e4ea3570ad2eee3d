#pragma once

#include <tilehash/papers/sorted_array.hpp>

#include <string_view>

namespace tilehash::app::designs {

struct sorted_array {
  static constexpr std::string_view paper =
      "the baseline of D. Alcantara, Efficient Hash Tables on the GPU, 2011, section 3.3.2";
  static constexpr std::string_view summary = "no hash table: a radix sort and binary searches";
  template <class Key, class Value>
  using design = tilehash::papers::sorted_array<Key, Value>;
};

}  // namespace tilehash::app::designs
