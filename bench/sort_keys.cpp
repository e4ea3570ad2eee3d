// SPDX-License-Identifier: Apache-2.0
#include "sort_keys.hpp"

#include <tilehash/space/cpu_algorithms.hpp>

namespace tilehash::bench {

void sort_keys(std::vector<u32>& keys) { cpu().sort(keys.data(), keys.size()); }
void sort_keys(std::vector<u64>& keys) { cpu().sort(keys.data(), keys.size()); }

}  // namespace tilehash::bench
