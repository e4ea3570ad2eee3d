#include <tilehash/space/cuda.cuh>

namespace tilehash::contract {
using view_space = tilehash::cuda;
}  // namespace tilehash::contract

#include <contract/view.hpp>

namespace tilehash::contract {
INSTANTIATE_TYPED_TEST_SUITE_P(cuda, views, view_designs);
}  // namespace tilehash::contract
