// SPDX-License-Identifier: Apache-2.0
// tilehash bench calls, one_key, tail
#include "commands.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "experiment.hpp"
#include "options.hpp"
#include "ours/calls.hpp"
#include "ours/calls_report.hpp"
#include "ours/one_key.hpp"
#include "ours/tail.hpp"
#include "ours/tail_report.hpp"
#include "report.hpp"

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
}

}  // namespace tilehash::app
