// SPDX-License-Identifier: Apache-2.0
// Costs of designs on this machine: measured in turns, and kept in a file.
//
//   measurer    | a b c | a b c | a b c |   rounds of all designs, each by its shortest of some runs
//   cost        the median of the rounds, each with other hash functions: rates of robin_hood depend on them
//   cost_file   costs of each size that a workload has asked for
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "advise.hpp"
#include "workload.hpp"

namespace tilehash::app {

// Where and of what costs are.
struct conditions {
  std::string space;
  int threads = 0;
  unsigned key_bits = 32, value_bits = 32;
  bool in_sequence = false, processor_time = false;

  bool operator==(const conditions&) const = default;
  nlohmann::ordered_json as_json() const;
};

conditions conditions_of(const advise_request& request, const wanted_table& wanted, const std::string& space);

// Needs at least one value.
double median_of(std::vector<double> values);

// Costs of one design, those of each round.
struct rounds_of_design {
  const design_entry* design;
  std::vector<design_costs> rounds{};

  design_costs cost() const;
};

// Measures the designs that can run there, so that other work on the machine meets all of them.
class measurer {
 public:
  measurer(const registry& designs, conditions of, std::uint64_t items, double hit_rate, std::uint64_t seed);

  // `say` hears the name of each design.
  template <class Say>
  void round(const Say& say) {
    for (rounds_of_design& one : all) {
      say(one.design->name);
      measure(one);
    }
  }

  std::vector<rounds_of_design> all;

 private:
  void measure(rounds_of_design& one);

  conditions of_;
  workload work_;
  run_settings settings_;
};

class cost_file {
 public:
  // Measurements of another commit or machine do not count. Throws input_error.
  cost_file(const advise_request& request, std::string space);

  // Measures what the workload needs and the file lacks.
  std::vector<design_costs> for_table(const wanted_table& wanted, const conditions& what,
                                      const registry& designs);

 private:
  struct measured_costs {
    conditions of;
    design_costs costs;
  };

  static measured_costs costs_of(const nlohmann::ordered_json& row);
  std::vector<design_costs> of(const conditions& what) const;
  std::string path() const { return folder_ + "/advise.json"; }
  bool same_machine(const nlohmann::ordered_json& other) const;
  void write() const;

  std::string folder_;
  nlohmann::ordered_json header_;
  std::vector<measured_costs> all_;
};

}  // namespace tilehash::app
