// What each unit of abi_test.cpp does, compiled with flags of its own.
#pragma once

#include <string>
#include <typeinfo>
#include <vector>

#include <tilehash/map.hpp>
#include <tilehash/space/cpu.hpp>

namespace tilehash {

struct abi_answers {
  std::string space, table;  // names of types
  unsigned long size_of_space = 0;
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
  return {typeid(cpu).name(), typeid(t).name(), sizeof(cpu), all_in && out == keys};
}

}  // namespace tilehash
