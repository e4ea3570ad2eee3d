// SPDX-License-Identifier: Apache-2.0
// Several GPUs of one process: a rank is a thread with a GPU. If all GPUs reach each other, a rank's kernels write to
// windows of the others (several/windows.hpp). Other parts are copied by the GPUs' copy engines. Both go over NVLink
// where there is one.
//
//   tilehash::several::gpus all({0, 1});
//   all.run([&](tilehash::cuda& space, auto& exchange) {
//     tilehash::several::distributed<tilehash::map<K, V, tilehash::cuda>, tilehash::several::gpu_rank> table(space, exchange);
//     ...
//   });
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <exception>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <tilehash/several/threads.hpp>
#include <tilehash/space/cuda.cuh>
#include <tilehash/space/cuda_algorithms.cuh>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// A pool of memory of one GPU that other GPUs can copy from, as a resource of `cuda`.
class peer_pool {
 public:
  peer_pool(int device, const std::vector<int>& peers) {
    const device_guard on(device);
    cudaMemPoolProps props{};
    props.allocType = cudaMemAllocationTypePinned;
    props.location = {cudaMemLocationTypeDevice, device};
    check_cuda(cudaMemPoolCreate(&pool_, &props), "creating a memory pool");
    u64 keep = ~u64(0);
    cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep);
    for (const int peer : peers) {
      int reaches = 0;
      if (peer == device || cudaDeviceCanAccessPeer(&reaches, peer, device) != cudaSuccess || reaches == 0)
        continue;  // such copies go through host memory
      cudaMemAccessDesc access{};
      access.location = {cudaMemLocationTypeDevice, peer};
      access.flags = cudaMemAccessFlagsProtReadWrite;
      check_cuda(cudaMemPoolSetAccess(pool_, &access, 1), "giving a GPU access to another one's memory");
    }
    cudaGetLastError();
  }
  peer_pool(const peer_pool&) = delete;
  peer_pool& operator=(const peer_pool&) = delete;
  ~peer_pool() { cudaMemPoolDestroy(pool_); }

  void* allocate(cudaStream_t stream, std::size_t bytes, std::size_t /*alignment*/) {
    void* p = nullptr;
    const cudaError_t e = cudaMallocFromPoolAsync(&p, bytes, pool_, stream);
    if (e == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      throw out_of_memory("tilehash: a GPU has no " + std::to_string(bytes) +
                          " bytes for items on their way; bring fewer items to a call");
    }
    check_cuda(e, "allocating device memory");
    return p;
  }
  void deallocate(cudaStream_t stream, void* p, std::size_t /*bytes*/, std::size_t /*alignment*/) {
    cudaFreeAsync(p, stream);
  }

 private:
  cudaMemPool_t pool_ = nullptr;
};

// Copies from another GPU by the space's stream, and within the own one by a second stream meanwhile.
class peer_copier {
 public:
  peer_copier(cuda& space, u32 rank, const std::vector<int>& devices)
      : space_(&space), rank_(rank), devices_(&devices) {
    const device_guard on(space.device());
    check_cuda(cudaStreamCreateWithFlags(&side_, cudaStreamNonBlocking), "creating a stream");
  }
  peer_copier(peer_copier&& other) noexcept
      : space_(other.space_),
        rank_(other.rank_),
        devices_(other.devices_),
        side_(std::exchange(other.side_, nullptr)) {}
  peer_copier& operator=(peer_copier&&) = delete;
  ~peer_copier() {
    if (side_ != nullptr) cudaStreamDestroy(side_);
  }
  void copy(void* to, const void* from, u64 bytes, u32 from_rank) {
    const device_guard on(space_->device());
    if (from_rank == rank_)
      check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, side_), "copying device memory");
    else
      check_cuda(
          cudaMemcpyPeerAsync(to, space_->device(), from, (*devices_)[from_rank], bytes, space_->stream()),
          "copying from another GPU");
  }
  void finish() {
    space_->synchronize();
    const device_guard on(space_->device());
    check_cuda(cudaStreamSynchronize(side_), "a copy");
  }

 private:
  cuda* space_;
  u32 rank_;
  const std::vector<int>* devices_;
  cudaStream_t side_ = nullptr;
};

// A mark in the work of one GPU's stream, for the streams of the others.
class stream_mark {
 public:
  explicit stream_mark(int device) {
    const device_guard on(device);
    check_cuda(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "creating an event");
  }
  stream_mark(stream_mark&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  stream_mark& operator=(stream_mark&&) = delete;
  ~stream_mark() {
    if (event_ != nullptr) cudaEventDestroy(event_);
  }
  void set(cudaStream_t stream) const { check_cuda(cudaEventRecord(event_, stream), "recording an event"); }
  void hold(cudaStream_t stream) const {
    check_cuda(cudaStreamWaitEvent(stream, event_, 0), "ordering two streams");
  }

 private:
  cudaEvent_t event_ = nullptr;
};

// How the ranks of one process reach each other's memory.
struct peer_group {
  const std::vector<int>& devices;
  bool has_windows = false;
  std::vector<std::array<stream_mark, 2>> marks;  // of each rank, in turns
};

}  // namespace detail

namespace several {

/// The exchange of one GPU among `gpus`.
class gpu_rank : public thread_ranks::member<detail::peer_copier> {
  using base = thread_ranks::member<detail::peer_copier>;

 public:
  /// Use gpus::run().
  gpu_rank(thread_ranks& all, u32 rank, cuda& space, cuda& memory, const detail::peer_group& group)
      : base(all, rank, detail::peer_copier(space, rank, group.devices)),
        space_(&space),
        memory_(&memory),
        group_(&group) {}
  /// The space whose memory the other GPUs can read, on the stream of `space`.
  cuda& memory(cuda& /*space*/) { return *memory_; }
  /// Whether kernels write to the other GPUs' memory.
  bool has_windows() const { return group_->has_windows; }
  /// Later work of all GPUs starts after their earlier work. Does not wait for a GPU. Throws error if a rank left or
  /// does not answer.
  void fence() {
    const detail::device_guard on(space_->device());
    // There are two marks: a rank that is one fence ahead sets the other one.
    const u32 mark = fences_++ % 2;
    group_->marks[rank()][mark].set(space_->stream());
    meet("fence");
    for (u32 r = 0; r < size(); ++r)
      if (r != rank()) group_->marks[r][mark].hold(space_->stream());
  }

 private:
  cuda *space_, *memory_;
  const detail::peer_group* group_;
  u32 fences_ = 0;
};

/// Several GPUs of one process, each with a stream and a space.
class gpus {
 public:
  /// \param devices the GPUs' numbers, each once. (Threads that start kernels on one GPU at the same time may fail.)
  /// \param limit milliseconds after which a call gives up on a rank.
  /// \param windows whether kernels write to the other GPUs' memory, if all GPUs reach each other.
  /// \throws cuda_error; invalid_argument for no device.
  explicit gpus(std::vector<int> devices, int limit = thread_ranks::usual_limit, bool windows = true)
      : devices_(std::move(devices)),
        group_{devices_, windows, {}},
        all_(static_cast<u32>(devices_.size()), limit,
             static_cast<int>(detail::tuning::gpu::word_microseconds)) {
    for (const int device : devices_) {
      enable_peers(device);
      group_.marks.push_back({detail::stream_mark(device), detail::stream_mark(device)});
    }
    for (u32 r = 0; r < size(); ++r) ranks_.push_back(std::make_unique<one_gpu>(*this, r));
  }
  gpus(const gpus&) = delete;
  gpus& operator=(const gpus&) = delete;
  // If a rank failed, the others' kernels may still write to its memory.
  ~gpus() {
    for (const auto& rank : ranks_) cudaStreamSynchronize(rank->stream.handle);
  }
  u32 size() const { return all_.size(); }                         ///< GPUs
  cuda& space(u32 rank) { return ranks_[rank]->space; }            ///< of one GPU
  gpu_rank& exchange(u32 rank) { return ranks_[rank]->exchange; }  ///< of one GPU

  /// Calls body(space, exchange) on a thread for each GPU, and waits for all of them.
  ///
  /// \throws the exception of the lowest rank that threw. The other ranks' calls then end, and the object can
  /// be used no longer.
  template <class Body>
  void run(const Body& body) {
    std::vector<std::exception_ptr> failures(size());
    std::vector<std::thread> threads;
    for (u32 r = 0; r < size(); ++r)
      threads.emplace_back([&, r] {
        try {
          detail::check_cuda(cudaSetDevice(devices_[r]), "choosing a GPU");
          body(space(r), exchange(r));
        } catch (...) {
          failures[r] = std::current_exception();
          all_.leave(r);
        }
      });
    for (std::thread& t : threads) t.join();
    for (const std::exception_ptr& failure : failures)
      if (failure != nullptr) std::rethrow_exception(failure);
  }

 private:
  struct own_stream {
    cudaStream_t handle = nullptr;
    explicit own_stream(int device) {
      const detail::device_guard on(device);
      detail::check_cuda(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking), "creating a stream");
    }
    own_stream(const own_stream&) = delete;
    own_stream& operator=(const own_stream&) = delete;
    ~own_stream() { cudaStreamDestroy(handle); }
  };
  struct one_gpu {
    own_stream stream;
    detail::peer_pool pool;
    cuda space, memory;
    gpu_rank exchange;

    one_gpu(gpus& all, u32 rank)
        : stream(all.devices_[rank]),
          pool(all.devices_[rank], all.devices_),
          space(stream.handle, {}, all.devices_[rank]),
          memory(stream.handle, pool, all.devices_[rank]),
          exchange(all.all_, rank, space, memory, all.group_) {}
  };
  void enable_peers(int device) {
    const detail::device_guard on(device);
    for (const int peer : devices_) {
      int reaches = 0;
      if (peer == device) continue;
      detail::check_cuda(cudaDeviceCanAccessPeer(&reaches, device, peer), "asking for access to another GPU");
      group_.has_windows = group_.has_windows && reaches != 0;
      const cudaError_t e = reaches != 0 ? cudaDeviceEnablePeerAccess(peer, 0) : cudaSuccess;
      if (e != cudaErrorPeerAccessAlreadyEnabled) detail::check_cuda(e, "getting access to another GPU");
    }
    cudaGetLastError();
  }

  std::vector<int> devices_;
  detail::peer_group group_;
  thread_ranks all_;
  std::vector<std::unique_ptr<one_gpu>> ranks_;
};

static_assert(several::exchange<gpu_rank>);

}  // namespace several
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(several);
}  // namespace tilehash
