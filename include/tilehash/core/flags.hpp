// Where answers of yes and no go.
#pragma once

#include <concepts>
#include <ranges>
#include <type_traits>

#include <tilehash/core/config.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

// An array of bool or of bytes in the memory of the space; what is written there is 1 or 0. Made from any
// that there is: std::vector<std::uint8_t>, std::span<bool>, buffer::span(). (std::vector<bool> is none.)
class flags {
 public:
  // None.
  flags() = default;
  // An array's, for which it stands.
  template <class Array>
    requires(std::ranges::contiguous_range<Array> && std::ranges::sized_range<Array> &&
             (std::same_as<std::remove_reference_t<std::ranges::range_reference_t<Array>>, bool> ||
              std::same_as<std::remove_reference_t<std::ranges::range_reference_t<Array>>, u8>) &&
             (std::ranges::borrowed_range<Array> || std::is_lvalue_reference_v<Array>))
  // NOLINTBEGIN(google-explicit-constructor,bugprone-forwarding-reference-overload)
  flags(Array&& array)
      : data_(reinterpret_cast<u8*>(std::ranges::data(array))), size_(std::ranges::size(array)) {}
  // NOLINTEND(google-explicit-constructor,bugprone-forwarding-reference-overload)

  // So many at a place.
  flags(bool* data, u64 size) : data_(reinterpret_cast<u8*>(data)), size_(size) {}
  // The same.
  flags(u8* data, u64 size) : data_(data), size_(size) {}

  u8* data() const { return data_; }         // null where there are none
  u64 size() const { return size_; }         // elements
  bool empty() const { return size_ == 0; }  // are there none?

 private:
  u8* data_ = nullptr;
  u64 size_ = 0;
};

TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
