// expect: a design's usual_load_factor is at most its max_load_factor
// SPDX-License-Identifier: Apache-2.0
#include <tilehash/designs/linear_probing.hpp>
#include <tilehash/space/cpu.hpp>
#include <tilehash/table.hpp>

struct too_full : tilehash::linear_probing<unsigned, unsigned> {
  static constexpr double usual_load_factor = 1;
};
tilehash::cpu space;
tilehash::table<too_full, tilehash::cpu> map(space, 10);
