// Arrays for results that are true or false.
#pragma once

#include <concepts>
#include <iterator>
#include <span>

#include <tilehash/core/config.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

/// A view of an array of bool or bytes in the memory of the space; calls write 1 or 0 there. It is made from
/// any such array: std::vector<std::uint8_t>, std::span<bool>, buffer::span(), but not std::vector<bool>.
class flags {
 public:
  /// A view of no array.
  flags() = default;
  /// A view of `array`.
  template <class Array>
    requires(std::constructible_from<std::span<bool>, Array> || std::constructible_from<std::span<u8>, Array>)
  /// NOLINTBEGIN(google-explicit-constructor,bugprone-forwarding-reference-overload)
  flags(Array&& array) : data_(reinterpret_cast<u8*>(std::data(array))), size_(std::size(array)) {}
  // NOLINTEND(google-explicit-constructor,bugprone-forwarding-reference-overload)

  /// A view of `size` elements at `data`.
  flags(bool* data, u64 size) : data_(reinterpret_cast<u8*>(data)), size_(size) {}
  /// The same.
  flags(u8* data, u64 size) : data_(data), size_(size) {}

  u8* data() const { return data_; }         ///< null if there is no array
  u64 size() const { return size_; }         ///< elements
  bool empty() const { return size_ == 0; }  ///< are there no elements?

 private:
  u8* data_ = nullptr;
  u64 size_ = 0;
};

TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
