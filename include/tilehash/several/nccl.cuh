// SPDX-License-Identifier: Apache-2.0
// Ranks of an NCCL communicator, which is the caller's. Without <nccl.h> this header has nothing; link with
// -lnccl.
//
// Each call waits for its end on the host, so that a peer that ended is noticed. The communicator then
// reports an error or a time limit passes, and the communicator is aborted.
#pragma once

#if __has_include(<nccl.h>)
#include <cuda_runtime.h>
#include <nccl.h>

#include <chrono>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include <tilehash/several/exchange.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/cuda.cuh>
#include <tilehash/space/cuda_algorithms.cuh>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace several {

/// The exchange of one rank of an NCCL communicator.
class nccl_ranks {
 public:
  static constexpr int usual_limit = 30'000;  ///< milliseconds

  /// \param communicator of the caller, on the space's GPU. It must outlive the object. After a failure it is
  /// aborted, and the caller must not use or destroy it.
  /// \param space whose stream NCCL's work takes.
  /// \param limit milliseconds after which a call gives up on the other ranks.
  /// \throws error where NCCL reports one.
  nccl_ranks(ncclComm_t communicator, cuda& space, int limit = usual_limit)
      : communicator_(communicator), space_(&space), limit_(limit) {
    int rank = 0, size = 0;
    check(ncclCommUserRank(communicator, &rank), "ncclCommUserRank");
    check(ncclCommCount(communicator, &size), "ncclCommCount");
    rank_ = static_cast<u32>(rank);
    size_ = static_cast<u32>(size);
    const detail::device_guard on(space.device());
    detail::check_cuda(cudaStreamCreateWithFlags(&side_, cudaStreamNonBlocking), "creating a stream");
    detail::check_cuda(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "creating an event");
  }
  nccl_ranks(const nccl_ranks&) = delete;
  nccl_ranks& operator=(const nccl_ranks&) = delete;
  ~nccl_ranks() {
    if (host_ != nullptr) cudaFreeHost(host_);
    cudaEventDestroy(event_);
    cudaStreamDestroy(side_);
  }
  u32 rank() const { return rank_; }  ///< this rank's number
  u32 size() const { return size_; }  ///< ranks

  /// See the concept `exchange`. Throws error if a rank ended or does not answer.
  void all_gather(std::span<const u64> mine, std::span<u64> all) {
    const detail::device_guard on(space_->device());
    reserve_words(mine.size());
    const cudaStream_t stream = space_->stream();
    std::memcpy(host_, mine.data(), mine.size_bytes());
    detail::check_cuda(
        cudaMemcpyAsync(words_.data(), host_, mine.size_bytes(), cudaMemcpyHostToDevice, stream),
        "copying between host and device");
    check(ncclAllGather(words_.data(), words_.data() + mine.size(), mine.size(), ncclUint64, communicator_,
                        stream),
          "ncclAllGather");
    detail::check_cuda(cudaMemcpyAsync(host_, words_.data() + mine.size(), mine.size_bytes() * size_,
                                       cudaMemcpyDeviceToHost, stream),
                       "copying between host and device");
    wait("all_gather");
    std::memcpy(all.data(), host_, mine.size_bytes() * size_);
  }
  /// See the concept `exchange`. Throws error if a rank ended or does not answer.
  void all_to_all(const sent_parts& sent, const received_parts& received) {
    const detail::device_guard on(space_->device());
    const cudaStream_t stream = space_->stream();
    // The own part is copied meanwhile.
    if (sent.bytes[rank_] != 0) {
      follow(side_, stream);
      detail::check_cuda(cudaMemcpyAsync(received.at(rank_), sent.at(rank_), sent.bytes[rank_],
                                         cudaMemcpyDeviceToDevice, side_),
                         "copying device memory");
    }
    check(ncclGroupStart(), "ncclGroupStart");
    for (u32 k = 1; k < size_; ++k) {
      const u32 to = (rank_ + k) % size_, from = (rank_ + size_ - k) % size_;
      if (sent.bytes[to] != 0)
        check(ncclSend(sent.at(to), sent.bytes[to], ncclUint8, static_cast<int>(to), communicator_, stream),
              "ncclSend");
      if (received.bytes[from] != 0)
        check(ncclRecv(received.at(from), received.bytes[from], ncclUint8, static_cast<int>(from),
                       communicator_, stream),
              "ncclRecv");
    }
    check(ncclGroupEnd(), "ncclGroupEnd");
    if (sent.bytes[rank_] != 0) follow(stream, side_);
    wait("all_to_all");
  }

 private:
  static constexpr std::chrono::milliseconds check_interval{1};

  static void check(ncclResult_t result, const char* call) {
    if (result != ncclSuccess && result != ncclInProgress)
      throw error("tilehash: " + std::string(call) + " failed: " + ncclGetErrorString(result) +
                  "; make a new communicator");
  }
  // Later work of one stream starts after the earlier work of the other.
  void follow(cudaStream_t later, cudaStream_t earlier) {
    detail::check_cuda(cudaEventRecord(event_, earlier), "recording an event");
    detail::check_cuda(cudaStreamWaitEvent(later, event_, 0), "ordering two streams");
  }
  void reserve_words(u64 n) {
    if (words_.size() >= n * (size_ + 1)) return;
    if (host_ != nullptr) cudaFreeHost(std::exchange(host_, nullptr));
    words_ = buffer<u64, cuda>(*space_, n * (size_ + 1));
    detail::check_cuda(cudaMallocHost(&host_, n * size_ * sizeof(u64)), "allocating host memory");
  }
  void wait(const char* call) {
    using clock = std::chrono::steady_clock;
    const auto begin = clock::now();
    auto next_check = begin + check_interval;
    for (;;) {
      const cudaError_t e = cudaStreamQuery(space_->stream());
      if (e == cudaSuccess) return;
      if (e != cudaErrorNotReady) detail::check_cuda(e, "a kernel");
      const auto now = clock::now();
      if (now < next_check) continue;  // NCCL's answer takes longer than CUDA's
      next_check = now + check_interval;
      ncclResult_t result = ncclSuccess;
      if (ncclCommGetAsyncError(communicator_, &result) != ncclSuccess ||
          (result != ncclSuccess && result != ncclInProgress))
        give_up(call, ncclGetErrorString(result));
      if (now - begin >= std::chrono::milliseconds(limit_))
        give_up(call, "a rank did not answer within " + std::to_string(limit_) + " ms");
    }
  }
  [[noreturn]] void give_up(const char* call, const std::string& why) {
    ncclCommAbort(communicator_);
    throw error("tilehash: " + std::string(call) + ": " + why + "; start the ranks again");
  }

  ncclComm_t communicator_;
  cuda* space_;
  int limit_;
  u32 rank_ = 0, size_ = 0;
  cudaStream_t side_ = nullptr;
  cudaEvent_t event_ = nullptr;
  buffer<u64, cuda> words_;
  u64* host_ = nullptr;
};

static_assert(exchange<nccl_ranks>);

}  // namespace several
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(several);
}  // namespace tilehash
#endif
