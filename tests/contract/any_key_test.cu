#include <tilehash/space/cuda.cuh>

namespace tilehash::contract {
using key_space = tilehash::cuda;
}  // namespace tilehash::contract

#include <contract/any_key.hpp>
