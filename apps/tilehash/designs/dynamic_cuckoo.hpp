#pragma once

#include <tilehash/designs/dynamic_cuckoo.hpp>
#include <tilehash/engine/subtables.hpp>

#include <string_view>

namespace tilehash::app::designs {

struct dynamic_cuckoo {
  static constexpr std::string_view paper = "Y. Li et al., Dynamic Hash Tables on GPUs, sections 4 and 5";
  static constexpr std::string_view summary =
      "three subtables, doubled and halved one at a time; values apart from keys";
  template <class Key, class Value>
  using design = tilehash::dynamic_cuckoo<Key, Value>;
};

}  // namespace tilehash::app::designs
