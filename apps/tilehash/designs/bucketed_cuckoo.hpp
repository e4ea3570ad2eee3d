#pragma once

#include <tilehash/designs/bucketed_cuckoo.hpp>

#include <string_view>

namespace tilehash::app::designs {

struct bucketed_cuckoo {
  static constexpr std::string_view paper = "A. Breslow et al., Horton Tables, USENIX ATC 2016, section 3";
  static constexpr std::string_view summary =
      "two buckets of 64 bytes a key; the second only when the first is full";
  template <class Key, class Value>
  using design = tilehash::bucketed_cuckoo<Key, Value, placement::first_fit>;
};

}  // namespace tilehash::app::designs
