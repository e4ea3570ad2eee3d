// SPDX-License-Identifier: Apache-2.0
// The space for tests: the GPU's schedule on the CPU. It has the interface of `cuda`, so every design and
// bulk verb runs on it as on a GPU, at any tile width. Each lane is a fiber. A missing barrier, or a
// collective or barrier that some lanes do not reach, is an error with a clear message instead of a hang.
//
//   emulated space({.seed = 7, .preempt = true});
//   table<with_width<bucketed_cuckoo<u32, u32>, 8>, emulated> t(space, 1000);
//
// Some faults show only in some orders: run a test under several seeds.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <new>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/config.hpp>
#include <tilehash/core/error.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/space/space_like.hpp>

#include "machine.hpp"

namespace tilehash {

// Width neighbouring lanes of a warp. Stricter than cuda_tile: the whole warp must reach a broadcast even in
// a tile of one lane, or of a value that needs no exchange.
template <u32 Width>
class emulated_tile {
  using site = emulation::site;

 public:
  static_assert(Width >= 1 && Width <= 32 && (Width & (Width - 1)) == 0);
  static constexpr u32 width = Width;

  explicit emulated_tile(emulation::thread& me) : me_(&me) {}

  u32 rank() const { return me_->lane() % Width; }
  u32 ballot(bool p, site at = site::current()) const {
    const u32 warp = me_->vote("ballot", p, at);
    if constexpr (Width == 32)
      return warp;
    else
      return warp >> (me_->lane() / Width * Width) & ((1U << Width) - 1);
  }
  bool any(bool p, site at = site::current()) const { return me_->vote("any", p, at) != 0; }
  template <class T>
  T broadcast(T x, u32 from, site at = site::current()) const {
    static_assert(sizeof(T) % 4 == 0, "a GPU's shuffle moves 4 bytes at a time");
    return me_->said_by("broadcast", x, from, Width, at);
  }
  template <class T>
  T from_left(T x, u32 by = 1, site at = site::current()) const {
    static_assert(sizeof(T) % 4 == 0, "a GPU's shuffle moves 4 bytes at a time");
    return me_->said_by_left("from_left", x, by, Width, at);
  }
  void sync(site at = site::current()) const { me_->sync("sync", at); }

  template <u32 N, class Word>
  void load(const Word* from, Word (&to)[N], bool active, site at = site::current()) const {
    check_alignment<N>(from, active, at);
    for (u32 i = 0; i < N; ++i) to[i] = active ? from[i] : Word(0);
  }
  template <u32 N, class Word>
  void load_shared(const Word* from, Word (&to)[N], bool active, site at = site::current()) const {
    check_alignment<N>(from, active, at);
    for (u32 i = 0; i < N; ++i) {
      me_->may_pause();
      to[i] = active ? detail::load_relaxed(from + i) : Word(0);
    }
    me_->may_pause();
  }

 private:
  template <u32 N, class Word>
  static void check_alignment(const Word* from, bool active, const site& at) {
    constexpr u64 request = N * sizeof(Word) % 16 == 0 ? 16 : sizeof(Word);
    if (active && reinterpret_cast<u64>(from) % request != 0)
      detail::refuse(emulation::thread::describe({"load", request, false, at}) +
                     " from an address that is not aligned");
  }

  emulation::thread* me_;
};

// The argument of a lane body.
class emulated_lane {
  using site = emulation::site;

 public:
  explicit emulated_lane(emulation::thread& me) : me_(&me) {}

  u64 index() const { return me_->block().index * me_->block().threads + me_->rank(); }
  u64 count() const { return me_->block().count * me_->block().threads; }
  template <u32 Width>
  emulated_tile<Width> tile() const {
    return emulated_tile<Width>(*me_);
  }
  void tally(u64* counter, bool yes, site at = site::current()) const {
    const u32 lanes = me_->vote("tally", yes, at);
    if (lanes != 0 && me_->lane() == detail::lowest(lanes))
      detail::fetch_add(counter, u64(detail::count_ones(lanes)));
  }
  u64 append(u64* length, bool yes, site at = site::current()) const {
    const u32 lanes = me_->vote("append", yes, at);
    if (lanes == 0) return 0;
    const u32 leader = detail::lowest(lanes);
    u64 base = 0;
    if (me_->lane() == leader) base = detail::fetch_add(length, u64(detail::count_ones(lanes)));
    base = me_->said_by("append", base, leader, emulation::warp_size, at);
    return base + detail::count_ones(lanes & ((1U << me_->lane()) - 1));
  }

 private:
  emulation::thread* me_;
};

// The argument of a block body.
class emulated_block {
  using site = emulation::site;

 public:
  explicit emulated_block(emulation::thread& me) : me_(&me) {}

  u64 index() const { return me_->block().index; }
  u64 count() const { return me_->block().count; }
  u32 rank() const { return me_->rank(); }
  u32 size() const { return me_->block().threads; }
  void barrier(site at = site::current()) const { me_->count_in_block("barrier", false, at); }
  emulated_lane lane() const { return emulated_lane(*me_); }
  template <class T>
  emulation::scratch_pointer<T, emulation::thread> scratch(u64 at_byte = 0) const {
    return {*me_, at_byte};
  }
  template <u32 Width>
  emulated_tile<Width> tile() const {
    return emulated_tile<Width>(*me_);
  }

 private:
  emulation::thread* me_;
};

class emulated {
 public:
  static constexpr bool has_lanes = true;
  static constexpr u32 block_size = 256;
  static constexpr u64 cache_bytes() { return 4096; }                 // so small that small tables do not fit
  static constexpr u64 largest_scratch() { return u64(227) * 1024; }  // of a block of sm_90
  static constexpr u64 large_blocks_at_once() { return 2; }

  // allocate() fails beyond `memory` bytes.
  explicit emulated(emulation::schedule s = {}, u64 memory = ~u64(0))
      : seed_(s.seed), memory_(memory), machine_(s) {}
  emulated(const emulated&) = delete;
  emulated& operator=(const emulated&) = delete;

  std::string name() const { return "emulated GPU (seed " + std::to_string(seed_) + ")"; }

  // ---- memory: of the host, but only allocate() returns memory that counts as the GPU's ----
  void* allocate(u64 bytes) {
    void* p = bytes > memory_ ? nullptr : ::operator new(bytes, alignment, std::nothrow);
    if (p == nullptr)
      throw out_of_memory("tilehash: the emulated GPU has no " + std::to_string(bytes) + " bytes free");
    std::memset(p, 0xcd, bytes);
    allocated_[static_cast<char*>(p)] = bytes;
    memory_ -= bytes;
    return p;
  }
  void deallocate(void* p, u64 bytes) noexcept {
    memory_ += bytes;
    allocated_.erase(static_cast<char*>(p));
    ::operator delete(p, alignment);
  }
  // A GPU can resize memory in place; here resizing moves all of it.
  bool resizes(const void* /*p*/, u64 /*bytes*/, u64 /*new_bytes*/) const { return true; }
  void* resize(void* p, u64 bytes, u64 new_bytes) {
    memory_ += bytes;  // the copy is not tested
    void* to = nullptr;
    try {
      to = allocate(new_bytes);
    } catch (const out_of_memory&) {
      memory_ -= bytes;
      throw;
    }
    memory_ -= bytes;
    std::memcpy(to, p, std::min(bytes, new_bytes));
    deallocate(p, bytes);
    return to;
  }
  void copy_from_host(void* to, const void* from, u64 bytes) { std::memcpy(to, from, bytes); }
  void copy_to_host(void* to, const void* from, u64 bytes) { std::memcpy(to, from, bytes); }
  void copy(void* to, const void* from, u64 bytes) { std::memcpy(to, from, bytes); }
  // As a GPU's: kernels may write here, so counts of a call are not where its counters are.
  u64* host_words() { return host_words_; }

  std::string where() const { return name(); }
  // Each emulated space is a device of its own.
  bool same_memory(const emulated& other) const { return this == &other; }

  template <class T>
  void check_pointer(std::span<T> span, const char* what) const {
    check_pointer(span.data(), span.size(), what);
  }
  void check_pointer(const void* p, const char* what) const { check_pointer(p, p != nullptr, what); }
  void check_pointer(const void* p, u64 n, const char* what) const {
    if (n == 0) return;
    if (p == nullptr) detail::refuse(std::string(what) + " are at a null pointer");
    const auto after = allocated_.upper_bound(static_cast<const char*>(p));
    if (after == allocated_.begin() || p > std::prev(after)->first + std::prev(after)->second)
      detail::refuse(std::string(what) + " are in host memory, but the table is on the emulated GPU");
  }

  // ---- work ----
  template <class Body>
  void for_each_lane(u64 n, Body body) {
    if (n == 0) return;
    ++kernels_;
    machine_.run((n + block_size - 1) / block_size, block_size, 0, [&](emulation::thread& me) {
      Body{body}(emulated_lane(me));  // a copy, as a kernel's argument
    });
  }
  // Threads of this kind share nothing, so they need no fibers.
  template <class Body>
  void for_each(u64 n, Body body) {
    if (n == 0) return;
    ++kernels_;
    emulation::shuffled order(n, machine_.dice());
    for (u64 i = 0; i < n; ++i) body(order.next());
  }
  template <class Body>
  void for_each_block(u64 blocks, u32 threads, u64 scratch_bytes, Body body) {
    u32 most = 1024;
    if constexpr (requires { Body::block_size; }) most = Body::block_size;
    detail::require(threads >= 1 && threads <= most, "a block of more threads than its body is compiled for");
    detail::require(scratch_bytes <= largest_scratch(), "a block has at most 227 KiB of scratch");
    if (blocks == 0) return;
    ++kernels_;
    most_scratch_ = std::max(most_scratch_, scratch_bytes);
    machine_.run(blocks, threads, scratch_bytes,
                 [&](emulation::thread& me) { Body{body}(emulated_block(me)); });
  }

  // The most scratch that a block had since the last call of this: it distinguishes kernels.
  u64 take_most_scratch() { return std::exchange(most_scratch_, 0); }

  // The number of kernels since the last call of this.
  u64 take_kernels() { return std::exchange(kernels_, 0); }

  // ---- algorithms ----
  template <class T>
  void fill(T* data, u64 n, T value) {
    std::fill_n(data, n, value);
  }
  template <class T>
  void exclusive_scan(const T* from, T* to, u64 n) {
    std::exclusive_scan(from, from + n, to, T(0));
  }
  template <class T>
  void sort(T* data, u64 n) {
    std::sort(data, data + n);
  }
  template <class Key, class Value>
  void sort_pairs(Key* keys, Value* values, u64 n, u32 bits) {
    sort_pairs(keys, values, keys, values, n, bits);
  }
  template <class Key, class Value>
  void sort_pairs(const Key* keys, const Value* values, Key* sorted_keys, Value* sorted_values, u64 n,
                  u32 /*bits*/) {
    std::vector<std::pair<Key, Value>> pairs;
    for (u64 i = 0; i < n; ++i) pairs.emplace_back(keys[i], values[i]);
    std::stable_sort(pairs.begin(), pairs.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (u64 i = 0; i < n; ++i) std::tie(sorted_keys[i], sorted_values[i]) = pairs[i];
  }

  // ---- time ----
  void synchronize() {}
  template <class F>
  double time(F f) {
    const auto start = std::chrono::steady_clock::now();
    f();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

 private:
  static constexpr std::align_val_t alignment{256};  // as cudaMalloc's

  u64 seed_;
  u64 memory_;  // bytes free
  u64 most_scratch_ = 0, kernels_ = 0;
  std::map<const char*, u64> allocated_;
  emulation::machine machine_;
  u64 host_words_[32] = {};
};

static_assert(space_like<emulated>);

// A design with another tile width than its preferred one.
template <class Design, u32 Width>
struct with_width : Design {
  static constexpr u32 preferred_width = Width;
  // A failed search costs as much here as the inserts of some hundred keys, so there are fewer of them.
  static constexpr u32 max_searches = [] {
    if constexpr (requires { Design::max_searches; })
      return (Design::max_searches + 7) / 8;
    else
      return 0U;
  }();
  template <class Space>
  using engine = std::conditional_t<
      values_apart<Design>, tilehash::engine::subtables<with_width, Space>,
      std::conditional_t<insertable<Design>, tilehash::engine::insertion<with_width, Space>,
                         tilehash::engine::built_once<with_width, Space>>>;
  using Design::Design;
  with_width() = default;
};

}  // namespace tilehash
