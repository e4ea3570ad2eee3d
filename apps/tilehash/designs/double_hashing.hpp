#pragma once

#include <tilehash/designs/double_hashing.hpp>

#include <string_view>

namespace tilehash::app::designs {

struct double_hashing {
  static constexpr std::string_view paper = "D. Alcantara, Efficient Hash Tables on the GPU, 2011, chapter 3";
  static constexpr std::string_view summary = "one slot at a time; the step depends on the key";
  template <class Key, class Value>
  using design = tilehash::double_hashing<Key, Value>;
};

}  // namespace tilehash::app::designs
