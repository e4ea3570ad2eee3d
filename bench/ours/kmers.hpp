// SPDX-License-Identifier: Apache-2.0
// K-mers of a file counted by the library's map.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "spent.hpp"

namespace tilehash::bench {

struct counted_kmers {
  double reading = 0;  // seconds, of the wall clock
  app::spent all{};    // with reading
  std::uint64_t distinct = 0, refused = 0;
  std::vector<std::uint32_t> counts{};  // of the keys asked for
};

// From the file to the counts.
counted_kmers count_kmers(const std::string& path, unsigned k, int threads,
                          std::span<const std::uint64_t> asked);

}  // namespace tilehash::bench
