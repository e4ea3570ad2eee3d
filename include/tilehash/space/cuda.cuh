// SPDX-License-Identifier: Apache-2.0
// The space of one GPU: device memory from a pool of its own, work on one stream, tiles of a warp's lanes.
#pragma once

#include <cuda_runtime.h>

#include <chrono>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include <tilehash/core/config.hpp>
#include <tilehash/core/error.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/cuda_errors.cuh>
#include <tilehash/space/cuda_kernels.cuh>
#include <tilehash/space/cuda_ranges.cuh>
#include <tilehash/space/forward.hpp>
#include <tilehash/space/memory_resource.hpp>
#include <tilehash/space/space_like.hpp>
#include <tilehash/space/tuning.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

/// Work goes to the given stream; calls that return something to the host synchronize with it. One host
/// thread at a time may use a space; spaces on different streams run concurrently. The space's GPU is the
/// current one during each call.
class cuda {
 public:
  static constexpr bool has_lanes = true;    ///< work is scheduled as warps of lanes
  static constexpr int current_device = -1;  ///< the GPU that is current when the space is made

  /// Works on the GPU `device`, to which the stream must belong; the caller still owns the stream. `resource`
  /// is any object with the functions of CCCL's or RMM's memory resources for a GPU, or a pointer to one. By
  /// default memory comes from the space's own pool. Throws invalid_argument for a null pointer, cuda_error.
  explicit cuda(cudaStream_t stream = nullptr, device_resource_ref resource = {}, int device = current_device)
      : stream_(stream), device_(device), resource_(resource) {
    int current = 0;
    detail::check_cuda(cudaGetDevice(&current), "finding a GPU");
    if (device_ == current_device) device_ = current;
    const detail::device_guard on(device_);
    if (device_ != current) detail::check_cuda(cudaSetDevice(device_), "choosing a GPU");
    facts_ = {fact(cudaDevAttrL2CacheSize, "asking for the size of the L2 cache"),
              fact(cudaDevAttrMaxSharedMemoryPerBlockOptin, "asking for the shared memory of a block"),
              fact(cudaDevAttrMultiProcessorCount, "asking for the number of multiprocessors")};
    if (resource_) return;
    cudaMemPoolProps props{};
    props.allocType = cudaMemAllocationTypePinned;
    props.location = {cudaMemLocationTypeDevice, device_};
    detail::check_cuda(cudaMemPoolCreate(&pool_, &props), "creating a memory pool");
    u64 keep = ~u64(0);  // return memory to the driver when the space ends, not at every synchronization
    cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep);
  }
  cuda(const cuda&) = delete;
  cuda& operator=(const cuda&) = delete;
  ~cuda() {
    if (staging_ != nullptr) cudaFreeHost(staging_);
    const detail::device_guard on(device_);
    cudaStreamSynchronize(stream_);
    ranges_.give_up_kept();
    if (pool_ != nullptr) cudaMemPoolDestroy(pool_);
  }

  /// Returns whether this process can use a GPU.
  static bool available() {
    int n = 0;
    const bool yes = cudaGetDeviceCount(&n) == cudaSuccess && n > 0;
    cudaGetLastError();
    return yes;
  }
  /// The GPU's name. Throws cuda_error.
  std::string name() const {
    cudaDeviceProp p;
    detail::check_cuda(cudaGetDeviceProperties(&p, device_), "reading the GPU's name");
    return p.name;
  }
  std::string where() const { return "GPU " + std::to_string(device_); }  ///< for messages
  int device() const { return device_; }                                  ///< the GPU's number
  cudaStream_t stream() const { return stream_; }                         ///< the stream of its work

  // ---- memory ----
  /// Aligned to 256 bytes, stream-ordered. Throws out_of_memory, cuda_error.
  void* allocate(u64 bytes) {
    const detail::device_guard on(device_);
    if (resource_) return allocate_from_resource(bytes);
    void* p = nullptr;
    cudaError_t e = cudaMallocFromPoolAsync(&p, bytes, pool_, stream_);
    if (e == cudaErrorMemoryAllocation && cudaStreamSynchronize(stream_) == cudaSuccess &&
        ranges_.give_up_kept())
      e = cudaMallocFromPoolAsync(&p, bytes, pool_, stream_);
    if (e == cudaErrorMemoryAllocation) refuse_memory(bytes);
    detail::check_cuda(e, "allocating device memory");
    return p;
  }
  /// The same, but resize() can grow and shrink it if the resource can. Without a resource it can if the memory
  /// has at least 64 MiB and the driver supports virtual memory.
  void* allocate_resizable(u64 bytes) {
    if (resource_ || bytes < detail::device_ranges::least_bytes) return allocate(bytes);
    const detail::device_guard on(device_);
    void* const p = ranges_.take(device_, bytes);
    return p != nullptr ? p : allocate(bytes);
  }
  /// Can resize() change this memory to `new_bytes`?
  bool resizes(const void* p, u64 /*bytes*/, u64 new_bytes) const {
    return resource_ ? resource_.resizes()
                     : new_bytes >= detail::device_ranges::least_bytes && ranges_.has(p);
  }
  /// Changes the size and keeps the contents. Without a resource the address stays, and the call
  /// synchronizes. Throws out_of_memory; nothing has changed then.
  void* resize(void* p, u64 bytes, u64 new_bytes) {
    const detail::device_guard on(device_);
    if (resource_)
      return of_resource([&] { return resource_.resize(p, bytes, new_bytes, alignment, stream_); });
    synchronize();
    if (ranges_.resize(p, new_bytes)) return p;
    // Memory that the pool and ranges_ keep unused may be enough.
    ranges_.give_up_kept();
    cudaMemPoolTrimTo(pool_, 0);
    if (!ranges_.resize(p, new_bytes)) refuse_memory(new_bytes - bytes);
    return p;
  }
  /// Frees memory from allocate(bytes), stream-ordered.
  void deallocate(void* p, u64 bytes) noexcept {
    const detail::device_guard on(device_);
    if (resource_)
      resource_.deallocate(p, bytes, alignment, stream_);
    else if (ranges_.has(p)) {
      if (!ranges_.give_back(p) && cudaStreamSynchronize(stream_) == cudaSuccess) ranges_.give_up_kept();
    } else
      cudaFreeAsync(p, stream_);
  }
  /// Copies host memory to the GPU. Synchronizes. Throws cuda_error.
  void copy_from_host(void* to, const void* from, u64 bytes) {
    copy_and_wait(to, from, bytes, cudaMemcpyHostToDevice);
  }
  /// Copies GPU memory to the host. Synchronizes. Throws cuda_error.
  void copy_to_host(void* to, const void* from, u64 bytes) {
    void* const by = bytes <= staging_bytes ? staging() : nullptr;
    copy_and_wait(by != nullptr ? by : to, from, bytes, cudaMemcpyDeviceToHost);
    if (by != nullptr) std::memcpy(to, by, bytes);
  }
  /// The same for const verbs, which other threads may call through this space. Does not use the page-locked
  /// memory.
  void read_concurrently(void* to, const void* from, u64 bytes) const {
    const detail::device_guard on(device_);
    detail::check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_),
                       "copying between host and device");
    detail::check_cuda(cudaStreamSynchronize(stream_), "a kernel");
  }
  /// Page-locked host memory of 256 bytes, which kernels of this stream may write to and the host reads after
  /// synchronize(). Null if there is none.
  u64* host_words() {
    char* const at = static_cast<char*>(staging());
    return at == nullptr ? nullptr : reinterpret_cast<u64*>(at + staging_bytes);
  }
  /// Waits until a kernel of this stream has written to a word of host_words() that was 0. The kernel ends later.
  /// At the latest it returns when all work of the stream is done. Throws cuda_error.
  void wait_for_word(const u64* word) {
    using clock = std::chrono::steady_clock;
    const auto start = clock::now();
    do {
      for (u32 tries = 0; tries < detail::tuning::gpu::word_reads; ++tries) {
        if (__atomic_load_n(word, __ATOMIC_ACQUIRE) != 0) return;
      }
    } while (clock::now() - start < std::chrono::microseconds(detail::tuning::gpu::word_microseconds));
    synchronize();
  }
  /// Copies within GPU memory, stream-ordered. Does not synchronize. Throws cuda_error.
  void copy(void* to, const void* from, u64 bytes) {
    const detail::device_guard on(device_);
    detail::check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_),
                       "copying device memory");
  }

  /// Can this space work on memory that the other one allocated?
  bool same_memory(const cuda& other) const { return device_ == other.device_; }

  /// Throws invalid_argument when the GPU cannot read the `n` elements at `p`; `what` names them.
  void check_pointer(const void* p, u64 n, const char* what) const {
    if (n == 0 || (p != nullptr && checked_.has(p))) return;
    if (p == nullptr) detail::refuse(std::string(what) + " are at a null pointer");
    cudaPointerAttributes a{};
    if (cudaPointerGetAttributes(&a, p) != cudaSuccess) cudaGetLastError();
    if (a.type == cudaMemoryTypeUnregistered)
      detail::refuse(
          std::string(what) +
          " are in host memory, but the table is on the GPU; copy them to a buffer<T, cuda> first");
    if (a.type == cudaMemoryTypeDevice) checked_.add(p);
  }
  /// \overload
  template <class T>
  void check_pointer(std::span<T> span, const char* what) const {
    check_pointer(span.data(), span.size(), what);
  }
  void check_pointer(const void* p, const char* what) const {  ///< without an element count
    check_pointer(p, p != nullptr, what);
  }

  // ---- order, where several spaces work on the same memory (space/foreign_stream.hpp) ----
  /// Later work of this space starts after all work that `other` was given so far.
  void wait_for(const cuda& other) const { detail::check_cuda(order(other, *this), "ordering two streams"); }
  /// Later work of `other` starts after all work that this space was given so far.
  void hold_back(const cuda& other) const noexcept {
    if (order(*this, other) == cudaSuccess) return;
    cudaGetLastError();
    cudaStreamSynchronize(stream_);
  }
  /// Is the work that the stream is given captured into a graph?
  bool is_capturing() const noexcept {
#if !defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
    if (stream_ == nullptr) return false;  // the default stream of all threads cannot be captured
#endif
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    if (cudaStreamIsCapturing(stream_, &status) != cudaSuccess) cudaGetLastError();
    return status == cudaStreamCaptureStatusActive;
  }
  /// Switches to another stream of the same GPU; returns the previous one.
  cudaStream_t exchange_stream(cudaStream_t stream) noexcept { return std::exchange(stream_, stream); }

  // ---- work ----
  /// Calls body(lane) on whole blocks of lanes that cover [0, n); lane.index() may be n or more.
  template <class Body>
  void for_each_lane(u64 n, Body body) {
    if (n == 0) return;
    const detail::device_guard on(device_);
    launch(detail::run_lanes<Body>, grid(n), detail::cuda_block_size, 0, body);
  }
  /// Calls body(i) for every i of [0, n), in any order. Does not synchronize.
  template <class Body>
  void for_each(u64 n, Body body) {
    if (n == 0) return;
    const detail::device_guard on(device_);
    launch(detail::run_each<Body>, grid(n), detail::cuda_block_size, 0, body, n);
  }
  /// Bytes of the cache (L2) that all blocks share.
  u64 cache_bytes() const { return facts_.cache_bytes; }
  /// Bytes of shared memory that one block can have.
  u64 largest_scratch() const { return facts_.largest_scratch; }
  /// Blocks that run concurrently when each takes a multiprocessor's shared memory.
  u64 large_blocks_at_once() const { return facts_.multiprocessors; }
  /// Calls body(block) for blocks of `threads` threads (at most Body::block_size, if defined) that share
  /// `scratch_bytes` of shared memory.
  template <class Body>
  void for_each_block(u64 blocks, u32 threads, u64 scratch_bytes, Body body) {
    if (blocks == 0) return;
    const detail::device_guard on(device_);
    if (scratch_bytes > 48 * 1024) scratch_permits_.add<Body>(facts_.largest_scratch);
    launch(detail::run_blocks<Body>, static_cast<u32>(blocks), threads, scratch_bytes, body);
  }

  // ---- algorithms ----
  // All but fill() use CUB, which takes longer to compile than all the rest. They are defined in
  // space/cuda_algorithms.cuh, which designs that sort or scan include.
  /// Writes `value` to all n elements.
  template <class T>
  void fill(T* data, u64 n, T value) {
    if constexpr (sizeof(T) == 1) {
      const detail::device_guard on(device_);
      detail::check_cuda(cudaMemsetAsync(data, static_cast<unsigned char>(value), n, stream_),
                         "filling device memory");
    } else {
      for_each(n, detail::fill_body<T>{data, value});
    }
  }
  /// to[i] = from[0] + ... + from[i - 1]; `to` may be `from`.
  template <class T>
  void exclusive_scan(const T* from, T* to, u64 n);
  /// Ascending by the keys' low `bits` bits, each key with its value. Temporary memory: a copy of both.
  template <class Key, class Value>
  void sort_pairs(Key* keys, Value* values, u64 n, u32 bits);
  /// The same from one pair of arrays to another, which must be a different one. Needs no temporary copy.
  template <class Key, class Value>
  void sort_pairs(const Key* keys, const Value* values, Key* sorted_keys, Value* sorted_values, u64 n,
                  u32 bits);
  /// Ascending. Temporary memory: a copy of the array.
  template <class T>
  void sort(T* data, u64 n);

  // ---- time ----
  /// Waits for all work of this space's stream.
  void synchronize() {
    const detail::device_guard on(device_);
    detail::check_cuda(cudaStreamSynchronize(stream_), "a kernel");
  }
  /// Seconds of the work that f() puts on the stream, measured with events.
  template <class F>
  double time(F f) {
    const detail::device_guard on(device_);
    event start, stop;
    detail::check_cuda(cudaEventRecord(start.handle, stream_), "recording an event");
    f();
    detail::check_cuda(cudaEventRecord(stop.handle, stream_), "recording an event");
    detail::check_cuda(cudaEventSynchronize(stop.handle), "a kernel");
    float ms = 0;
    detail::check_cuda(cudaEventElapsedTime(&ms, start.handle, stop.handle), "reading an event");
    return ms / 1e3;
  }

 private:
  using i64 = long long;
  struct event {
    cudaEvent_t handle = nullptr;
    event() { detail::check_cuda(cudaEventCreate(&handle), "creating an event"); }
    event(const event&) = delete;
    event& operator=(const event&) = delete;
    ~event() { cudaEventDestroy(handle); }
  };

  // Small calls need each of these facts several times.
  struct gpu_facts {
    u64 cache_bytes, largest_scratch, multiprocessors;
  };
  u64 fact(cudaDeviceAttr which, const char* what) const {
    int value = 0;
    detail::check_cuda(cudaDeviceGetAttribute(&value, which, device_), what);
    return static_cast<u64>(value);
  }

  static constexpr u64 alignment = 256;  // as cudaMalloc's

  // Resources report lack of memory by various exceptions. They report a failed GPU in the same way, which
  // must not be taken for lack of memory.
  void* allocate_from_resource(u64 bytes) {
    return of_resource([&] { return resource_.allocate(bytes, alignment, stream_); });
  }
  template <class Ask>
  static void* of_resource(const Ask& ask) {
    try {
      return ask();
    } catch (const out_of_memory&) {
      const cudaError_t e = cudaGetLastError();
      if (e != cudaErrorMemoryAllocation) detail::check_cuda(e, "allocating device memory");
      throw;
    }
  }
  [[noreturn]] static void refuse_memory(u64 bytes) {
    cudaGetLastError();
    size_t free = 0, total = 0;
    cudaMemGetInfo(&free, &total);
    throw out_of_memory("tilehash: the GPU has no " + std::to_string(bytes) + " bytes free (" +
                        std::to_string(free) + " of " + std::to_string(total) + " are); use a smaller table");
  }
  static cudaError_t order(const cuda& first, const cuda& second) noexcept {
    const detail::device_guard on(first.device_);
    cudaEvent_t done = nullptr;
    cudaError_t e = cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
    if (e != cudaSuccess) return e;
    e = cudaEventRecord(done, first.stream_);
    if (e == cudaSuccess) e = cudaStreamWaitEvent(second.stream_, done, 0);
    cudaEventDestroy(done);  // takes effect after the event
    return e;
  }
  template <class Kernel, class... Arguments>
  void launch(Kernel kernel, u32 blocks, u32 threads, u64 scratch_bytes, const Arguments&... arguments) {
    detail::check_cuda(detail::launch(stream_, kernel, blocks, threads, scratch_bytes, arguments...),
                       "starting a kernel");
  }
  static u32 grid(u64 n) {
    return static_cast<u32>((n + detail::cuda_block_size - 1) / detail::cuda_block_size);
  }
  // Page-locked host memory, which makes copies of a few words to the host twice as fast. Null if there is
  // none.
  static constexpr u64 staging_bytes = detail::tuning::gpu::staging_bytes,
                       word_bytes = detail::tuning::gpu::host_word_bytes;
  void* staging() {
    if (staging_ != nullptr) return staging_;
    const detail::device_guard on(device_);
    if (cudaMallocHost(&staging_, staging_bytes + word_bytes) == cudaSuccess) {
      std::memset(staging_, 0, staging_bytes + word_bytes);
    } else {
      cudaGetLastError();
      staging_ = nullptr;
    }
    return staging_;
  }
  void copy_and_wait(void* to, const void* from, u64 bytes, cudaMemcpyKind kind) {
    const detail::device_guard on(device_);
    detail::check_cuda(cudaMemcpyAsync(to, from, bytes, kind, stream_), "copying between host and device");
    synchronize();
  }
  template <class Call>
  void with_scratch(Call call);

  cudaStream_t stream_;
  void* staging_ = nullptr;
  int device_;
  gpu_facts facts_{};
  detail::scratch_permits scratch_permits_;
  mutable detail::checked_pointers checked_;
  device_resource_ref resource_;
  cudaMemPool_t pool_ = nullptr;  // if there is no resource
  detail::device_ranges ranges_;  // resizable memory, if there is no resource
};

static_assert(space_like<cuda>);

TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
