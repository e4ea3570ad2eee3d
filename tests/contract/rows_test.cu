#include <tilehash/space/cuda.cuh>

namespace tilehash::contract {
using rows_space = tilehash::cuda;
}  // namespace tilehash::contract

#include <contract/rows.hpp>

namespace tilehash::contract {
INSTANTIATE_TYPED_TEST_SUITE_P(cuda, rows, row_designs);
}  // namespace tilehash::contract
