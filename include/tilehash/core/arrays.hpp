// SPDX-License-Identifier: Apache-2.0
// Arrays that callers pass: for results that are true or false; and a check of the overlap of arrays that a
// call reads with arrays that it writes.
#pragma once

#include <concepts>
#include <iterator>
#include <span>
#include <string>

#include <tilehash/core/config.hpp>
#include <tilehash/core/error.hpp>

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
  // NOLINTBEGIN(google-explicit-constructor,bugprone-forwarding-reference-overload)
  flags(Array&& array) : data_(reinterpret_cast<u8*>(std::data(array))), size_(std::size(array)) {}
  // NOLINTEND(google-explicit-constructor,bugprone-forwarding-reference-overload)

  /// A view of `size` elements at `data`.
  flags(bool* data, u64 size) : data_(reinterpret_cast<u8*>(data)), size_(size) {}
  /// The same.
  flags(u8* data, u64 size) : data_(data), size_(size) {}

  u8* data() const { return data_; }         ///< null if there is no array
  u64 size() const { return size_; }         ///< elements
  bool empty() const { return size_ == 0; }  ///< true if there is no element

 private:
  u8* data_ = nullptr;
  u64 size_ = 0;
};

namespace detail {

// ---- overlap ----
//
// Checks the overlap of arrays that a call reads with arrays that it writes. A call may write each result
// over its key if an item reads only its own element before it writes there. So elements must begin at the
// same addresses; all other overlap is refused. The check compares addresses and reads no memory.

// An array's memory.
struct bytes_of_array {
  u64 first = 0, end = 0, element = 0;  // end: one past its last byte

  template <class T>
  bytes_of_array(std::span<T> array)  // NOLINT(google-explicit-constructor): an array is its memory
      : first(reinterpret_cast<u64>(array.data())), end(first + array.size_bytes()), element(sizeof(T)) {}
  bytes_of_array(const flags& array)  // NOLINT(google-explicit-constructor)
      : bytes_of_array(std::span(array.data(), array.size())) {}

  bool overlaps(const bytes_of_array& other) const {
    return first < end && other.first < other.end && first < other.end && other.first < end;
  }
  bool has_elements_of(const bytes_of_array& other) const {
    return first == other.first && element == other.element;
  }
};

[[noreturn]] inline void refuse_overlap(const char* verb, const char* written, const char* given) {
  refuse(std::string(verb) + ": " + written + " overlap " + given + "; give them memory of their own");
}
// Throws invalid_argument if they have a byte in common: `verb: written overlap given; ...`
inline void require_apart(const bytes_of_array& a, const bytes_of_array& b, const char* verb,
                          const char* written, const char* given) {
  if (a.overlaps(b)) refuse_overlap(verb, written, given);
}
// The same, unless element i of both is the same memory.
inline void require_apart_or_in_place(const bytes_of_array& a, const bytes_of_array& b, const char* verb,
                                      const char* written, const char* given) {
  if (!a.has_elements_of(b)) require_apart(a, b, verb, written, given);
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
