// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tilehash::app {

// Throws input_error when this machine has not so many bytes free: Linux promises more than it has, and ends
// the program when the promise falls due.
void require_memory(std::uint64_t bytes, std::string_view purpose);

// Asks for huge pages for untouched memory: random reads are then twice as fast
// in them.
void use_huge_pages(void* begin, std::size_t bytes);

// Has all threads touch untouched memory: the system clears each page when it is touched
// first, which takes longer than to fill it.
void touch(void* begin, std::size_t bytes);

// n zeros in huge pages.
template <class T>
std::vector<T> large_vector(std::size_t n) {
  std::vector<T> v;
  v.reserve(n);
  use_huge_pages(v.data(), n * sizeof(T));
  touch(v.data(), n * sizeof(T));
  v.resize(n);
  return v;
}

}  // namespace tilehash::app
