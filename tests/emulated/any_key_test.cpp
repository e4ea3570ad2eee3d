// SPDX-License-Identifier: Apache-2.0
#include "emulated.hpp"

namespace tilehash::contract {
struct key_space : emulated {
  key_space() : emulated({.seed = 1, .preempt = true}) {}
};
template <class Body>
void in_own_loop(key_space& space, u64 n, const Body& body) {
  space.for_each(n, body);
}
}  // namespace tilehash::contract

#include <contract/any_key.hpp>
