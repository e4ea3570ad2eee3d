// SPDX-License-Identifier: Apache-2.0
#include "oracle.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "memory_guard.hpp"
#include "parallel.hpp"

namespace tilehash::app {
namespace {

// Items in parts by the first bits of their hashes, the parts in order: counted first, then put where they
// belong.
template <class Item>
struct parts {
  std::vector<Item> items;
  std::vector<std::size_t> begins;  // and the end

  parts(std::span<const std::uint64_t> keys, const scramble& hash, unsigned bits)
      : items(large_vector<Item>(keys.size())) {
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
        items[places[block * count + part_of(h)]++] = {h, {1, static_cast<std::uint32_t>(i)}};
      }
    });
  }
};

// By hashes whose first bits are the same and whose others are spread evenly: into heaps of one or two by the
// bits that follow, which is all there is to do for most.
template <class Entry>
void sort_by_hash(std::span<Entry> its, unsigned same_bits) {
  const auto by_hash = [](const Entry& a, const Entry& b) { return a.hash < b.hash; };
  constexpr std::size_t few = 16;
  if (its.size() <= few) {
    std::ranges::sort(its, by_hash);
    return;
  }
  const unsigned bits = std::min(16U, static_cast<unsigned>(std::bit_width(its.size())));
  const auto heap_of = [=](const Entry& one) {
    return static_cast<std::size_t>(one.hash << same_bits >> (64 - bits));
  };
  std::vector<std::size_t> ends(std::size_t{1} << bits);
  for (const Entry& one : its) ++ends[heap_of(one)];
  std::exclusive_scan(ends.begin(), ends.end(), ends.begin(), std::size_t{0});
  const std::vector<Entry> before(its.begin(), its.end());
  for (const Entry& one : before) its[ends[heap_of(one)]++] = one;
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    if (end - begin > 1) std::ranges::sort(its.subspan(begin, end - begin), by_hash);
    begin = end;
  }
}

}  // namespace

oracle::oracle(std::span<const std::uint64_t> keys, std::span<expectation> answers) {
  const auto magnitude = static_cast<unsigned>(std::bit_width(keys.size()));
  // Parts that a core's cache holds, and no more than it can write to side by side.
  const unsigned part_bits = std::clamp(magnitude, 13U, 25U) - 13;
  parts<entry> all(keys, hash_, part_bits);

  // Most items are the only ones of their keys; the others' answers are put right below.
  in_parallel(answers.size(), [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) answers[i] = {1, static_cast<std::uint32_t>(i)};
  });

  // Each part sorted. For equal keys, which are neighbours now: the first item and how many; one entry of
  // each moves to the front of its part.
  const std::size_t count = all.begins.size() - 1;
  std::vector<std::size_t> begins(count + 1);
  each_in_parallel(count, [&](std::size_t part) {
    const std::span<entry> its(all.items.data() + all.begins[part], all.begins[part + 1] - all.begins[part]);
    sort_by_hash(its, part_bits);
    std::size_t kept = 0;
    for (std::size_t group = 0; group < its.size();) {
      entry one = its[group];
      std::size_t next = group + 1;
      for (; next < its.size() && its[next].hash == one.hash; ++next)
        one.its = {one.its.multiplicity + 1, std::min(one.its.item, its[next].its.item)};
      if (!answers.empty() && next != group + 1) {
        for (std::size_t i = group; i < next; ++i) answers[its[i].its.item] = one.its;
      }
      group = next;
      its[kept++] = one;
    }
    begins[part + 1] = kept;
  });
  // The remaining entries move up to those before them.
  for (std::size_t part = 0; part < count; ++part) {
    begins[part + 1] += begins[part];
    if (begins[part] != all.begins[part])
      std::copy_n(all.items.begin() + static_cast<std::ptrdiff_t>(all.begins[part]),
                  begins[part + 1] - begins[part],
                  all.items.begin() + static_cast<std::ptrdiff_t>(begins[part]));
  }
  entries_ = std::move(all.items);
  entries_.resize(begins[count]);

  const unsigned bits =
      std::max(part_bits, std::max(3U, static_cast<unsigned>(std::bit_width(entries_.size()))) - 1);
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

  // Whole words to each thread: four buckets' marks are one.
  mark_shift_ = shift_ - 4;
  marks_ = large_vector<std::uint64_t>(std::size_t{1} << (bits - 2));
  in_parallel(marks_.size(), [&](std::size_t first, std::size_t last) {
    for (std::size_t at = begins_[4 * first]; at < begins_[4 * last]; ++at) {
      const std::uint64_t mark = entries_[at].hash >> mark_shift_;
      marks_[mark / 64] |= std::uint64_t{1} << mark % 64;
    }
  });
}

void oracle::keep_absent(std::vector<std::uint64_t>& keys) const {
  constexpr std::size_t ahead = 64;
  std::array<std::uint64_t, ahead> mark;
  std::vector<std::uint64_t> doubtful;
  std::size_t kept = 0;
  for (std::size_t from = 0; from < keys.size(); from += ahead) {
    const std::size_t here = std::min(ahead, keys.size() - from);
    for (std::size_t j = 0; j < here; ++j) {
      mark[j] = hash_(keys[from + j]) >> mark_shift_;
      __builtin_prefetch(&marks_[mark[j] / 64]);
    }
    for (std::size_t j = 0; j < here; ++j) {
      const std::uint64_t key = keys[from + j];
      if ((marks_[mark[j] / 64] >> mark[j] % 64 & 1) != 0)
        doubtful.push_back(key);
      else
        keys[kept++] = key;
    }
  }
  places(
      0, doubtful.size(), [&](std::size_t i) { return doubtful[i]; },
      [&](std::size_t i, std::size_t position) {
        if (position == nowhere) keys[kept++] = doubtful[i];
      });
  keys.resize(kept);
}

}  // namespace tilehash::app
