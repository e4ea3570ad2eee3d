// SPDX-License-Identifier: Apache-2.0
// tilehash bench hashgraph/cells, meshes, probes
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <tilehash/space/cpu.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "dataset.hpp"
#include "experiment.hpp"
#include "kolushev/hashgraph_cells.hpp"
#include "kolushev/hashgraph_cells_report.hpp"
#include "kolushev/mesh_cells.hpp"
#include "options.hpp"
#include "session.hpp"

namespace tilehash::app {
namespace {

using bench::cells_case;
using bench::cells_clock;
using bench::cells_measurement;

struct cells_options : common_options {
  std::vector<std::string> designs{"all"};
  std::vector<std::uint64_t> sizes, queries;
  std::vector<std::string> files;
  double load = 1;
  cells_clock clock = cells_clock::wall;
};

// Every case on one thread of a CPU, where the standard's sets run too, and on all, or on as many as asked.
class cells_experiment {
 public:
  cells_experiment(const cells_options& options, const char* name, const std::vector<std::string>& known)
      : options_(options),
        session_(options),
        rows_(session_, name, session_.machine() + '\n'),
        designs_(options.designs) {
    if (designs_ == std::vector<std::string>{"all"}) designs_ = known;
    if (session_.space() == "cuda")
      threads_ = {0};
    else if (options.threads != 0)
      threads_ = {options.threads};
    else if (options.clock == cells_clock::processor)
      threads_ = {1};
    else
      threads_ = {1, cpu(0).threads()};
    if (options.clock == cells_clock::processor && threads_ != std::vector{1})
      throw input_error("--clock processor: it is for one thread of a CPU; use --clock wall");
    threads_.erase(std::unique(threads_.begin(), threads_.end()), threads_.end());
  }

  void measure(cells_case the_case) {
    the_case.load = options_.load;
    the_case.repeat = options_.repeat;
    the_case.clock = options_.clock;
    for (const int threads : threads_) {
      the_case.threads = threads;
      std::vector<cells_measurement> its;
      const auto tell = [&](const cells_measurement& m) {
        its.push_back(m);
        rows_.keep(fields_of(m));
      };
      session_.say(bench::cells_heading(the_case, threads));
      session_.space() == "cuda" ? bench::cuda_cells(the_case, designs_, tell)
                                 : bench::cpu_cells(the_case, designs_, tell);
      const auto standard = std::ranges::find(its, "std::unordered_set", &cells_measurement::design);
      if (standard != its.end()) standard_ = *standard;  // on one thread, and then for all others
      const bool compares = standard_.what.data == the_case.data && standard_.what.n == the_case.n;
      for (const cells_measurement& m : its)
        session_.say(bench::cells_line(m, compares ? &standard_ : nullptr));
    }
  }
  void end() { rows_.finish("cells were lost or answers wrong"); }

  bool on_gpu() const { return session_.space() == "cuda"; }

 private:
  const cells_options& options_;
  session session_;
  experiment rows_;
  std::vector<std::string> designs_;
  std::vector<int> threads_;
  cells_measurement standard_;
};

void run_cells(cells_options options) {
  check_sizes(options.sizes, "--n", 1, most_items);
  cells_experiment cells(options, "hashgraph/cells", bench::cell_designs);
  if (options.sizes.empty()) {
    for (std::uint64_t n = 5'000'000; n <= 40'000'000; n += 5'000'000) {
      if (cells.on_gpu() || n % 10'000'000 == 0) options.sizes.push_back(n);
    }
  }
  for (const std::uint64_t n : options.sizes) cells.measure({.data = "random", .n = n, .queries = n});
  cells.end();
}

void run_meshes(const cells_options& options) {
  std::vector<std::vector<bench::cell>> meshes;  // all read before anything is measured
  for (const std::string& file : options.files) meshes.push_back(bench::read_cells(file));
  cells_experiment cells(options, "hashgraph/meshes", bench::cell_designs);
  for (std::size_t i = 0; i < meshes.size(); ++i) {
    const std::string name = std::filesystem::path(options.files[i]).filename().stem().string();
    cells.measure({.data = name, .cells = meshes[i], .n = meshes[i].size(), .queries = meshes[i].size()});
  }
  cells.end();
}

void run_probes(const cells_options& options) {
  const std::uint64_t n = options.sizes.front();
  check_sizes(options.sizes, "--n", 1, most_items);
  check_sizes(options.queries, "--queries", 1, n);
  cells_experiment cells(options, "hashgraph/probes", bench::cell_probes);
  for (const std::uint64_t queries : options.queries)
    cells.measure({.data = "random", .n = n, .queries = queries});
  cells.end();
}

CLI::App* add_command(CLI::App& bench, const char* name, const char* what,
                      const std::shared_ptr<cells_options>& options,
                      const std::vector<std::string>& designs) {
  CLI::App* command = bench.add_subcommand(name, what);
  add_common(*command, *options);
  command
      ->add_option(option::design, options->designs,
                   fmt::format("all, or some of {}", fmt::join(designs, ",")))
      ->delimiter(',')
      ->check(CLI::IsMember(designs) | CLI::IsMember({"all"}))
      ->capture_default_str();
  add_ratio(*command, option::load_factor, options->load, "Items a row of the graphs")
      ->check(CLI::Range(0.1, 10.0))
      ->capture_default_str();
  const std::map<std::string, cells_clock> clocks{{"wall", cells_clock::wall},
                                                  {"processor", cells_clock::processor}};
  command
      ->add_option("--clock", options->clock, "wall, or processor as in the thesis: time of one CPU thread")
      ->transform(CLI::CheckedTransformer(clocks))
      ->default_str("wall");
  return command;
}

}  // namespace

void add_cells_commands(CLI::App& bench) {
  const auto cells = std::make_shared<cells_options>();
  CLI::App* command =
      add_command(bench, "hashgraph/cells", "Sets of random cells of four integers: build, found, not found",
                  cells, bench::cell_designs);
  add_sizes(*command, "--n", cells->sizes,
            "Numbers of cells (default: 10, 20, 30 and 40 million; on a GPU 5 million to 40)");
  command->callback([cells] { run_cells(*cells); });

  const auto meshes = std::make_shared<cells_options>();
  command = add_command(bench, "hashgraph/meshes", "The same with the cells of tetrahedral meshes", meshes,
                        bench::cell_designs);
  command
      ->add_option("FILE", meshes->files,
                   "Meshes: TetGen's .ele, as scripts/meshes.sh makes them, or a line of four corners a cell")
      ->required();
  command->callback([meshes] { run_meshes(*meshes); });

  const auto probes = std::make_shared<cells_options>();
  probes->sizes = {40'000'000};
  probes->queries = {10'000'000, 20'000'000, 30'000'000, 40'000'000};
  command = add_command(bench, "hashgraph/probes", "The two ways to look up many cells in a graph", probes,
                        bench::cell_probes);
  add_sizes(*command, "--n", probes->sizes, "Number of cells in the graph")->expected(1);
  add_sizes(*command, "--queries", probes->queries, "Numbers of cells asked for, at most --n");
  command->callback([probes] { run_probes(*probes); });
}

}  // namespace tilehash::app
