#pragma once

#include <tilehash/instances/multimap.hpp>

#include <string_view>

namespace tilehash::app::designs {

struct multi {
  static constexpr std::string_view paper =
      "D. Alcantara, Efficient Hash Tables on the GPU, PhD thesis, 2011, sections 5.3 and 6.3 (multi-value "
      "tables)";
  static constexpr std::string_view summary =
      "multimap: all values of a key side by side, behind a table of ids";
  static constexpr bool needs_values = true;
  template <class Key, class Value>
  using design = tilehash::multi<Key, Value>;

  // With all keys different.
  static std::uint64_t bytes(std::uint64_t items, double load_factor) {
    using ids = tilehash::tiled<std::uint32_t, std::uint32_t>;
    return ids::bytes(ids::capacity_for(items, load_factor)) + 4 * (items + 1) + 8 * items;
  }
};

}  // namespace tilehash::app::designs
