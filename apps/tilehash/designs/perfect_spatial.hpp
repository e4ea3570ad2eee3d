#pragma once

#include <tilehash/papers/perfect_spatial.hpp>

#include <string_view>

namespace tilehash::app::designs {

struct perfect_spatial {
  static constexpr std::string_view paper =
      "S. Lefebvre and H. Hoppe, 2006, the baseline of D. Alcantara 2011, section 5.4.1";
  static constexpr std::string_view summary =
      "no collisions: built in bulk; a lookup reads one offset and one slot";
  template <class Key, class Value>
  using design = tilehash::papers::perfect_spatial<Key, Value>;
};

}  // namespace tilehash::app::designs
