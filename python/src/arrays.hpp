// SPDX-License-Identifier: Apache-2.0
// What the module's functions share: arrays of Python, and the CPU space that a call runs on.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <tilehash/space/cpu.hpp>
#include <tilehash/space/cpu_algorithms.hpp>

namespace tilehash::python {

namespace nb = nanobind;
using i64 = std::int64_t;

template <class T>
using vector_in = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using any_in = nb::ndarray<nb::ro, nb::ndim<1>, nb::device::cpu>;  // of any type, with a stride
using mask_in = std::optional<vector_in<bool>>;                    // false: the row is missing
template <class T>
using array_out = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

// The space of so many threads; 0 means those of the machine. It lives as long as the process, as arrays
// return their memory to it. It has no threads between calls.
inline cpu& space_of(int threads) {
  static std::mutex lock;
  static auto& spaces = *new std::vector<std::unique_ptr<cpu>>;
  if (threads <= 0) threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const std::lock_guard guard(lock);
  if (spaces.size() <= static_cast<std::size_t>(threads))
    spaces.resize(static_cast<std::size_t>(threads) + 1);
  auto& space = spaces[static_cast<std::size_t>(threads)];
  if (!space) space = std::make_unique<cpu>(threads);
  return *space;
}

// A NumPy array that owns the buffer's memory.
template <class T>
array_out<T> to_numpy(buffer<T, cpu>&& from) {
  auto* kept = new buffer<T, cpu>(std::move(from));
  static T nothing{};
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<buffer<T, cpu>*>(p); });
  return array_out<T>(kept->size() != 0 ? kept->data() : &nothing, {kept->size()}, owner);
}

inline const std::uint8_t* bytes_of_mask(const mask_in& valid, std::size_t n) {
  if (!valid) return nullptr;
  if (valid->size() != n) throw nb::value_error("tilehash: the mask and the array differ in length");
  return reinterpret_cast<const std::uint8_t*>(valid->data());
}

void bind_codes(nb::module_& m);
void bind_reductions(nb::module_& m);
void bind_stored(nb::module_& m);
void bind_tables(nb::module_& m);

}  // namespace tilehash::python
