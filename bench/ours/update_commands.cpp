// SPDX-License-Identifier: Apache-2.0
// tilehash bench calls, growth, one_key, tail
#include "commands.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "experiment.hpp"
#include "options.hpp"
#include "ours/calls.hpp"
#include "ours/growth.hpp"
#include "ours/one_key.hpp"
#include "ours/tail.hpp"
#include "report.hpp"

namespace tilehash::bench {

static std::string microseconds(const spread& s) {
  return fmt::format("{:.1f} ({:.1f} to {:.1f})", s.median * 1e6, s.min * 1e6, s.max * 1e6);
}
static nlohmann::ordered_json in_microseconds(spread s) {
  for (double* second : {&s.min, &s.median, &s.max}) *second *= 1e6;
  for (double& run : s.runs) run *= 1e6;
  return as_json(s);
}

static fields fields_of(const call_row& row) {
  return {{"design", row.design, "design", -15},
          {"space", row.space},
          {"call", row.call, "call", -24},
          {"items", row.items, "items", 10},
          {"held", row.held, "held", 10},
          {"waits", row.waits},
          {"repeat", row.repeat, "times", 6},
          {"microseconds", in_microseconds(row.done)},
          {"", microseconds(row.done), "until done", 30},
          {"microseconds_until_back", in_microseconds(row.returned)},
          {"", row.waits ? "" : microseconds(row.returned), "until back", 30},
          wrong_answers(row.wrong)};
}

static const char* name_of(tail_op op) {
  return std::array{"insert_last", "erase", "find_zipf"}[static_cast<unsigned>(op)];
}

// The cases of a table of n items, of one a sixteenth as large and of one four times as large.
static std::vector<tail_case> tail_cases(u64 n, unsigned bits) {
  std::vector<tail_case> cases;
  for (const u64 part : {n / 16, n - n / 64}) {
    for (const double load_factor : {0.8, 0.9, 0.95})
      cases.push_back({tail_op::insert, n, load_factor, bits, part});
  }
  const u64 fewer = n / 16, more = 4 * n;
  cases.push_back({tail_op::insert, fewer, 0.8, bits, fewer / 16});
  cases.push_back({tail_op::insert, more, 0.8, bits, more - more / 64});
  for (const u64 all : {fewer, n}) cases.push_back({tail_op::erase, all, 0.8, bits, all / 2});
  cases.push_back({tail_op::find, n, 0.8, bits, n});
  return cases;
}

static fields fields_of(const tail_row& row) {
  const tail_case& what = row.what;
  const spread& s = row.seconds;
  const double rate = row.rate(s.median), least = row.rate(s.max), most = row.rate(s.min);
  return {{"design", row.design, "design", -24},
          {"space", row.space},
          {"op", name_of(what.op), "op", -11},
          {"", what.bits, "bits", 4},
          {"items", what.items, "items", 10},
          {"n", what.n, "of", 10},
          {"key_bytes", what.bits / 8},
          {"value_bytes", what.bits / 8},
          {"load_factor", row.load_factor, "load", 5, ".2f"},
          {"seconds", as_json(s)},
          {"gitems_per_s", {{"min", least / 1e9}, {"median", rate / 1e9}, {"max", most / 1e9}}},
          {"", fmt::format("{:.3f} ({:.3f} to {:.3f})", rate / 1e9, least / 1e9, most / 1e9), "rate", 26},
          {"ceiling_reads_gitems_per_s", row.ceilings.reads / 1e9},
          {"ceiling_swaps_gitems_per_s", row.ceilings.swaps / 1e9},
          {"ratio_reads", rate / row.ceilings.reads, "reads", 6, ".2f"},
          {"ratio_swaps", rate / row.ceilings.swaps, "swaps", 6, ".2f"},
          refused_items(row.failed),
          wrong_answers(row.wrong)};
}
}  // namespace tilehash::bench

namespace tilehash::app {
namespace {

using bench::fields;
using bench::subject;

struct calls_options : common_options {
  calls_options() { repeat = 50; }
  std::vector<std::string> designs{"tiled"};
  std::vector<std::uint64_t> items{1, 1'000, 10'000, 100'000, 1'000'000, 10'000'000};
  std::uint64_t slots = 1 << 24;
  std::vector<std::uint64_t> batches{1'000, 1'000'000};
};

struct one_key_options : common_options {
  one_key_options() { repeat = 15; }
  std::vector<std::uint64_t> sizes{1'000, 10'000, 100'000, 1'000'000};
  std::vector<unsigned> bits{32, 64};
};

struct tail_options : common_options {
  std::vector<std::string> designs{"tiled", "bucketed_cuckoo"};
  std::uint64_t items = 0;
  std::vector<unsigned> bits{32, 64};
};

void run_calls(experiment& rows, const calls_options& options) {
  check_sizes(options.items, "--n", 1, most_items);
  check_sizes({options.slots}, "--slots", 4, most_items);
  check_sizes(options.batches, "--batches", 1, options.slots / 4);  // the table must not grow
  std::vector<subject> known;
  for (const char* name : bench::call_designs)
    known.push_back({.name = name, .space = rows.space(), .run = {}});
  const auto tell = [&](const bench::call_row& row) { rows.add(fields_of(row)); };
  for (const subject& design : choose(known, options.designs, "--design")) {
    const bench::calls_case the_case{design.name,     options.items,  options.slots,
                                     options.batches, options.repeat, options.threads};
    rows.on_gpu() ? bench::cuda_calls(the_case, tell) : bench::cpu_calls(the_case, tell);
  }
}

void run_one_key(experiment& rows, const one_key_options& options) {
  check_sizes(options.sizes, "--n", 1, most_items);
  for (const unsigned bits : options.bits) {
    for (const std::uint64_t n : options.sizes) {
      bench::one_key({n, bits, options.repeat}, [&](const bench::one_key_row& row) {
        rows.add({{"space", "cpu"},
                  {"map", row.map, "map", -26},
                  {"key_bits", row.what.bits, "bits", 4},
                  {"value_bits", row.what.bits},
                  {"n", row.what.n, "keys", 9},
                  {"verb", row.verb},
                  {"", row.seconds.min, row.verb, 14, ".1f", 1e9, false, true},
                  {"seconds_a_key", bench::as_json(row.seconds)},
                  bench::wrong_answers(row.wrong)});
      });
    }
  }
}

void run_tail(experiment& rows, const tail_options& options) {
  const std::uint64_t n = options.items != 0 ? options.items : rows.on_gpu() ? 1 << 26 : 1 << 22;
  for (const subject& design : choose(subjects_in(rows.space(), false), options.designs, "--design")) {
    for (const unsigned bits : options.bits) {
      for (const bench::tail_case& the_case : bench::tail_cases(n, bits)) {
        if (the_case.load_factor > design.max_load_factor) continue;
        auto row = rows.on_gpu()
                       ? bench::cuda_tail(design.name, the_case, rows.limits, options.repeat)
                       : bench::cpu_tail(design.name, the_case, rows.limits, options.repeat, options.threads);
        if (!row) continue;
        row->design = design.name;
        row->space = rows.space();
        rows.add(fields_of(*row));
      }
    }
  }
  rows.say(bench::limits_lines(rows.limits));
}

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

void add_update_commands(CLI::App& bench) {
  declare<calls_options>(bench,
                         {"calls", "The cost of a call for the host, from one item to ten million",
                          "microseconds of the host until the answers are there: median (least to most)\n",
                          "calls did or said something else than they should"},
                         run_calls, [](option_list& list, calls_options& o) {
                           list.designs(o.designs,
                                        "Designs to measure, all or some of tiled,bucketed_cuckoo");
                           list.sizes("--n", o.items, "Numbers of items in a call, on a table made for them");
                           list.size("--slots", o.slots, "Slots of a table that is half full");
                           list.sizes("--batches", o.batches, "Numbers of items in a call on that one");
                         });
  const auto add_bits = [](option_list& list, std::vector<unsigned>& bits) {
    list.numbers(option::key_bits, bits, "Bits of a key, and of its value: 32, 64", CLI::IsMember({32, 64}));
  };
  declare<one_key_options>(
      bench,
      {"one_key", "The cost of one key at a time on a CPU, next to maps that are made for that",
       "nanoseconds a key, the least of all runs\n", "answers were wrong"},
      run_one_key, [=](option_list& list, one_key_options& o) {
        list.on_cpu_only(o);
        list.command().parse_complete_callback([&o] { o.threads = o.threads_asked = 1; });
        list.sizes("--n", o.sizes, "Numbers of unique random keys");
        add_bits(list, o.bits);
      });
  declare<tail_options>(
      bench,
      {"tail", "Rates of the last inserts into nearly full tables, of erases, and of lookups by Zipf's law",
       "billion items a second: median (least to most); what share that is of as many random reads of 64 "
       "bytes, and\n"
       "of compare-and-swaps of 8, in memory of the table's size\n"},
      run_tail, [=](option_list& list, tail_options& o) {
        list.designs(o.designs, "Designs to measure, or all");
        list.size("--n", o.items,
                  "Number of unique keys; some tables have a sixteenth, some four times as many (default: "
                  "2^26, on the "
                  "CPU 2^22)",
                  1024, 1 << 28);
        add_bits(list, o.bits);
      });
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
