// SPDX-License-Identifier: Apache-2.0
// streamed<Table> on a GPU: one stream copies in, one copies out, and the table works on that of its space.
#pragma once

#include <cuda_runtime.h>

#include <array>

#include <tilehash/several/streamed.hpp>
#include <tilehash/space/cuda.cuh>
#include <tilehash/space/cuda_algorithms.cuh>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

template <>
class batch_copies<cuda> {
 public:
  static constexpr u32 places = 3;

  explicit batch_copies(cuda& space) : space_(&space) {
    const device_guard on(space.device());
    for (cudaStream_t* stream : {&in_, &out_})
      check_cuda(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking), "creating a stream");
    for (auto* marks : {&brought_, &worked_, &sent_})
      for (cudaEvent_t& mark : *marks)
        check_cuda(cudaEventCreateWithFlags(&mark, cudaEventDisableTiming), "creating an event");
  }
  batch_copies(const batch_copies&) = delete;
  batch_copies& operator=(const batch_copies&) = delete;
  ~batch_copies() {
    give_up();
    for (auto* marks : {&brought_, &worked_, &sent_})
      for (const cudaEvent_t mark : *marks) cudaEventDestroy(mark);
    cudaStreamDestroy(in_);
    cudaStreamDestroy(out_);
  }
  // (An event that was not recorded holds nothing back.)
  void bring(u32 place) {
    const device_guard on(space_->device());
    if (first_) {  // memory that was allocated in the order of the space's work
      mark(worked_[place], space_->stream());
      first_ = false;
    }
    hold(in_, worked_[place]);
  }
  void copy_in(void* to, const void* from, u64 bytes) { copy(to, from, bytes, cudaMemcpyHostToDevice, in_); }
  void brought(u32 place) { mark(brought_[place], in_); }
  void await(u32 place) {
    hold(space_->stream(), brought_[place]);
    hold(space_->stream(), sent_[place]);
  }
  void send(u32 place) {
    mark(worked_[place], space_->stream());
    hold(out_, worked_[place]);
  }
  void copy_out(void* to, const void* from, u64 bytes) {
    copy(to, from, bytes, cudaMemcpyDeviceToHost, out_);
  }
  void sent(u32 place) { mark(sent_[place], out_); }
  void finish() {
    const device_guard on(space_->device());
    for (const cudaStream_t stream : {in_, out_}) check_cuda(cudaStreamSynchronize(stream), "a copy");
    space_->synchronize();
    first_ = true;
  }
  void give_up() noexcept {
    const device_guard on(space_->device());
    for (const cudaStream_t stream : {in_, space_->stream(), out_}) cudaStreamSynchronize(stream);
    first_ = true;
  }

 private:
  void copy(void* to, const void* from, u64 bytes, cudaMemcpyKind kind, cudaStream_t stream) const {
    const device_guard on(space_->device());
    check_cuda(cudaMemcpyAsync(to, from, bytes, kind, stream), "copying between host and device");
  }
  void mark(cudaEvent_t event, cudaStream_t stream) const {
    const device_guard on(space_->device());
    check_cuda(cudaEventRecord(event, stream), "recording an event");
  }
  void hold(cudaStream_t stream, cudaEvent_t until) const {
    const device_guard on(space_->device());
    check_cuda(cudaStreamWaitEvent(stream, until, 0), "ordering two streams");
  }

  using marks = std::array<cudaEvent_t, places>;
  cuda* space_;
  cudaStream_t in_ = nullptr, out_ = nullptr;
  marks brought_{}, worked_{}, sent_{};  // of each place's batch
  bool first_ = true;
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
