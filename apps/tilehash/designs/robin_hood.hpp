#pragma once

#include <tilehash/designs/robin_hood.hpp>

#include <string_view>

namespace tilehash::app::designs {

struct robin_hood {
  static constexpr std::string_view paper = "Garcia et al. 2011";
  static constexpr std::string_view summary =
      "neighbouring keys stay neighbours; any load, and no build fails";
  template <class Key, class Value>
  using design = tilehash::robin_hood<Key, Value>;
};

}  // namespace tilehash::app::designs
