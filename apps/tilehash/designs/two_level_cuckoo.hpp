#pragma once

#include <tilehash/papers/two_level_cuckoo.hpp>

#include <string_view>

namespace tilehash::app::designs {

struct two_level_cuckoo {
  static constexpr std::string_view paper = "D. Alcantara, Efficient Hash Tables on the GPU, 2011, chapter 5";
  static constexpr std::string_view summary =
      "built in bulk: small cuckoo tables in block-local memory; at most three slots a lookup";
  template <class Key, class Value>
  using design = tilehash::papers::two_level_cuckoo<Key, Value>;
};

}  // namespace tilehash::app::designs
