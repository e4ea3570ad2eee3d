// SPDX-License-Identifier: Apache-2.0
// The work of each unit of abi_test.cpp, compiled with flags of its own.
#pragma once

#include <string>
#include <typeinfo>
#include <vector>

#include <tilehash/map.hpp>
#include <tilehash/space/cpu.hpp>

namespace tilehash {

// A class of a user's: its name is the same in all units.
struct space_and_table {
  cpu space{2};
  map<u32, u32, cpu> table{space};
  u32 last = 0x600df00d;  // behind what might have another size elsewhere
};

struct abi_answers {
  std::string space, table;  // names of types
  unsigned long size_of_space = 0, size_of_both = 0;
  bool right = false;
};

// Not inline: each unit has a copy of its own. All it calls may be shared.
static abi_answers abi_of_this_unit() {
  cpu space(2);
  map<u32, u32, cpu> t(space);
  std::vector<u32> keys(10'000), out(10'000);
  for (u32 i = 0; i < keys.size(); ++i) keys[i] = i * 7;
  const bool all_in = t.insert(space, keys, keys).inserted == keys.size();
  t.find(space, keys, out);
  return {typeid(cpu).name(), typeid(t).name(), sizeof(cpu), sizeof(space_and_table), all_in && out == keys};
}

// How many of the keys first, first + 1, ... a table that another unit may have made takes, and then finds.
static u64 put_into(space_and_table& made, u32 first, u32 n) {
  std::vector<u32> keys(n), out(n);
  for (u32 i = 0; i < n; ++i) keys[i] = first + i;
  const u64 inserted = made.table.insert(made.space, keys, keys).inserted;
  made.table.find(made.space, keys, out);
  return out == keys && made.last == 0x600df00d ? inserted : 0;
}

}  // namespace tilehash
