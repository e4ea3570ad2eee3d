// The same store on a GPU.
#include <tilehash/space/cuda.cuh>

#include "store.hpp"

namespace kv_store {

count run_on_gpu(const settings& s) {
  if (!tilehash::cuda::available()) {
    std::puts("no GPU here");
    return 0;
  }
  tilehash::cuda space;
  return run(space, s);
}

}  // namespace kv_store
