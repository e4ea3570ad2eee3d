#include <tilehash/space/cuda.cuh>

#include <contract/faulty.cuh>

namespace tilehash::contract {
struct habits_space : cuda {
  explicit habits_space(faulty_device& memory) : cuda(nullptr, memory) {}
};
using habits_memory = faulty_device;
}  // namespace tilehash::contract

#include <contract/habits.hpp>
