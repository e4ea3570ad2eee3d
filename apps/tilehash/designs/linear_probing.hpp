#pragma once

#include <tilehash/designs/linear_probing.hpp>

#include <string_view>

namespace tilehash::app::designs {

struct linear_probing {
  static constexpr std::string_view paper = "D. Alcantara, Efficient Hash Tables on the GPU, 2011, chapter 3";
  static constexpr std::string_view summary = "one slot at a time; the next one is the neighbour";
  template <class Key, class Value>
  using design = tilehash::linear_probing<Key, Value>;
};

}  // namespace tilehash::app::designs
