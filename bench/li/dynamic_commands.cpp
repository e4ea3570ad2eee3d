// SPDX-License-Identifier: Apache-2.0
// tilehash bench dynamic/...
#include "commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "dataset.hpp"
#include "experiment.hpp"
#include "input.hpp"
#include "li/dynamic.hpp"
#include "numbered.hpp"
#include "options.hpp"
#include "oracle.hpp"

namespace tilehash::app {
namespace {

using bench::dynamic_case;
using bench::dynamic_experiment;
using bench::dynamic_keys;
using bench::dynamic_row;
using bench::subject;

struct dynamic_options : common_options {
  dynamic_case what;
  std::vector<std::string> designs;
  std::optional<std::uint64_t> items, batch;
  std::vector<std::string> inputs;
  std::string vary;            // of a sweep
  std::vector<double> values;  // that it takes
};

bench::fields fields_of(const dynamic_row& row, bench::measured_clock clock) {
  bench::fields all{{"design", row.design, "design", -26}, {"space", row.space}};
  if (!row.input.empty()) all.push_back({"input", row.input, "input", -10});
  if (!row.policy.empty()) all.push_back({"policy", row.policy, "policy", -10});
  if (clock == bench::measured_clock::processor) all.push_back({"clock", "processor"});
  for (const auto& [name, number] : row.numbers) {
    const auto whole = static_cast<std::int64_t>(number);  // of a count
    const bool is_count = static_cast<double>(whole) == number;
    const int width = std::max(9, static_cast<int>(name.size()));
    all.push_back({name, is_count ? nlohmann::ordered_json(whole) : nlohmann::ordered_json(number), name,
                   width, is_count ? "" : ".5g"});
  }
  if (!row.batches.empty()) all.push_back({"batch_seconds", row.batches});
  if (!row.bytes.empty()) all.push_back({"batch_bytes", row.bytes});
  all.push_back(bench::wrong_answers(row.wrong));
  return all;
}

// The case with another value for what a sweep varies.
dynamic_case with(dynamic_case c, const std::string& name, double value) {
  if (name == "alpha") c.alpha = value;
  if (name == "beta") c.beta = value;
  if (name == "erased") c.erased = value;
  if (name == "batch") c.batch = static_cast<std::uint64_t>(value);
  return c;
}
void check(const dynamic_case& c) {
  if (c.items == 0 || c.items >= 1ULL << 30)
    throw input_error(
        fmt::format("{}: there must be at least one pair and fewer than 2^30",
                    c.keys != nullptr ? "--input " + c.keys->input : fmt::format("--n {}", c.items)));
  if (c.batch == 0 || c.batch > c.items)
    throw input_error(fmt::format("--batch {}: must be from 1 to --n, {}", c.batch, c.items));
  if (!(c.beta > 0 && c.beta < 1))
    throw input_error(fmt::format("--beta {}: must be above 0 and below 1", c.beta));
  if (!(c.alpha > 0 && c.alpha < c.beta * 2 / 3))
    throw input_error(fmt::format("--alpha {}: must be above 0 and below two thirds of --beta", c.alpha));
  if (!(c.erased >= 0 && c.erased <= 1))
    throw input_error(fmt::format("--erased {}: must be from 0 to 1", c.erased));
}

// The keys that a SPEC asks for, of 32 bits, and as many that are not among them.
dynamic_keys keys_of(const std::string& spec, experiment& rows) {
  const auto begin = std::chrono::steady_clock::now();
  dataset data = load_input(spec, 32, 1);
  dynamic_keys keys{.input = spec, .pairs{data.keys.begin(), data.keys.end()}};
  const oracle given(data.keys);
  keys.different = given.distinct();
  data.keys = {};
  const std::uint64_t n = keys.pairs.size();
  for (std::uint64_t next = 0; keys.others.size() < n && next < 1ULL << 32;) {
    std::vector<std::uint64_t> more(std::min<std::uint64_t>(n + n / 16 + 64, (1ULL << 32) - next));
    for (std::uint64_t& key : more) key = bench::key_of<std::uint32_t>(next++);
    given.keep_absent(more);
    keys.others.insert(keys.others.end(), more.begin(), more.end());
  }
  keys.others.resize(n);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  rows.say(fmt::format("{}: {} pairs, {} different keys, made in {:.1f} s\n", spec, keys.pairs.size(),
                       keys.different, took.count()));
  return keys;
}

std::vector<std::string> names_of(dynamic_experiment what) {
  if (what == dynamic_experiment::conflicts) return bench::conflict_ops;
  std::vector<std::string> names = bench::dynamic_designs;
  if (what == dynamic_experiment::by_load)
    names.insert(names.end(), bench::published_designs.begin(), bench::published_designs.end());
  return names;
}

// The case itself, or one for each value that a sweep takes.
std::vector<dynamic_case> cases_of(const dynamic_case& c, const dynamic_options& options) {
  std::vector<dynamic_case> cases{c};
  if (!options.vary.empty()) {
    const auto axis = std::ranges::find(bench::dynamic_axes, options.vary, &bench::dynamic_axis::name);
    cases.clear();
    const bool given = !options.values.empty();
    for (const double value : given ? options.values : axis->values) {
      const dynamic_case one = with(c, options.vary, value);
      if (given || one.batch <= one.items) cases.push_back(one);
    }
  }
  std::ranges::for_each(cases, check);
  return cases;
}

void run(experiment& rows, const std::string& name, dynamic_experiment what, const dynamic_options& options) {
  dynamic_case c = options.what;
  check_clock(c.clock, !rows.on_gpu() && options.threads == 1);
  c.repeat = options.repeat;
  c.threads = options.threads;
  std::vector<subject> known;
  for (const std::string& design : names_of(what))
    known.push_back({.name = design, .space = rows.space(), .run = {}});
  const std::vector<subject> designs = choose(known, options.designs, "--designs");
  if (!options.vary.empty()) rows.rename(fmt::format("{}/{}", name, options.vary));
  const auto tell = [&](dynamic_row row) {
    if (!options.vary.empty()) row.batches.clear(), row.bytes.clear();
    rows.add(fields_of(row, c.clock));
  };
  const auto run_all = [&](dynamic_case its) {
    its.batch =
        options.batch.value_or(std::min<std::uint64_t>(its.items, rows.on_gpu() ? 1'000'000 : 100'000));
    std::vector<dynamic_case> cases = cases_of(its, options);
    for (const subject& design : designs) {
      for (dynamic_case& one : cases) {
        one.design = design.name;
        rows.on_gpu() ? bench::cuda_dynamic(what, one, tell) : bench::cpu_dynamic(what, one, tell);
      }
    }
  };
  c.items = options.items.value_or(rows.on_gpu() ? 1 << 26 : 1 << 22);
  if (options.inputs.empty()) run_all(c);
  for (const std::string& spec : options.inputs) {
    const dynamic_keys keys = keys_of(spec, rows);
    c.keys = &keys;
    c.items = keys.pairs.size();
    run_all(c);
  }
}

void add_bounds(option_list& list, dynamic_case& what) {
  list.ratio("--alpha", what.alpha, "Least share of the slots that items fill", 0.01, 0.9);
  list.ratio("--beta", what.beta, "Most", 0.1, 0.96);
}
void add_batch(option_list& list, dynamic_options& o, const std::string& of) {
  add_bounds(list, o.what);
  list.size("--batch", o.batch, of + " of a batch (default: 1 M, on the CPU 100 000)");
}
void add_workload(option_list& list, dynamic_options& o) {
  list.ratio("--erased", o.what.erased, "Deletes, as a share of the inserts (the paper's r)", 0, 1);
  add_batch(list, o, "Inserts");
  list.names("--policies", o.what.policies, "How tables follow their items", bench::dynamic_policies);
}

// Adds a command. `add`: its own options.
void declare_dynamic(CLI::App& bench, const char* name, const char* about, dynamic_experiment what,
                     const std::vector<std::string>& designs, void (*add)(option_list&, dynamic_options&)) {
  declare<dynamic_options>(
      bench, {name, about}, [=](experiment& rows, const dynamic_options& o) { run(rows, name, what, o); },
      [=](option_list& list, dynamic_options& o) {
        o.designs = designs;
        list.designs(o.designs,
                     fmt::format("Designs to measure, all or some of {}", fmt::join(names_of(what), ",")));
        CLI::Option* const n =
            list.size("--n", o.items, "Number of unique random items (default: 2^26, on the CPU 2^22)");
        list.command()
            .add_option(
                "--input", o.inputs,
                "Data sets instead, one after the other: tw line re rand com, each with :n=N for another "
                "size, or any input of `tilehash run` with keys of 32 bits")
            ->type_name("SPEC...")
            ->excludes(n);
        list.clock(o.what.clock);
        add(list, o);
      });
}

}  // namespace

void add_dynamic_commands(CLI::App& bench) {
  using enum dynamic_experiment;
  declare_dynamic(
      bench, "dynamic/static",
      "Rates, and items refused, by the filled factor and the number of subtables (figures 7, 9, 16, 17; "
      "tables 4 "
      "to 8)",
      by_load,
      {"dynamic_cuckoo", "dynamic_cuckoo_two", "mega_kv", "bucketed_cuckoo_balanced", "linear_probing"},
      [](option_list& list, dynamic_options& o) {
        o.what.loads = {0.75, 0.8, 0.85, 0.9, 0.95};
        list.ratios(option::load_factor, o.what.loads, "Shares of the slots to fill", 0.01, 0.98);
      });
  declare_dynamic(bench, "dynamic/resize",
                  "One subtable doubled, one halved, next to moving all items (figure 8)", resize,
                  {"dynamic_cuckoo", "dynamic_cuckoo_two"},
                  [](option_list& list, dynamic_options& o) { add_bounds(list, o.what); });
  declare_dynamic(bench, "dynamic/distribution",
                  "Items and buckets of each subtable after each batch of inserts, next to theorem 1",
                  distribution, {"dynamic_cuckoo"},
                  [](option_list& list, dynamic_options& o) { add_batch(list, o, "Inserts"); });
  declare_dynamic(
      bench, "dynamic/rehashes",
      "Pairs of resized subtables after each batch of inserts and of erases, next to the paper's bound of "
      "two for each update (section 5.3)",
      rehashes, {"dynamic_cuckoo"},
      [](option_list& list, dynamic_options& o) { add_batch(list, o, "Updates"); });
  declare_dynamic(bench, "dynamic/conflicts",
                  "Atomic operations against the number that go to one word (figure 3)", conflicts,
                  bench::conflict_ops, [](option_list&, dynamic_options&) {});
  declare_dynamic(
      bench, "dynamic/workload",
      "Batches of inserts, finds and deletes, then inserts and deletes exchanged (figures 11 to 15)",
      workload,
      {"dynamic_cuckoo", "dynamic_cuckoo_two", "mega_kv", "bucketed_cuckoo_balanced", "linear_probing",
       "tiled"},
      [](option_list& list, dynamic_options& o) {
        o.what.policies = bench::dynamic_policies;
        add_workload(list, o);
      });
  declare_dynamic(
      bench, "dynamic/sweep", "The same batches for several values of one parameter (figures 11 to 14)",
      workload, {"dynamic_cuckoo", "mega_kv", "linear_probing", "tiled"},
      [](option_list& list, dynamic_options& o) {
        o.what.policies = {"automatic", "rehash"};
        std::vector<std::string> axes;
        axes.reserve(bench::dynamic_axes.size());
        for (const auto& axis : bench::dynamic_axes) axes.push_back(axis.name);
        list.command()
            .add_option("--vary", o.vary, "What the batches are done for several values of")
            ->check(CLI::IsMember(axes))
            ->required();
        list.command()
            .add_option("--values", o.values, "These (default: the paper's; batches of 200 000 to 5 M)")
            ->delimiter(',');
        add_workload(list, o);
      });
}

}  // namespace tilehash::app
