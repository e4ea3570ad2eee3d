// SPDX-License-Identifier: Apache-2.0
// Rates of construction and of access where keys are points of a picture or of a voxel model, or numbers
// without any order: both probe sequences of a Robin Hood table next to other tables (Garcia et al., figures
// 5, 6, 7 and 10 and the figures of the 3D data).
#pragma once

#include <string>
#include <vector>

#include "garcia/coherent_data.hpp"

namespace tilehash::bench {

struct coherent_row {
  coherent_data data;  // side 0: random numbers
  double load = 0;     // asked for
  measurement what;
};

// Those that the paper compares, of its shape and of ours, and our default; and on the CPU the fastest of the
// peers by repute.
inline const std::vector<std::string> coherent_designs{"robin_hood",
                                                       "robin_hood_random",
                                                       "robin_hood_one_slot",
                                                       "robin_hood_random_one_slot",
                                                       "cuckoo",
                                                       "two_level_cuckoo",
                                                       "tiled",
                                                       "boost::unordered_flat_map"};

// Adds the tables of one_slot.hpp, which only these experiments measure.
void register_one_slot_cpu(std::vector<subject>& all);
void register_one_slot_cuda(std::vector<subject>& all);

}  // namespace tilehash::bench
