#pragma once

#include <tilehash/papers/quadratic_probing.hpp>

#include <string_view>

namespace tilehash::app::designs {

struct quadratic_probing {
  static constexpr std::string_view paper = "D. Alcantara, Efficient Hash Tables on the GPU, 2011, chapter 3";
  static constexpr std::string_view summary = "one slot at a time; the steps grow by one";
  template <class Key, class Value>
  using design = tilehash::papers::quadratic_probing<Key, Value>;
};

}  // namespace tilehash::app::designs
