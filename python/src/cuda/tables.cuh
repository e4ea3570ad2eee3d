// SPDX-License-Identifier: Apache-2.0
// Tables of words on a GPU. Each has a space of its own, which works on the stream of the call.
#pragma once

#include <cstring>
#include <mutex>
#include <type_traits>

#include <tilehash/map.hpp>
#include <tilehash/set.hpp>
#include <tilehash/space/cuda_algorithms.cuh>

#include "lease.cuh"

namespace tilehash::python {

// A change returns when its work is done, so only lookups may be in flight when the next call comes. Each stream of
// lookups has an event, which a change waits for on its stream; the host does not wait.
template <class Key, class Value>
class table_of final : public gpu_table {
  static constexpr bool is_set = std::is_void_v<Value>;
  using stored = std::conditional_t<is_set, u32, Value>;
  using table =
      std::conditional_t<is_set, set<Key, cuda>, map<Key, std::conditional_t<is_set, u32, Value>, cuda>>;

 public:
  table_of(gpu_place at, u64 capacity, bool grow)
      : space_(stream_of(at.stream), {}, at.device), table_(space_, capacity, {.grow = grow}) {
    space_.synchronize();
  }
  ~table_of() override {
    // The last caller's stream may be gone.
    const device_guard on(space_.device());
    for (const lookups& of : lookups_) {
      cudaStreamWaitEvent(cudaStreamPerThread, of.done);
      cudaEventDestroy(of.done);
    }
    space_.exchange_stream(cudaStreamPerThread);
  }
  u64 size() const override {
    const std::lock_guard guard(lock_);
    return table_.size();
  }
  gpu_report insert(std::uintptr_t stream, const void* keys, const void* values, u64 n) override {
    return changed(stream, [&] {
      if constexpr (is_set)
        return table_.insert(space_, keys_of(keys, n));
      else
        return table_.insert(space_, keys_of(keys, n), values_of(values, n), keep::first);
    });
  }
  gpu_report assign(std::uintptr_t stream, const void* keys, const void* values, u64 n) override {
    return changed(stream, [&] {
      if constexpr (is_set)
        return table_.insert(space_, keys_of(keys, n));
      else
        return table_.insert_or_assign(space_, keys_of(keys, n), values_of(values, n));
    });
  }
  void find(std::uintptr_t stream, const void* keys, u64 n, void* values, u64 missing) override {
    if constexpr (!is_set) {
      looked_up(stream, [&] {
        stored other;
        std::memcpy(&other, &missing, sizeof other);  // (little endian)
        table_.find_or_async(space_, keys_of(keys, n), std::span(static_cast<stored*>(values), n), other);
      });
    }
  }
  void contains(std::uintptr_t stream, const void* keys, u64 n, bool* out) override {
    looked_up(stream, [&] { table_.contains_async(space_, keys_of(keys, n), flags(out, n)); });
  }
  u64 erase(std::uintptr_t stream, const void* keys, u64 n) override {
    const std::lock_guard guard(lock_);
    begin_change(stream);
    return n == 0 ? 0 : table_.erase(space_, keys_of(keys, n));
  }
  void items(std::uintptr_t stream, void* keys, void* values) override {
    const std::lock_guard guard(lock_);
    begin_change(stream);
    const std::span all(static_cast<Key*>(keys), table_.size());
    if (all.empty()) return;
    if constexpr (is_set)
      static_cast<void>(table_.retrieve_all(space_, all));
    else
      static_cast<void>(
          table_.retrieve_all(space_, all, std::span(static_cast<stored*>(values), all.size())));
  }

 private:
  using device_guard = tilehash::TILEHASH_ABI::detail::device_guard;
  struct lookups {
    cudaStream_t stream;
    cudaEvent_t done;
  };
  static void check(cudaError_t e, const char* what) { tilehash::TILEHASH_ABI::detail::check_cuda(e, what); }

  static std::span<const Key> keys_of(const void* p, u64 n) { return {static_cast<const Key*>(p), n}; }
  static std::span<const stored> values_of(const void* p, u64 n) {
    return {static_cast<const stored*>(p), n};
  }

  void begin_change(std::uintptr_t stream) {
    const device_guard on(space_.device());
    space_.exchange_stream(stream_of(stream));
    for (const lookups& of : lookups_)
      if (of.stream != space_.stream())
        check(cudaStreamWaitEvent(space_.stream(), of.done), "ordering two streams");
  }
  template <class Change>
  gpu_report changed(std::uintptr_t stream, const Change& change) {
    const std::lock_guard guard(lock_);
    begin_change(stream);
    const insert_report report = change();
    return {report.inserted, report.present, report.refused};
  }
  // A lookup that a graph captures has no event: the caller orders the graph's runs and the changes.
  template <class Lookup>
  void looked_up(std::uintptr_t stream, const Lookup& look_up) {
    const std::lock_guard guard(lock_);
    const device_guard on(space_.device());
    space_.exchange_stream(stream_of(stream));
    look_up();
    if (!space_.is_capturing())
      check(cudaEventRecord(event_of(space_.stream()), space_.stream()), "recording an event");
  }
  cudaEvent_t event_of(cudaStream_t stream) {
    for (const lookups& of : lookups_)
      if (of.stream == stream) return of.done;
    cudaEvent_t event = nullptr;
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "creating an event");
    lookups_.push_back({stream, event});
    return event;
  }

  mutable std::mutex lock_;
  cuda space_;
  table table_;
  std::vector<lookups> lookups_;
};

template <class Key, class Value>
std::unique_ptr<gpu_table> table_on_gpu(gpu_place at, u64 capacity, bool grow) {
  return std::make_unique<table_of<Key, Value>>(at, capacity, grow);
}

}  // namespace tilehash::python
