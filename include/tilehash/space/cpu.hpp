// SPDX-License-Identifier: Apache-2.0
// The space of the CPU: host memory, oneTBB threads, tiles of one thread.
//
// Without oneTBB's headers the space runs on one thread; name() says so.
#pragma once

#include <algorithm>
#include <cstring>
#include <ctime>
#include <memory>
#include <span>
#include <string>

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/config.hpp>
#include <tilehash/core/error.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/forward.hpp>
#include <tilehash/space/host_memory.hpp>
#include <tilehash/space/memory_resource.hpp>
#include <tilehash/space/own_pointer.hpp>
#include <tilehash/space/solo_tile.hpp>
#include <tilehash/space/space_like.hpp>
#include <tilehash/space/tuning.hpp>

#if TILEHASH_HAS_TBB
#include <tilehash/core/prologue.hpp>  // oneTBB has functions of these names, too

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <tilehash/core/epilogue.hpp>
#endif

// ThreadSanitizer cannot see how oneTBB's library, which is compiled without it, hands work to other threads.
#if TILEHASH_HAS_TBB && !defined(TILEHASH_THREADS_ARE_SEEN)
#if defined(__SANITIZE_THREAD__)
#define TILEHASH_INFORMS_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TILEHASH_INFORMS_TSAN 1
#endif
#endif
#endif
#if defined(TILEHASH_INFORMS_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

namespace detail {
// ThreadSanitizer then knows that accesses before give() happen before accesses after take() in other threads.
// (It treats the eight bytes of a word as one object.)
class alignas(8) handover {
 public:
#if defined(TILEHASH_INFORMS_TSAN)
  void give() { __tsan_release(this); }
  void take() { __tsan_acquire(this); }
#else
  void give() {}
  void take() {}
#endif
};
// Calls f() at the end of the scope, also after an exception.
template <class F>
struct at_end {
  F f;
  ~at_end() { f(); }
};
template <class F>
at_end(F) -> at_end<F>;
}  // namespace detail

/// Host threads may share a CPU space object. Each call returns after its work is done. Only the threads that
/// make the calls use the memory resource.
class cpu {
 public:
  static constexpr bool has_lanes = false;  ///< work is scheduled as threads that prefetch, not as warps

  /// `threads` 0 means all threads of the machine. `resource` is any object with the functions of
  /// std::pmr::memory_resource, or a pointer to one; without it the space allocates huge pages of host
  /// memory. Throws invalid_argument for a null pointer.
  explicit cpu([[maybe_unused]] int threads = 0, host_resource_ref resource = {}) : resource_(resource) {
#if TILEHASH_HAS_TBB
    arena_ = {new tbb::task_arena(threads > 0 ? threads : tbb::task_arena::automatic),
              [](void* arena) { delete static_cast<tbb::task_arena*>(arena); }};
#endif
  }
#if TILEHASH_HAS_TBB
  int threads() const { return arena_ ? arena().max_concurrency() : 1; }  ///< maximum number of threads
#else
  int threads() const { return 1; }  ///< maximum number of threads
#endif
  cpu(const cpu&) = delete;
  cpu& operator=(const cpu&) = delete;

  /// For people: the number of threads, and whether oneTBB is present.
  std::string name() const {
    const std::string n = std::to_string(threads());
    return "cpu (" + n + (threads() == 1 ? " thread" : " threads") +
           (arena_ ? ")" : ", built without oneTBB)");
  }

  static std::string where() { return "the CPU"; }  ///< for messages

  // ---- memory ----
  /// Cache-line aligned. Throws out_of_memory.
  void* allocate(u64 bytes) {
    return resource_ ? resource_.allocate(bytes, detail::host_alignment) : detail::allocate_host(bytes);
  }
  /// Frees memory from allocate(bytes).
  void deallocate(void* p, u64 bytes) noexcept {
    if (resource_)
      resource_.deallocate(p, bytes, detail::host_alignment);
    else
      detail::free_host(p, bytes);
  }
  /// Can resize() change memory from allocate(bytes) to `new_bytes` without a copy? Without a resource: if
  /// both sizes are at least 64 MiB.
  bool resizes(const void* /*p*/, u64 bytes, u64 new_bytes) const {
    return resource_ ? resource_.resizes() : detail::host_resizes(bytes, new_bytes);
  }
  /// Changes the size, if resizes(bytes, new_bytes). Returns the address, which may be another one. Throws
  /// out_of_memory; nothing has changed then.
  void* resize(void* p, u64 bytes, u64 new_bytes) {
    return resource_ ? resource_.resize(p, bytes, new_bytes, detail::host_alignment)
                     : detail::resize_host(p, bytes, new_bytes);
  }
  /// All memory is host memory, so the three copies are the same. They return after the copy is done.
  void copy_from_host(void* to, const void* from, u64 bytes) { std::memcpy(to, from, bytes); }
  /// As copy_from_host.
  void copy_to_host(void* to, const void* from, u64 bytes) { std::memcpy(to, from, bytes); }
  /// As copy_from_host.
  void copy(void* to, const void* from, u64 bytes) { std::memcpy(to, from, bytes); }

  /// Can this space work on memory that the other one allocated?
  bool same_memory(const cpu& /*other*/) const { return true; }

  /// Throws invalid_argument if this space cannot read the `n` elements at `p`; `what` names them. (This
  /// space accepts any pointer that is not null.)
  void check_pointer(const void* p, u64 n, const char* what) const {
    if (n != 0 && p == nullptr) detail::refuse_null(what);
  }
  /// \overload
  template <class T>
  void check_pointer(std::span<T> span, const char* what) const {
    check_pointer(span.data(), span.size(), what);
  }
  void check_pointer(const void* /*p*/, const char* /*what*/) const {}  ///< without an element count

  // ---- work ----
  /// Calls body(first, last) for consecutive shares of [0, n), in any order and on any thread.
  template <class Body>
  void for_each_share(u64 n, Body body, u64 grain = default_grain) {
    const auto run = [](void* b, u64 first, u64 last) { (*static_cast<Body*>(b))(first, last); };
    run_shares(n, grain, run, &body);
  }

  /// Calls body(i) for every i of [0, n), in any order and on any thread.
  template <class Body>
  void for_each(u64 n, Body body) {
    for_each_share(n, [&](u64 first, u64 last) {
      for (u64 i = first; i < last; ++i) body(i);
    });
  }

  static constexpr u64 cache_bytes() { return detail::tuning::cpu::core_cache; }  ///< of a core
  /// Bytes of the cache that all cores share.
  static constexpr u64 last_cache_bytes() { return detail::tuning::cpu::last_cache; }
  static constexpr u64 largest_scratch() { return cache_bytes(); }  ///< fits a core's cache
  static constexpr u64 large_blocks_at_once() { return ~u64(0); }   ///< fewer, longer blocks gain nothing
  /// Calls body(block) for every block of `threads` threads that share `scratch_bytes`. Here a block is one
  /// thread, and its scratch stays in that thread's cache.
  template <class Body>
  void for_each_block(u64 blocks, u32 /*threads*/, u64 scratch_bytes, Body body) {
    if (blocks == 0) return;
    const auto scratch = scratch_of(blocks, scratch_bytes);
    blocks_work<Body> work{body, scratch.data(), scratch_each(scratch_bytes), blocks};
    run_shares(workers_for(blocks), 1, work.run, &work);
  }
  /// Allocates the scratch of all threads before any of them starts. So a resource need not be thread-safe,
  /// and nothing has been done if it fails.
  buffer<char, cpu> scratch_of(u64 blocks, u64 scratch_bytes) {
    return {*this, workers_for(blocks) * scratch_each(scratch_bytes)};
  }
  /// The same with scratch that was allocated for as many blocks or more. Cannot fail.
  template <class Body>
  void for_each_block(u64 blocks, u32 /*threads*/, u64 scratch_bytes, Body body,
                      const buffer<char, cpu>& scratch) {
    blocks_work<Body> work{body, scratch.data(), scratch_each(scratch_bytes), blocks};
    run_shares(workers_for(blocks), 1, work.run, &work);
  }

  /// A block of one thread: number index() of count() blocks. The thread has number rank() of size() threads;
  /// barrier() orders their accesses to scratch.
  struct block {
    u64 number;                                       ///< this block's number
    u64 all;                                          ///< the number of blocks
    void* memory;                                     ///< its scratch
    TILEHASH_FN u64 index() const { return number; }  ///< this block's number
    TILEHASH_FN u64 count() const { return all; }     ///< the number of blocks
    TILEHASH_FN u32 rank() const { return 0; }        ///< this thread's number in the block
    TILEHASH_FN u32 size() const { return 1; }        ///< the number of threads in the block
    TILEHASH_FN void barrier() const {}  ///< afterwards all threads see earlier writes to scratch
    /// The scratch from byte `at_byte` on, as elements of T.
    template <class T>
    TILEHASH_FN detail::own_pointer<T> scratch(u64 at_byte = 0) const {
      return detail::own_pointer<T>(reinterpret_cast<T*>(static_cast<char*>(memory) + at_byte));
    }
    /// The tile that this thread is in.
    template <u32 Width>
    TILEHASH_FN solo_tile tile() const {
      return {};
    }
  };

  // ---- algorithms ----
  /// Writes `value` to all n elements.
  template <class T>
  void fill(T* data, u64 n, T value) {
    for_each_share(n, [=](u64 first, u64 last) { std::fill(data + first, data + last, value); });
  }

  // All but fill() are defined in space/cpu_algorithms.hpp, which designs that sort or scan include.
  /// to[i] = from[0] + ... + from[i - 1]; `to` may be `from`.
  template <class T>
  void exclusive_scan(const T* from, T* to, u64 n);
  /// Ascending, not stable.
  template <class T>
  void sort(T* data, u64 n);
  /// Ascending by the keys, each with its value; not stable. Temporary memory: a copy of both arrays.
  template <class Key, class Value>
  void sort_pairs(Key* keys, Value* values, u64 n, u32 bits);
  /// The same from one pair of arrays to another.
  template <class Key, class Value>
  void sort_pairs(const Key* keys, const Value* values, Key* sorted_keys, Value* sorted_values, u64 n,
                  u32 bits);

  // ---- time ----
  /// Does nothing, as each call returns after its work is done.
  void synchronize() {}
  /// Seconds that f() took, on this space's own clock.
  template <class F>
  double time(F f) {
    const double start = now();
    f();
    return now() - start;
  }

 private:
  static constexpr u64 default_grain = detail::tuning::cpu::grain;

  // The blocks that remain, for as many workers as there are scratch areas. (A worker that gets several
  // shares finds no blocks in the later ones.)
  template <class Body>
  struct blocks_work {
    Body& body;
    char* scratch;
    u64 scratch_each, blocks, next = 0;

    static void run(void* work, u64 worker, u64 /*last*/) {
      auto& w = *static_cast<blocks_work*>(work);
      void* const own = w.scratch + worker * w.scratch_each;
      for (u64 b; (b = detail::fetch_add(&w.next, u64(1))) < w.blocks;) w.body(block{b, w.blocks, own});
    }
  };

  u64 workers_for(u64 blocks) const {
    const u64 most = static_cast<u64>(threads());
    return most < blocks ? most : blocks;
  }
  static u64 scratch_each(u64 bytes) {
    return (bytes + detail::host_alignment) / detail::host_alignment * detail::host_alignment;
  }

  static double now() {
    std::timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  }

  // Not a template, so that oneTBB's loop is compiled once in a source file and not once for each body.
  void run_shares(u64 n, [[maybe_unused]] u64 grain, void (*run)(void*, u64, u64), void* body) {
#if TILEHASH_HAS_TBB
    if (threads() > 1 && n > grain) {
      detail::handover begun, done;  // the shares have no order
      begun.give();
      const detail::at_end all{[&] { done.take(); }};
      arena().execute([&] {
        tbb::parallel_for(tbb::blocked_range<u64>(0, n, grain), [&](const auto& r) {
          begun.take();
          const detail::at_end given{[&] { done.give(); }};
          run(body, r.begin(), r.end());
        });
      });
      return;
    }
#endif
    if (n != 0) run(body, 0, n);
  }

#if TILEHASH_HAS_TBB
  tbb::task_arena& arena() const { return *static_cast<tbb::task_arena*>(arena_.get()); }
  // Runs f() on this space's threads.
  template <class F>
  void in_arena(F f) {
    if (arena_)
      arena().execute(f);
    else
      tbb::task_arena(1).execute(f);
  }
#endif

  host_resource_ref resource_;
  // oneTBB's task_arena; null in a space that a unit without oneTBB made. It is behind a pointer so that a
  // space has the same layout in all units of a program. A user's class that holds a space or a table may
  // pass between units with and without oneTBB.
  std::unique_ptr<void, void (*)(void*)> arena_{nullptr, nullptr};
};

static_assert(space_like<cpu>);

TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
