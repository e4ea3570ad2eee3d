// SPDX-License-Identifier: Apache-2.0
// Results for callers whose library is neither PyTorch nor CuPy: memory that goes out as a DLPack capsule.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>

#include "calls.hpp"
#include "dlpack.hpp"

namespace tilehash::python {

// One dimension of device memory, allocated and freed in the order of a stream.
class gpu_memory {
 public:
  gpu_memory(gpu_place at, std::int64_t n, char kind, int bytes)
      : at_(at), n_(n), kind_(kind), bytes_(bytes) {
    const on_device here(at.device);
    if (n == 0) return;
    void* p = nullptr;
    const cudaError_t e = cudaMallocAsync(&p, static_cast<std::size_t>(n * bytes), stream());
    if (e == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      throw std::bad_alloc();
    }
    check(e);
    data_ = p;
  }
  gpu_memory(const gpu_memory&) = delete;
  gpu_memory& operator=(const gpu_memory&) = delete;
  ~gpu_memory() {
    int current = 0;
    cudaGetDevice(&current);
    cudaSetDevice(at_.device);
    if (data_ != nullptr) cudaFreeAsync(data_, stream());
    cudaSetDevice(current);
  }
  std::uintptr_t address() const { return reinterpret_cast<std::uintptr_t>(data_); }
  int device() const { return at_.device; }

  // Later work of `other` comes after the work that this memory's stream has now.
  void order(std::uintptr_t other) const {
    if (other == at_.stream) return;
    const on_device here(at_.device);
    cudaEvent_t event = nullptr;
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    const cudaError_t recorded = cudaEventRecord(event, stream());
    const cudaError_t waits = cudaStreamWaitEvent(reinterpret_cast<cudaStream_t>(other),
                                                  event);  // NOLINT(performance-no-int-to-ptr)
    cudaEventDestroy(event);
    check(recorded);
    check(waits);
  }

  // A capsule that keeps `of` alive until its consumer frees it.
  static nanobind::object capsule(std::shared_ptr<gpu_memory> of, bool versioned) {
    return versioned ? exported<dlpack::managed_versioned>(std::move(of), "dltensor_versioned")
                     : exported<dlpack::managed>(std::move(of), "dltensor");
  }

 private:
  class on_device {
   public:
    explicit on_device(int device) {
      check(cudaGetDevice(&before_));
      if (before_ != device) check(cudaSetDevice(device));
    }
    on_device(const on_device&) = delete;
    on_device& operator=(const on_device&) = delete;
    ~on_device() { cudaSetDevice(before_); }

   private:
    int before_ = 0;
  };
  template <class Managed>
  struct owned {
    Managed managed{};
    std::shared_ptr<gpu_memory> memory;
    std::int64_t shape = 0, stride = 1;
  };

  static void check(cudaError_t e) {
    if (e != cudaSuccess) throw std::runtime_error(std::string("tilehash: ") + cudaGetErrorString(e));
  }
  cudaStream_t stream() const {
    return reinterpret_cast<cudaStream_t>(at_.stream);  // NOLINT(performance-no-int-to-ptr)
  }
  template <class Managed>
  static nanobind::object exported(std::shared_ptr<gpu_memory> of, const char* name) {
    auto* const o = new owned<Managed>{};
    o->shape = of->n_;
    o->managed.array = {
        of->data_, 2,         of->at_.device, 1, code(of->kind_), static_cast<std::uint8_t>(8 * of->bytes_),
        1,         &o->shape, &o->stride,     0};
    if constexpr (requires { o->managed.major; }) o->managed.major = 1;
    o->memory = std::move(of);
    o->managed.context = o;
    o->managed.deleter = [](Managed* m) { delete static_cast<owned<Managed>*>(m->context); };
    PyObject* const capsule = PyCapsule_New(&o->managed, name, [](PyObject* c) {
      const char* const unused = PyCapsule_GetName(c);
      if (std::string(unused).rfind("used", 0) == 0) return;  // its consumer frees it
      auto* const m = static_cast<Managed*>(PyCapsule_GetPointer(c, unused));
      m->deleter(m);
    });
    return nanobind::steal(capsule);
  }
  static std::uint8_t code(char kind) {
    return kind == 'i' ? 0 : kind == 'u' ? 1 : kind == 'f' ? 2 : 6;  // 6: bool
  }

  gpu_place at_;
  std::int64_t n_;
  char kind_;
  int bytes_;
  void* data_ = nullptr;
};

}  // namespace tilehash::python
