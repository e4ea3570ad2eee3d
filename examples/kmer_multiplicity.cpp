// How often does each word of three letters come in a text? A multimap keeps every item; count() says how
// many.
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
  where.build(space, kmers, positions);

  const std::vector<std::uint32_t> wanted{'G' << 16 | 'A' << 8 | 'T', 'C' << 16 | 'C' << 8 | 'C'};
  std::vector<std::uint32_t> times(wanted.size());
  where.count(space, wanted, times);  // times = {3, 0}
  // [kmer-end]

  std::printf("GAT comes %u times, CCC %u times\n", times[0], times[1]);
  return times[0] == 3 && times[1] == 0 ? 0 : 1;
}
