// SPDX-License-Identifier: Apache-2.0
// One case of sets of cells, by each design.
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/join_graph.hpp>
#include <tilehash/papers/hash_graph.hpp>
#include <tilehash/papers/hash_graph_original.hpp>
#include <tilehash/papers/indexed_cuckoo.hpp>
#include <tilehash/rows.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/table.hpp>

#include <ctime>
#include <functional>
#include <utility>

#include "kolushev/hashgraph_cells.hpp"
#include "numbered.hpp"

namespace tilehash::bench {

// The i-th random cell: four numbers of 31 bits, no two cells alike.
struct make_random_cells {
  cell* cells;
  TILEHASH_FN void operator()(u64 i) const {
    const permutation of(64, 1);
    const u64 a = of(2 * i), b = of(2 * i + 1);
    const auto number = [](u64 word) { return static_cast<int>(word & 0x7fffffff); };
    cells[i] = {number(a >> 32), number(a), number(b >> 32), number(b)};
  }
};
struct make_absent_cells {
  const cell* cells;
  cell* absent;
  TILEHASH_FN void operator()(u64 i) const {
    absent[i] = {~cells[i][0], cells[i][1], cells[i][2], cells[i][3]};
  }
};
struct mark_rows {
  const u32* rows;
  bool* answers;
  TILEHASH_FN void operator()(u64 i) const { answers[rows[i]] = true; }
};
struct count_other_answers {
  const bool* answers;
  bool right;
  u64* wrong;
  TILEHASH_FN void operator()(u64 i) const {
    if (answers[i] != right) detail::fetch_add(wrong, u64(1));
  }
};

template <class Space>
class cells_workload {
 public:
  using cells_in = std::span<const cell>;
  struct times {  // of one run
    double build = 0, found = 0, not_found = 0;
    u64 lost = 0, wrong = 0, bytes = 0;
  };
  struct contender {
    std::string name;
    std::function<times()> run;
  };

  cells_workload(Space& space, cells_case the_case)
      : space_(space),
        what_(std::move(the_case)),
        cells_(space, what_.n),
        absent_(space, what_.queries),
        answers_(space, what_.queries),
        wrong_(space, 1) {
    if (what_.cells.empty())
      space_.for_each(what_.n, make_random_cells{cells_.data()});
    else
      cells_.copy_from(std::exchange(what_.cells, {}));
    space_.for_each(what_.queries, make_absent_cells{cells_.data(), absent_.data()});
  }

  cells_in cells() const { return cells_.span(); }
  std::span<bool> answers() const { return answers_.span(); }

  // One of the library's tables, or probes; empty: it is none.
  std::function<times()> library_run(const std::string& name) {
    using namespace builders;
    if (name == "hash_graph") return [this] { return run_set<hash_graph<cell, void>>(what_.load); };
    if (name == "hash_graph_v1") return graph_run<count_and_scatter>();
    if (name == "hash_graph_v2") return graph_run<binned<count_and_scatter>>();
    if (name == "hash_graph_bins") return graph_run<papers::reordered<32'000>>();
    if (name == "hash_graph_original") return graph_run<papers::in_separate_steps<32'000>>();
    if (name == "hash_graph_segments") return graph_run<papers::segments>();
    if (name == "indexed_cuckoo") return [this] { return run_set<papers::indexed_cuckoo<cell, void>>(0.8); };
    if (name == "indexed_cuckoo_4")
      return [this] { return run_set<papers::indexed_cuckoo<cell, void, 4>>(0.8); };
    if (name == "contains") return [this] { return run_contains(); };
    if (name == "join_standard") return [this] { return run_join(join_options::probes::standard); };
    if (name == "join_intersect") return [this] { return run_join(join_options::probes::intersect); };
    return {};
  }

  // build() gives how many cells are in then; ask(queries) answers or, where that takes no part in the time,
  // tell() does afterwards.
  template <class Build, class Ask, class Tell>
  times run(Build build, Ask ask, Tell tell) {
    times its;
    u64 in = 0;
    its.build = time([&] { in = build(); });
    its.lost = what_.n - in;
    const auto seconds = [&](cells_in queries, bool right) {
      const double s = time([&] { ask(queries); });
      tell();
      its.wrong += other_answers(right);
      return s;
    };
    its.found = seconds(cells().first(what_.queries), true);
    its.not_found = seconds(absent_.span(), false);
    return its;
  }

  // Each in turn, as often as asked: what else the machine does comes to all of them. Every second round
  // goes the other way, as each pays for the pages that the one before it left.
  void measure(const std::vector<contender>& all, const std::string& space_name, int threads,
               const tell_cells& tell) {
    struct series {
      cells_measurement m;
      std::vector<double> build{}, found{}, not_found{};
    };
    std::vector<series> made;
    for (const contender& one : all) {
      cells_measurement m{.design = one.name, .space = space_name, .threads = threads, .what = what_};
      made.push_back({.m = std::move(m)});
    }
    for (unsigned round = 0; round <= what_.repeat; ++round) {
      for (std::size_t turn = 0; turn < all.size(); ++turn) {
        const std::size_t i = round % 2 == 0 ? turn : all.size() - 1 - turn;
        series& its = made[i];
        if (!its.m.obstacle.empty()) continue;
        try {
          const times t = all[i].run();
          its.m.lost += t.lost, its.m.wrong += t.wrong;
          its.m.bytes = static_cast<double>(t.bytes) / static_cast<double>(what_.n);
          if (round == 0) continue;  // to warm up
          its.build.push_back(t.build);
          its.found.push_back(t.found);
          its.not_found.push_back(t.not_found);
        } catch (const out_of_memory& e) {
          its.m.obstacle = e.what();
        }
      }
    }
    for (series& its : made) {
      if (its.m.obstacle.empty()) {
        its.m.build = spread(std::move(its.build));
        its.m.found = spread(std::move(its.found));
        its.m.not_found = spread(std::move(its.not_found));
      }
      tell(its.m);
    }
  }

 private:
  template <class Builder>
  std::function<times()> graph_run() {
    return [this] { return run_set<hash_graph<cell, void, murmur, u32, Builder>>(what_.load); };
  }
  template <class Design>
  times run_set(double load) {
    table<Design, Space> set(space_, 0, {.load_factor = load});
    times its = run(
        [&] {
          const insert_report report = set.build(space_, cells());
          return report.inserted + report.present;
        },
        [&](cells_in queries) { set.contains(space_, queries, answers()); }, [] {});
    its.bytes = set.bytes();
    return its;
  }

  // The probes, by a map to the cells' numbers.
  using numbered_graph = table<hash_graph<cell, u32>, Space>;
  template <class Ask, class Tell>
  times run_numbered(numbered_graph& graph, Ask ask, Tell tell) {
    buffer<u32, Space> numbers(space_, what_.n);
    space_.for_each(what_.n, detail::number_rows{numbers.data()});
    times its = run([&] { return graph.build(space_, cells(), numbers.span()).inserted; }, ask, tell);
    its.bytes = graph.bytes();
    return its;
  }
  times run_contains() {
    numbered_graph graph(space_, 0, {.load_factor = what_.load});
    return run_numbered(
        graph, [&](cells_in queries) { graph.contains(space_, queries, answers()); }, [] {});
  }
  times run_join(join_options::probes probe) {
    numbered_graph graph(space_, 0, {.load_factor = what_.load});
    join_rows<Space> rows;
    return run_numbered(
        graph,
        [&](cells_in queries) {
          rows = join(space_, queries, graph, {.kind = join_kind::semi, .probe = probe});
        },
        [&] {
          space_.fill(answers_.data(), answers_.size(), false);
          space_.for_each(rows.size(), mark_rows{rows.left.data(), answers_.data()});
        });
  }

  // Seconds.
  template <class Run>
  double time(Run run) {
    if (what_.clock == measured_clock::wall) return space_.time(run);
    const std::clock_t begin = std::clock();
    run();
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  }

  u64 other_answers(bool right) {
    space_.fill(wrong_.data(), 1, u64(0));
    space_.for_each(what_.queries, count_other_answers{answers_.data(), right, wrong_.data()});
    return read_one(space_, wrong_.data());
  }

  Space& space_;
  cells_case what_;
  buffer<cell, Space> cells_, absent_;
  buffer<bool, Space> answers_;
  buffer<u64, Space> wrong_;
};

// The library's designs of these names, and what there is besides.
template <class Space>
auto contenders_of(cells_workload<Space>& work, const std::vector<std::string>& names) {
  std::vector<typename cells_workload<Space>::contender> all;
  for (const std::string& name : names) {
    if (auto run = work.library_run(name)) all.push_back({name, std::move(run)});
  }
  return all;
}

}  // namespace tilehash::bench
