// SPDX-License-Identifier: Apache-2.0
// Streams, CUDA graphs and kernels that change a table: the GPU code of docs/guide/streams.md and others.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "needs_gpu.cuh"

#include <tilehash/map.hpp>
#include <tilehash/set.hpp>

using map = tilehash::map<std::uint32_t, std::uint32_t, tilehash::cuda>;
using set = tilehash::set<std::uint32_t, tilehash::cuda>;

// [kernel_insert-begin]
template <class View>
__global__ void add(View view, const std::uint32_t* keys, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) view.insert(keys[i], std::uint32_t(i));
}
// [kernel_insert-end]

namespace {

bool asynchronous(cudaStream_t stream) {
  const std::vector<std::uint32_t> host_keys{17, 4, 23}, host_values{170, 40, 230};
  // [async-begin]
  tilehash::cuda space(stream);
  tilehash::buffer<std::uint32_t, tilehash::cuda> keys(space, host_keys), values(space, host_values);
  tilehash::buffer<std::uint32_t, tilehash::cuda> out(space, keys.size());
  tilehash::buffer<tilehash::insert_report, tilehash::cuda> report(space, 1);

  map table(space, 1000, {.grow = false});
  table.insert_async(space, keys.span(), values.span(), report.data());
  table.find_or_async(space, keys.span(), out.span(), 0);
  cudaStreamSynchronize(stream);  // the report and the values are in the GPU's memory now
  // [async-end]
  return report.to_host()[0].inserted == 3 && out.to_host()[0] == 170;
}

bool captured(cudaStream_t stream) {
  tilehash::cuda space(stream);
  const std::vector<std::uint32_t> host_keys{17, 4, 23};
  tilehash::buffer<std::uint32_t, tilehash::cuda> keys(space, host_keys);
  tilehash::buffer<tilehash::insert_report, tilehash::cuda> report(space, 1);
  set table(space, 1000, {.grow = false});
  // [graph-begin]
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t run = nullptr;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  table.insert_async(space, keys.span(), report.data());
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&run, graph, 0);
  cudaGraphLaunch(run, stream);  // again for other keys in the same arrays
  cudaStreamSynchronize(stream);
  // [graph-end]
  cudaGraphExecDestroy(run);
  cudaGraphDestroy(graph);
  return report.to_host()[0].inserted == 3 && table.size() == 3;
}

bool changed_by_a_kernel(cudaStream_t stream) {
  tilehash::cuda space(stream);
  const std::vector<std::uint32_t> host_keys{17, 4, 23};
  tilehash::buffer<std::uint32_t, tilehash::cuda> keys(space, host_keys);
  const int n = static_cast<int>(host_keys.size());
  // [mutable_view-begin]
  map table(space, 1000, {.grow = false});
  add<<<(n + 255) / 256, 256, 0, space.stream()>>>(table.mutable_view(space), keys.data(), n);
  // [mutable_view-end]
  return table.size() == 3;
}

int run() {
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  const bool right = asynchronous(stream) && captured(stream) && changed_by_a_kernel(stream);
  cudaStreamDestroy(stream);
  std::puts(right ? "all right" : "wrong");
  return right ? 0 : 1;
}

}  // namespace

int main() { return tilehash_examples::with_gpu(run); }
