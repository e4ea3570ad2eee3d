// SPDX-License-Identifier: Apache-2.0
// engine::storage: the options, the memory and the size of a table, and the verbs that only read them. The
// engines that own memory derive from it, and add how they fill it and change it.
//
// A moved-from table has no memory, and behaves as an empty table. Numbers that derived classes add are
// detail::zero_when_moved.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include <tilehash/core/error.hpp>
#include <tilehash/core/moved.hpp>
#include <tilehash/core/options.hpp>
#include <tilehash/kernel/lookup.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/table_view.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace engine {

template <class Design, class Space>
class storage {
 public:
  using key_type = typename Design::key_type;
  using mapped_type = typename Design::mapped_type;
  using view_type = table_view<Design>;
  using value_element = std::conditional_t<std::is_void_v<mapped_type>, char, mapped_type>;

  storage(storage&& other) noexcept
      : options_(other.options_),
        memory_(std::move(other.memory_)),
        view_(std::exchange(other.view_, view_type())),
        size_(std::move(other.size_)) {}
  storage& operator=(storage&& other) noexcept {
    options_ = other.options_;
    memory_ = std::move(other.memory_);
    view_ = std::exchange(other.view_, view_type());
    size_ = std::move(other.size_);
    return *this;
  }

  bool has_memory() const { return memory_.data() != nullptr; }
  Space* home() const { return memory_.space(); }
  u64 size() const { return size_; }
  u64 capacity() const { return has_memory() ? view_.design.capacity() : 0; }
  u64 bytes() const { return memory_.bytes(); }
  const view_type& view() const { return view_; }
  const table_options& options() const { return options_; }

  template <class Keys, class Sink>
  void look_up(Space& space, Keys keys, u64 n, Sink sink) const {
    if (!has_memory())
      detail::look_up_nothing<typename view_type::hit>(space, n, sink);
    else if constexpr (rowed<Design>)
      detail::look_up(space, view_.design, keys, n, sink);  // NOLINT(bugprone-branch-clone): other functions
    else if constexpr (values_apart<Design>)
      detail::look_up(space, view_.design, {}, keys, n, sink);
    else
      detail::look_up(space, view_.design, view_.sentinels, keys, n, sink);
  }

 protected:
  explicit storage(const table_options& options) : options_(detail::with_seed(options)) {}
  // Throws invalid_argument.
  void require_shrink_below() const {
    detail::require(options_.shrink_below >= 0 && options_.shrink_below <= options_.load_factor / 2,
                    "shrink_below must be at least 0 and at most half of the load factor");
  }
  [[noreturn]] static void refuse_items(u64 tries) {
    throw error("tilehash: the items could not be placed with " + std::to_string(tries) +
                " hash functions; ask for a lower load factor, or take another hash");
  }
  // The same table in memory of `space`. The derived class makes the view of that memory.
  storage(const storage& other, Space& space)
      : options_(other.options_), memory_(detail::copy_of(other.memory_, space)) {
    size_ = u64(other.size_);
  }
  ~storage() = default;

  table_options options_;
  buffer<char, Space> memory_;
  view_type view_{};
  detail::zero_when_moved<> size_;
};

}  // namespace engine
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
