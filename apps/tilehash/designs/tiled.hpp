#pragma once

#include <tilehash/instances/map.hpp>

#include <string_view>

namespace tilehash::app::designs {

struct tiled {
  static constexpr std::string_view paper = "ours, after Breslow et al. 2016 and Alcantara 2011, chapter 5";
  static constexpr std::string_view summary = "the default: one bucket for nearly every lookup, found or not";
  template <class Key, class Value>
  using design = tilehash::tiled<Key, Value>;
};

}  // namespace tilehash::app::designs
