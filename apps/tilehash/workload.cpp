// SPDX-License-Identifier: Apache-2.0
#include "workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "memory_guard.hpp"
#include "parallel.hpp"
#include "scramble.hpp"

namespace tilehash::app {
namespace {

// number % n, which costs more than all else here, where that is needed.
std::uint64_t among(std::uint64_t number, std::uint64_t n) { return number < n ? number : number % n; }

// n of the items in random order; each is asked for before any comes again.
query_set draw(query_view items, std::uint64_t n, std::uint64_t seed) {
  query_set drawn;
  drawn.resize(items.size() == 0 ? 0 : n);
  const random_order order(items.size(), seed);
  in_parallel(drawn.size(), [&](std::size_t first, std::size_t last) {
    constexpr std::size_t ahead = 64;
    std::array<std::uint64_t, ahead> places;
    for (std::size_t from = first; from < last; from += ahead) {
      const std::size_t here = std::min(ahead, last - from);
      for (std::size_t j = 0; j < here; ++j) {
        places[j] = order(among(from + j, items.size()));
        __builtin_prefetch(&items.keys[places[j]]);
        __builtin_prefetch(&items.expected[places[j]]);
      }
      for (std::size_t j = 0; j < here; ++j) {
        drawn.keys[from + j] = items.keys[places[j]];
        drawn.expected[from + j] = items.expected[places[j]];
      }
    }
  });
  return drawn;
}

// The first `found` of some queries and the first `absent` of others, which begin again where they end; each
// in its order, and by chance which comes next. Both are in random order already.
query_set mixed(query_view some, std::uint64_t found, query_view others, std::uint64_t absent,
                std::uint64_t seed) {
  if (some.size() == 0) found = 0;
  if (others.size() == 0) absent = 0;
  query_set all;
  all.resize(found + absent);
  // As many of both in every block as are due.
  constexpr std::size_t each = 4096;
  const std::size_t blocks = (all.size() + each - 1) / each;
  const auto found_before = [&](std::size_t i) {
    return static_cast<std::size_t>(static_cast<double>(found) * static_cast<double>(i) /
                                    static_cast<double>(all.size()));
  };
  each_in_parallel(blocks, [&](std::size_t block) {
    const std::size_t first = block * each, last = std::min(all.size(), first + each);
    std::size_t at = found_before(first), left = (last == all.size() ? found : found_before(last)) - at;
    for (std::size_t i = first; i < last; ++i) {
      const std::uint64_t chance = (scramble::mix(seed + i) >> 32) * (last - i) >> 32;
      const bool is_found = chance < left;
      const query_view from = is_found ? some : others;
      const std::size_t position = among(is_found ? at : i - at, from.size());
      all.keys[i] = from.keys[position];
      all.expected[i] = from.answer(position);
      at += is_found ? 1 : 0;
      left -= is_found ? 1 : 0;
    }
  });
  return all;
}

// The least and the greatest of some keys; 0 and `highest` of none.
std::pair<std::uint64_t, std::uint64_t> range_of(std::span<const std::uint64_t> keys, std::uint64_t highest) {
  if (keys.empty()) return {0, highest};
  const auto [least, greatest] = std::ranges::minmax_element(keys);
  return {*least, *greatest};
}

// Before the work begins: is the memory enough? An item takes part in the oracle, two lists of answers
// and the table, a query in four sets and the table's answers.
dataset checked(dataset data, std::uint64_t queries) {
  constexpr std::uint64_t bytes_each = 128;
  const std::uint64_t asked = queries == 0 ? data.size() : queries;
  require_memory((data.size() + asked) * bytes_each + data.raw.size() * 32,
                 fmt::format("{} items and {} queries", data.size(), asked));
  return data;
}

}  // namespace

void query_set::resize(std::size_t n) {
  keys = large_vector<std::uint64_t>(n);
  expected = large_vector<expectation>(n);
}
void query_set::push_back(std::uint64_t key, expectation its_answer) {
  keys.push_back(key);
  expected.push_back(its_answer);
}

query_set misses(const oracle& truth, std::span<const std::uint64_t> present, std::uint64_t n,
                 unsigned key_bits, std::uint64_t seed) {
  const std::uint64_t highest = ~std::uint64_t{0} >> (64 - key_bits);
  auto [low, high] = range_of(present, highest);
  while (high - low < highest && high - low + 1 - truth.distinct() < n) {
    const std::uint64_t more = std::max(high - low, std::uint64_t{1});
    high = highest - high < more ? highest : high + more;
    if (high == highest) low = low < more ? 0 : low - more;
  }
  // All numbers of as many bits, in a random order; those in the range and in no item are what is looked for.
  const std::uint64_t width = high - low;
  const scramble nth(std::max(1U, static_cast<unsigned>(std::bit_width(width))), seed);
  const std::uint64_t last_candidate =
      ~std::uint64_t{0} >> (64 - std::max(1, static_cast<int>(std::bit_width(width))));
  query_set absent;
  absent.keys = large_vector<std::uint64_t>(n);
  absent.keys.clear();
  constexpr std::uint64_t each = 1 << 14;
  for (std::uint64_t tried = 0; absent.size() < n;) {
    const std::uint64_t left = last_candidate - tried;  // and one
    const std::uint64_t blocks = std::min((n - absent.size()) / each + 1, left / each + 1);
    std::vector<std::vector<std::uint64_t>> found(blocks);
    each_in_parallel(blocks, [&](std::size_t block) {
      std::vector<std::uint64_t>& its = found[block];
      const std::uint64_t from = block * each;
      its.reserve(each);
      for (std::uint64_t i = from; i < from + each && i <= left; ++i) {
        const std::uint64_t number = nth(tried + i);
        if (number <= width) its.push_back(low + number);
      }
      truth.keep_absent(its);
    });
    std::vector<std::size_t> places(blocks + 1, absent.keys.size());
    for (std::size_t block = 0; block < blocks; ++block)
      places[block + 1] = std::min<std::uint64_t>(places[block] + found[block].size(), n);
    absent.keys.resize(places[blocks]);
    each_in_parallel(blocks, [&](std::size_t block) {
      std::copy_n(found[block].begin(), places[block + 1] - places[block],
                  absent.keys.begin() + static_cast<std::ptrdiff_t>(places[block]));
    });
    if (blocks * each > left) break;  // all possible keys have been tried
    tried += blocks * each;
  }
  return absent;
}

workload::workload(dataset given, std::uint64_t queries, double rate, std::uint64_t seed)
    : data(checked(std::move(given), queries)),
      item_answers(large_vector<expectation>(data.size())),
      truth(data.keys, item_answers),
      hit_rate(rate),
      coin_(scramble::mix(seed + 4)) {
  const std::uint64_t asked = queries == 0 ? data.size() : queries;
  const auto asked_hits = static_cast<std::uint64_t>(std::llround(rate * static_cast<double>(asked)));
  hit = draw(items(), asked, scramble::mix(seed + 1));
  miss = misses(truth, data.keys, asked, data.key_bits, scramble::mix(seed + 2));
  mix = mixed(hit, asked_hits, miss, asked - asked_hits, scramble::mix(seed + 3));

  const auto is_first = [this](std::size_t item) { return item_answers[item].item == item; };
  const std::uint64_t one_of = truth.distinct() / enough + 1;
  const auto chosen = numbers_where(data.size(), [&](std::size_t item) {
    return is_first(item) && (one_of == 1 || scramble::mix(item ^ seed) % one_of == 0);
  });
  some.resize(chosen.size());
  some_answers_after_erase_.resize(chosen.size());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    some.keys[i] = data.keys[chosen[i]];
    some.expected[i] = item_answers[chosen[i]];
    if (!is_erased(some.keys[i])) some_answers_after_erase_[i] = some.expected[i];
  }

  erased = numbers_where(data.size(), [&](std::size_t item) { return is_erased(data.keys[item]); });
  keys_left_ = truth.distinct() - count_in_parallel(erased.size(), [&](std::size_t first, std::size_t last) {
                 return static_cast<std::uint64_t>(
                     std::count_if(erased.begin() + static_cast<std::ptrdiff_t>(first),
                                   erased.begin() + static_cast<std::ptrdiff_t>(last), is_first));
               });
}

bool workload::is_right(std::uint64_t key, expectation expected, std::uint64_t found_value) const {
  if (!data.counts.empty()) return found_value == data.counts[expected.item];
  if (expected.multiplicity == 1) return found_value == expected.item;
  return found_value < data.size() && data.keys[found_value] == key;
}

}  // namespace tilehash::app
