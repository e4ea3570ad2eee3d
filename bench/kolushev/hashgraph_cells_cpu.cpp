// SPDX-License-Identifier: Apache-2.0
#include <tilehash/space/cpu.hpp>

#include <unordered_set>

#include "kolushev/hashgraph_cells_workload.hpp"

#if __has_include(<boost/unordered/unordered_flat_set.hpp>)
#include <boost/unordered/unordered_flat_set.hpp>
#define TILEHASH_HAS_FLAT_SET 1
#else
#define TILEHASH_HAS_FLAT_SET 0
#endif

namespace tilehash::bench {
namespace {

// The library's hash for everybody: others need not mix it again.
struct cell_hash {
  using is_avalanching = void;
  std::size_t operator()(const cell& c) const { return detail::hash_key(murmur(1), c); }
};

// Reserved and then filled one by one.
template <class Set>
auto run_peer(cells_workload<cpu>& work) {
  Set set;
  return work.run(
      [&] {
        set.reserve(work.cells().size());
        set.insert(work.cells().begin(), work.cells().end());
        return set.size();
      },
      [&](std::span<const cell> queries) {
        for (std::size_t i = 0; i < queries.size(); ++i) work.answers()[i] = set.contains(queries[i]);
      },
      [] {});
}

}  // namespace

void cpu_cells(const cells_case& the_case, const std::vector<std::string>& designs, const tell_cells& tell) {
  cpu space(the_case.threads);
  cells_workload<cpu> work(space, the_case);
  auto all = contenders_of(work, designs);
  if (space.threads() == 1) {
    for (const std::string& name : designs) {
      if (name == "std::unordered_set")
        all.push_back({name, [&] { return run_peer<std::unordered_set<cell, cell_hash>>(work); }});
#if TILEHASH_HAS_FLAT_SET
      if (name == "boost::unordered_flat_set")
        all.push_back({name, [&] { return run_peer<boost::unordered_flat_set<cell, cell_hash>>(work); }});
#endif
    }
  }
  work.measure(all, "cpu", space.threads(), tell);
}

}  // namespace tilehash::bench
