// SPDX-License-Identifier: Apache-2.0
#include <contract/faulty.hpp>
#include <contract/growth_memory.hpp>
#include <tilehash/space/cpu.hpp>

namespace tilehash::contract {
struct dynamic_space : counted<cpu> {
  dynamic_space() : counted<cpu>(2) {}
};
struct dynamic_beside {
  dynamic_space space;
};
struct dynamic_faulty : ground<cpu, faulty_host> {
  dynamic_faulty() : ground(2) {}
};
}  // namespace tilehash::contract

#include <contract/dynamic.hpp>
