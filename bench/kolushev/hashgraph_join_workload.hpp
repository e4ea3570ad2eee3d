// SPDX-License-Identifier: Apache-2.0
// One case of a join, by each design; what comes of it is checked where it is.
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/instances/map.hpp>
#include <tilehash/join_graph.hpp>
#include <tilehash/space/algorithms.hpp>

#include <optional>
#include <tuple>
#include <utility>

#include "kolushev/hashgraph_join.hpp"
#include "numbered.hpp"

namespace tilehash::bench {

// ---- the rows, by the numbers of their keys; a row without a match has one beyond those of the other side ----

struct make_right_rows {
  join_case what;
  shuffled order;
  u32 *keys, *numbers;  // numbers: of the rows
  u32* counts;          // of each key
  u64* sums;            // of its rows' numbers, mixed

  TILEHASH_FN void operator()(u64 i) const {
    const u64 key = what.skew == join_skew::right ? zipf_number(i, what.keys()) : order(i) / what.copies;
    keys[i] = key_of<u32>(key);
    numbers[i] = static_cast<u32>(i);
    detail::fetch_add(counts + key, 1U);
    detail::fetch_add(sums + key, mix64(i));
  }
};
struct make_left_rows {
  join_case what;
  shuffled order;
  u32* keys;

  TILEHASH_FN u64 number(u64 i) const {
    const u64 key = what.skew == join_skew::left ? zipf_number(i, what.keys()) : order(i) % what.keys();
    return drawn(i + what.left) < what.found ? key : key + what.keys();
  }
  TILEHASH_FN void operator()(u64 i) const { keys[i] = key_of<u32>(number(i)); }
};

// How many rows came of each left row, and what their right rows' numbers, mixed, add up to.
struct add_joined_rows {
  const u32 *left, *right;  // right: null where there are none
  u64 lefts;
  u32* counts;
  u64 *sums, *wrong;

  TILEHASH_FN void operator()(u64 i) const {
    const u64 row = left[i];
    if (row >= lefts) {
      detail::fetch_add(wrong, u64(1));
      return;
    }
    detail::fetch_add(counts + row, 1U);
    if (right != nullptr) detail::fetch_add(sums + row, mix64(right[i]));
  }
};
struct check_left_rows {
  make_left_rows rows;
  const u32 *key_counts, *counts;
  const u64 *key_sums, *sums;
  u64* wrong;

  TILEHASH_FN void operator()(u64 i) const {
    const join_case& what = rows.what;
    const u64 key = rows.number(i), matches = key < what.keys() ? key_counts[key] : 0;
    const u64 count = detail::joined_rows(what.kind, matches);
    u64 sum = 0;
    if (detail::has_right_rows(what.kind)) sum = matches != 0 ? key_sums[key] : count * mix64(no_match);
    if (counts[i] != count || sums[i] != sum) detail::fetch_add(wrong, u64(1));
  }
};

// ---- what people use instead ----

// Where the matches of sorted left keys begin among the sorted right ones, and how many rows they give. A
// share of the left keys takes one binary search, and steps of growing length from there.
struct merge_shares {
  const u32 *left, *right;
  u64 lefts, rights, share;
  join_kind kind;
  u32* begins;
  u64* counts;

  TILEHASH_FN void operator()(u64 s) const {
    const u64 first = s * share, last = first + share < lefts ? first + share : lefts;
    u64 begin = 0, end = 0;
    for (u64 i = first; i < last; ++i) {
      const u32 key = left[i];
      if (i == first || key != left[i - 1]) {
        begin = i == first ? search(0, rights, key) : gallop(end, key);
        end = gallop(begin, u64(key) + 1);
      }
      begins[i] = begin != end ? static_cast<u32>(begin) : no_match;
      counts[i] = detail::joined_rows(kind, end - begin);
    }
  }

 private:
  // The first right key that is not below `least`.
  TILEHASH_FN u64 search(u64 low, u64 high, u64 least) const {
    while (low < high) {
      const u64 middle = low + (high - low) / 2;
      if (right[middle] < least)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
  // ... where all before `low` are below.
  TILEHASH_FN u64 gallop(u64 low, u64 least) const {
    u64 step = 1;
    while (low + step <= rights && right[low + step - 1] < least) {
      low += step;
      step *= 2;
    }
    return search(low, low + step < rights ? low + step : rights, least);
  }
};

// The rows of left keys that were looked up in a map, which has one right row of each key or none.
struct take_found {
  const u32* found;  // no_match where there is none
  join_kind kind;
  detail::join_output out;
  TILEHASH_FN bool selects(u64 i) const { return detail::joined_rows(kind, found[i] != no_match) != 0; }
  TILEHASH_FN void use(u64 i, u64 at) const { out.put(at, static_cast<u32>(i), found[i]); }
};

// ---- all designs ----

template <class Space>
class join_workload {
  struct result {
    join_rows<Space> rows;
    u64 size = 0;  // of them
    result() = default;
    result(join_rows<Space> all) : rows(std::move(all)), size(rows.size()) {}
    result(join_rows<Space> all, u64 n) : rows(std::move(all)), size(n) {}
  };
  struct sorted_side {
    buffer<u32, Space> keys, numbers;
  };

 public:
  join_workload(Space& space, std::string space_name, const join_case& the_case, unsigned repeat,
                const tell_join& tell)
      : space_(space),
        space_name_(std::move(space_name)),
        what_(the_case),
        repeat_(repeat),
        tell_(tell),
        left_(space, what_.left),
        right_(space, what_.right),
        numbers_(space, what_.right),
        counts_(space, what_.keys()),
        sums_(space, what_.keys()),
        make_left_{what_, {0, what_.left}, left_.data()} {
    space_.fill(counts_.data(), counts_.size(), 0U);
    space_.fill(sums_.data(), sums_.size(), u64(0));
    space_.for_each(
        what_.right,
        make_right_rows{
            what_, {0, what_.right}, right_.data(), numbers_.data(), counts_.data(), sums_.data()});
    space_.for_each(what_.left, make_left_);
  }

  void run(const std::string& design) {
    if (design == "join") measure_join(design, join_options::ways::automatic);
    if (design == "join_by_table") measure_join(design, join_options::ways::by_table);
    if (design == "hash_graph") measure_graph(design, join_options::probes::standard);
    if (design == "hash_graph_intersect") measure_graph(design, join_options::probes::intersect);
    if (design == "sort_merge") measure_sort(design);
    if (design == "tiled" && what_.comes_once()) measure_map(design);
  }

 private:
  void measure_join(const std::string& design, join_options::ways way) {
    measure_design(
        design, [] {},
        [&] {
          return tilehash::join(space_, left_.span(), right_.span(), {what_.kind, way});
        });
  }
  void measure_graph(const std::string& design, join_options::probes probe) {
    std::optional<table<hash_graph<u32, u32>, Space>> graph;
    measure_design(
        design,
        [&] {
          graph.emplace(space_);
          std::ignore = graph->build(space_, right_.span(), numbers_.span());
        },
        [&] { return tilehash::join(space_, left_.span(), *graph, {.kind = what_.kind, .probe = probe}); });
  }
  void measure_map(const std::string& design) {
    std::optional<map<u32, u32, Space>> rows_of;
    measure_design(
        design,
        [&] {
          rows_of.emplace(space_, what_.right);
          std::ignore = rows_of->insert(space_, right_.span(), numbers_.span());
        },
        [&]() -> result {
          const u64 n = what_.left;
          buffer<u32, Space> found(space_, n);
          rows_of->find_or(space_, left_.span(), found.span(), no_match);
          auto rows = detail::make_join_rows(space_, n, what_.kind);
          buffer<u64, Space> count(space_, 1);
          space_.fill(count.data(), 1, u64(0));
          detail::compact(space_, n,
                          take_found{found.data(), what_.kind, {rows.left.data(), rows.right.data()}},
                          count.data());
          const u64 size = read_one(space_, count.data());
          return {std::move(rows), size};
        });
  }
  void measure_sort(const std::string& design) {
    sorted_side right;
    measure_design(
        design, [&] { right = sorted(right_, numbers_.data()); },
        [&] {
          const u64 n = what_.left;
          sorted_side left;
          {
            buffer<u32, Space> numbers(space_, n);
            space_.for_each(n, detail::number_rows{numbers.data()});
            left = sorted(left_, numbers.data());
          }
          buffer<u32, Space> begins(space_, n);
          buffer<u64, Space> offsets(space_, n + 1);
          space_.fill(offsets.data() + n, 1, u64(0));
          constexpr u64 share = Space::has_lanes ? 1 : 4096;
          space_.for_each((n + share - 1) / share,
                          merge_shares{left.keys.data(), right.keys.data(), n, what_.right, share, what_.kind,
                                       begins.data(), offsets.data()});
          space_.exclusive_scan(offsets.data(), offsets.data(), n + 1);
          const u64 size = read_one(space_, offsets.data() + n);
          auto rows = detail::make_join_rows(space_, size, what_.kind);
          detail::write_matches(space_,
                                {offsets.data(), n, begins.data(), left.numbers.data(), right.numbers.data()},
                                size, what_.kind, {rows.left.data(), rows.right.data()});
          space_.synchronize();
          return rows;
        });
  }
  sorted_side sorted(const buffer<u32, Space>& keys, const u32* numbers) {
    const u64 n = keys.size();
    sorted_side to{buffer<u32, Space>(space_, n), buffer<u32, Space>(space_, n)};
    const u32* const from = keys.data();
    space_.sort_pairs(from, numbers, to.keys.data(), to.numbers.data(), n, 32);
    return to;
  }

  template <class Build, class Join>
  void measure_design(const std::string& design, Build build, Join join) {
    join_measurement m{.design = design, .space = space_name_, .what = what_};
    try {
      std::vector<double> building, joining, all;
      result got;
      for (unsigned i = 0; i <= repeat_; ++i) {  // the first to warm up
        got = {};
        const double built = space_.time(build), joined = space_.time([&] { got = join(); });
        if (i == 0) continue;
        building.push_back(built);
        joining.push_back(joined);
        all.push_back(built + joined);
      }
      m.build = spread(std::move(building));
      m.join = spread(std::move(joining));
      m.all = spread(std::move(all));
      m.rows = got.size;
      m.wrong = wrong_in(got);
    } catch (const out_of_memory& e) {
      m.obstacle = e.what();
    }
    tell_(m);
  }
  u64 wrong_in(const result& got) {
    const u64 n = what_.left;
    buffer<u32, Space> counts(space_, n);
    buffer<u64, Space> sums(space_, n), wrong(space_, 1);
    space_.fill(counts.data(), n, 0U);
    space_.fill(sums.data(), n, u64(0));
    space_.fill(wrong.data(), 1, u64(0));
    space_.for_each(got.size, add_joined_rows{got.rows.left.data(), got.rows.right.data(), n, counts.data(),
                                              sums.data(), wrong.data()});
    space_.for_each(n, check_left_rows{make_left_, counts_.data(), counts.data(), sums_.data(), sums.data(),
                                       wrong.data()});
    return read_one(space_, wrong.data());
  }

  Space& space_;
  std::string space_name_;
  join_case what_;
  unsigned repeat_;
  const tell_join& tell_;
  buffer<u32, Space> left_, right_, numbers_;
  buffer<u32, Space> counts_;  // of each of the right side's keys
  buffer<u64, Space> sums_;
  make_left_rows make_left_;
};

template <class Space>
void measure_joins(Space& space, const std::string& space_name, const join_case& the_case,
                   const std::vector<std::string>& designs, unsigned repeat, const tell_join& tell) {
  join_workload<Space> work(space, space_name, the_case, repeat, tell);
  for (const std::string& design : designs) work.run(design);
}

}  // namespace tilehash::bench
