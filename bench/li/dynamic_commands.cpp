// SPDX-License-Identifier: Apache-2.0
// tilehash bench dynamic/...
#include "commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dataset.hpp"
#include "experiment.hpp"
#include "fields.hpp"
#include "input.hpp"
#include "li/dynamic.hpp"
#include "numbered.hpp"
#include "options.hpp"
#include "oracle.hpp"
#include "session.hpp"

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

std::string line_of(const dynamic_row& row) {
  std::string text = fmt::format("{:<26} {:<10}", row.design, row.policy);
  if (!row.input.empty()) text += " " + row.input;
  for (const auto& [name, number] : row.numbers) text += fmt::format(" {} {:.5g}", name, number);
  return text + bench::faults({{"WRONG", row.wrong}}) + '\n';
}
bench::fields fields_of(const dynamic_row& row, bench::dynamic_clock clock) {
  bench::fields all{{"design", row.design}, {"space", row.space}};
  if (!row.input.empty()) all.push_back({"input", row.input});
  if (!row.policy.empty()) all.push_back({"policy", row.policy});
  if (clock == bench::dynamic_clock::processor) all.push_back({"clock", "processor"});
  for (const auto& [name, number] : row.numbers) {
    const auto whole = static_cast<std::int64_t>(number);  // of a count
    if (static_cast<double>(whole) == number)
      all.push_back({name, whole});
    else
      all.push_back({name, number});
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
dynamic_keys keys_of(const std::string& spec, session& session) {
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
  session.say(fmt::format("{}: {} pairs, {} different keys, made in {:.1f} s\n", spec, keys.pairs.size(),
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

void run(const char* name, dynamic_experiment what, const dynamic_options& options) {
  dynamic_case c = options.what;
  session session(options);
  const bool on_gpu = session.space() == "cuda";
  if (c.clock == bench::dynamic_clock::processor && (on_gpu || options.threads != 1))
    throw input_error(
        "--clock processor: it is for one thread of a CPU; add --threads 1, or use --clock wall");
  c.repeat = options.repeat;
  c.threads = options.threads;
  std::vector<subject> known;
  for (const std::string& design : names_of(what))
    known.push_back({.name = design, .space = session.space(), .run = {}});
  const std::vector<subject> designs = choose(known, options.designs, "--designs");
  experiment rows(session, options.vary.empty() ? name : fmt::format("{}/{}", name, options.vary),
                  session.machine() + '\n');
  const auto tell = [&](dynamic_row row) {
    if (!options.vary.empty()) row.batches.clear(), row.bytes.clear();
    rows.keep(fields_of(row, c.clock));
    session.say(line_of(row));
  };
  const auto run_all = [&](dynamic_case its) {
    its.batch = options.batch.value_or(std::min<std::uint64_t>(its.items, on_gpu ? 1'000'000 : 100'000));
    std::vector<dynamic_case> cases = cases_of(its, options);
    for (const subject& design : designs) {
      for (dynamic_case& one : cases) {
        one.design = design.name;
        on_gpu ? bench::cuda_dynamic(what, one, tell) : bench::cpu_dynamic(what, one, tell);
      }
    }
  };
  c.items = options.items.value_or(on_gpu ? 1 << 26 : 1 << 22);
  if (options.inputs.empty()) run_all(c);
  for (const std::string& spec : options.inputs) {
    const dynamic_keys keys = keys_of(spec, session);
    c.keys = &keys;
    c.items = keys.pairs.size();
    run_all(c);
  }
  rows.finish();
}

std::shared_ptr<dynamic_options> add(CLI::App& command, std::vector<std::string> designs,
                                     dynamic_experiment what = dynamic_experiment::workload) {
  const auto options = std::make_shared<dynamic_options>();
  options->designs = std::move(designs);
  add_common(command, *options);
  command
      .add_option(option::design, options->designs,
                  fmt::format("Designs to measure, all or some of {}", fmt::join(names_of(what), ",")))
      ->delimiter(',')
      ->capture_default_str();
  CLI::Option* const n = add_size(command, "--n", options->items,
                                  "Number of unique random items (default: 2^26, on the CPU 2^22)");
  command
      .add_option("--input", options->inputs,
                  "Data sets instead, one after the other: tw line re rand com, each with :n=N for another "
                  "size, or any input of `tilehash run` with keys of 32 bits")
      ->type_name("SPEC...")
      ->excludes(n);
  const std::map<std::string, bench::dynamic_clock> clocks{{"wall", bench::dynamic_clock::wall},
                                                           {"processor", bench::dynamic_clock::processor}};
  command.add_option("--clock", options->what.clock, "wall, or processor: time of one CPU thread")
      ->transform(CLI::CheckedTransformer(clocks))
      ->default_str("wall");
  return options;
}
void add_bounds(CLI::App& command, dynamic_case& what) {
  command.add_option("--alpha", what.alpha, "Least share of the slots that items fill")
      ->check(CLI::Range(0.01, 0.9))
      ->capture_default_str();
  command.add_option("--beta", what.beta, "Most")->check(CLI::Range(0.1, 0.96))->capture_default_str();
}
void add_batches(CLI::App& command, dynamic_options& options) {
  dynamic_case& what = options.what;
  add_bounds(command, what);
  command.add_option("--erased", what.erased, "Deletes, as a share of the inserts (the paper's r)")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  add_size(command, "--batch", options.batch, "Inserts of a batch (default: 1 M, on the CPU 100 000)");
  command.add_option("--policies", what.policies, "How tables follow their items")
      ->delimiter(',')
      ->check(CLI::IsMember(bench::dynamic_policies))
      ->default_str(fmt::format("{}", fmt::join(what.policies, ",")));
}

}  // namespace

void add_dynamic_commands(CLI::App& bench) {
  CLI::App* by_load = bench.add_subcommand(
      "dynamic/static",
      "Rates, and items refused, by the filled factor and the number of subtables (figures 7, 9, 16, 17; "
      "tables 4 to 8)");
  const auto rates =
      add(*by_load,
          {"dynamic_cuckoo", "dynamic_cuckoo_two", "mega_kv", "bucketed_cuckoo_balanced", "linear_probing"},
          dynamic_experiment::by_load);
  rates->what.loads = {0.75, 0.8, 0.85, 0.9, 0.95};
  add_ratios(*by_load, option::load_factor, rates->what.loads, "Shares of the slots to fill")
      ->check(CLI::Range(0.01, 0.98));
  by_load->callback([rates] { run("dynamic/static", dynamic_experiment::by_load, *rates); });

  CLI::App* resize = bench.add_subcommand(
      "dynamic/resize", "One subtable doubled, one halved, next to moving all items (figure 8)");
  const auto resized = add(*resize, {"dynamic_cuckoo", "dynamic_cuckoo_two"});
  add_bounds(*resize, resized->what);
  resize->callback([resized] { run("dynamic/resize", dynamic_experiment::resize, *resized); });

  CLI::App* distribution = bench.add_subcommand(
      "dynamic/distribution",
      "Items and buckets of each subtable after each batch of inserts, next to theorem 1");
  const auto spread = add(*distribution, {"dynamic_cuckoo"});
  add_bounds(*distribution, spread->what);
  add_size(*distribution, "--batch", spread->batch, "Inserts of a batch (default: 1 M, on the CPU 100 000)");
  distribution->callback(
      [spread] { run("dynamic/distribution", dynamic_experiment::distribution, *spread); });

  CLI::App* rehashes = bench.add_subcommand("dynamic/rehashes",
                                            "Pairs of resized subtables after each batch of inserts and of "
                                            "erases, next to the paper's bound of two "
                                            "for each update (section 5.3)");
  const auto moved = add(*rehashes, {"dynamic_cuckoo"}, dynamic_experiment::rehashes);
  add_bounds(*rehashes, moved->what);
  add_size(*rehashes, "--batch", moved->batch, "Updates of a batch (default: 1 M, on the CPU 100 000)");
  rehashes->callback([moved] { run("dynamic/rehashes", dynamic_experiment::rehashes, *moved); });

  CLI::App* conflicts = bench.add_subcommand(
      "dynamic/conflicts", "Atomic operations against the number that go to one word (figure 3)");
  const auto words = add(*conflicts, bench::conflict_ops, dynamic_experiment::conflicts);
  conflicts->callback([words] { run("dynamic/conflicts", dynamic_experiment::conflicts, *words); });

  CLI::App* workload = bench.add_subcommand(
      "dynamic/workload",
      "Batches of inserts, finds and deletes, then inserts and deletes exchanged (figures 11 to 15)");
  const auto batches = add(*workload, {"dynamic_cuckoo", "dynamic_cuckoo_two", "mega_kv",
                                       "bucketed_cuckoo_balanced", "linear_probing", "tiled"});
  batches->what.policies = bench::dynamic_policies;
  add_batches(*workload, *batches);
  workload->callback([batches] { run("dynamic/workload", dynamic_experiment::workload, *batches); });

  CLI::App* sweep = bench.add_subcommand(
      "dynamic/sweep", "The same batches for several values of one parameter (figures 11 to 14)");
  const auto swept = add(*sweep, {"dynamic_cuckoo", "mega_kv", "linear_probing", "tiled"});
  swept->what.policies = {"automatic", "rehash"};
  std::vector<std::string> names;
  for (const auto& axis : bench::dynamic_axes) names.push_back(axis.name);
  sweep->add_option("--vary", swept->vary, "What the batches are done for several values of")
      ->check(CLI::IsMember(names))
      ->required();
  sweep->add_option("--values", swept->values, "These (default: the paper's; batches of 200 000 to 5 M)")
      ->delimiter(',');
  add_batches(*sweep, *swept);
  sweep->callback([swept] { run("dynamic/sweep", dynamic_experiment::workload, *swept); });
}

}  // namespace tilehash::app
