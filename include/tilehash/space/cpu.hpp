// The space of the CPU: host memory, oneTBB threads, tiles of one thread.
//
// Where oneTBB's headers are absent the space runs on one thread and says so in name().
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
#define TILEHASH_TELLS_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TILEHASH_TELLS_TSAN 1
#endif
#endif
#endif
#if defined(TILEHASH_TELLS_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

namespace detail {
// Tells ThreadSanitizer that what threads did before give() comes before what others do after take(). (It
// takes the eight bytes of a word for one.)
class alignas(8) handover {
 public:
#if defined(TILEHASH_TELLS_TSAN)
  void give() { __tsan_release(this); }
  void take() { __tsan_acquire(this); }
#else
  void give() {}
  void take() {}
#endif
};
// f() where the scope ends, also by an exception.
template <class F>
struct at_end {
  F f;
  ~at_end() { f(); }
};
template <class F>
at_end(F) -> at_end<F>;
}  // namespace detail

/// A CPU space object may be shared by host threads; its calls wait until their work is done. Its memory
/// resource is asked by the threads that make the calls, and by no others.
class cpu {
 public:
  static constexpr bool has_lanes = false;  ///< work is scheduled as threads that prefetch, not as warps

  /// `threads` 0 means all the machine has. `resource` is any object with the functions of
  /// std::pmr::memory_resource, or a pointer to one; without it memory is the host's, in huge pages. Throws
  /// invalid_argument for a null pointer.
  explicit cpu([[maybe_unused]] int threads = 0, host_resource_ref resource = {}) : resource_(resource) {
#if TILEHASH_HAS_TBB
    arena_ = {new tbb::task_arena(threads > 0 ? threads : tbb::task_arena::automatic),
              [](void* arena) { delete static_cast<tbb::task_arena*>(arena); }};
#endif
  }
#if TILEHASH_HAS_TBB
  int threads() const { return arena_ ? arena().max_concurrency() : 1; }  ///< that work at most
#else
  int threads() const { return 1; }  ///< that work at most
#endif
  cpu(const cpu&) = delete;
  cpu& operator=(const cpu&) = delete;

  /// For people: how many threads, and whether oneTBB is there.
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
  /// Takes back what allocate(bytes) gave.
  void deallocate(void* p, u64 bytes) noexcept {
    if (resource_)
      resource_.deallocate(p, bytes, detail::host_alignment);
    else
      detail::free_host(p, bytes);
  }
  /// Can what allocate(bytes) gave have so many bytes instead, without a copy? Without a resource: of 64 MiB
  /// and more.
  bool resizes(const void* /*p*/, u64 bytes, u64 new_bytes) const {
    return resource_ ? resource_.resizes() : detail::host_resizes(bytes, new_bytes);
  }
  /// Gives it so many, where that can be, at another address perhaps. Throws out_of_memory; then all is as it
  /// was.
  void* resize(void* p, u64 bytes, u64 new_bytes) {
    return resource_ ? resource_.resize(p, bytes, new_bytes, detail::host_alignment)
                     : detail::resize_host(p, bytes, new_bytes);
  }
  /// All memory is the host's, so the three are one; they wait, as all calls here do.
  void copy_from_host(void* to, const void* from, u64 bytes) { std::memcpy(to, from, bytes); }
  /// As copy_from_host.
  void copy_to_host(void* to, const void* from, u64 bytes) { std::memcpy(to, from, bytes); }
  /// As copy_from_host.
  void copy(void* to, const void* from, u64 bytes) { std::memcpy(to, from, bytes); }

  /// Can this space work on what the other one allocated?
  bool same_memory(const cpu& /*other*/) const { return true; }

  /// Throws invalid_argument when the `n` elements at `p` are not memory this space can read; `what` names
  /// them. (Any pointer is taken here, so long as there is one.)
  void check_pointer(const void* p, u64 n, const char* what) const {
    if (n != 0 && p == nullptr) detail::refuse(std::string(what) + " are at a null pointer");
  }
  /// \overload
  template <class T>
  void check_pointer(std::span<T> span, const char* what) const {
    check_pointer(span.data(), span.size(), what);
  }
  void check_pointer(const void* /*p*/, const char* /*what*/) const {}  ///< of who does not say how many

  // ---- work ----
  /// body(first, last) for consecutive pieces of [0, n), in any order and on any thread.
  template <class Body>
  void for_each_chunk(u64 n, Body body, u64 grain = default_grain) {
    const auto run = [](void* b, u64 first, u64 last) { (*static_cast<Body*>(b))(first, last); };
    run_chunks(n, grain, run, &body);
  }

  /// body(i) for every i of [0, n), in any order and on any thread.
  template <class Body>
  void for_each(u64 n, Body body) {
    for_each_chunk(n, [&](u64 first, u64 last) {
      for (u64 i = first; i < last; ++i) body(i);
    });
  }

  static constexpr u64 cache_bytes() { return u64(1) << 20; }        ///< of a core, on most machines
  static constexpr u64 last_cache_bytes() { return u64(32) << 20; }  ///< that all cores share
  static constexpr u64 largest_scratch() { return cache_bytes(); }   ///< what stays in a core's cache
  static constexpr u64 large_blocks_at_once() { return ~u64(0); }    ///< nothing is won by fewer, longer ones
  /// body(block) for every block of `threads` threads that share `scratch_bytes`: here a block is one thread,
  /// and its scratch stays in that thread's cache.
  template <class Body>
  void for_each_block(u64 blocks, u32 /*threads*/, u64 scratch_bytes, Body body) {
    if (blocks == 0) return;
    const auto scratch = scratch_of(blocks, scratch_bytes);
    blocks_work<Body> work{body, scratch.data(), scratch_each(scratch_bytes), blocks};
    run_chunks(workers_for(blocks), 1, work.run, &work);
  }
  /// Memory for all threads at once, before any works: a resource need not be safe to share, and when it fails
  /// nothing has been done.
  buffer<char, cpu> scratch_of(u64 blocks, u64 scratch_bytes) {
    return {*this, workers_for(blocks) * scratch_each(scratch_bytes)};
  }
  /// The same in scratch that was taken before, for as many blocks or more: what cannot fail.
  template <class Body>
  void for_each_block(u64 blocks, u32 /*threads*/, u64 scratch_bytes, Body body,
                      const buffer<char, cpu>& scratch) {
    blocks_work<Body> work{body, scratch.data(), scratch_each(scratch_bytes), blocks};
    run_chunks(workers_for(blocks), 1, work.run, &work);
  }

  /// A block of one thread. index(): which of count() blocks; rank() of size() threads; barrier() orders their
  /// scratch.
  struct block {
    u64 number;                                       ///< this block's
    u64 all;                                          ///< how many blocks there are
    void* memory;                                     ///< its scratch
    TILEHASH_FN u64 index() const { return number; }  ///< which block
    TILEHASH_FN u64 count() const { return all; }     ///< of how many
    TILEHASH_FN u32 rank() const { return 0; }        ///< which thread of the block
    TILEHASH_FN u32 size() const { return 1; }        ///< of how many
    TILEHASH_FN void barrier() const {}  ///< what its threads wrote to scratch before, all read afterwards
    /// The scratch from a byte on, as elements of T.
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
    for_each_chunk(n, [=](u64 first, u64 last) { std::fill(data + first, data + last, value); });
  }

  // fill() apart, they are defined in space/cpu_algorithms.hpp, which the designs that sort or scan bring
  // along.
  /// to[i] = from[0] + ... + from[i - 1]; `to` may be `from`.
  template <class T>
  void exclusive_scan(const T* from, T* to, u64 n);
  /// Ascending, not stable.
  template <class T>
  void sort(T* data, u64 n);
  /// Ascending by the keys, each with its value; not stable. Needs room for both once more.
  template <class Key, class Value>
  void sort_pairs(Key* keys, Value* values, u64 n, u32 bits);
  /// The same from one pair of arrays to another.
  template <class Key, class Value>
  void sort_pairs(const Key* keys, const Value* values, Key* sorted_keys, Value* sorted_values, u64 n,
                  u32 bits);

  // ---- time ----
  /// Waits for all work of this space: none, as its calls wait.
  void synchronize() {}
  /// Seconds that f() took, on this space's own clock.
  template <class F>
  double time(F f) {
    const double start = now();
    f();
    return now() - start;
  }

 private:
  static constexpr u64 default_grain = 4096;

  // The blocks that are left, for as many workers as there are scratches. (One that is given several chunks
  // finds the rest done.)
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

  // No template, so that oneTBB's loop is compiled once in a program's source and not once for each body.
  void run_chunks(u64 n, [[maybe_unused]] u64 grain, void (*run)(void*, u64, u64), void* body) {
#if TILEHASH_HAS_TBB
    if (threads() > 1 && n > grain) {
      detail::handover begun, done;  // nothing orders the pieces
      begun.give();
      const detail::at_end all{[&] { done.take(); }};
      arena().execute([&] {
        tbb::parallel_for(tbb::blocked_range<u64>(0, n, grain), [&](const auto& r) {
          begun.take();
          const detail::at_end piece{[&] { done.give(); }};
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
  // f() on this space's threads.
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
  // space has the same layout in all units of a program: a user's class that holds a space or a table may
  // pass between units with and without oneTBB.
  std::unique_ptr<void, void (*)(void*)> arena_{nullptr, nullptr};
};

static_assert(space_like<cpu>);

TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
