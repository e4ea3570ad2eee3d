// SPDX-License-Identifier: Apache-2.0
#include <tilehash/instances/map.hpp>

#include "file.hpp"
#include "file_keys.hpp"
#include "ours/kmers.hpp"

namespace tilehash::bench {

counted_kmers count_kmers(const std::string& path, unsigned k, int threads, std::span<const u64> asked) {
  cpu space(threads);
  counted_kmers its;
  const app::stopwatch all;
  const app::kmer_list list = app::read_kmers(app::read_file(path), path, k);
  its.reading = all.so_far().wall;
  map<u64, u32, cpu> counts(space, 0);
  its.refused = counts.insert_or_apply(space, std::span<const u64>(list.kmers), op::count{}).refused;
  its.all = all.so_far();
  its.distinct = counts.size();
  its.counts.resize(asked.size());
  counts.find_or(space, asked, std::span<u32>(its.counts), 0);
  return its;
}

}  // namespace tilehash::bench
