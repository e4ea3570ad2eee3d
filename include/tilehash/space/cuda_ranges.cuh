// SPDX-License-Identifier: Apache-2.0
// GPU memory that can grow and shrink in place: ranges of virtual addresses, each as long as the GPU's
// memory. Only the front of a range is mapped to memory.
//
//   | mapped | mapped | mapped |   addresses without memory ...
//   |<-  the table  ->|<------>|   one more mapping when it grows
//
// The driver takes longer to map memory than kernels take to fill it. So returned ranges are kept, with their
// memory, until their space ends or needs the memory elsewhere. The driver's functions are found through the
// runtime, so nothing more is linked.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <utility>
#include <vector>

#include <tilehash/core/config.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// The driver's functions for virtual memory. None is used unless the driver has all of them (`complete`).
struct virtual_memory_driver {
  decltype(&::cuMemGetAllocationGranularity) granularity = nullptr;
  decltype(&::cuMemAddressReserve) reserve = nullptr;
  decltype(&::cuMemAddressFree) free = nullptr;
  decltype(&::cuMemCreate) create = nullptr;
  decltype(&::cuMemRelease) release = nullptr;
  decltype(&::cuMemMap) map = nullptr;
  decltype(&::cuMemUnmap) unmap = nullptr;
  decltype(&::cuMemSetAccess) set_access = nullptr;
  bool complete = false;

  static const virtual_memory_driver& get() {
    static const virtual_memory_driver found;
    return found;
  }

 private:
  virtual_memory_driver() {
    complete = find("cuMemGetAllocationGranularity", granularity) && find("cuMemAddressReserve", reserve) &&
               find("cuMemAddressFree", free) && find("cuMemCreate", create) &&
               find("cuMemRelease", release) && find("cuMemMap", map) && find("cuMemUnmap", unmap) &&
               find("cuMemSetAccess", set_access);
  }
  template <class Function>
  static bool find(const char* name, Function*& function) {
    void* p = nullptr;
    cudaDriverEntryPointQueryResult result{};
    constexpr u32 version = 10020;  // the first one with all of them
    if (cudaGetDriverEntryPointByVersion(name, &p, version, cudaEnableDefault, &result) != cudaSuccess ||
        result != cudaDriverEntryPointSuccess) {
      cudaGetLastError();
      return false;
    }
    function = reinterpret_cast<Function*>(p);
    return true;
  }
};

// The ranges of one space. Its GPU is the current one in every call.
class device_ranges {
 public:
  static constexpr u64 least_bytes = tuning::gpu::mapped_from;  // for less, pages are too large

  device_ranges() = default;
  device_ranges(const device_ranges&) = delete;
  device_ranges& operator=(const device_ranges&) = delete;
  ~device_ranges() {
    for (range& r : ranges_) end(r);
  }

  // Returns a range of `bytes` bytes; null without enough memory or without the driver's functions. Reuses a
  // kept range that fits or is shorter. The last work on that range must be complete, or on the stream that
  // uses it now.
  void* take(int device, u64 bytes) {
    range* best = nullptr;
    for (range& r : ranges_) {
      if (r.kept && r.mapped <= bytes + bytes / 8 && (best == nullptr || r.mapped > best->mapped)) best = &r;
    }
    if (best == nullptr || !map(*best, bytes)) best = make(device, bytes);
    if (best == nullptr) return nullptr;
    best->kept = false;
    return best->at;
  }
  bool has(const void* p) const { return find(p) != nullptr; }
  // Keeps the range. False if many are kept: the caller should then give them up.
  bool give_back(const void* p) {
    find(p)->kept = true;
    return static_cast<u64>(std::ranges::count_if(ranges_, &range::kept)) <= most_kept;
  }
  // Maps more memory, or unmaps memory, which must not be in use. False if there is not enough memory.
  bool resize(const void* p, u64 bytes) {
    range& r = *find(p);
    if (bytes > r.reserved) return false;
    cut(r, bytes);
    return map(r, bytes);
  }
  // Gives up all kept ranges, none of which may be in use. False if there are none.
  bool give_up_kept() {
    const u64 before = ranges_.size();
    for (range& r : ranges_) {
      if (r.kept) end(r);
    }
    std::erase_if(ranges_, [](const range& r) { return r.kept; });
    return ranges_.size() != before;
  }

 private:
  struct mapping {
    CUmemGenericAllocationHandle handle;
    u64 bytes;
  };
  struct range {
    char* at = nullptr;
    u64 reserved = 0, mapped = 0;
    std::vector<mapping> mappings;
    int device = 0;
    bool kept = false;
  };
  static constexpr u64 most_kept = tuning::gpu::kept_ranges;
  static constexpr u64 mappings_each_time = tuning::gpu::mappings_each_time;  // cut() removes whole ones

  const range* find(const void* p) const {
    for (const range& r : ranges_) {
      if (!r.kept && r.at == p) return &r;
    }
    return nullptr;
  }
  range* find(const void* p) { return const_cast<range*>(std::as_const(*this).find(p)); }
  static CUdeviceptr address(const range& r, u64 byte) { return reinterpret_cast<CUdeviceptr>(r.at + byte); }
  static u64 whole(u64 bytes, u64 page) { return (bytes + page - 1) / page * page; }

  range* make(int device, u64 bytes) {
    const auto& driver = virtual_memory_driver::get();
    if (!driver.complete) return nullptr;
    if (page_ == 0) {
      const CUmemAllocationProp memory = kind(device);
      size_t page = 0;
      if (driver.granularity(&page, &memory, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED) != CUDA_SUCCESS)
        return nullptr;
      page_ = page;
    }
    size_t free = 0, total = 0;
    if (cudaMemGetInfo(&free, &total) != cudaSuccess) {
      cudaGetLastError();
      return nullptr;
    }
    range r;
    r.device = device;
    r.reserved = whole(total, page_);
    CUdeviceptr at = 0;
    if (bytes > r.reserved || driver.reserve(&at, r.reserved, page_, 0, 0) != CUDA_SUCCESS) return nullptr;
    r.at = reinterpret_cast<char*>(at);
    if (!map(r, bytes)) {
      end(r);
      return nullptr;
    }
    ranges_.push_back(std::move(r));
    return &ranges_.back();
  }
  static CUmemAllocationProp kind(int device) {
    CUmemAllocationProp memory{};
    memory.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    memory.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    memory.location.id = device;
    return memory;
  }
  bool map(range& r, u64 bytes) {
    const u64 before = r.mapped, wanted = whole(bytes, page_);
    if (wanted <= before) return true;
    const auto& driver = virtual_memory_driver::get();
    const CUmemAllocationProp memory = kind(r.device);
    const u64 each = whole((wanted - before) / mappings_each_time, page_);
    while (r.mapped < wanted) {
      const u64 size = std::min(std::max(each, page_), wanted - r.mapped);
      CUmemGenericAllocationHandle handle{};
      if (driver.create(&handle, size, &memory, 0) != CUDA_SUCCESS) break;
      if (driver.map(address(r, r.mapped), size, 0, handle, 0) != CUDA_SUCCESS) {
        driver.release(handle);
        break;
      }
      r.mappings.push_back({handle, size});
      r.mapped += size;
    }
    CUmemAccessDesc access{};
    access.location = memory.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    if (r.mapped == wanted &&
        driver.set_access(address(r, before), wanted - before, &access, 1) == CUDA_SUCCESS)
      return true;
    cut(r, before);
    return false;
  }
  // Unmaps the whole mappings beyond `bytes`.
  void cut(range& r, u64 bytes) {
    const auto& driver = virtual_memory_driver::get();
    while (!r.mappings.empty() && r.mapped - r.mappings.back().bytes >= bytes) {
      const mapping last = r.mappings.back();
      r.mappings.pop_back();
      r.mapped -= last.bytes;
      driver.unmap(address(r, r.mapped), last.bytes);
      driver.release(last.handle);
    }
  }
  void end(range& r) {
    cut(r, 0);
    virtual_memory_driver::get().free(address(r, 0), r.reserved);
  }

  std::vector<range> ranges_;
  u64 page_ = 0;
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
