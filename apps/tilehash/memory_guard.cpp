// SPDX-License-Identifier: Apache-2.0
#include "memory_guard.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <tilehash/space/host_memory.hpp>

#include "dataset.hpp"
#include "parallel.hpp"

namespace tilehash::app {

void require_memory(std::uint64_t bytes, std::string_view purpose) {
  const std::uint64_t available = available_host_memory();
  if (bytes <= available) return;
  throw input_error(fmt::format("{} would take about {} MiB and {} MiB are free; use fewer", purpose,
                                bytes >> 20, available >> 20));
}

void use_huge_pages(void* begin, std::size_t bytes) {
  constexpr std::uintptr_t page = 4096;
  const std::uintptr_t from = (reinterpret_cast<std::uintptr_t>(begin) + page - 1) & ~(page - 1);
  const std::uintptr_t to = (reinterpret_cast<std::uintptr_t>(begin) + bytes) & ~(page - 1);
  // A wish: where it is not granted, all is as it was.
  if (to > from + (std::uintptr_t{2} << 20))
    static_cast<void>(madvise(reinterpret_cast<void*>(from), to - from, MADV_HUGEPAGE));
}

void touch(void* begin, std::size_t bytes) {
  constexpr std::size_t page = 4096;
  in_parallel(bytes / page, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) static_cast<char volatile*>(begin)[i * page] = 0;
  });
}

}  // namespace tilehash::app
