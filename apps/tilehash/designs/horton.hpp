#pragma once

#include <tilehash/designs/horton.hpp>

#include <string_view>

namespace tilehash::app::designs {

struct horton {
  static constexpr std::string_view paper = "Breslow et al. 2016";
  static constexpr std::string_view summary =
      "one bucket for most lookups, and the one that it names for the rest";
  template <class Key, class Value>
  using design = tilehash::horton<Key, Value>;
};

}  // namespace tilehash::app::designs
