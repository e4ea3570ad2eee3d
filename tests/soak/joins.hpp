// SPDX-License-Identifier: Apache-2.0
// Random joins, of all kinds and by all ways, of arrays and with a graph. A result's rows are compared by
// their number and a sum over products of a left and a right hash, which the counts of each key give without
// making the rows.
#pragma once

#include <string>
#include <vector>

#include <soak/universe.hpp>
#include <tilehash/join_graph.hpp>

namespace tilehash::soak {

template <class Key, class Place>
class joins {
  using space_type = typename Place::space_type;
  using graph_type = table<hash_graph<Key, u32>, space_type>;
  static constexpr u64 most_rows = 8'000'000;

 public:
  static void play(round& r) { joins(r).run(); }

 private:
  struct side {
    std::vector<u32> numbers;
    std::vector<Key> rows;
    std::vector<u64> counts, sums;  // by key: its rows, and what their hashes add up to
  };
  struct expected {
    u64 rows = 0, sum = 0;
  };

  explicit joins(round& r)
      : r_(r),
        place_(r.dice, false),
        keys_(any_keys<Key>(r, r.any_size(r.most))),
        left_(any_side(1)),
        right_(any_side(2)) {
    r_.note(std::to_string(left_.rows.size()) + " and " + std::to_string(right_.rows.size()) + " rows of " +
            std::to_string(keys_.size()) + " keys");
  }
  side any_side(u64 salt) {
    side s;
    s.numbers = any_numbers(r_, keys_.size(), r_.dice.one_in(20) ? 0 : r_.large_size(r_.any_size(r_.most)));
    s.counts.resize(keys_.size()), s.sums.resize(keys_.size());
    for (u32 i = 0; i < s.numbers.size(); ++i) {
      const u32 k = s.numbers[i];
      s.rows.push_back(keys_[k]);
      ++s.counts[k], s.sums[k] += hash(salt, i);
    }
    return s;
  }
  static u64 hash(u64 salt, u32 row) { return mix64(salt << 32 | row) | 1; }

  expected wanted(join_kind kind) const {
    expected e;
    for (u32 k = 0; k < keys_.size(); ++k) {
      const u64 l = left_.counts[k], m = right_.counts[k];
      if (kind == join_kind::semi || kind == join_kind::anti) {
        if ((m != 0) == (kind == join_kind::semi)) e.rows += l, e.sum += left_.sums[k];
      } else if (m != 0) {
        e.rows += l * m, e.sum += left_.sums[k] * right_.sums[k];
      } else if (kind == join_kind::left) {
        e.rows += l, e.sum += left_.sums[k] * hash(2, no_match);
      }
    }
    return e;
  }

  void run() {
    const buffer<Key, space_type> left(place_.home(), left_.rows), right(place_.home(), right_.rows);
    constexpr join_kind kinds[] = {join_kind::inner, join_kind::left, join_kind::semi, join_kind::anti};
    constexpr join_options::ways ways[] = {join_options::ways::automatic, join_options::ways::by_regions,
                                           join_options::ways::by_table};
    const bool walked = wanted(join_kind::inner).rows <= most_rows;
    for (u32 turn = 0; turn < 6; ++turn) {
      const join_kind kind = kinds[r_.dice.below(4)];
      const join_options::ways way = ways[r_.dice.below(3)];
      const expected e = wanted(kind);
      r_.note("kind " + std::to_string(static_cast<int>(kind)) + ", way " +
              std::to_string(static_cast<int>(way)));
      auto& space = r_.dice.one_in(4) ? place_.other() : place_.home();
      if (e.rows > most_rows || r_.dice.one_in(4))
        expect_equal(join_size(space, left.span(), right.span(), {kind, way}), e.rows, "join_size");
      else
        judge(join(space, left.span(), right.span(), {kind, way}), kind, e);
    }
    if (walked) probe(left);
  }
  void probe(const buffer<Key, space_type>& left) {
    constexpr double loads[] = {0.3, 1, 2, 4};
    auto& space = place_.home();
    const buffer<Key, space_type> right(space, right_.rows);
    std::vector<u32> rows(right_.rows.size());
    for (u32 i = 0; i < rows.size(); ++i) rows[i] = i;
    const buffer<u32, space_type> numbers(space, rows);
    graph_type graph(space, 0, {.load_factor = loads[r_.dice.below(4)], .seed = r_.dice()});
    std::ignore = graph.build(space, right.span(), numbers.span());
    for (const join_kind kind : {join_kind::inner, join_kind::left, join_kind::semi, join_kind::anti}) {
      const auto way = r_.dice.one_in(2) ? join_options::probes::standard : join_options::probes::intersect;
      r_.note("graph, kind " + std::to_string(static_cast<int>(kind)) +
              (way == join_options::probes::standard ? "" : ", intersect"));
      const expected e = wanted(kind);
      if (e.rows <= most_rows) judge(join(space, left.span(), graph, {.kind = kind, .probe = way}), kind, e);
    }
  }
  void judge(const join_rows<space_type>& got, join_kind kind, const expected& e) {
    expect_equal(got.size(), e.rows, "rows of a join");
    place_.other().synchronize();
    const bool pairs = kind == join_kind::inner || kind == join_kind::left;
    const auto l = got.left.to_host(), m = got.right.to_host();
    expect_equal(m.size(), pairs ? l.size() : 0, "right rows");
    u64 sum = 0;
    for (u64 i = 0; i < l.size(); ++i) {
      expect(l[i] < left_.numbers.size() && (!pairs || m[i] == no_match || m[i] < right_.numbers.size()),
             "a row that no side has");
      if (pairs && m[i] != no_match)
        expect(left_.numbers[l[i]] == right_.numbers[m[i]], "rows of different keys");
      sum += hash(1, l[i]) * (pairs ? hash(2, m[i]) : 1);
    }
    expect(sum == e.sum, "a join gives other rows than there are");
    r_.checked += l.size();
  }

  round& r_;
  Place place_;
  std::vector<Key> keys_;
  side left_, right_;
};

}  // namespace tilehash::soak
