#pragma once

#include <tilehash/papers/mega_kv.hpp>

#include <string_view>

namespace tilehash::app::designs {

struct mega_kv {
  static constexpr std::string_view paper =
      "K. Zhang et al., Mega-KV (VLDB 2015), as in Y. Li et al., Dynamic Hash Tables on GPUs, section 6.1";
  static constexpr std::string_view summary =
      "two buckets a key; keys are exchanged for each other until one finds room";
  template <class Key, class Value>
  using design = tilehash::papers::mega_kv<Key, Value>;
};

}  // namespace tilehash::app::designs
