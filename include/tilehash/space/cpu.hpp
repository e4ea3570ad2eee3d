// The space of the CPU: host memory, oneTBB threads, tiles of one thread.
//
// Where oneTBB's headers are absent the space runs on one thread and says so in name().
#pragma once

#include <sys/mman.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>

#include <tilehash/core/config.hpp>
#include <tilehash/core/error.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/own_pointer.hpp>
#include <tilehash/space/solo_tile.hpp>

#if __has_include(<tbb/task_arena.h>) && !defined(TILEHASH_WITHOUT_TBB)
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_scan.h>
#include <tbb/parallel_sort.h>
#include <tbb/task_arena.h>
#define TILEHASH_HAS_TBB 1
#else
#include <algorithm>
#define TILEHASH_HAS_TBB 0
#endif

namespace tilehash {

// A CPU space object may be shared by host threads; its calls wait until their work is done.
class cpu {
 public:
  static constexpr bool has_lanes = false;  // work is scheduled as threads that prefetch, not as warps

#if TILEHASH_HAS_TBB
  // `threads` 0 means all the machine has.
  explicit cpu(int threads = 0) : arena_(threads > 0 ? threads : tbb::task_arena::automatic) {}
  int threads() const { return arena_.max_concurrency(); }
#else
  explicit cpu(int /*threads*/ = 0) {}
  int threads() const { return 1; }
#endif
  cpu(const cpu&) = delete;
  cpu& operator=(const cpu&) = delete;

  std::string name() const {
    const std::string n = std::to_string(threads());
    return "cpu (" + n + (threads() == 1 ? " thread" : " threads") +
           (TILEHASH_HAS_TBB ? ")" : ", built without oneTBB)");
  }

  // ---- memory ----
  // Cache-line aligned; blocks of 2 MiB and more are aligned to and advised as huge pages.
  void* allocate(u64 bytes) {
    constexpr u64 huge = u64(2) << 20;
    const u64 alignment = bytes >= huge ? huge : 64;
    const u64 rounded = (bytes + alignment - 1) / alignment * alignment;
    void* p = rounded < bytes ? nullptr : std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
    if (p == nullptr)
      throw out_of_memory("tilehash: the host has no " + std::to_string(bytes) +
                          " bytes free; use a smaller table");
    if (bytes >= huge) madvise(p, rounded, MADV_HUGEPAGE);
    return p;
  }
  void deallocate(void* p, u64 /*bytes*/) noexcept { std::free(p); }
  void copy_from_host(void* to, const void* from, u64 bytes) { std::memcpy(to, from, bytes); }
  void copy_to_host(void* to, const void* from, u64 bytes) { std::memcpy(to, from, bytes); }
  void copy(void* to, const void* from, u64 bytes) { std::memcpy(to, from, bytes); }

  // Throws invalid_argument when `p` is not memory this space can read. (Any pointer is taken here.)
  void check_pointer(const void* /*p*/, const char* /*what*/) const {}

  // ---- work ----
  // body(first, last) for consecutive pieces of [0, n), in any order and on any thread.
  template <class Body>
  void for_each_chunk(u64 n, Body body, u64 grain = default_grain) {
    const auto run = [](void* b, u64 first, u64 last) { (*static_cast<Body*>(b))(first, last); };
    run_chunks(n, grain, run, &body);
  }

  // body(i) for every i of [0, n), in any order and on any thread.
  template <class Body>
  void for_each(u64 n, Body body) {
    for_each_chunk(n, [&](u64 first, u64 last) {
      for (u64 i = first; i < last; ++i) body(i);
    });
  }

  static constexpr u64 largest_scratch() { return u64(1) << 20; }  // what stays in a core's cache
  static constexpr u64 large_blocks_at_once() { return ~u64(0); }  // nothing is won by fewer, longer ones
  // body(block) for every block of `threads` threads that share `scratch_bytes`: here a block is one thread,
  // and its scratch stays in that thread's cache.
  template <class Body>
  void for_each_block(u64 blocks, u32 /*threads*/, u64 scratch_bytes, Body body) {
    for_each_chunk(
        blocks,
        [&](u64 first, u64 last) {
          void* scratch = allocate(scratch_bytes);
          for (u64 b = first; b < last; ++b) body(block{b, blocks, scratch});
          deallocate(scratch, scratch_bytes);
        },
        1);
  }

  // A block of one thread. index(): which of count() blocks; rank() of size() threads; barrier() orders their
  // scratch.
  struct block {
    u64 number, all;
    void* memory;
    TILEHASH_FN u64 index() const { return number; }
    TILEHASH_FN u64 count() const { return all; }
    TILEHASH_FN u32 rank() const { return 0; }
    TILEHASH_FN u32 size() const { return 1; }
    TILEHASH_FN void barrier() const {}
    template <class T>
    TILEHASH_FN detail::own_pointer<T> scratch(u64 at_byte = 0) const {
      return detail::own_pointer<T>(reinterpret_cast<T*>(static_cast<char*>(memory) + at_byte));
    }
    template <u32 Width>
    TILEHASH_FN solo_tile tile() const {
      return {};
    }
  };

  // ---- algorithms ----
  template <class T>
  void fill(T* data, u64 n, T value) {
    for_each_chunk(n, [=](u64 first, u64 last) {
      for (u64 i = first; i < last; ++i) data[i] = value;
    });
  }

  // to[i] = from[0] + ... + from[i - 1]; `to` may be `from`.
  template <class T>
  void exclusive_scan(const T* from, T* to, u64 n) {
#if TILEHASH_HAS_TBB
    arena_.execute([&] {
      tbb::parallel_scan(
          tbb::blocked_range<u64>(0, n, default_grain), T(0),
          [&](const auto& r, T sum, bool final) {
            for (u64 i = r.begin(); i < r.end(); ++i) {
              const T x = from[i];
              if (final) to[i] = sum;
              sum += x;
            }
            return sum;
          },
          [](T a, T b) { return a + b; });
    });
#else
    T sum = 0;
    for (u64 i = 0; i < n; ++i) {
      const T x = from[i];
      to[i] = sum;
      sum += x;
    }
#endif
  }

  // Ascending, not stable.
  template <class T>
  void sort(T* data, u64 n) {
#if TILEHASH_HAS_TBB
    arena_.execute([&] { tbb::parallel_sort(data, data + n); });
#else
    std::sort(data, data + n);
#endif
  }

  // Ascending by the keys, each with its value; not stable. Needs room for both once more.
  template <class Key, class Value>
  void sort_pairs(Key* keys, Value* values, u64 n, u32 bits) {
    sort_pairs(keys, values, keys, values, n, bits);
  }
  // The same from one pair of arrays to another.
  template <class Key, class Value>
  void sort_pairs(const Key* keys, const Value* values, Key* sorted_keys, Value* sorted_values, u64 n,
                  u32 /*bits*/) {
    struct pair {
      Key key;
      Value value;
      bool operator<(const pair& other) const { return key < other.key; }
    };
    buffer<pair, cpu> pairs(*this, n);
    for_each(n, [&](u64 i) { pairs.data()[i] = {keys[i], values[i]}; });
    sort(pairs.data(), n);
    for_each(n, [&](u64 i) {
      sorted_keys[i] = pairs.data()[i].key;
      sorted_values[i] = pairs.data()[i].value;
    });
  }

  // ---- time ----
  void synchronize() {}
  // Seconds that f() took, on this space's own clock.
  template <class F>
  double time(F f) {
    const auto start = std::chrono::steady_clock::now();
    f();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

 private:
  static constexpr u64 default_grain = 4096;

  // No template, so that oneTBB's loop is compiled once in a program's source and not once for each body.
  void run_chunks(u64 n, [[maybe_unused]] u64 grain, void (*run)(void*, u64, u64), void* body) {
#if TILEHASH_HAS_TBB
    if (threads() > 1 && n > grain) {
      arena_.execute([&] {
        tbb::parallel_for(tbb::blocked_range<u64>(0, n, grain),
                          [&](const auto& r) { run(body, r.begin(), r.end()); });
      });
      return;
    }
#endif
    if (n != 0) run(body, 0, n);
  }

#if TILEHASH_HAS_TBB
  mutable tbb::task_arena arena_;
#endif
};

}  // namespace tilehash
