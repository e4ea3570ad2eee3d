// Memory of a GPU that can be made larger and smaller where it is: ranges of virtual addresses, each as long
// as the GPU's memory, of which the front has memory behind it.
//
//   | piece | piece | piece |   addresses without memory ...
//   |<- the table ->|<----->|   a piece more when it grows
//
// Mapping is the driver's work and takes it longer than kernels take to fill what is mapped; so ranges that
// are given back are kept, with their memory, until their space ends or needs it elsewhere. The driver's
// functions are reached through the runtime: nothing more is linked.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <utility>
#include <vector>

#include <tilehash/core/config.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// The driver's functions for virtual memory; none of them where it does not have all.
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
    constexpr u32 version = 10020;  // which had all of them first
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
  static constexpr u64 least_bytes = u64(64) << 20;  // for less, pages are too large

  device_ranges() = default;
  device_ranges(const device_ranges&) = delete;
  device_ranges& operator=(const device_ranges&) = delete;
  ~device_ranges() {
    for (range& r : ranges_) end(r);
  }

  // A range with so many bytes; null where there is no memory or no such thing. A kept one, if there is one
  // that fits, or is shorter: its last work must have been given to the stream that works on it now, or be
  // over.
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
  // It is kept. False: there are many, and the caller should give them up.
  bool give_back(const void* p) {
    find(p)->kept = true;
    return static_cast<u64>(std::ranges::count_if(ranges_, &range::kept)) <= most_kept;
  }
  // More memory behind its addresses, or less; what goes must not be in use. False where there is none.
  bool resize(const void* p, u64 bytes) {
    range& r = *find(p);
    if (bytes > r.reserved) return false;
    cut(r, bytes);
    return map(r, bytes);
  }
  // Gives up what is kept, of which nothing may be in use. False if that is nothing.
  bool give_up_kept() {
    const u64 before = ranges_.size();
    for (range& r : ranges_) {
      if (r.kept) end(r);
    }
    std::erase_if(ranges_, [](const range& r) { return r.kept; });
    return ranges_.size() != before;
  }

 private:
  struct piece {
    CUmemGenericAllocationHandle handle;
    u64 bytes;
  };
  struct range {
    char* at = nullptr;
    u64 reserved = 0, mapped = 0;
    std::vector<piece> pieces;
    int device = 0;
    bool kept = false;
  };
  static constexpr u64 most_kept = 4;
  static constexpr u64 pieces_each_time = 16;  // each takes 35 us to map; what is cut off are whole ones

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
    const u64 each = whole((wanted - before) / pieces_each_time, page_);
    while (r.mapped < wanted) {
      const u64 size = std::min(std::max(each, page_), wanted - r.mapped);
      CUmemGenericAllocationHandle handle{};
      if (driver.create(&handle, size, &memory, 0) != CUDA_SUCCESS) break;
      if (driver.map(address(r, r.mapped), size, 0, handle, 0) != CUDA_SUCCESS) {
        driver.release(handle);
        break;
      }
      r.pieces.push_back({handle, size});
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
  // Whole pieces that lie beyond.
  void cut(range& r, u64 bytes) {
    const auto& driver = virtual_memory_driver::get();
    while (!r.pieces.empty() && r.mapped - r.pieces.back().bytes >= bytes) {
      const piece last = r.pieces.back();
      r.pieces.pop_back();
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
