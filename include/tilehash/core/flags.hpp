// Where answers of yes and no go.
#pragma once

#include <concepts>
#include <iterator>
#include <span>

#include <tilehash/core/config.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

/// An array of bool or of bytes in the memory of the space; what is written there is 1 or 0. Made from any
/// that there is: std::vector<std::uint8_t>, std::span<bool>, buffer::span(). (std::vector<bool> is none.)
class flags {
 public:
  /// None.
  flags() = default;
  /// An array's, for which it stands.
  template <class Array>
    requires(std::constructible_from<std::span<bool>, Array> || std::constructible_from<std::span<u8>, Array>)
  /// NOLINTBEGIN(google-explicit-constructor,bugprone-forwarding-reference-overload)
  flags(Array&& array) : data_(reinterpret_cast<u8*>(std::data(array))), size_(std::size(array)) {}
  // NOLINTEND(google-explicit-constructor,bugprone-forwarding-reference-overload)

  /// So many at a place.
  flags(bool* data, u64 size) : data_(reinterpret_cast<u8*>(data)), size_(size) {}
  /// The same.
  flags(u8* data, u64 size) : data_(data), size_(size) {}

  u8* data() const { return data_; }         ///< null where there are none
  u64 size() const { return size_; }         ///< elements
  bool empty() const { return size_ == 0; }  ///< are there none?

 private:
  u8* data_ = nullptr;
  u64 size_ = 0;
};

TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC(flags);
}  // namespace tilehash
