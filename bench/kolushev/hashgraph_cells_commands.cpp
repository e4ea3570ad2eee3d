// SPDX-License-Identifier: Apache-2.0
// tilehash bench hashgraph/cells, meshes, probes
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tilehash/space/cpu.hpp>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "commands.hpp"
#include "experiment.hpp"
#include "kolushev/hashgraph_cells.hpp"
#include "kolushev/mesh_cells.hpp"
#include "options.hpp"
#include "report.hpp"

namespace tilehash::bench {

static fields fields_of(const cells_measurement& m) {
  fields all{{"design", m.design, "design", -26},
             {"space", m.space},
             {"threads", m.threads, "threads", 7},
             {"data", m.what.data, "data", -12},
             {"cells", m.what.n, "cells", 9},
             {"queries", m.what.queries, "queries", 9},
             {"load_factor", m.what.load, "a row", 5, "g"}};
  if (m.what.clock == measured_clock::processor) all.push_back({"clock", "processor"});
  if (!m.obstacle.empty()) {
    all.push_back({"obstacle", m.obstacle, "", -1});
    return all;
  }
  if (m.bytes != 0) all.push_back({"bytes_per_cell", m.bytes, "bytes", 6, ".1f"});
  nlohmann::ordered_json seconds, rates;
  const auto add = [&](const char* op, const spread& its, u64 n) {
    seconds[op] = as_json(its);
    rates[op] = static_cast<double>(n) / its.median / 1e6;
    all.push_back({"", its.median, op, 9, ".3g"});
  };
  add("build", m.build, m.what.n);
  add("found", m.found, m.what.queries);
  add("not_found", m.not_found, m.what.queries);
  all.push_back({"seconds", std::move(seconds)});
  all.push_back({"mcells_per_s", std::move(rates)});
  all.push_back(
      {"", noise_of("one", std::ranges::max({m.build, m.found, m.not_found}, {}, &spread::noise)), "", -1});
  all.push_back({.name = "lost", .value = m.lost, .head = "LOST", .is_fault = true});
  all.push_back(wrong_answers(m.wrong));
  return all;
}
}  // namespace tilehash::bench

namespace tilehash::app {
namespace {

using bench::cells_case;
using bench::cells_measurement;

struct cells_options : common_options {
  std::vector<std::string> designs;
  std::vector<std::uint64_t> sizes, queries;
  std::vector<std::string> files;
  double load = 1;
  bench::measured_clock clock = bench::measured_clock::wall;
};

// Every case on one thread of a CPU, where the standard's sets run too, and on all, or on as many as asked.
void measure(experiment& rows, const cells_options& options, const std::vector<std::string>& known,
             cells_case the_case) {
  std::vector<int> teams{0};
  if (!rows.on_gpu() && options.threads != 0) teams = {options.threads};
  if (!rows.on_gpu() && options.threads == 0) teams = {1, cpu(0).threads()};
  const bool by_processor = options.clock == bench::measured_clock::processor;
  if (by_processor && options.threads == 0) teams.resize(1);
  check_clock(options.clock, teams == std::vector{1});
  teams.erase(std::unique(teams.begin(), teams.end()), teams.end());
  the_case.load = options.load;
  the_case.repeat = options.repeat;
  the_case.clock = options.clock;
  const bool all = options.designs.empty() || options.designs == std::vector<std::string>{"all"};
  for (const int threads : teams) {
    the_case.threads = threads;
    const auto tell = [&](const cells_measurement& m) { rows.add(fields_of(m)); };
    rows.on_gpu() ? bench::cuda_cells(the_case, all ? known : options.designs, tell)
                  : bench::cpu_cells(the_case, all ? known : options.designs, tell);
  }
}

void run_cells(experiment& rows, const cells_options& options) {
  check_sizes(options.sizes, "--n", 1, most_items);
  auto sizes = options.sizes;
  if (sizes.empty()) {
    for (std::uint64_t n = 5'000'000; n <= 40'000'000; n += 5'000'000) {
      if (rows.on_gpu() || n % 10'000'000 == 0) sizes.push_back(n);
    }
  }
  for (const std::uint64_t n : sizes)
    measure(rows, options, bench::cell_designs, {.data = "random", .n = n, .queries = n});
}

void run_meshes(experiment& rows, const cells_options& options) {
  std::vector<std::vector<bench::cell>> meshes;  // all read before anything is measured
  meshes.reserve(options.files.size());
  for (const std::string& file : options.files) meshes.push_back(bench::read_cells(file));
  for (std::size_t i = 0; i < meshes.size(); ++i) {
    const std::string name = std::filesystem::path(options.files[i]).filename().stem().string();
    measure(rows, options, bench::cell_designs,
            {.data = name, .cells = meshes[i], .n = meshes[i].size(), .queries = meshes[i].size()});
  }
}

void run_cell_probes(experiment& rows, const cells_options& options) {
  const std::uint64_t n = options.sizes.front();
  check_sizes(options.sizes, "--n", 1, most_items);
  check_sizes(options.queries, "--queries", 1, n);
  for (const std::uint64_t queries : options.queries)
    measure(rows, options, bench::cell_probes, {.data = "random", .n = n, .queries = queries});
}

void add_common(option_list& list, cells_options& o, const std::vector<std::string>& designs) {
  list.designs(o.designs, fmt::format("all, or some of {}", fmt::join(designs, ",")))
      ->check(CLI::IsMember(designs) | CLI::IsMember({"all"}));
  list.ratio(option::load_factor, o.load, "Items a row of the graphs", 0.1, 10);
  list.clock(o.clock);
}

}  // namespace

void add_cells_commands(CLI::App& bench) {
  const std::string above = "seconds; bytes a cell\n";
  const char* const faults = "cells were lost or answers wrong";
  declare<cells_options>(
      bench,
      {"hashgraph/cells", "Sets of random cells of four integers: build, found, not found", above, faults},
      run_cells, [](option_list& list, cells_options& o) {
        add_common(list, o, bench::cell_designs);
        list.sizes("--n", o.sizes,
                   "Numbers of cells (default: 10, 20, 30 and 40 million; on a GPU 5 million to 40)");
      });
  declare<cells_options>(
      bench, {"hashgraph/meshes", "The same with the cells of tetrahedral meshes", above, faults}, run_meshes,
      [](option_list& list, cells_options& o) {
        add_common(list, o, bench::cell_designs);
        list.command()
            .add_option(
                "FILE", o.files,
                "Meshes: TetGen's .ele, as scripts/meshes.sh makes them, or a line of four corners a cell")
            ->required();
      });
  declare<cells_options>(bench,
                         {"hashgraph/probes", "The two ways to look up many cells in a graph", above, faults},
                         run_cell_probes, [](option_list& list, cells_options& o) {
                           o.sizes = {40'000'000};
                           o.queries = {10'000'000, 20'000'000, 30'000'000, 40'000'000};
                           add_common(list, o, bench::cell_probes);
                           list.sizes("--n", o.sizes, "Number of cells in the graph")->expected(1);
                           list.sizes("--queries", o.queries, "Numbers of cells asked for, at most --n");
                         });
}

}  // namespace tilehash::app
