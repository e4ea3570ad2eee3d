#include <contract/faulty.cuh>
#include <contract/growth_memory.hpp>
#include <tilehash/space/cuda.cuh>

namespace tilehash::contract {
using dynamic_space = counted<cuda>;
struct dynamic_faulty : ground<cuda, faulty_device> {
  dynamic_faulty() : ground(cudaStream_t()) {}
};
}  // namespace tilehash::contract

#include <contract/dynamic.hpp>
