// SPDX-License-Identifier: Apache-2.0
// Compiled without AVX2 and without oneTBB, whatever the rest of the program has.
#include "abi_unit.hpp"

#if defined(__AVX2__) || TILEHASH_HAS_TBB
#error "this unit is to be compiled with other flags"
#endif

namespace tilehash {

abi_answers abi_of_other_unit();
abi_answers abi_of_other_unit() { return abi_of_this_unit(); }
u64 put_in_by_other_unit(space_and_table& made, unsigned first, unsigned n);
u64 put_in_by_other_unit(space_and_table& made, unsigned first, unsigned n) {
  return put_into(made, first, n);
}
space_and_table* made_by_other_unit();
space_and_table* made_by_other_unit() { return new space_and_table; }
void ended_by_other_unit(space_and_table* made);
void ended_by_other_unit(space_and_table* made) { delete made; }

}  // namespace tilehash
