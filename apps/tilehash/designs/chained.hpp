#pragma once

#include <tilehash/designs/chained.hpp>

#include <string_view>

namespace tilehash::app::designs {

struct chained {
  static constexpr std::string_view paper = "D. Alcantara, Efficient Hash Tables on the GPU, 2011, chapter 4";
  static constexpr std::string_view summary =
      "built in bulk by a radix sort by bucket; keeps every value of a key";
  template <class Key, class Value>
  using design = tilehash::chained<Key, Value>;
};

}  // namespace tilehash::app::designs
