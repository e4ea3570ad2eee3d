// SPDX-License-Identifier: Apache-2.0
#include <tilehash/papers/robin_hood_ages.hpp>
#include <tilehash/space/cpu.hpp>

#include "ask.hpp"

namespace sparse_tables {

machine ask_on_cpu(const grid_data& data) {
  tilehash::cpu space;
  return ask_tables(space, data, [&](const auto& table, answered& result) {
    const auto view = table.view();
    result.slots.resize(view.design.capacity());
    for (count i = 0; i < result.slots.size(); ++i)
      view.use_entry(i, [&](key k, pixel /*colour*/) { result.slots[i] = {k, true}; });
    result.max_ages = tilehash::papers::max_ages(space, table);
  });
}

}  // namespace sparse_tables
