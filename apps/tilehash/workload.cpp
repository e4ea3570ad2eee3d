#include "workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>

#include "memory_guard.hpp"
#include "scramble.hpp"

namespace tilehash::app {
namespace {

using generator = std::mt19937_64;

query_set ask_items(const oracle& truth, const std::vector<std::uint64_t>& keys) {
  query_set queries;
  queries.keys = keys;
  queries.expected.reserve(keys.size());
  for (const std::uint64_t key : keys) queries.expected.push_back(truth.find(key));
  return queries;
}

// n of `from`, in random order, all before any comes again.
query_set draw(const query_set& from, std::uint64_t n, generator& random) {
  query_set drawn;
  if (from.size() == 0) return drawn;
  std::vector<std::uint32_t> order(from.size());
  std::iota(order.begin(), order.end(), 0U);
  std::shuffle(order.begin(), order.end(), random);
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::uint32_t chosen = order[i % order.size()];
    drawn.push_back(from.keys[chosen], from.expected[chosen]);
  }
  return drawn;
}

query_set join(const query_set& first, const query_set& second) {
  query_set joined = first;
  joined.keys.insert(joined.keys.end(), second.keys.begin(), second.keys.end());
  joined.expected.insert(joined.expected.end(), second.expected.begin(), second.expected.end());
  return joined;
}

// Before the work is begun: is there memory for it? An item takes part in the oracle, two query sets and the
// table, a query in four sets and the table's answers.
dataset checked(dataset data, std::uint64_t queries) {
  constexpr std::uint64_t bytes_each = 128;
  const std::uint64_t asked = queries == 0 ? data.size() : queries;
  require_memory((data.size() + asked) * bytes_each,
                 fmt::format("{} items and {} queries", data.size(), asked));
  return data;
}

}  // namespace

oracle::oracle(const std::vector<std::uint64_t>& keys) {
  answers_.reserve(keys.size());
  for (std::size_t item = 0; item < keys.size(); ++item) {
    expectation& known =
        answers_.try_emplace(keys[item], expectation{0, static_cast<std::uint32_t>(item)}).first->second;
    ++known.multiplicity;
  }
}

expectation oracle::find(std::uint64_t key) const {
  const auto known = answers_.find(key);
  return known == answers_.end() ? expectation{} : known->second;
}

void query_set::push_back(std::uint64_t key, expectation its_answer) {
  keys.push_back(key);
  expected.push_back(its_answer);
}

query_set misses(const oracle& truth, std::uint64_t n, unsigned key_bits, std::uint64_t seed) {
  query_set absent;
  const scramble nth_key(key_bits, seed);
  const std::uint64_t last = ~std::uint64_t{0} >> (64 - key_bits);
  for (std::uint64_t i = 0; absent.size() < n; ++i) {
    const std::uint64_t key = nth_key(i);
    if (truth.find(key).multiplicity == 0) absent.push_back(key, {});
    if (i == last) break;  // all keys there are have been tried
  }
  return absent;
}

workload::workload(dataset given, std::uint64_t queries, double hit_rate, std::uint64_t seed)
    : data(checked(std::move(given), queries)), truth(data.keys), items(ask_items(truth, data.keys)) {
  generator random(seed);
  const std::uint64_t asked = queries == 0 ? data.size() : queries;
  hit = draw(items, asked, random);
  miss = misses(truth, asked, data.key_bits, random());

  const auto asked_hits = static_cast<std::uint64_t>(std::llround(hit_rate * static_cast<double>(asked)));
  const query_set both = join(draw(items, asked_hits, random), draw(miss, asked - asked_hits, random));
  mix = draw(both, both.size(), random);

  const scramble coin(data.key_bits, random());
  items_after_erase = items;
  for (std::size_t item = 0; item < data.size(); ++item) {
    if (coin(data.keys[item]) % 2 != 0) items_after_erase.expected[item] = {};
  }
}

bool workload::is_right(std::uint64_t key, expectation expected, std::uint64_t found_value) const {
  if (!data.counts.empty()) return found_value == data.counts[expected.item];
  return found_value < data.size() && data.keys[found_value] == key;
}

}  // namespace tilehash::app
