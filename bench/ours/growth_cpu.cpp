// SPDX-License-Identifier: Apache-2.0
#include <tilehash/space/cpu.hpp>

#include "ours/growth_workload.hpp"

namespace tilehash::bench {
namespace {

// The space's own memory, but it cannot be resized.
struct fixed_memory {
  void* allocate(std::size_t bytes, std::size_t /*alignment*/) { return detail::allocate_host(bytes); }
  void deallocate(void* p, std::size_t bytes, std::size_t /*alignment*/) { detail::free_host(p, bytes); }
};

}  // namespace

void cpu_growth(const growth_case& the_case, const tell_growth& tell) {
  using space_type = metered<cpu>;
  fixed_memory fixed;
  tell(measure_growth<space_type>({.space = "cpu", .growth = "in place", .what = the_case},
                                  [&] { return std::make_unique<space_type>(the_case.threads); }));
  tell(measure_growth<space_type>({.space = "cpu", .growth = "second table", .what = the_case},
                                  [&] { return std::make_unique<space_type>(the_case.threads, fixed); }));
}

}  // namespace tilehash::bench
