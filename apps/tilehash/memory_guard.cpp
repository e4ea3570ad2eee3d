#include "memory_guard.hpp"

#include <fmt/format.h>

#include <fstream>
#include <limits>
#include <string>

#include "dataset.hpp"

namespace tilehash::app {
namespace {

// What new allocations can have without swapping; everything where the system does not say.
std::uint64_t available_memory() {
  std::ifstream table("/proc/meminfo");
  std::string name, unit;
  for (std::uint64_t kibibytes = 0; table >> name >> kibibytes; std::getline(table, unit)) {
    if (name == "MemAvailable:") return kibibytes * 1024;
  }
  return std::numeric_limits<std::uint64_t>::max();
}

}  // namespace

void require_memory(std::uint64_t bytes, std::string_view purpose) {
  const std::uint64_t available = available_memory();
  if (bytes <= available) return;
  throw input_error(fmt::format("{} would take about {} MiB and {} MiB are free; use fewer", purpose,
                                bytes >> 20, available >> 20));
}

}  // namespace tilehash::app
