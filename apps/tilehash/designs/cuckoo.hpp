#pragma once

#include <tilehash/designs/cuckoo.hpp>

#include <string_view>

namespace tilehash::app::designs {

struct cuckoo {
  static constexpr std::string_view paper = "D. Alcantara, Efficient Hash Tables on the GPU, 2011, chapter 6";
  static constexpr std::string_view summary =
      "four slots a key, anywhere in the table, and a stash of 101 slots";
  template <class Key, class Value>
  using design = tilehash::cuckoo<Key, Value>;
};

}  // namespace tilehash::app::designs
