// A number of an object that owns memory: it is 0 in a moved-from object.
#pragma once

#include <utility>

#include <tilehash/core/config.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

class zero_when_moved {
 public:
  zero_when_moved() = default;
  zero_when_moved(zero_when_moved&& other) noexcept : n_(std::exchange(other.n_, 0)) {}
  zero_when_moved& operator=(zero_when_moved&& other) noexcept {
    n_ = std::exchange(other.n_, 0);
    return *this;
  }
  zero_when_moved& operator=(u64 n) {
    n_ = n;
    return *this;
  }
  zero_when_moved& operator+=(u64 n) { return *this = n_ + n; }
  zero_when_moved& operator-=(u64 n) { return *this = n_ - n; }
  operator u64() const { return n_; }  // NOLINT(google-explicit-constructor): it is a number

 private:
  u64 n_ = 0;
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
