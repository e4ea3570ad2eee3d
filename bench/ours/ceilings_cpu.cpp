// SPDX-License-Identifier: Apache-2.0
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/cpu.hpp>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <limits>

#include "ours/ceiling_list.hpp"

namespace tilehash::bench {
namespace {

struct line {
  u64 words[8];
};

u64 fold(const line& l) {
  u64 all = 0;
  for (const u64 word : l.words) all ^= word;
  return all;
}

// Random lines, visited `Ahead` accesses after they were asked for; 0: at once.
template <u32 Ahead, class Use>
struct visit {
  line* lines;
  u64 count;
  Use use;

  void operator()(u64 from, u64 to) const {
    u64 seen = 0;
    if constexpr (Ahead == 0) {
      for (u64 i = from; i < to; ++i) seen += use(*at(i));
    } else {
      line* asked[Ahead];
      for (u64 i = from; i < to + Ahead; ++i) {
        line*& here = asked[i % Ahead];
        if (i >= from + Ahead) seen += use(*here);
        if (i < to) __builtin_prefetch(here = at(i));
      }
    }
    if (seen == 1) detail::fetch_add(lines->words, seen);  // so that the compiler keeps the reads
  }
  line* at(u64 i) const { return lines + fast_range(mix64(i), count); }
};

// Each line's content says which is next.
struct chase {
  line* lines;
  u64 count;

  void operator()(u64 from, u64 to) const {
    u64 next = from;
    for (u64 i = from; i < to; ++i) next = mix64(i ^ fold(lines[fast_range(next, count)]));
    if (next == 1) detail::fetch_add(lines->words, next);
  }
};

struct copy {
  line* lines;
  u64 half;
  void operator()(u64 from, u64 to) const {
    std::memcpy(lines + half + from, lines + from, (to - from) * sizeof(line));
  }
};

constexpr auto read = [](const line& l) { return fold(l); };
constexpr auto swap = [](line& l) { return detail::compare_and_swap(l.words, u64(0), u64(0)); };
constexpr auto read_and_swap = [](line& l) {
  const u64 all = fold(l);
  u64* const word = l.words + all % 8;
  return detail::compare_and_swap(word, all, all);
};

// Lines in memory of `bytes`, all zero, on mapped pages.
buffer<line, cpu> lines_of(cpu& space, u64 bytes) {
  buffer<line, cpu> lines(space, std::max<u64>(bytes / sizeof(line), 2));
  space.fill(lines.data(), lines.size(), line{});
  return lines;
}

constexpr u32 ahead = 32;

template <u32 Ahead, class Use>
auto visiting(cpu& space, const buffer<line, cpu>& lines, u64 ops, Use use) {
  return [&space, ops, work = visit<Ahead, Use>{lines.data(), lines.size(), use}] {
    space.for_each_share(ops, work);
  };
}

}  // namespace

std::vector<ceiling> cpu_ceilings(std::span<const u64> sizes, unsigned repeat, int threads) {
  cpu space(threads);
  ceiling_list<cpu> list(space, repeat);
  const u64 ops = u64(1) << 22;
  for (const u64 bytes : sizes) {
    const auto lines = lines_of(space, bytes);
    const u64 half = lines.size() / 2;
    list.add("stream copy", bytes, half, 2 * sizeof(line), [&] {
      space.for_each_share(half, copy{lines.data(), half});
    });
    list.add("read 64 B, prefetched", bytes, ops, 64, visiting<ahead>(space, lines, ops, read));
    list.add("read 64 B", bytes, ops, 64, visiting<0>(space, lines, ops, read));
    list.add("read 64 B, dependent", bytes, ops / 8, 64, [&] {
      space.for_each_share(ops / 8, chase{lines.data(), lines.size()});
    });
    list.add("read 64 B then CAS 8 B, prefetched", bytes, ops, 64,
             visiting<ahead>(space, lines, ops, read_and_swap));
    list.add("CAS 8 B", bytes, ops, 64, visiting<0>(space, lines, ops, swap));
  }
  return list.take();
}

access_rates cpu_access_rates(u64 bytes, int threads, bool processor_time) {
  cpu space(threads);
  const auto lines = lines_of(space, bytes);
  const auto rate_of = [&](u64 ops, const auto& run) {
    double seconds = std::numeric_limits<double>::infinity();
    for (unsigned again = 0; again < 5; ++again) {
      const std::clock_t start = std::clock();
      const double on_the_wall = space.time(run);
      const double of_the_processor = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
      seconds = std::min(seconds, processor_time ? of_the_processor : on_the_wall);
    }
    return static_cast<double>(ops) / seconds;
  };
  const u64 ops = u64(1) << 20, steps = u64(1) << 16;
  return {.reads = rate_of(ops, visiting<ahead>(space, lines, ops, read)),
          .updates = rate_of(ops, visiting<ahead>(space, lines, ops, read_and_swap)),
          .reads_alone = rate_of(ops, visiting<0>(space, lines, ops, read)),
          .updates_alone = rate_of(ops, visiting<0>(space, lines, ops, read_and_swap)),
          .steps = rate_of(steps, [&] {
            space.for_each_share(steps, chase{lines.data(), lines.size()});
          })};
}

limits measure_limits(cpu& space, u64 bytes, unsigned repeat) {
  ceiling_list<cpu> list(space, repeat);
  const auto lines = lines_of(space, bytes);
  const u64 ops = std::min(u64(1) << 23, 64 * lines.size());
  return {.reads = list.add("read", bytes, ops, 64, visiting<ahead>(space, lines, ops, read)),
          .updates = list.add("update", bytes, ops, 64, visiting<ahead>(space, lines, ops, read_and_swap)),
          .swaps = list.add("swap", bytes, ops, 8, visiting<ahead>(space, lines, ops, swap))};
}

}  // namespace tilehash::bench
