// SPDX-License-Identifier: Apache-2.0
// Arrays of the host in the memory of a space, and a table's answers back on the host.
#pragma once

#include <tilehash/space/buffer.hpp>

#include <cstddef>
#include <span>
#include <vector>

#include "parallel.hpp"

namespace tilehash::app {

// Memory of the space that is used for one call after the other, and its contents on the host.
template <class T, class Space>
class answers {
  using memory = buffer<T, Space>;
  using host_type = typename memory::host_vector::value_type;

 public:
  explicit answers(Space& space) : space_(&space) {}

  std::span<T> take(std::size_t n) {  // the contents so far are lost
    if (n > in_space_.size()) {
      in_space_ = {};
      in_space_ = memory(*space_, n);
    }
    n_ = n;
    return in_space_.first(n);
  }
  // Bools are bytes.
  auto on_host() {
    if constexpr (Space::has_lanes) {
      copied_.resize(n_);
      if (n_ != 0) space_->copy_to_host(copied_.data(), in_space_.data(), n_ * sizeof(T));
    }
    return as_last_on_host();
  }
  std::span<const host_type> as_last_on_host() const {
    if constexpr (Space::has_lanes)
      return copied_;
    else
      return {reinterpret_cast<const host_type*>(in_space_.data()), n_};
  }

 private:
  Space* space_;
  memory in_space_;
  std::vector<host_type> copied_{};
  std::size_t n_ = 0;
};

// value(i) for every i of [0, n), in the space's memory.
template <class T, class Space, class Of>
buffer<T, Space> upload(Space& space, std::size_t n, Of value) {
  const auto write = [&](T* to) {
    in_parallel(n, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) to[i] = static_cast<T>(value(i));
    });
  };
  if constexpr (Space::has_lanes) {
    std::vector<T> narrow(n);
    write(narrow.data());
    return buffer<T, Space>(space, narrow);
  } else {
    buffer<T, Space> direct(space, n);
    write(direct.data());
    return direct;
  }
}

}  // namespace tilehash::app
