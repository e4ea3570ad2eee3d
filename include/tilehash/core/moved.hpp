// SPDX-License-Identifier: Apache-2.0
// A number of an object that owns memory: it is 0, or false, in a moved-from object.
#pragma once

#include <utility>

#include <tilehash/core/config.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

template <class T = u64>
class zero_when_moved {
 public:
  zero_when_moved() = default;
  zero_when_moved(zero_when_moved&& other) noexcept : n_(std::exchange(other.n_, T())) {}
  zero_when_moved& operator=(zero_when_moved&& other) noexcept {
    n_ = std::exchange(other.n_, T());
    return *this;
  }
  zero_when_moved& operator=(T n) {
    n_ = n;
    return *this;
  }
  zero_when_moved& operator+=(T n) { return *this = n_ + n; }
  zero_when_moved& operator-=(T n) { return *this = n_ - n; }
  operator T() const { return n_; }  // NOLINT(google-explicit-constructor): it is a number

 private:
  T n_{};
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
