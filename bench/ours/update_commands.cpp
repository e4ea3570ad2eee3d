// SPDX-License-Identifier: Apache-2.0
// tilehash bench calls, one_key, tail
#include "commands.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "dataset.hpp"
#include "experiment.hpp"
#include "options.hpp"
#include "ours/calls.hpp"
#include "ours/calls_report.hpp"
#include "ours/one_key.hpp"
#include "ours/tail.hpp"
#include "ours/tail_report.hpp"
#include "report.hpp"
#include "session.hpp"

namespace tilehash::app {
namespace {

using bench::fields;
using bench::subject;

struct calls_options : common_options {
  std::vector<std::string> designs{"tiled"};
  std::vector<std::uint64_t> items{1, 1'000, 10'000, 100'000, 1'000'000, 10'000'000};
  std::uint64_t slots = 1 << 24;
  std::vector<std::uint64_t> batches{1'000, 1'000'000};
};

struct one_key_options : common_options {
  std::vector<std::uint64_t> sizes{1'000, 10'000, 100'000, 1'000'000};
  std::vector<unsigned> bits{32, 64};
};

struct tail_options : common_options {
  std::vector<std::string> designs{"tiled", "bucketed_cuckoo"};
  std::uint64_t items = 0;
  std::vector<unsigned> bits{32, 64};
};

void run_calls(const calls_options& options) {
  check_sizes(options.items, "--n", 1, most_items);
  if (options.slots >= 1ULL << 31)
    throw input_error(fmt::format("--slots {}: must be below 2^31", options.slots));
  for (const std::uint64_t n : options.batches) {  // the table must not grow
    if (n < 1 || n > options.slots / 4)
      throw input_error(fmt::format("--batches {}: must be at least 1 and at most a quarter of --slots", n));
  }
  session session(options);
  std::vector<subject> known;
  for (const char* name : bench::call_designs)
    known.push_back({.name = name, .space = session.space(), .run = {}});
  experiment rows(session, "calls");
  const auto tell = [&](const bench::call_row& row) { rows.add(fields_of(row)); };
  for (const subject& design : choose(known, options.designs, "--design")) {
    const bench::calls_case the_case{design.name,     options.items,  options.slots,
                                     options.batches, options.repeat, options.threads};
    rows.section(fmt::format(
        "\n{} of 32 + 32 bits on {}\nmicroseconds of the host until the answers are there: median (least to "
        "most)\n",
        design.name, session.machine()));
    session.space() == "cuda" ? bench::cuda_calls(the_case, tell) : bench::cpu_calls(the_case, tell);
  }
  rows.finish("calls did or said something else than they should");
}

// A map's verbs, and how many times the other map's they take.
std::string one_key_line(const std::vector<bench::one_key_row>& its,
                         const std::vector<bench::one_key_row>& others) {
  std::string line = fmt::format("{:26}", its.front().map);
  for (std::size_t verb = 0; verb < its.size(); ++verb) {
    const double ns = its[verb].seconds.min * 1e9;
    line += fmt::format("  {:>6.1f} {:>6}", ns,
                        others.empty() ? "" : fmt::format("({:.2f})", ns / (others[verb].seconds.min * 1e9)));
  }
  return line + '\n';
}
fields fields_of(const bench::one_key_row& row) {
  return {{"space", "cpu"},
          {"map", row.map},
          {"key_bits", row.what.bits},
          {"value_bits", row.what.bits},
          {"n", row.what.n},
          {"verb", row.verb},
          {"seconds_a_key", bench::as_json(row.seconds)},
          bench::wrong_answers(row.wrong)};
}

void run_one_key(one_key_options options) {
  if (options.space == "cuda") throw input_error("--space cuda: one key at a time is a host's, cpu");
  options.space = "cpu";
  options.threads = options.threads_asked = 1;
  check_sizes(options.sizes, "--n", 1, most_items);
  session session(options);
  experiment rows(session, "one_key", session.machine() + '\n');
  for (const unsigned bits : options.bits) {
    for (const std::uint64_t n : options.sizes) {
      std::vector<std::vector<bench::one_key_row>> maps;
      bench::one_key({n, bits, options.repeat}, [&](const bench::one_key_row& row) {
        if (maps.empty() || maps.back().front().map != row.map) maps.emplace_back();
        maps.back().push_back(row);
        rows.keep(fields_of(row));
      });
      session.say(fmt::format(
          "{} keys of {} bits with values of as many, ns a key (least of {}; times the last map's)\n{:26}", n,
          bits, options.repeat, ""));
      std::string heads;
      for (const auto& row : maps.front()) heads += fmt::format("  {:>13}", row.verb.substr(0, 13));
      session.say(heads + '\n');
      for (const auto& its : maps) session.say(one_key_line(its, maps.back()));
    }
  }
  rows.finish("answers were wrong");
}

void run_tail(const tail_options& options) {
  session session(options);
  const bool on_gpu = session.space() == "cuda";
  const std::uint64_t n = options.items != 0 ? options.items : on_gpu ? 1 << 26 : 1 << 22;
  std::vector<subject> known;
  for (const subject& s : bench::all_subjects()) {
    if (s.space == session.space() && !s.is_peer) known.push_back(s);
  }
  experiment rows(
      session, "tail",
      session.machine() +
          "\nbillion items a second: median (least to most); what share that is of as many random reads "
          "of 64 bytes, and\nof compare-and-swaps of 8, in memory of the table's size\n");
  bench::known_limits limits;
  for (const subject& design : choose(known, options.designs, "--design")) {
    for (const unsigned bits : options.bits) {
      for (const bench::tail_case& the_case : bench::tail_cases(n, bits)) {
        if (the_case.load_factor > design.max_load_factor) continue;
        auto row = on_gpu ? bench::cuda_tail(design.name, the_case, limits, options.repeat)
                          : bench::cpu_tail(design.name, the_case, limits, options.repeat, options.threads);
        if (!row) continue;
        row->design = design.name;
        row->space = session.space();
        rows.add(fields_of(*row));
      }
    }
  }
  session.say(bench::limits_lines(limits));
  rows.finish();
}

}  // namespace

void add_update_commands(CLI::App& bench) {
  CLI::App* calls =
      bench.add_subcommand("calls", "The cost of a call for the host, from one item to ten million");
  const auto costs = std::make_shared<calls_options>();
  costs->repeat = 50;
  add_common(*calls, *costs);
  calls
      ->add_option(option::design, costs->designs, "Designs to measure, all or some of tiled,bucketed_cuckoo")
      ->delimiter(',')
      ->capture_default_str();
  add_sizes(*calls, "--n", costs->items, "Numbers of items in a call, on a table made for them");
  add_size(*calls, "--slots", costs->slots, "Slots of a table that is half full")->capture_default_str();
  add_sizes(*calls, "--batches", costs->batches, "Numbers of items in a call on that one");
  calls->callback([costs] { run_calls(*costs); });

  CLI::App* one_key = bench.add_subcommand(
      "one_key", "The cost of one key at a time on a CPU, next to maps that are made for that");
  const auto singles = std::make_shared<one_key_options>();
  singles->repeat = 15;
  add_common(*one_key, *singles);
  add_sizes(*one_key, "--n", singles->sizes, "Numbers of unique random keys");
  one_key->add_option(option::key_bits, singles->bits, "Bits of a key, and of its value: 32, 64")
      ->delimiter(',')
      ->check(CLI::IsMember({32, 64}))
      ->default_str("32,64");
  one_key->callback([singles] { run_one_key(*singles); });

  CLI::App* tail = bench.add_subcommand(
      "tail", "Rates of the last inserts into nearly full tables, of erases, and of lookups by Zipf's law");
  const auto rates = std::make_shared<tail_options>();
  add_common(*tail, *rates);
  tail->add_option(option::design, rates->designs, "Designs to measure, or all")
      ->delimiter(',')
      ->default_str("tiled,bucketed_cuckoo");
  add_size(*tail, "--n", rates->items,
           "Number of unique keys; some tables have a sixteenth, some four times as many (default: 2^26, on "
           "the CPU 2^22)")
      ->check(CLI::Range(std::int64_t{1024}, std::int64_t{1} << 28));
  tail->add_option(option::key_bits, rates->bits, "Bits of a key, and of its value: 32, 64")
      ->delimiter(',')
      ->check(CLI::IsMember({32, 64}))
      ->default_str("32,64");
  tail->callback([rates] { run_tail(*rates); });
}

}  // namespace tilehash::app
