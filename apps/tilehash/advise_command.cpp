// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "advise.hpp"
#include "environment.hpp"
#include "input.hpp"
#include "offered_pairs.hpp"
#include "parallel.hpp"
#include "progress.hpp"
#include "results_file.hpp"
#include "sizes.hpp"
#include "workload.hpp"

namespace tilehash::app {
namespace {

using json = nlohmann::ordered_json;

// The library's own designs. Those of the papers are for comparisons.
constexpr const char* candidates[] = {"bucketed_cuckoo",    "chained",    "double_hashing", "dynamic_cuckoo",
                                      "dynamic_hash_graph", "hash_graph", "horton",         "indexed",
                                      "linear_probing",     "multi",      "robin_hood",     "tiled"};

constexpr double most_off = 1.1;  // of the first choice's seconds and the least

// Where and of what a design's costs are.
struct conditions {
  std::string space;
  int threads = 0;
  unsigned key_bits = 32, value_bits = 32;
  bool in_sequence = false, processor_time = false;

  bool operator==(const conditions&) const = default;
  json as_json() const {
    return {{"space", space},           {"threads", threads},         {"key_bits", key_bits},
            {"value_bits", value_bits}, {"in_sequence", in_sequence}, {"processor_time", processor_time}};
  }
};

conditions conditions_of(const advise_request& request, const wanted_table& wanted,
                         const std::string& space) {
  return {space,
          space == "cpu" ? threads_that_run(request.threads_asked) : 0,
          wanted.key_bits,
          wanted.value_bits,
          wanted.in_sequence,
          request.processor_time};
}

struct measured_costs {
  conditions of;
  design_costs costs;
};

// Sizes that are measured, of which a workload needs the neighbours of its own.
std::vector<std::uint64_t> sizes_around(std::uint64_t items) {
  constexpr std::uint64_t sizes[] = {1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22};
  const auto above = std::ranges::find_if(sizes, [&](std::uint64_t size) { return size >= items; });
  std::vector<std::uint64_t> all;
  if (above != std::begin(sizes)) all.push_back(*std::prev(above));
  if (above != std::end(sizes)) all.push_back(*above);
  return all;
}

bool can_run(const design_entry& design, const conditions& of) {
  if (std::ranges::find(candidates, design.name) == std::end(candidates) || !design.runs_on(of.space))
    return false;
  if (of.value_bits == 0 && design.needs_values) return false;
  const auto pairs = design.pairs();
  return pairs.empty() || std::ranges::find(pairs, pair_name(of.key_bits, of.value_bits)) != pairs.end();
}

// Measures what can run there, of so many items each.
std::vector<design_costs> measure(const registry& designs, const conditions& of, std::uint64_t items,
                                  double hit_rate, std::uint64_t seed, progress& bar, std::size_t step) {
  constexpr std::uint64_t many = 1 << 21;
  constexpr unsigned rounds = 3;
  const std::string spec = of.in_sequence ? fmt::format("random:n={},dist=sequential", items)
                                          : fmt::format("random:n={},unique=1", items);
  const workload work(load_input(spec, of.key_bits, seed), 0, hit_rate, seed);
  run_settings settings;
  settings.value_bits = of.value_bits;
  settings.repeat = items > many ? 1 : 3;
  settings.processor_time = of.processor_time;
  settings.seed = seed;
  settings.threads = of.threads;
  settings.verify = false;
  std::vector<design_costs> all;
  for (unsigned round = 0; round < rounds; ++round) {  // so that other work meets all designs
    for (const design_entry& design : designs.designs()) {
      if (!can_run(design, of) || asked_to_stop()) continue;
      bar.begin(step, fmt::format("{} of {} items", design.name, items));
      const run_result result = design.spaces.at(of.space)(work, settings, [](std::string_view) {});
      auto known = std::ranges::find(all, design.name, &design_costs::design);
      if (known == all.end()) known = all.insert(all.end(), {.design = design.name, .items = items});
      for (const row& r : result.rows) {
        const double seconds = r.seconds.min / static_cast<double>(std::max<std::uint64_t>(r.items, 1));
        const auto [at, is_new] = known->seconds.try_emplace(r.op, seconds);
        if (!is_new) at->second = std::min(at->second, seconds);
        known->bytes = r.bytes_per_pair;
      }
    }
  }
  return all;
}

// ---- the file of costs ----

json cost_row(const measured_costs& m) {
  json row = m.of.as_json();
  row["design"] = m.costs.design;
  row["items"] = m.costs.items;
  row["bytes_per_item"] = m.costs.bytes;
  for (const auto& [op, seconds] : m.costs.seconds) row["ns"][op] = seconds * 1e9;
  return row;
}
measured_costs costs_of(const json& row) {
  measured_costs m{{row.at("space"), row.at("threads"), row.at("key_bits"), row.at("value_bits"),
                    row.at("in_sequence"), row.at("processor_time")},
                   {row.at("design"), row.at("items"), row.at("bytes_per_item"), {}}};
  for (const auto& [op, ns] : row.at("ns").items()) m.costs.seconds[op] = ns.get<double>() * 1e-9;
  return m;
}

class cost_file {
 public:
  // Measurements of another commit or machine do not count.
  cost_file(const advise_request& request, std::string space)
      : folder_(request.folder), header_(environment({.space = std::move(space)})) {
    header_["experiment"] = "advise";
    std::ifstream file(path());
    const json data = request.again || !file ? json() : json::parse(file, nullptr, false);
    try {
      if (data.is_object() && same_machine(data.at("header")))
        std::ranges::transform(data.at("rows"), std::back_inserter(all_), costs_of);
    } catch (const json::exception&) {
      throw input_error(fmt::format("{}: no costs of tilehash advise; delete it", path()));
    }
  }

  std::vector<design_costs> of(const conditions& what) const {
    std::vector<design_costs> some;
    for (const auto& m : all_)
      if (m.of == what) some.push_back(m.costs);
    return some;
  }
  // Measures what the workload needs and the file lacks.
  std::vector<design_costs> for_table(const wanted_table& wanted, const conditions& what,
                                      const registry& designs) {
    std::vector<std::uint64_t> missing;
    auto known = of(what);
    for (const std::uint64_t size : sizes_around(wanted.items))
      if (std::ranges::find(known, size, &design_costs::items) == known.end()) missing.push_back(size);
    if (missing.empty()) return known;
    std::vector<double> guesses(missing.size());
    std::ranges::transform(missing, guesses.begin(),
                           [](std::uint64_t size) { return static_cast<double>(size) * 2e-5; });
    progress bar(std::move(guesses));
    for (std::size_t i = 0; i < missing.size(); ++i)
      for (design_costs& costs : measure(designs, what, missing[i], 0.5, 1, bar, i))
        all_.push_back({what, std::move(costs)});
    bar.clear();
    if (!asked_to_stop()) write();
    return of(what);
  }

 private:
  std::string path() const { return folder_ + "/advise.json"; }
  bool same_machine(const json& other) const {
    return std::ranges::all_of(std::initializer_list<const char*>{"commit", "machine", "gpu", "build"},
                               [&](const char* name) { return other.at(name) == header_.at(name); });
  }
  void write() const {
    std::filesystem::create_directories(folder_);
    json rows = json::array();
    for (const auto& m : all_) rows.push_back(cost_row(m));
    results_file(path()).write(results_text(header_, rows));
  }

  std::string folder_;
  json header_;
  std::vector<measured_costs> all_;
};

// ---- advice, and its check ----

void print_advice(std::FILE* out, const std::vector<advised>& all, const wanted_table& wanted,
                  const std::string& space) {
  fmt::print(out, "{:<20} {:>12} {:>12} {:>10}\n", "design", "ms", "of the best", "B/item");
  for (const advised& one : all) {
    if (!one.obstacle.empty()) {
      fmt::print(out, "{:<20} {}\n", one.design, one.obstacle);
      continue;
    }
    fmt::print(out, "{:<20} {:>12.3f} {:>12.2f} {:>10.1f}\n", one.design, one.seconds * 1e3,
               one.seconds / all.front().seconds, one.bytes / static_cast<double>(wanted.items));
  }
  if (!all.empty() && all.front().obstacle.empty())
    fmt::print(out, "\n#include <tilehash/tilehash.hpp>\n{}\n", code_for(all.front().design, wanted, space));
}

json advice_rows(const std::vector<advised>& all) {
  json rows = json::array();
  for (const advised& one : all)
    rows.push_back(
        {{"design", one.design}, {"seconds", one.seconds}, {"bytes", one.bytes}, {"obstacle", one.obstacle}});
  return rows;
}

// The check's tables have sizes that the advice does not measure.
const wanted_table check_tables[] = {
    {.items = 20'000, .lookups = 1},
    {.items = 20'000, .lookups = 10, .absent = 0.5},
    {.items = 20'000, .lookups = 1, .absent = 1},
    {.items = 20'000, .lookups = 2, .absent = 0.2, .replaced = 0.5},
    {.items = 20'000, .lookups = 5, .absent = 0.1, .grows = true},
    {.items = 200'000, .lookups = 0},
    {.items = 200'000, .lookups = 1},
    {.items = 200'000, .lookups = 10},
    {.items = 200'000, .lookups = 10, .absent = 1},
    {.items = 200'000, .lookups = 3, .absent = 0.5},
    {.items = 200'000, .lookups = 1, .absent = 0.5, .replaced = 1},
    {.items = 200'000, .lookups = 1, .absent = 0.9, .grows = true},
    {.items = 200'000, .lookups = 4, .keeps_all = true},
    {.items = 200'000, .lookups = 5, .in_sequence = true},
    {.items = 200'000, .lookups = 2, .absent = 0.3, .key_bits = 64, .value_bits = 64},
    {.items = 1'500'000, .lookups = 0},
    {.items = 1'500'000, .lookups = 1},
    {.items = 1'500'000, .lookups = 10, .absent = 0.5},
    {.items = 1'500'000, .lookups = 3, .absent = 1, .replaced = 0.25},
    {.items = 1'500'000, .lookups = 2, .absent = 0.5, .in_sequence = true},
};

// The seconds that a workload took by its own costs: lookups are those of its mix.
std::optional<double> measured_seconds(const wanted_table& wanted, const design_costs& costs) {
  design_costs mixed = costs;
  const auto mix = costs.seconds.find("find_mix");
  if (wanted.absent > 0 && wanted.absent < 1 && mix != costs.seconds.end())
    mixed.seconds["find_hit"] = mixed.seconds["find_miss"] = mix->second;
  return seconds_of(wanted, std::span(&mixed, 1));
}

std::string words_of(const wanted_table& w) {
  return fmt::format("{} {}/{}{}{}{}, {} lookups, {:.0f} % absent, {:.0f} % replaced", w.items, w.key_bits,
                     w.value_bits, w.in_sequence ? ", in sequence" : "", w.grows ? ", grows" : "",
                     w.keeps_all ? ", all values" : "", w.lookups, 100 * w.absent, 100 * w.replaced);
}

exit_code check_advice(const advise_request& request, const registry& designs, const std::string& space,
                       cost_file& file) {
  results_file json_file(request.json);
  std::FILE* const out = json_file.to_stdout() ? stderr : stdout;
  json rows = json::array();
  std::size_t off = 0, checked = 0;
  fmt::print(out, "{:<70} {:<20} {:<20} {:>6}\n", "workload", "first choice", "fastest", "ratio");
  for (const wanted_table& wanted : check_tables) {
    const conditions what = conditions_of(request, wanted, space);
    if (!offers_pair(wanted.key_bits, wanted.value_bits)) continue;
    const auto all = advise(wanted, designs, file.for_table(wanted, what, designs));
    progress bar({1});
    const auto measured = measure(designs, what, wanted.items, 1 - wanted.absent, 2, bar, 0);
    bar.clear();
    if (asked_to_stop()) return stopped;
    advised first, fastest;
    for (const advised& one : all) {
      const auto its = std::ranges::find(measured, one.design, &design_costs::design);
      const auto seconds =
          one.obstacle.empty() && its != measured.end() ? measured_seconds(wanted, *its) : std::nullopt;
      if (!seconds) continue;
      if (first.design.empty()) first = {one.design, *seconds};
      if (fastest.design.empty() || *seconds < fastest.seconds) fastest = {one.design, *seconds};
    }
    const double ratio = first.seconds / fastest.seconds;
    off += ratio > most_off;
    ++checked;
    fmt::print(out, "{:<70} {:<20} {:<20} {:>6.2f}\n", words_of(wanted), first.design, fastest.design, ratio);
    std::fflush(out);
    rows.push_back({{"workload", words_of(wanted)},
                    {"first", first.design},
                    {"fastest", fastest.design},
                    {"first_seconds", first.seconds},
                    {"fastest_seconds", fastest.seconds},
                    {"ratio", ratio}});
  }
  fmt::print(out, "{} of {} first choices take at most {:.1f} times the least\n", checked - off, checked,
             most_off);
  json header = environment({.space = space, .threads = request.threads_asked});
  header["experiment"] = "advise --check";
  json_file.write(results_text(header, rows));
  return off == 0 ? all_right : wrong_or_lost;
}

}  // namespace

exit_code advise_command(const advise_request& request, const registry& designs) {
  const std::string space = choose_space(request.space);
  if (request.processor_time && (space != "cpu" || request.threads_asked != 1))
    throw input_error(
        "--clock processor: it is for one thread of a CPU; add --threads 1, or use --clock wall");
  keep_results();
  cost_file file(request, space);
  if (request.check) return check_advice(request, designs, space, file);
  require_offered(request.wanted.key_bits, request.wanted.value_bits);
  results_file out(request.json);
  const conditions what = conditions_of(request, request.wanted, space);
  const auto all = advise(request.wanted, designs, file.for_table(request.wanted, what, designs));
  if (asked_to_stop()) return stopped;
  print_advice(out.to_stdout() ? stderr : stdout, all, request.wanted, space);
  json header = environment({.space = space, .threads = request.threads_asked});
  header["experiment"] = "advise";
  out.write(results_text(header, advice_rows(all)));
  return all_right;
}

CLI::App* add_advise_command(CLI::App& app, advise_request& request) {
  CLI::App* command = app.add_subcommand(
      "advise", "The fastest design for a workload, by rates that it measures on this machine and keeps");
  wanted_table& w = request.wanted;
  const CLI::Validator size(read_size, ""), share = CLI::Range(0.0, 1.0, "0..1");
  command->add_option("--n,--items", w.items, "Items")->transform(size)->capture_default_str();
  command->add_option(option::key_bits, w.key_bits, "32 or 64")->check(CLI::IsMember({32, 64}));
  command->add_option("--value-bits", w.value_bits, "0 (a set), 32 or 64")->check(CLI::IsMember({0, 32, 64}));
  command->add_option("--lookups", w.lookups, "Lookups of each item")->capture_default_str();
  command->add_option("--absent", w.absent, "Share of the lookups whose key is absent")->check(share);
  command->add_option("--replaced", w.replaced, "Share of the items erased, and as many inserted")
      ->check(share);
  command->add_flag("--grows", w.grows, "Items come in several calls");
  command->add_flag("--keep-all", w.keeps_all, "All values of a key are kept");
  command->add_flag("--in-sequence", w.in_sequence, "Keys are 0, 1, 2 ...");
  command->add_option("--memory", w.most_bytes, "Bytes of the table, at most")->transform(size);
  command->add_option("--space", request.space, "Where: cpu, cuda, or auto for cuda where there is a GPU")
      ->check(CLI::IsMember({"cpu", "cuda", "auto"}))
      ->capture_default_str();
  add_threads_option(*command, request.threads_asked, request.threads);
  command
      ->add_option_function<std::string>(
          "--clock", [&request](const std::string& clock) { request.processor_time = clock == "processor"; },
          "wall, or processor: of one thread, for a machine with other work")
      ->check(CLI::IsMember({"wall", "processor"}));
  command->add_option("--results", request.folder, "Folder of the kept rates, in advise.json")
      ->capture_default_str();
  command->add_flag("--again", request.again, "Measure again what is kept");
  command->add_flag("--check", request.check, "Compare the first choice with the fastest on 20 workloads");
  command->add_option(option::json, request.json, "Write the advice to FILE, or to standard output with -")
      ->type_name("FILE|-");
  command->footer(
      "Rates of a commit, a machine and a number of threads are measured once. Tables are 0.8 full. What "
      "growth "
      "adds to inserts is not in the rates.");
  return command;
}

}  // namespace tilehash::app
