// SPDX-License-Identifier: Apache-2.0
// How often does each word of three letters come in a text, and where? A multimap keeps every item; a key's
// values are an array.
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <tilehash/tilehash.hpp>

int main() {
  const std::string dna = "GATTACAGATTACAGATTA";
  std::vector<std::uint32_t> kmers, positions;
  for (std::uint32_t i = 0; i + 3 <= dna.size(); ++i) {
    kmers.push_back(std::uint32_t(dna[i]) << 16 | std::uint32_t(dna[i + 1]) << 8 | std::uint32_t(dna[i + 2]));
    positions.push_back(i);
  }

  tilehash::cpu space;
  // [kmer-begin]
  tilehash::multimap<std::uint32_t, std::uint32_t, tilehash::cpu> where(space);
  const auto built = where.build(space, kmers, positions);  // 17 inserted: every item is kept

  const std::vector<std::uint32_t> wanted{'G' << 16 | 'A' << 8 | 'T', 'C' << 16 | 'C' << 8 | 'C'};
  std::vector<std::uint32_t> times(wanted.size());
  where.count(space, wanted, times);  // times = {3, 0}

  std::uint32_t sum = 0;  // of where GAT comes, looked up as any thread could
  for (const std::uint32_t position : where.view().values_of(wanted[0])) sum += position;

  const auto all = where.retrieve(space, wanted);  // for many keys: all.offsets = {0, 3, 3}, all.values
  // [kmer-end]

  std::printf("GAT comes %u times, CCC %u times\n", times[0], times[1]);
  const bool right = times[0] == 3 && times[1] == 0 && sum == 0 + 7 + 14 && all.values.size() == 3 &&
                     built.inserted == kmers.size();
  return right ? 0 : 1;
}
