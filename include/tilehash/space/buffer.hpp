// SPDX-License-Identifier: Apache-2.0
// An owning array in the memory of a space.
#pragma once

#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tilehash/core/config.hpp>
#include <tilehash/core/error.hpp>
#include <tilehash/core/key_members.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {
[[noreturn]] TILEHASH_COLD inline void refuse_elements(u64 n, u64 bytes_each) {
  throw out_of_memory("tilehash: " + std::to_string(n) + " elements of " + std::to_string(bytes_each) +
                      " bytes are more memory than there can be; use a smaller table");
}
}  // namespace detail

/// An array of `size` elements of T in the memory of `Space`, uninitialised. Movable, not copyable; a
/// moved-from buffer is empty. Throws out_of_memory. The space must outlive its buffers: they copy through it
/// and return the memory to it. A caller that uses the memory through another space object must order the two
/// (space/foreign_stream.hpp; tables do).
template <class T, class Space>
  requires detail::copied_as_bytes<T>
class buffer {
 public:
  /// The result of to_host(): plain values, a byte each for bool (std::vector<bool> is no array).
  using host_vector = std::vector<std::conditional_t<std::is_same_v<T, bool>, u8, T>>;

  /// Has no elements and no space.
  buffer() = default;
  /// Uninitialised. O(1) in addition to the space's allocation. Does not synchronize. Throws out_of_memory.
  buffer(Space& space, u64 size)
      : space_(&space),
        data_(size == 0 ? nullptr : static_cast<T*>(space.allocate(bytes_for(size)))),
        size_(size) {}
  /// Copies an array in host memory. O(n). Synchronizes. Throws out_of_memory.
  buffer(Space& space, std::span<const T> host) : buffer(space, host.size()) { copy_from(host); }
  /// Takes the memory over; `other` is empty afterwards.
  buffer(buffer&& other) noexcept { swap(other); }
  /// The same; the old memory of this buffer returns to its space.
  buffer& operator=(buffer&& other) noexcept {
    buffer(std::move(other)).swap(*this);
    return *this;
  }
  /// Gives the memory back to its space, in the order of that space's work.
  ~buffer() {
    if (data_ != nullptr) space_->deallocate(data_, size_ * sizeof(T));
  }

  Space* space() const { return space_; }                 ///< null if it never had memory
  T* data() const { return data_; }                       ///< memory of the space; null where size() is 0
  u64 size() const { return size_; }                      ///< elements
  u64 bytes() const { return size_ * sizeof(T); }         ///< size of the memory
  std::span<T> span() const { return {data_, size_}; }    ///< all elements, for the verbs of tables
  std::span<T> first(u64 n) const { return {data_, n}; }  ///< the first n, at most size()

  /// Copies from host memory. O(n). Synchronizes. Throws invalid_argument if `host` is longer than this.
  void copy_from(std::span<const T> host) {
    detail::require(host.size() <= size_, "buffer::copy_from: the source is longer than the buffer");
    if (!host.empty()) space_->copy_from_host(data_, host.data(), host.size_bytes());
  }
  /// Returns a copy in host memory. O(n). Synchronizes.
  host_vector to_host() const {
    host_vector host(size_);
    if (size_ != 0) space_->copy_to_host(host.data(), data_, bytes());
    return host;
  }

  /// Returns a buffer that resize() can grow and shrink, if the space supports that.
  static buffer resizable(Space& space, u64 size) {
    buffer made;
    if constexpr (requires { space.allocate_resizable(size); }) {
      made.space_ = &space;
      made.data_ = size == 0 ? nullptr : static_cast<T*>(space.allocate_resizable(bytes_for(size)));
      made.size_ = size;
    } else {
      made = buffer(space, size);
    }
    return made;
  }
  /// Can resize() give it `size` elements without a copy? O(1).
  bool resizes(u64 size) const {
    if constexpr (requires { space_->resizes(data_, size, size); })
      return data_ != nullptr && size != 0 && space_->resizes(data_, bytes(), bytes_for(size));
    else
      return false;
  }
  /// Requires resizes(size). Sets the number of elements; the first ones stay, the address may change. Cost:
  /// the system's, for pages added or removed. Synchronizes. Throws out_of_memory; nothing has changed then.
  void resize(u64 size) {
    if constexpr (requires { space_->resize(data_, size, size); }) {
      data_ = static_cast<T*>(space_->resize(data_, bytes(), bytes_for(size)));
      size_ = size;
    }
  }

  /// Exchanges the memory and the spaces.
  void swap(buffer& other) noexcept {
    std::swap(space_, other.space_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

 private:
  static u64 bytes_for(u64 size) {
    if (size > ~u64(0) / sizeof(T)) detail::refuse_elements(size, sizeof(T));
    return size * sizeof(T);
  }

  Space* space_ = nullptr;
  T* data_ = nullptr;
  u64 size_ = 0;
};

namespace detail {
// Returns a copy of the elements in memory of `space`. Throws out_of_memory. Does not synchronize.
template <class T, class Space>
buffer<T, Space> copy_of(const buffer<T, Space>& from, Space& space) {
  buffer<T, Space> to(space, from.size());
  if (from.size() != 0) space.copy(to.data(), from.data(), from.bytes());
  return to;
}
}  // namespace detail

/// Reads one value from the memory of a space, such as a counter that kernels add to. Synchronizes.
template <class T, class Space>
T read_one(Space& space, const T* at) {
  T x;
  space.copy_to_host(&x, at, sizeof x);
  return x;
}

TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC(buffer);
}  // namespace tilehash
