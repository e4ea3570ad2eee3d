// SPDX-License-Identifier: Apache-2.0
// A table of 32-bit keys and values on a GPU, of this library or of another, as tilehash_gpu_peers measures it.
#pragma once

#include <tilehash/core/config.hpp>

#include <cuda_runtime_api.h>

#include <memory>
#include <string>

namespace tilehash::bench {

// In the GPU's memory. Libraries that take pairs get them as an array of pairs, made before the clock starts.
struct word_pair {
  u32 first, second;
};
struct items_on_gpu {
  const u32 *keys, *values;
  const word_pair* pairs;
};

inline constexpr u32 absent_value = ~u32(0);                         // the answer of a lookup that fails
inline constexpr u32 empty_key = ~u32(0), erased_key = ~u32(0) - 1;  // of tables that need such keys

class gpu_table {
 public:
  virtual ~gpu_table() = default;

  virtual std::string name() const = 0;
  virtual bool finds() const { return true; }
  virtual bool erases() const { return true; }
  virtual bool keeps_items() const { return true; }  // may be filled in two calls

  virtual void clear() = 0;  // not timed
  // The items first ... last - 1. False: not all of them were inserted.
  virtual bool insert(const items_on_gpu& items, u64 first, u64 last) = 0;
  virtual void find(const u32* keys, u64 n, u32* values) = 0;
  virtual void erase(const u32* keys, u64 n) = 0;
};

// Tables with `slots` slots for n items, which work on the stream.
std::unique_ptr<gpu_table> make_bght(u64 slots, cudaStream_t stream);
std::unique_ptr<gpu_table> make_cuco(u64 slots, cudaStream_t stream);
std::unique_ptr<gpu_table> make_cub_sort(u64 n, cudaStream_t stream);

}  // namespace tilehash::bench
