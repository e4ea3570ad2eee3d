// SPDX-License-Identifier: Apache-2.0
// cuCollections' static_map with its default probing. It inserts and finds by the asynchronous calls, as these do least.
#include <cuco/static_map.cuh>

#include "gpu_table.hpp"

namespace tilehash::bench {
namespace {

class cuco_table final : public gpu_table {
  using map = cuco::static_map<u32, u32>;
  using pair = cuco::pair<u32, u32>;
  static_assert(sizeof(pair) == sizeof(word_pair));

 public:
  cuco_table(u64 slots, cudaStream_t stream)
      : map_(slots, cuco::empty_key<u32>{empty_key}, cuco::empty_value<u32>{absent_value},
             cuco::erased_key<u32>{erased_key}),
        stream_(stream) {}

  std::string name() const override { return "cuCollections static_map"; }
  void clear() override { map_.clear_async(stream_); }
  bool insert(const items_on_gpu& items, u64 first, u64 last) override {
    const auto* pairs = reinterpret_cast<const pair*>(items.pairs);
    map_.insert_async(pairs + first, pairs + last, stream_);
    return true;
  }
  void find(const u32* keys, u64 n, u32* values) override {
    map_.find_async(keys, keys + n, values, stream_);
  }
  void erase(const u32* keys, u64 n) override { map_.erase_async(keys, keys + n, stream_); }

 private:
  map map_;
  cuda::stream_ref stream_;
};

}  // namespace

std::unique_ptr<gpu_table> make_cuco(u64 slots, cudaStream_t stream) {
  return std::make_unique<cuco_table>(slots, stream);
}

}  // namespace tilehash::bench
