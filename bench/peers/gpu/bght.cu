// SPDX-License-Identifier: Apache-2.0
// BGHT's bucketed cuckoo table with buckets of 16 slots, its default. It has no erase.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iterator>
#include <memory>
#include <random>
#include <type_traits>
#include <utility>
// The headers of BGHT need those above, and do not include them.
#include <bght/bcht.hpp>

#include "gpu_table.hpp"

namespace tilehash::bench {
namespace {

class bght_table final : public gpu_table {
  using table = bght::bcht<u32, u32>;
  using pair = table::value_type;
  static_assert(sizeof(pair) == sizeof(word_pair));

 public:
  bght_table(u64 slots, cudaStream_t stream) : table_(slots, empty_key, absent_value), stream_(stream) {}

  std::string name() const override { return "BGHT bcht"; }
  bool erases() const override { return false; }
  void clear() override { table_.clear(); }
  bool insert(const items_on_gpu& items, u64 first, u64 last) override {
    const auto* pairs = reinterpret_cast<const pair*>(items.pairs);
    return table_.insert(pairs + first, pairs + last, stream_);
  }
  void find(const u32* keys, u64 n, u32* values) override { table_.find(keys, keys + n, values, stream_); }
  void erase(const u32* /*keys*/, u64 /*n*/) override {}

 private:
  table table_;
  cudaStream_t stream_;
};

}  // namespace

std::unique_ptr<gpu_table> make_bght(u64 slots, cudaStream_t stream) {
  return std::make_unique<bght_table>(slots, stream);
}

}  // namespace tilehash::bench
