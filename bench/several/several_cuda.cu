// SPDX-License-Identifier: Apache-2.0
// Times tables over the GPUs of one process: by copies between them, and by NCCL where it is found.
#include <several/several_bench.hpp>

#include <atomic>
#include <thread>

#include <tilehash/several/gpus.cuh>
#include <tilehash/several/nccl.cuh>

namespace tilehash::bench {
namespace {

bool measure_gpus(const several_options& options) {
  std::vector<int> devices;
  for (u32 r = 0; r < options.ranks; ++r) devices.push_back(static_cast<int>(r % options.gpus));
  several::gpus all(devices, several::thread_ranks::usual_limit, options.windows != 0);
  std::atomic<bool> right = true;
  all.run([&](cuda& space, several::gpu_rank& exchange) {
    timed<several::gpu_rank> ranks(exchange);
    several_bench bench(space, ranks, options, options.windows != 0 ? "gpus" : "gpus, copies");
    bench.run();
    if (!bench.right()) right = false;
  });
  return right;
}

#ifdef TILEHASH_BENCH_NCCL
bool measure_nccl(const several_options& options) {
  std::vector<ncclComm_t> communicators(options.ranks);
  if (ncclCommInitAll(communicators.data(), static_cast<int>(options.ranks), nullptr) != ncclSuccess)
    return false;
  std::atomic<bool> right = true;
  std::vector<std::thread> threads;
  for (u32 r = 0; r < options.ranks; ++r)
    threads.emplace_back([&, r] {
      try {
        cudaSetDevice(static_cast<int>(r));
        cudaStream_t stream = nullptr;
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        {
          cuda space(stream, {}, static_cast<int>(r));
          several::nccl_ranks exchange(communicators[r], space);
          timed<several::nccl_ranks> ranks(exchange);
          several_bench bench(space, ranks, options, "nccl");
          bench.run();
          if (!bench.right()) right = false;
        }
        cudaStreamDestroy(stream);
      } catch (const std::exception& e) {
        std::fprintf(stderr, "rank %u: %s\n", r, e.what());
        right = false;
      }
    });
  for (std::thread& t : threads) t.join();
  for (const ncclComm_t c : communicators) ncclCommDestroy(c);
  return right;
}
#else
bool measure_nccl(const several_options& /*options*/) {
  std::printf("# NCCL was not found, so NCCL is left out\n");
  return true;
}
#endif

int run(int argc, char** argv) {
  several_options options(argc, argv, u64(1) << 26);
  print_heading(options);
  int devices = 0;
  cudaGetDeviceCount(&devices);
  options.gpus = static_cast<u32>(devices);
  const u32 most = options.shares_gpus ? options.ranks : std::min(options.ranks, options.gpus);
  bool right = true;
  for (options.ranks = 1; options.ranks <= most; options.ranks *= 2) {
    right = measure_gpus(options) && right;
    if (options.ranks != 1 && !options.shares_gpus) right = measure_nccl(options) && right;
  }
  return right ? 0 : 1;
}

}  // namespace
}  // namespace tilehash::bench

int main(int argc, char** argv) {
  try {
    return tilehash::bench::run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "tilehash_several: %s\n", e.what());
    return 1;
  }
}
