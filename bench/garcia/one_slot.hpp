// SPDX-License-Identifier: Apache-2.0
// Robin Hood tables with one slot a bucket, the shape of Garcia et al.'s, for pairs of 32 + 32 bits. Only the
// experiments of that paper measure them; the program knows no such design.
#pragma once

#include <tilehash/designs/robin_hood.hpp>
#include <tilehash/papers/robin_hood_random.hpp>

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "registry.hpp"
#include "table_of.hpp"

namespace tilehash::bench {

/// \tparam FewerBits adds tables whose homes store their maximum age in two bits, and in none (sections 3.1 and 4.4).
template <bool FewerBits, class Space>
std::vector<app::design_entry> one_slot_designs(
    std::optional<app::table_makers<Space>> app::design_entry::*its_tables) {
  std::vector<app::design_entry> designs;
  const auto add = [&]<class Design>(std::type_identity<Design>, const char* shape) {
    using table_type = app::table_of<Design, Space, false>;
    app::design_entry& entry = designs.emplace_back();
    entry.name = std::string(Design::name) + shape;
    entry.max_load_factor = 1;
    std::get<app::table_maker<u32, u32, Space>>((entry.*its_tables).emplace()) = &table_type::make;
  };
  add(std::type_identity<robin_hood<u32, u32, 1>>{}, "_one_slot");
  add(std::type_identity<papers::robin_hood_random<u32, u32, 1>>{}, "_one_slot");
  if constexpr (FewerBits) {
    add(std::type_identity<robin_hood<u32, u32, 1, 2>>{}, "_one_slot_two_bits");
    add(std::type_identity<robin_hood<u32, u32, 1, 0>>{}, "_one_slot_no_bits");
  }
  return designs;
}

}  // namespace tilehash::bench
