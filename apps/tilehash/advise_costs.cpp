// SPDX-License-Identifier: Apache-2.0
#include "advise_costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

#include "environment.hpp"
#include "input.hpp"
#include "interrupt.hpp"
#include "offered_pairs.hpp"
#include "parallel.hpp"
#include "progress.hpp"
#include "results_file.hpp"

namespace tilehash::app {
namespace {

using json = nlohmann::ordered_json;

// The library's own designs. Those of the papers are for comparisons.
constexpr const char* candidates[] = {"bucketed_cuckoo",    "chained",    "double_hashing", "dynamic_cuckoo",
                                      "dynamic_hash_graph", "hash_graph", "horton",         "indexed",
                                      "linear_probing",     "multi",      "robin_hood",     "tiled"};

// Costs of one size hold for those nearly the same.
constexpr double near_enough = 0.1;  // of the logarithm to base 2

// The size at which the costs of a workload are measured: its own. Larger tables cost what the largest one costs
// that is measured.
std::uint64_t measured_size(std::uint64_t items, const std::string& space) {
  return std::clamp<std::uint64_t>(items, 1 << 12, space == "cpu" ? 1 << 22 : 1 << 24);
}

bool can_run(const design_entry& design, const conditions& of) {
  if (std::ranges::find(candidates, design.name) == std::end(candidates) || !design.runs_on(of.space))
    return false;
  if (of.value_bits == 0 && design.needs_values) return false;
  const auto pairs = design.pairs();
  return pairs.empty() || std::ranges::find(pairs, pair_name(of.key_bits, of.value_bits)) != pairs.end();
}

}  // namespace

json conditions::as_json() const {
  return {{"space", space},           {"threads", threads},         {"key_bits", key_bits},
          {"value_bits", value_bits}, {"in_sequence", in_sequence}, {"processor_time", processor_time}};
}

conditions conditions_of(const advise_request& request, const wanted_table& wanted,
                         const std::string& space) {
  return {space,
          space == "cpu" ? threads_that_run(request.threads_asked) : 0,
          wanted.key_bits,
          wanted.value_bits,
          wanted.in_sequence,
          request.processor_time};
}

double median_of(std::vector<double> values) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, at);
  return *at;
}

design_costs rounds_of_design::cost() const {
  design_costs all = rounds.front();
  for (auto& [op, seconds] : all.seconds) {
    std::vector<double> its(rounds.size());
    std::ranges::transform(rounds, its.begin(), [&](const design_costs& one) { return one.seconds.at(op); });
    seconds = median_of(std::move(its));
  }
  return all;
}

measurer::measurer(const registry& designs, conditions of, std::uint64_t items, double hit_rate,
                   std::uint64_t seed)
    : of_(std::move(of)),
      work_(load_input(fmt::format("random:n={},{}", items, of_.in_sequence ? "dist=sequential" : "unique=1"),
                       of_.key_bits, seed),
            0, hit_rate, seed) {
  settings_.value_bits = of_.value_bits;
  settings_.repeat = items > 1 << 18 ? 1 : 3;
  settings_.processor_time = of_.processor_time;
  settings_.threads = of_.threads;
  settings_.verify = false;
  for (const design_entry& design : designs.designs())
    if (can_run(design, of_)) all.push_back({&design});
}

void measurer::measure(rounds_of_design& one) {
  if (asked_to_stop()) return;
  settings_.seed = one.rounds.size() + 1;
  const run_result result = one.design->spaces.at(of_.space)(work_, settings_, [](std::string_view) {});
  design_costs costs{.design = one.design->name, .items = work_.data.size()};
  for (const row& r : result.rows) {
    costs.seconds[r.op] = r.seconds.min / static_cast<double>(std::max<std::uint64_t>(r.items, 1));
    costs.bytes = r.bytes_per_pair;
  }
  one.rounds.push_back(std::move(costs));
}

cost_file::cost_file(const advise_request& request, std::string space)
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

cost_file::measured_costs cost_file::costs_of(const json& row) {
  measured_costs m{{row.at("space"), row.at("threads"), row.at("key_bits"), row.at("value_bits"),
                    row.at("in_sequence"), row.at("processor_time")},
                   {row.at("design"), row.at("items"), row.at("bytes_per_item"), {}}};
  for (const auto& [op, ns] : row.at("ns").items()) m.costs.seconds[op] = ns.get<double>() * 1e-9;
  return m;
}

std::vector<design_costs> cost_file::of(const conditions& what) const {
  std::vector<design_costs> some;
  for (const auto& m : all_)
    if (m.of == what) some.push_back(m.costs);
  return some;
}

std::vector<design_costs> cost_file::for_table(const wanted_table& wanted, const conditions& what,
                                               const registry& designs) {
  const std::uint64_t size = measured_size(wanted.items, what.space);
  const auto is_near = [&](const design_costs& known) {
    return std::abs(std::log2(static_cast<double>(known.items) / static_cast<double>(size))) < near_enough;
  };
  if (auto known = of(what); std::ranges::any_of(known, is_near)) return known;
  const unsigned rounds = size > 1 << 18 ? 5 : 8;
  progress bar(std::vector<double>(rounds, static_cast<double>(size) * 4e-6));
  measurer measured(designs, what, size, 0.5, 1);
  for (unsigned i = 0; i < rounds; ++i)
    measured.round([&](const std::string& name) { bar.begin(i, fmt::format("{} of {} items", name, size)); });
  bar.clear();
  if (asked_to_stop()) return of(what);
  for (const rounds_of_design& one : measured.all) all_.push_back({what, one.cost()});
  write();
  return of(what);
}

bool cost_file::same_machine(const json& other) const {
  return std::ranges::all_of(std::initializer_list<const char*>{"commit", "machine", "gpu", "build"},
                             [&](const char* name) { return other.at(name) == header_.at(name); });
}

void cost_file::write() const {
  std::filesystem::create_directories(folder_);
  json rows = json::array();
  for (const auto& m : all_) {
    json row = m.of.as_json();
    row["design"] = m.costs.design;
    row["items"] = m.costs.items;
    row["bytes_per_item"] = m.costs.bytes;
    for (const auto& [op, seconds] : m.costs.seconds) row["ns"][op] = seconds * 1e9;
    rows.push_back(std::move(row));
  }
  results_file(path()).write(results_text(header_, rows));
}

}  // namespace tilehash::app
