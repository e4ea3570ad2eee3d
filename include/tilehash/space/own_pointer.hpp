// SPDX-License-Identifier: Apache-2.0
// Scratch of a single thread, with the interface of scratch that threads share.
#pragma once

#include <concepts>

#include <tilehash/core/config.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// The scratch of a block of one thread. Argument-dependent lookup finds these functions in place of the
// atomic ones (core/atomic.hpp). They are plain accesses, as a locked instruction takes twenty times as long.
template <class T>
class own_pointer {
 public:
  TILEHASH_FN explicit own_pointer(T* at) : at_(at) {}

  TILEHASH_FN T& operator[](u64 i) const { return at_[i]; }
  TILEHASH_FN T& operator*() const { return *at_; }
  TILEHASH_FN own_pointer operator+(u64 i) const { return own_pointer(at_ + i); }

  TILEHASH_FN friend T load_relaxed(own_pointer p) { return *p; }
  TILEHASH_FN friend void store_relaxed(own_pointer p, T x) { *p = x; }
  TILEHASH_FN friend T fetch_add(own_pointer p, T by) {
    const T old = *p;
    if constexpr (std::signed_integral<T>)  // wraps round, as the atomic one does
      *p = static_cast<T>(static_cast<u64>(old) + static_cast<u64>(by));
    else
      *p = static_cast<T>(old + by);
    return old;
  }
  TILEHASH_FN friend T compare_and_swap(own_pointer p, T expected, T desired) {
    const T old = *p;
    if (old == expected) *p = desired;
    return old;
  }
  TILEHASH_FN friend T exchange(own_pointer p, T x) {
    const T old = *p;
    *p = x;
    return old;
  }
  TILEHASH_FN friend void fetch_min(own_pointer p, T x) { *p = x < *p ? x : *p; }
  TILEHASH_FN friend void fetch_max(own_pointer p, T x) { *p = *p < x ? x : *p; }
  TILEHASH_FN friend void set_bits(own_pointer p, T bits) { *p = static_cast<T>(*p | bits); }

 private:
  T* at_;
};

template <class Pointer>
inline constexpr bool is_own_pointer = false;
template <class T>
inline constexpr bool is_own_pointer<own_pointer<T>> = true;

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
