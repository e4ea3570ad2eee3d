// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include <tilehash/space/cpu.hpp>

namespace tilehash::contract {
struct key_space : cpu {
  key_space() : cpu(2) {}
};
template <class Body>
void in_own_loop(key_space& /*space*/, u64 n, const Body& body) {
  const auto half = [&](u64 from, u64 to) {
    for (u64 i = from; i < to; ++i) body(i);
  };
  std::thread first(half, 0, n / 2);
  half(n / 2, n);
  first.join();
}
}  // namespace tilehash::contract

#include <contract/any_key.hpp>
