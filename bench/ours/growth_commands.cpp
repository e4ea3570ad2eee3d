// SPDX-License-Identifier: Apache-2.0
// tilehash bench growth
#include "commands.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <vector>

#include "dataset.hpp"
#include "experiment.hpp"
#include "options.hpp"
#include "ours/growth.hpp"
#include "report.hpp"
#include "session.hpp"

namespace tilehash::app {
namespace {

struct growth_options : common_options {
  std::uint64_t items = 1 << 26, batch = 1'000'000, from = 1 << 10;
  std::vector<double> load_factors{0.8};
};

std::string mebibytes(std::uint64_t bytes) {
  return fmt::format("{:.1f}", static_cast<double>(bytes) / (1 << 20));
}
std::string growth_lines(const bench::growth_row& row) {
  const auto ms = [](const bench::spread& s) { return fmt::format("{:.3f}", s.median * 1e3); };
  const auto share = [](std::uint64_t peak, std::uint64_t bytes) {
    return fmt::format("{:.3f}", static_cast<double>(peak) / static_cast<double>(bytes));
  };
  return fmt::format(
      "{} items at {:.2f}, {}\n"
      "  build          {:>10} ms (in new memory {})\n"
      "  reserve twice  {:>10} ms, {:.2f} builds; {} to {} MiB, peak {} of the new size\n"
      "  find           {:>10} ms\n"
      "  shrink_to_fit  {:>10} ms, peak {} of the old size\n"
      "  from {} items by batches of {}: {} ms, {} MiB, peak {} of them{}\n",
      row.what.items, row.what.load, row.growth, ms(row.build), ms(row.build_first), ms(row.doubling),
      row.doubling.median / row.build.median, mebibytes(row.old_bytes), mebibytes(row.new_bytes),
      share(row.doubling_peak, row.new_bytes), ms(row.find), ms(row.shrinking),
      share(row.shrinking_peak, row.new_bytes), row.what.from, row.what.batch, ms(row.batches),
      mebibytes(row.batches_bytes), share(row.batches_peak, row.batches_bytes),
      row.wrong != 0 ? fmt::format("; {} WRONG", row.wrong) : "");
}
bench::fields fields_of(const bench::growth_row& row) {
  return {{"space", row.space},
          {"design", "tiled"},
          {"growth", row.growth},
          {"items", row.what.items},
          {"load_factor", row.what.load},
          {"seconds_build_in_new_memory", bench::as_json(row.build_first)},
          {"seconds_build", bench::as_json(row.build)},
          {"seconds_doubling", bench::as_json(row.doubling)},
          {"builds_a_doubling", row.doubling.median / row.build.median},
          {"bytes_before", row.old_bytes},
          {"bytes_after", row.new_bytes},
          {"peak_of_doubling", row.doubling_peak},
          {"seconds_find", bench::as_json(row.find)},
          {"seconds_shrinking", bench::as_json(row.shrinking)},
          {"peak_of_shrinking", row.shrinking_peak},
          {"batches_from", row.what.from},
          {"batch", row.what.batch},
          {"seconds_batches", bench::as_json(row.batches)},
          {"bytes_batches", row.batches_bytes},
          {"peak_of_batches", row.batches_peak},
          bench::wrong_answers(row.wrong)};
}

void run_growth(const growth_options& options) {
  check_sizes({options.items}, "--items", 1, most_items);
  if (options.batch < 1) throw input_error("--batch 0: must be at least 1");
  session session(options);
  experiment rows(session, "growth", session.machine() + '\n');
  for (const double load : options.load_factors) {
    const bench::growth_case the_case{options.items, options.batch,  options.from,
                                      load,          options.repeat, options.threads};
    const auto tell = [&](const bench::growth_row& row) {
      rows.keep(fields_of(row));
      session.say(growth_lines(row));
    };
    if (session.space() == "cuda")
      bench::cuda_growth(the_case, tell);
    else
      bench::cpu_growth(the_case, tell);
  }
  rows.finish();
}

}  // namespace

void add_growth_commands(CLI::App& bench) {
  CLI::App* growth = bench.add_subcommand(
      "growth", "Doubling a table in its own memory, and with a second table; growing by batches");
  const auto options = std::make_shared<growth_options>();
  add_common(*growth, *options);
  add_size(*growth, "--items", options->items,
           "Pairs of 32 + 32 bits that the table has, then room for twice")
      ->default_str("67108864");
  add_size(*growth, "--batch", options->batch, "Pairs of a call")->capture_default_str();
  add_size(*growth, "--from", options->from, "Pairs that the table which grows by batches is made for")
      ->capture_default_str();
  add_ratios(*growth, option::load_factor, options->load_factors,
             "Load factors that the tables are sized for")
      ->check(CLI::Range(0.01, 0.98));
  growth->callback([options] { run_growth(*options); });
}

}  // namespace tilehash::app
