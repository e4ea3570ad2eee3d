#pragma once

#include <tilehash/designs/robin_hood.hpp>

#include <string_view>

namespace tilehash::app::designs {

struct robin_hood_random {
  static constexpr std::string_view paper = "Garcia et al. 2011";
  static constexpr std::string_view summary =
      "robin_hood with its keys mixed: what coherence is compared with";
  template <class Key, class Value>
  using design = tilehash::robin_hood<Key, Value, probe::random>;
};

}  // namespace tilehash::app::designs
