// SPDX-License-Identifier: Apache-2.0
// The concept of a space: where memory is, and how work starts there. `cpu` and `cuda` are for users, the
// tests have `emulated`. A static_assert next to each class checks it.
//
//   memory   allocate, deallocate, resizes, resize; copies to and from host memory; whether two objects share
//            their memory; whether a pointer may be read
//   work     for_each(n, body)               body(i)
//            for_each_block(blocks, threads, scratch bytes, body)    body(block)
//            for_each_lane(n, body)          body(lane), if work runs in warps of lanes (has_lanes)
//            for_each_share(n, body)         body(first, last), if work runs in threads
//            fill; scans and sorts, which are defined in space/algorithms.hpp
//   machine  bytes of a cache and of a block's scratch; the number of large blocks that run at once
//   time     synchronize; seconds of some work
#pragma once

#include <concepts>
#include <span>
#include <string>

#include <tilehash/core/config.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

namespace detail {

struct any_work {
  void operator()() const {}
  void operator()(u64 /*i*/) const {}
  void operator()(u64 /*first*/, u64 /*last*/) const {}
  template <class Some>
    requires(!std::convertible_to<Some, u64>)
  void operator()(const Some& /*a block, or a lane*/) const {}
};

}  // namespace detail

// A class in whose memory tables can be made.
template <class Space>
concept space_like =
    !std::copyable<Space> &&
    requires(Space& s, const Space& c, void* p, const void* from, u64 n, u32* words, detail::any_work work) {
      { Space::has_lanes } -> std::convertible_to<bool>;
      { c.name() } -> std::convertible_to<std::string>;   // for people
      { c.where() } -> std::convertible_to<std::string>;  // for messages
      { s.allocate(n) } -> std::same_as<void*>;
      { s.deallocate(p, n) } noexcept;
      { c.resizes(from, n, n) } -> std::same_as<bool>;
      { s.resize(p, n, n) } -> std::same_as<void*>;
      s.copy_from_host(p, from, n);
      s.copy_to_host(p, from, n);
      s.copy(p, from, n);
      { c.same_memory(c) } -> std::same_as<bool>;
      c.check_pointer(std::span<u32>(), "");
      s.for_each(n, work);
      s.for_each_block(n, u32(1), n, work);
      s.fill(words, n, u32(0));
      s.exclusive_scan(words, words, n);
      s.sort(words, n);
      s.sort_pairs(words, words, n, u32(32));
      { c.cache_bytes() } -> std::same_as<u64>;
      { c.largest_scratch() } -> std::same_as<u64>;
      { c.large_blocks_at_once() } -> std::same_as<u64>;
      s.synchronize();
      { s.time(work) } -> std::same_as<double>;
    } &&
    ((Space::has_lanes && requires(Space& s, u64 n, detail::any_work work) { s.for_each_lane(n, work); }) ||
     (!Space::has_lanes && requires(Space& s, const Space& c, u64 n, detail::any_work work) {
       s.for_each_share(n, work);
       { c.threads() } -> std::convertible_to<int>;
     }));

TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
