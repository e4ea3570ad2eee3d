#include <tilehash/space/cuda.cuh>

namespace tilehash::contract {
using multi_space = tilehash::cuda;
}  // namespace tilehash::contract

#include <contract/multi.hpp>
