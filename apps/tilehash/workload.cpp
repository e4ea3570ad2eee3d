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

std::vector<expectation> ask_items(const oracle& truth, const std::vector<std::uint64_t>& keys) {
  auto answers = large_vector<expectation>(keys.size());
  in_parallel(keys.size(), [&](std::size_t first, std::size_t last) {
    truth.places(
        first, last, [&](std::size_t i) { return keys[i]; },
        [&](std::size_t i, std::size_t place) { answers[i] = truth.at(place); });
  });
  return answers;
}

// number % n, which costs more than all else here, where that is needed.
std::uint64_t among(std::uint64_t number, std::uint64_t n) { return number < n ? number : number % n; }

// `found` of the items and then `absent` of the others, all of which are asked for before any comes again;
// mixed.
query_set draw(query_view items, std::uint64_t found, query_view others, std::uint64_t absent,
               std::uint64_t seed) {
  if (items.size() == 0) found = 0;
  if (others.size() == 0) absent = 0;
  const std::uint64_t n = found + absent;
  query_set drawn;
  drawn.resize(n);
  const random_order of_items(items.size(), seed), mixed(n, ~seed);
  in_parallel(n, [&](std::size_t first, std::size_t last) {
    // First some places, then what is there: a loop that branches by chance waits for each place by itself.
    constexpr std::size_t some = 64;
    std::array<std::uint64_t, some> places;
    for (std::size_t from = first; from < last; from += some) {
      const std::size_t here = std::min(some, last - from);
      for (std::size_t j = 0; j < here; ++j) {
        const std::uint64_t at = absent == 0 ? from + j : mixed(from + j);
        places[j] =
            at < found ? of_items(among(at, items.size())) : items.size() + among(at - found, others.size());
      }
      for (std::size_t j = 0; j < here; ++j) {
        const bool is_item = places[j] < items.size();
        const std::uint64_t place = is_item ? places[j] : places[j] - items.size();
        drawn.keys[from + j] = (is_item ? items : others).keys[place];
        drawn.expected[from + j] = is_item ? items.expected[place] : expectation{};
      }
    }
  });
  return drawn;
}

// The least and the greatest of some keys; 0 and `highest` of none.
std::pair<std::uint64_t, std::uint64_t> range_of(std::span<const std::uint64_t> keys, std::uint64_t highest) {
  if (keys.empty()) return {0, highest};
  const auto [least, greatest] = std::ranges::minmax_element(keys);
  return {*least, *greatest};
}

// Before the work is begun: is there memory for it? An item takes part in the oracle, two lists of answers
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
  absent.keys.reserve(n);
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
      std::size_t kept = 0;
      truth.places(
          0, its.size(), [&](std::size_t i) { return its[i]; },
          [&](std::size_t i, std::size_t place) {
            if (place == oracle::nowhere) its[kept++] = its[i];
          });
      its.resize(kept);
    });
    for (const auto& some : found) absent.keys.insert(absent.keys.end(), some.begin(), some.end());
    absent.keys.resize(std::min<std::uint64_t>(absent.keys.size(), n));
    if (blocks * each > left) break;  // all keys there are have been tried
    tried += blocks * each;
  }
  absent.expected.resize(absent.keys.size());
  return absent;
}

workload::workload(dataset given, std::uint64_t queries, double rate, std::uint64_t seed)
    : data(checked(std::move(given), queries)),
      truth(data.keys),
      item_answers(ask_items(truth, data.keys)),
      hit_rate(rate) {
  const std::uint64_t asked = queries == 0 ? data.size() : queries;
  const auto asked_hits = static_cast<std::uint64_t>(std::llround(rate * static_cast<double>(asked)));
  hit = draw(items(), asked, {}, 0, scramble::mix(seed + 1));
  miss = misses(truth, data.keys, asked, data.key_bits, scramble::mix(seed + 2));
  mix = draw(items(), asked_hits, miss, asked - asked_hits, scramble::mix(seed + 3));

  each.keys.reserve(truth.distinct());
  each.expected.reserve(truth.distinct());
  for (std::size_t item = 0; item < data.size(); ++item) {
    if (item_answers[item].item == item) each.push_back(data.keys[item], item_answers[item]);
  }

  answers_after_erase = item_answers;
  const scramble coin(64, scramble::mix(seed + 4));
  in_parallel(data.size(), [&](std::size_t first, std::size_t last) {
    for (std::size_t item = first; item < last; ++item) {
      if (coin(data.keys[item]) % 2 != 0) answers_after_erase[item] = {};
    }
  });
}

bool workload::is_right(std::uint64_t key, expectation expected, std::uint64_t found_value) const {
  if (!data.counts.empty()) return found_value == data.counts[expected.item];
  if (expected.multiplicity == 1) return found_value == expected.item;
  return found_value < data.size() && data.keys[found_value] == key;
}

}  // namespace tilehash::app
