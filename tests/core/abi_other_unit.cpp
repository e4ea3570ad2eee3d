// Compiled without AVX2 and without oneTBB, whatever the rest of the program has.
#include "abi_unit.hpp"

#if defined(__AVX2__) || TILEHASH_HAS_TBB
#error "this unit is to be compiled with other flags"
#endif

namespace tilehash {

abi_answers abi_of_other_unit();
abi_answers abi_of_other_unit() { return abi_of_this_unit(); }

}  // namespace tilehash
