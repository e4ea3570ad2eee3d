// SPDX-License-Identifier: Apache-2.0
// Several GPUs of one process: a rank is a thread with a GPU. Parts are copied by the GPUs' copy engines, over
// NVLink where there is one.
//
//   tilehash::several::gpus all({0, 1});
//   all.run([&](tilehash::cuda& space, auto& exchange) {
//     tilehash::several::distributed<tilehash::map<K, V, tilehash::cuda>, tilehash::several::gpu_rank> table(space, exchange);
//     ...
//   });
#pragma once

#include <cuda_runtime.h>

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

}  // namespace detail

namespace several {

/// The exchange of one GPU among `gpus`.
class gpu_rank : public thread_ranks::member<detail::peer_copier> {
  using base = thread_ranks::member<detail::peer_copier>;

 public:
  /// Use gpus::run().
  gpu_rank(thread_ranks& all, u32 rank, cuda& space, cuda& memory, const std::vector<int>& devices)
      : base(all, rank, detail::peer_copier(space, rank, devices)), memory_(&memory) {}
  /// The space whose memory the other GPUs can read, on the stream of `space`.
  cuda& memory(cuda& /*space*/) { return *memory_; }

 private:
  cuda* memory_;
};

/// Several GPUs of one process, each with a stream and a space.
class gpus {
 public:
  /// \param devices the GPUs' numbers, each once. (Threads that start kernels on one GPU at the same time may fail.)
  /// \param limit milliseconds after which a call gives up on a rank.
  /// \throws cuda_error; invalid_argument for no device.
  explicit gpus(std::vector<int> devices, int limit = thread_ranks::usual_limit)
      : devices_(std::move(devices)), all_(static_cast<u32>(devices_.size()), limit) {
    for (const int device : devices_) enable_peers(device);
    for (u32 r = 0; r < size(); ++r) ranks_.push_back(std::make_unique<one_gpu>(*this, r));
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
          exchange(all.all_, rank, space, memory, all.devices_) {}
  };
  void enable_peers(int device) const {
    const detail::device_guard on(device);
    for (const int peer : devices_) {
      int reaches = 0;
      if (peer == device) continue;
      detail::check_cuda(cudaDeviceCanAccessPeer(&reaches, device, peer), "asking for access to another GPU");
      const cudaError_t e = reaches != 0 ? cudaDeviceEnablePeerAccess(peer, 0) : cudaSuccess;
      if (e != cudaErrorPeerAccessAlreadyEnabled) detail::check_cuda(e, "getting access to another GPU");
    }
    cudaGetLastError();
  }

  std::vector<int> devices_;
  thread_ranks all_;
  std::vector<std::unique_ptr<one_gpu>> ranks_;
};

static_assert(several::exchange<gpu_rank>);

}  // namespace several
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(several);
}  // namespace tilehash
