// SPDX-License-Identifier: Apache-2.0
// The main function of every test that needs a GPU. Without one it says so and ends with 77, which ctest
// shows as skipped; with TILEHASH_REQUIRE_GPU=1 in the environment, a machine that was to have one, it fails
// instead.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (::testing::GTEST_FLAG(list_tests)) return RUN_ALL_TESTS();

  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status == cudaSuccess && devices > 0) return RUN_ALL_TESTS();

  const char* reason = status == cudaSuccess ? "no device" : cudaGetErrorString(status);
  const char* required = std::getenv("TILEHASH_REQUIRE_GPU");
  if (required != nullptr && std::strcmp(required, "1") == 0) {
    std::printf("failed: a GPU is required and none answers (%s)\n", reason);
    return 1;
  }
  std::printf("skipped: no GPU (%s)\n", reason);
  return 77;
}
