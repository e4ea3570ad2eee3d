// SPDX-License-Identifier: Apache-2.0
// On the host, so that no GPU's sort is compiled for questions that are asked in order.
#pragma once

#include <tilehash/core/config.hpp>

#include <vector>

namespace tilehash::bench {

void sort_keys(std::vector<u32>& keys);
void sort_keys(std::vector<u64>& keys);

}  // namespace tilehash::bench
