// SPDX-License-Identifier: Apache-2.0
#include "emulated.hpp"

#include <contract/faulty.hpp>

namespace tilehash::contract {
// It runs out of memory when the test says so.
struct habits_space : emulated {
  explicit habits_space(faulty_host& memory) : emulated({.seed = 1, .preempt = true}), memory_(memory) {}
  void* allocate(u64 bytes) {
    try {
      memory_.deallocate(memory_.allocate(1, 1), 1, 1);
    } catch (const std::bad_alloc&) {
      throw out_of_memory("tilehash: the emulated GPU was told to have no memory");
    }
    return emulated::allocate(bytes);
  }

 private:
  faulty_host& memory_;
};
using habits_memory = faulty_host;
}  // namespace tilehash::contract

#include <contract/habits.hpp>
