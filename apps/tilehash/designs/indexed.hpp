#pragma once

#include <tilehash/engine/records.hpp>

#include <string_view>

namespace tilehash::app::designs {

struct indexed {
  static constexpr std::string_view paper =
      "D. Alcantara, Efficient Hash Tables on the GPU, PhD thesis, 2011, sections 5.3 and 6.3 (compacting "
      "tables)";
  static constexpr std::string_view summary =
      "a two-way index, key to dense id and back; records of any size behind a table of ids";
  template <class Key, class Value>
  using design = tilehash::indexed<Key, Value>;

  static std::uint64_t bytes(std::uint64_t items, double load_factor) {
    using ids = design<std::uint32_t, std::uint32_t>::ids;
    const std::uint64_t bits = (items + 31) / 32 * 4;  // which records are taken, and their locks
    return ids::bytes(ids::capacity_for(items, load_factor)) + items * (8 + 4) +
           2 * bits;  // records, free ids
  }
};

}  // namespace tilehash::app::designs
