#pragma once

#include <tilehash/designs/bucketed_cuckoo.hpp>

#include <string_view>

namespace tilehash::app::designs {

struct bucketed_cuckoo_balanced {
  static constexpr std::string_view paper = "A. Breslow et al., Horton Tables, USENIX ATC 2016, section 3";
  static constexpr std::string_view summary = "two buckets of 64 bytes a key; the emptier of the two";
  template <class Key, class Value>
  using design = tilehash::bucketed_cuckoo<Key, Value, placement::balanced>;
};

}  // namespace tilehash::app::designs
