// SPDX-License-Identifier: Apache-2.0
// Maps on the oldest GPU that the library runs on (sm_75): compiled as far as machine code, and not run. The
// headers come after other headers' macros and `using namespace std`, as in after_macros.cpp.
#include <cstdint>

#include <cuda.h>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cuda/atomic>

#include "foreign_macros.hpp"

using namespace std;  // NOLINT(google-build-using-namespace)

#include <tilehash/map.hpp>
#include <tilehash/space/cuda.cuh>

using narrow_map = tilehash::map<std::uint32_t, std::uint32_t, tilehash::cuda>;
using words = std::span<const std::uint32_t>;

__global__ void look_up(narrow_map::view_type view, const std::uint32_t* keys, bool* found, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) found[i] = view.contains(keys[i]);
}

std::uint64_t use(tilehash::cuda& space, words keys, words values, std::span<std::uint32_t> out,
                  std::span<bool> found) {
  narrow_map table(space, keys.size());
  std::uint64_t refused = table.build(space, keys, values).refused;
  refused += table.insert(space, keys, values).refused;
  table.find_or(space, keys, out, 0);
  table.erase(space, keys);
  look_up<<<1, 32, 0, space.stream()>>>(table.view(), keys.data(), found.data(), 32);
  return refused;
}

// A pair that would need a word of 16 bytes, which such a GPU does not change at once, has its values apart.
using wide_map = tilehash::map<std::uint64_t, std::uint64_t, tilehash::cuda>;
template class tilehash::table<wide_map::design_type, tilehash::cuda>;
template class tilehash::verbs::owner<wide_map::design_type, tilehash::cuda>;
template class tilehash::verbs::contents<wide_map::design_type, tilehash::cuda>;
template class tilehash::verbs::lookups<wide_map::design_type, tilehash::cuda>;
template class tilehash::verbs::inserts<wide_map::design_type, tilehash::cuda>;
template class tilehash::verbs::updates<wide_map::design_type, tilehash::cuda>;
static_assert(std::same_as<wide_map::design_type, tilehash::dynamic_cuckoo<std::uint64_t, std::uint64_t>>);
using wide_words = std::span<const std::uint64_t>;

std::uint64_t use_wide(tilehash::cuda& space, wide_words keys, wide_words values,
                       std::span<std::uint64_t> out) {
  wide_map table(space, keys.size());
  const std::uint64_t refused = table.insert(space, keys, values).refused;
  table.find_or(space, keys, out, 0);
  return refused;
}
