// SPDX-License-Identifier: Apache-2.0
// Points of a grid with colours in a table, and many questions about them: both probe sequences of a Robin
// Hood table, and `tiled`. sparse_image and sparse_voxels are about what comes of it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "../png.hpp"

namespace sparse_tables {

using key = std::uint32_t;
using count = std::uint64_t;
using tilehash_examples::pixel;

struct grid_data {
  std::vector<key> keys{};
  std::vector<pixel> colours{};
  std::vector<key> questions{};
  pixel background = 0;  // the answer where a key is not in the table
  double load_factor = 0.85;
  unsigned repeat = 3;  // runs, of which the median is reported
};

struct answered {
  std::string table;
  double building = 0, asking = 0;  // seconds
  count refused = 0;                // keys
  std::vector<pixel> answers;
  // Robin Hood tables on the CPU: the key of each slot, and the maximum age of each bucket's keys.
  struct slot {
    key stands;
    bool taken;
  };
  std::vector<slot> slots;
  std::vector<std::uint32_t> max_ages;
};

struct machine {
  std::string name;
  std::vector<answered> tables;
};

machine ask_on_cpu(const grid_data& data);
// Without a name where there is no GPU, or the program is built without CUDA.
machine ask_on_gpu(const grid_data& data);

// Prints the rates of one order of the keys, and returns how many keys were refused or answers were wrong.
inline count tell(const machine& m, const char* layout, const grid_data& data,
                  const std::vector<pixel>& right) {
  count wrong = 0;
  for (const answered& t : m.tables) {
    count here = t.refused;
    for (std::size_t i = 0; i < right.size(); ++i) here += t.answers[i] != right[i];
    std::printf("%-13s %-22s %9.1f %9.1f  %s\n", layout, t.table.c_str(),
                1e-6 * static_cast<double>(data.keys.size()) / t.building,
                1e-6 * static_cast<double>(data.questions.size()) / t.asking, m.name.c_str());
    if (here != 0) std::printf("WRONG: %llu of %s\n", static_cast<unsigned long long>(here), t.table.c_str());
    wrong += here;
  }
  return wrong;
}
inline void tell_heading() {
  std::printf("%-13s %-22s %9s %9s\n", "keys", "million a second", "stored", "asked for");
}

}  // namespace sparse_tables
