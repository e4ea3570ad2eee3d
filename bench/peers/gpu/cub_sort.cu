// SPDX-License-Identifier: Apache-2.0
// CUB's radix sort of the pairs by their keys, as the least that an index by sorting costs. It answers no lookups here.
#include <tilehash/space/cuda.cuh>

#include <cub/device/device_radix_sort.cuh>

#include <cstddef>
#include <memory>
#include <string>

#include "gpu_table.hpp"

namespace tilehash::bench {
namespace {

class cub_sort final : public gpu_table {
 public:
  cub_sort(u64 n, cudaStream_t stream)
      : n_(n), stream_(stream), space_(stream), keys_(space_, n), values_(space_, n) {
    std::size_t bytes = 0;
    sort(nullptr, bytes, {});
    memory_ = buffer<u8, cuda>(space_, bytes);
  }

  std::string name() const override { return "CUB radix sort"; }
  bool finds() const override { return false; }
  bool erases() const override { return false; }
  bool keeps_items() const override { return false; }
  void clear() override {}
  bool insert(const items_on_gpu& items, u64 /*first*/, u64 /*last*/) override {
    std::size_t bytes = memory_.size();
    sort(memory_.data(), bytes, items);
    return true;
  }
  void find(const u32* /*keys*/, u64 /*n*/, u32* /*values*/) override {}
  void erase(const u32* /*keys*/, u64 /*n*/) override {}

 private:
  void sort(void* memory, std::size_t& bytes, const items_on_gpu& items) {
    detail::check_cuda(cub::DeviceRadixSort::SortPairs(memory, bytes, items.keys, keys_.data(), items.values,
                                                       values_.data(), n_, 0, 32, stream_),
                       "a sort");
  }

  u64 n_;
  cudaStream_t stream_;
  cuda space_;
  buffer<u32, cuda> keys_, values_;
  buffer<u8, cuda> memory_;
};

}  // namespace

std::unique_ptr<gpu_table> make_cub_sort(u64 n, cudaStream_t stream) {
  return std::make_unique<cub_sort>(n, stream);
}

}  // namespace tilehash::bench
