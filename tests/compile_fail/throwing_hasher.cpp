// expect: a hasher must not throw; declare its operator() noexcept
// SPDX-License-Identifier: Apache-2.0
#include <tilehash/tilehash.hpp>

struct hasher : tilehash::murmur {
  using murmur::murmur;
  template <class Bits>
  unsigned long operator()(Bits key) const {
    return murmur::operator()(key);
  }
};
tilehash::table<tilehash::linear_probing<unsigned, unsigned, hasher>, tilehash::cpu>* p = nullptr;
auto n = p->size();
