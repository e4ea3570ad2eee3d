// SPDX-License-Identifier: Apache-2.0
// tilehash bench growth
#include "commands.hpp"

#include <string_view>
#include <vector>

#include "experiment.hpp"
#include "options.hpp"
#include "ours/growth.hpp"

namespace tilehash::app {
namespace {

struct growth_options : common_options {
  std::uint64_t items = 1 << 26, batch = 1'000'000, from = 1 << 10;
  std::vector<double> load_factors{0.8};
};

bench::fields fields_of(const bench::growth_row& row) {
  using bench::as_json;
  const auto ms = [](const char* head, const bench::spread& s) {
    return bench::field{"", s.median, head, static_cast<int>(std::string_view(head).size()) + 2, ".3f", 1e3};
  };
  const auto peak = [](std::uint64_t most, std::uint64_t bytes) {  // of the table's size
    return bench::field{"", static_cast<double>(most) / static_cast<double>(bytes), "peak", 5, ".3f"};
  };
  return {{"space", row.space},
          {"design", "tiled"},
          {"growth", row.growth, "growth", -12},
          {"items", row.what.items, "items", 10},
          {"load_factor", row.what.load, "load", 5, ".2f"},
          {"seconds_build_in_new_memory", as_json(row.build_first)},
          ms("new memory", row.build_first),
          {"seconds_build", as_json(row.build)},
          ms("build", row.build),
          {"seconds_doubling", as_json(row.doubling)},
          ms("reserve twice", row.doubling),
          {"builds_a_doubling", row.doubling.median / row.build.median, "builds", 6, ".2f"},
          {"bytes_before", row.old_bytes},
          {"bytes_after", row.new_bytes, "MiB", 8, ".1f", 1.0 / (1 << 20)},
          {"peak_of_doubling", row.doubling_peak},
          peak(row.doubling_peak, row.new_bytes),
          {"seconds_find", as_json(row.find)},
          ms("find", row.find),
          {"seconds_shrinking", as_json(row.shrinking)},
          ms("shrink_to_fit", row.shrinking),
          {"peak_of_shrinking", row.shrinking_peak},
          peak(row.shrinking_peak, row.new_bytes),
          {"batches_from", row.what.from},
          {"batch", row.what.batch},
          {"seconds_batches", as_json(row.batches)},
          ms("by batches", row.batches),
          {"bytes_batches", row.batches_bytes},
          {"peak_of_batches", row.batches_peak},
          peak(row.batches_peak, row.batches_bytes),
          bench::wrong_answers(row.wrong)};
}

void run_growth(experiment& rows, const growth_options& options) {
  check_sizes({options.items}, "--items", 1, most_items);
  check_sizes({options.batch}, "--batch", 1, most_items);
  for (const double load : options.load_factors) {
    const bench::growth_case the_case{options.items, options.batch,  options.from,
                                      load,          options.repeat, options.threads};
    const auto tell = [&](const bench::growth_row& row) { rows.add(fields_of(row)); };
    rows.on_gpu() ? bench::cuda_growth(the_case, tell) : bench::cpu_growth(the_case, tell);
  }
}

}  // namespace

void add_growth_commands(CLI::App& bench) {
  declare<growth_options>(
      bench,
      {"growth", "Doubling a table in its own memory, and with a second table; growing by batches",
       "milliseconds; peaks of memory by the size of the larger table\n"},
      run_growth, [](option_list& list, growth_options& o) {
        list.size("--items", o.items, "Pairs of 32 + 32 bits that the table has, then room for twice");
        list.size("--batch", o.batch, "Pairs of a call");
        list.size("--from", o.from, "Pairs that the table which grows by batches is made for");
        list.ratios(option::load_factor, o.load_factors, "Load factors that the tables are sized for", 0.01,
                    0.98);
      });
}

}  // namespace tilehash::app
