#include "memory_guard.hpp"

#include <fmt/format.h>

#include <tilehash/space/host_memory.hpp>

#include "dataset.hpp"

namespace tilehash::app {

void require_memory(std::uint64_t bytes, std::string_view purpose) {
  const std::uint64_t available = available_host_memory();
  if (bytes <= available) return;
  throw input_error(fmt::format("{} would take about {} MiB and {} MiB are free; use fewer", purpose,
                                bytes >> 20, available >> 20));
}

}  // namespace tilehash::app
