// SPDX-License-Identifier: Apache-2.0
// Where a round of the cpu space takes place: two space objects, with the host's memory or with one that can
// run out when asked to.
#pragma once

#include <optional>

#include <contract/faulty.hpp>
#include <contract/random.hpp>
#include <tilehash/space/cpu.hpp>

#if TILEHASH_HAS_TBB
#include <tbb/global_control.h>
#endif

namespace tilehash::soak {

class test_space {
 public:
  using space_type = cpu;

  test_space(contract::random_numbers& dice, bool faulty) {
#if TILEHASH_HAS_TBB  // more threads than there may be processors, so that they stop anywhere
    static const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, 8);
#endif
    constexpr int threads[] = {1, 2, 4, 7};
    for (auto& space : spaces_) {
      const int n = threads[dice.below(4)];
      faulty ? space.emplace(n, memory) : space.emplace(n);
    }
  }
  cpu& home() { return *spaces_[0]; }
  cpu& other() { return *spaces_[1]; }

  contract::faulty_host memory;

 private:
  std::optional<cpu> spaces_[2];
};

}  // namespace tilehash::soak
