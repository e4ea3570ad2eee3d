// SPDX-License-Identifier: Apache-2.0
// The expected rows of a join, from a std::unordered_map of the right rows.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <contract/keys.hpp>
#include <contract/model.hpp>
#include <contract/random.hpp>
#include <tilehash/join_graph.hpp>

namespace tilehash::contract {

inline constexpr join_kind join_kinds[] = {join_kind::inner, join_kind::left, join_kind::semi,
                                           join_kind::anti};

using row_pairs = std::vector<std::pair<u32, u32>>;  // with no_match where there is no right row

// The expected rows of a join, in order.
template <class Key>
class join_model {
 public:
  join_model(const std::vector<Key>& left, const std::vector<Key>& right) : left_(left) {
    for (u32 i = 0; i < right.size(); ++i)
      if (!is_nan(right[i])) rows_[one_representation(right[i])].push_back(i);
  }
  u64 size(join_kind kind) const {
    u64 n = 0;
    for (const Key& key : left_) n += detail::joined_rows(kind, matches(key).size());
    return n;
  }
  row_pairs rows(join_kind kind) const {
    row_pairs all;
    for (u32 i = 0; i < left_.size(); ++i) {
      const auto& its = matches(left_[i]);
      if (kind == join_kind::inner || (kind == join_kind::left && !its.empty())) {
        for (const u32 r : its) all.emplace_back(i, r);
      } else if (detail::joined_rows(kind, its.size()) != 0) {
        all.emplace_back(i, no_match);
      }
    }
    return all;
  }

 private:
  const std::vector<u32>& matches(const Key& key) const {
    static const std::vector<u32> none;
    const auto at = is_nan(key) ? rows_.end() : rows_.find(one_representation(key));
    return at == rows_.end() ? none : at->second;
  }
  const std::vector<Key>& left_;
  std::unordered_map<Key, std::vector<u32>, bytes_hash, bytes_equal> rows_;
};

template <class Space>
row_pairs in_order(const buffer<u32, Space>& left, const buffer<u32, Space>& right, join_kind kind) {
  const auto l = left.to_host(), r = right.to_host();
  EXPECT_EQ(r.size(), detail::has_right_rows(kind) ? l.size() : 0);
  row_pairs all;
  for (u64 i = 0; i < l.size(); ++i) all.emplace_back(l[i], r.empty() ? no_match : r[i]);
  std::ranges::sort(all);
  return all;
}

// Checks every kind by one way: its size, and its rows where they are not too many to compare.
template <class Key, class Space>
void expect_joined(Space& space, const std::vector<Key>& left, const std::vector<Key>& right,
                   join_options::ways way, u64 most_rows = 400'000) {
  SCOPED_TRACE(std::to_string(left.size()) + " and " + std::to_string(right.size()) + " rows, way " +
               std::to_string(static_cast<int>(way)));
  const join_model<Key> model(left, right);
  const buffer<Key, Space> l(space, left), r(space, right);
  for (const join_kind kind : join_kinds) {
    SCOPED_TRACE("kind " + std::to_string(static_cast<int>(kind)));
    const u64 n = model.size(kind);
    if (n > most_rows) {
      EXPECT_EQ(join_size(space, l.span(), r.span(), {kind, way}), n);
      continue;
    }
    const auto got = join(space, l.span(), r.span(), {kind, way});
    ASSERT_EQ(got.size(), n);
    EXPECT_TRUE(in_order(got.left, got.right, kind) == model.rows(kind));
  }
}

// Checks the same by both probes of a graph of the right rows, at two loads.
template <class Key, class Space>
void expect_probed(Space& space, const std::vector<Key>& left, const std::vector<Key>& right) {
  SCOPED_TRACE(std::to_string(left.size()) + " and " + std::to_string(right.size()) + " rows of a graph");
  const join_model<Key> model(left, right);
  std::vector<u32> positions(right.size());
  std::iota(positions.begin(), positions.end(), 0);
  const buffer<Key, Space> l(space, left), r(space, right);
  const buffer<u32, Space> numbers(space, positions);
  table<hash_graph<Key, u32>, Space> graph(space, 0, {.load_factor = right.size() % 2 == 0 ? 0.9 : 0.3});
  std::ignore = graph.build(space, r.span(), numbers.span());
  for (const join_kind kind : join_kinds) {
    for (const join_options::probes probe :
         {join_options::probes::standard, join_options::probes::intersect}) {
      const auto got = join(space, l.span(), graph, {.kind = kind, .probe = probe});
      EXPECT_EQ(got.size(), model.size(kind));
      EXPECT_TRUE(in_order(got.left, got.right, kind) == model.rows(kind));
    }
  }
}

// Returns n ranks below `many` that follow Zipf's law.
inline std::vector<u64> zipf_ranks(random_numbers& random, u64 n, u64 many) {
  std::vector<double> sums(many);
  double sum = 0;
  for (u64 i = 0; i < many; ++i) sums[i] = sum += 1 / static_cast<double>(i + 1);
  std::vector<u64> ranks(n);
  for (u64& rank : ranks) {
    const double x = static_cast<double>(random() >> 11) * 0x1p-53 * sum;
    rank = static_cast<u64>(std::ranges::upper_bound(sums, x) - sums.begin());
  }
  return ranks;
}

}  // namespace tilehash::contract
