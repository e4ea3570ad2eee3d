// SPDX-License-Identifier: Apache-2.0
// A join whose right side is a graph: a `hash_graph` or `chained` of keys and row numbers.
//
//   standard    each left key finds its row and walks it: random reads, and nothing is built
//   intersect   a second graph is built of the left keys, with the same rows; equal rows are then compared:
//
//     row              0   1   2       3
//     left entries   |   | d | a a f | e |        both arrays are read from end to end; the work of a row is
//     right entries  | b |   | a f   | e |        the product of the two lengths
//
// A frequent key makes its row long. Where keys are very frequent on both sides, take join.hpp, which counts
// in linear time for all keys.
//
// Source: HashGraph (O. Green) and its two ways to probe as studied in A. Kolushev, Algorithms and data
// structures for hashing on GPU, CTU Prague 2021, section 2.5, algorithms 9 and 10.
#pragma once

#include <tilehash/designs/hash_graph.hpp>
#include <tilehash/engine/built_once.hpp>
#include <tilehash/join.hpp>
#include <tilehash/kernel/lookup.hpp>
#include <tilehash/table.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

namespace detail {

// Counts the result's rows of one left row, from its key's row in the graph, or writes them from number `at`
// on.
struct graph_matches {
  join_kind kind;
  join_output out;
  template <class Hit>
  TILEHASH_FN u64 count(const Hit& hit) const {
    return joined_rows(kind, hit.count());
  }
  template <class Hit>
  TILEHASH_FN u64 write(u64 at, u32 left, const Hit& hit) const {
    if (!hit.found() || !has_right_rows(kind)) {
      if (joined_rows(kind, hit.found()) == 0) return at;
      out.put(at, left, no_match);
      return at + 1;
    }
    for (auto e = hit.at; e != hit.row.last; ++e)
      if (same_key(e->key, hit.key)) out.put(at++, left, e->value);
    return at;
  }
};

// ---- standard: for each left row ----
struct graph_count_sink {
  graph_matches matches;
  u64* counts;
  template <class Hit>
  TILEHASH_FN void operator()(u64 i, const Hit& hit) const {
    counts[i] = matches.count(hit);
  }
};
struct graph_write_sink {
  graph_matches matches;
  const u64* offsets;
  template <class Hit>
  TILEHASH_FN void operator()(u64 i, const Hit& hit) const {
    matches.write(offsets[i], static_cast<u32>(i), hit);
  }
};

// ---- intersect: for each row of both graphs ----
template <class Left, class Right, bool Writes>
struct intersect_rows {
  Left left;
  Right right;
  graph_matches matches;
  u64* offsets;
  TILEHASH_FN void operator()(u64 r) const {
    const auto stored = right.whole_row(r);
    const auto queries = left.whole_row(r);
    u64 rows = Writes ? offsets[r] : 0;
    for (auto e = queries.first; e != queries.last; ++e) {
      const auto hit = right.hit(e->key, stored);
      rows = Writes ? matches.write(rows, e->value, hit) : rows + matches.count(hit);
    }
    if (!Writes) offsets[r] = rows;
  }
};

// pass(write, out, offsets) counts or writes. The counting pass stores the rows of each left row (or of each
// graph row) in `offsets`; the writing pass reads there how many rows come before it.
template <class Space, class Pass>
join_rows<Space> join_in_passes(Space& space, u64 parts, u64 illegal, join_kind kind, Pass pass) {
  buffer<u64, Space> offsets(space, parts + 1);
  space.fill(offsets.data() + parts, 1, u64(0));
  pass(false, join_output{}, offsets.data());
  space.exclusive_scan(offsets.data(), offsets.data(), parts + 1);
  const u64 done = read_one(space, offsets.data() + parts);
  auto rows = make_join_rows(space, done + illegal, kind);
  pass(true, join_output{rows.left.data(), rows.right.data()}, offsets.data());
  return rows;
}

template <class Space, class Right, class Key>
join_rows<Space> join_standard(Space& space, std::span<const Key> left, const Right& right, join_kind kind) {
  return join_in_passes(space, left.size(), 0, kind, [&](bool write, const join_output& out, u64* offsets) {
    const graph_matches matches{kind, out};
    if (write)
      look_up(space, right, left.data(), left.size(), graph_write_sink{matches, offsets});
    else
      look_up(space, right, left.data(), left.size(), graph_count_sink{matches, offsets});
  });
}

template <class Space, class Right, class Key>
join_rows<Space> join_intersect(Space& space, std::span<const Key> left, const Right& right, u64 seed,
                                join_kind kind) {
  using graph = hash_graph<Key, u32, typename Right::hasher>;
  const u64 n = left.size(), rows = right.capacity();
  const buffer<char, Space> memory(space, graph::bytes(rows, n));
  graph queries(memory.data(), rows, n, seed);
  u64 illegal = 0;
  {
    const buffer<u32, Space> numbers(space, n);
    space.for_each(n, number_rows{numbers.data()});
    illegal = joined_rows(kind, 0) * (n - queries.build(space, left.data(), numbers.data(), n));
  }
  auto joined =
      join_in_passes(space, rows, illegal, kind, [&](bool write, const join_output& out, u64* offsets) {
        const graph_matches matches{kind, out};
        if (write)
          space.for_each(rows, intersect_rows<graph, Right, true>{queries, right, matches, offsets});
        else
          space.for_each(rows, intersect_rows<graph, Right, false>{queries, right, matches, offsets});
      });
  if (illegal != 0)
    put_illegal_rows(space, left.data(), n, {joined.left.data(), joined.right.data()},
                     joined.size() - illegal);
  return joined;
}

}  // namespace detail

/// Joins left keys with a graph whose values are row numbers.
///
/// \param space the graph's own space.
/// \param left keys in memory of the space, at most 2^32 - 2.
/// \param right the graph.
/// \param options the kind of join, and how it looks the keys up.
/// \return the rows, as those of join() in join.hpp.
/// \throws invalid_argument, out_of_memory (strong).
/// \complexity O(left + rows), and the lengths of the rows of the graph that are read. To intersect, the sum
/// over all rows of the product of the two lengths.
/// \memory 12 bytes for each left row; to intersect, a graph of the left keys and that of its build.
/// \synchronizes yes.
/// \concurrency with const verbs.
template <class Space, class Left, class Key, class Builder, class Hash, class Index>
  requires std::ranges::contiguous_range<Left> && std::same_as<detail::key_of<Left>, Key>
[[nodiscard]] join_rows<Space> join(Space& space, const Left& left,
                                    const table<row_table<Key, u32, Builder, Hash, Index>, Space>& right,
                                    const join_options& options = {}) {
  const std::span<const Key> keys(left);
  detail::require(keys.size() < no_match, "join: a side has at most 2^32 - 2 rows; join it in parts");
  space.check_pointer(keys, "join: the left keys");
  if (right.capacity() == 0)  // moved from
    return join(space, left, std::remove_cvref_t<decltype(right)>(space), options);
  const auto rows = right.view().design;
  auto joined = options.probe == join_options::probes::standard
                    ? detail::join_standard(space, keys, rows, options.kind)
                    : detail::join_intersect(space, keys, rows, *right.options().seed, options.kind);
  space.synchronize();
  return joined;
}

TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC(join);
}  // namespace tilehash
