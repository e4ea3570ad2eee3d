// SPDX-License-Identifier: Apache-2.0
// Growth by estimate under the GPU's schedule.
#include <contract/faulty.hpp>

#include <new>

#include "emulated.hpp"

namespace tilehash::contract {

// A GPU whose memory can run out.
class faulty_emulated : public emulated {
 public:
  struct counters : faulty {
    using faulty::give, faulty::take;
  };
  explicit faulty_emulated(counters& memory) : memory_(memory) {}
  void* allocate(u64 bytes) {
    take(bytes);
    return emulated::allocate(bytes);
  }
  void deallocate(void* p, u64 bytes) noexcept {
    memory_.give(bytes);
    emulated::deallocate(p, bytes);
  }
  void* resize(void* p, u64 bytes, u64 new_bytes) {
    take(new_bytes);
    memory_.give(bytes);
    return emulated::resize(p, bytes, new_bytes);
  }

 private:
  void take(u64 bytes) {
    try {
      memory_.take(bytes);
    } catch (const std::bad_alloc&) {
      throw out_of_memory("no memory is left");
    }
  }
  counters& memory_;
};
struct estimate_ground {
  faulty_emulated::counters memory;
  faulty_emulated space{memory};
};

}  // namespace tilehash::contract

#define TILEHASH_ONE_ESTIMATED TILEHASH_FEW_TYPES
#include <contract/estimate.hpp>
