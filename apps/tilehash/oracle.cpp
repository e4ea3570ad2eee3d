#include "oracle.hpp"

#include <algorithm>
#include <bit>

#include "memory_guard.hpp"
#include "parallel.hpp"

namespace tilehash::app {
namespace {

struct hashed {
  std::uint64_t hash;
  std::uint32_t item;
};

// Items in parts by the first bits of their hashes, the parts in order: counted first, then put where they
// belong.
struct parts {
  std::vector<hashed> items;
  std::vector<std::size_t> begins;  // and the end

  parts(std::span<const std::uint64_t> keys, const scramble& hash, unsigned bits)
      : items(large_vector<hashed>(keys.size())) {
    const std::size_t n = keys.size(), count = std::size_t{1} << bits,
                      blocks = std::min<std::size_t>(64, n / 4096 + 1);
    const auto part_of = [bits](std::uint64_t h) {
      return bits == 0 ? 0 : static_cast<std::size_t>(h >> (64 - bits));
    };
    std::vector<std::size_t> places(blocks * count);
    each_in_parallel(blocks, [&](std::size_t block) {
      for (std::size_t i = n * block / blocks; i < n * (block + 1) / blocks; ++i)
        ++places[block * count + part_of(hash(keys[i]))];
    });
    begins.resize(count + 1);
    std::size_t sum = 0;
    for (std::size_t part = 0; part < count; ++part) {
      begins[part] = sum;
      for (std::size_t block = 0; block < blocks; ++block) {
        const std::size_t here = places[block * count + part];
        places[block * count + part] = sum;
        sum += here;
      }
    }
    begins[count] = sum;
    each_in_parallel(blocks, [&](std::size_t block) {
      for (std::size_t i = n * block / blocks; i < n * (block + 1) / blocks; ++i) {
        const std::uint64_t h = hash(keys[i]);
        items[places[block * count + part_of(h)]++] = {h, static_cast<std::uint32_t>(i)};
      }
    });
  }
};

}  // namespace

oracle::oracle(std::span<const std::uint64_t> keys) {
  const auto magnitude = static_cast<unsigned>(std::bit_width(keys.size()));
  const unsigned part_bits = std::clamp(magnitude, 11U, 24U) - 11;
  parts all(keys, hash_, part_bits);

  // Each part sorted; of equal keys, which are side by side now, the first item and how many.
  const std::size_t count = all.begins.size() - 1;
  std::vector<std::vector<entry>> found(count);
  each_in_parallel(count, [&](std::size_t part) {
    std::vector<entry>& its = found[part];
    const auto begin = all.items.begin() + static_cast<std::ptrdiff_t>(all.begins[part]);
    const auto end = all.items.begin() + static_cast<std::ptrdiff_t>(all.begins[part + 1]);
    std::sort(begin, end, [](const hashed& a, const hashed& b) { return a.hash < b.hash; });
    its.reserve(static_cast<std::size_t>(end - begin));
    for (auto at = begin; at != end; ++at) {
      if (its.empty() || its.back().hash != at->hash) its.push_back({at->hash, {0, at->item}});
      expectation& known = its.back().its;
      known = {known.multiplicity + 1, std::min(known.item, at->item)};
    }
  });
  std::vector<std::size_t> begins(count + 1);
  for (std::size_t part = 0; part < count; ++part) begins[part + 1] = begins[part] + found[part].size();
  entries_ = large_vector<entry>(begins[count]);
  each_in_parallel(count, [&](std::size_t part) {
    std::ranges::copy(found[part], entries_.begin() + static_cast<std::ptrdiff_t>(begins[part]));
    found[part] = {};
  });

  const unsigned bits =
      std::max(part_bits, std::max(2U, static_cast<unsigned>(std::bit_width(entries_.size()))) - 1);
  shift_ = 64 - bits;
  begins_ = large_vector<std::uint64_t>((std::size_t{1} << bits) + 1);
  // Every entry marks the buckets after its predecessor's, up to its own.
  const std::size_t n = entries_.size();
  in_parallel(n + 1, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const std::size_t from = i == 0 ? 0 : static_cast<std::size_t>(entries_[i - 1].hash >> shift_) + 1;
      const std::size_t to =
          i == n ? begins_.size() : static_cast<std::size_t>(entries_[i].hash >> shift_) + 1;
      std::fill(begins_.begin() + static_cast<std::ptrdiff_t>(from),
                begins_.begin() + static_cast<std::ptrdiff_t>(to), i);
    }
  });
}

}  // namespace tilehash::app
