// SPDX-License-Identifier: Apache-2.0
// The designs this program knows, and how to run each in each space.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "any_table.hpp"
#include "row.hpp"
#include "spent.hpp"
#include "workload.hpp"

namespace tilehash::app {

inline constexpr double fullest_load = std::numeric_limits<double>::infinity();

struct run_settings {
  double load_factor = 0.8;  // fullest_load: the most that each design takes
  unsigned value_bits = 32;  // 0: a set
  unsigned repeat = 3;
  std::uint64_t seed = 1;
  int threads = 0;  // of the CPU; 0: all
  bool probes = false;
  bool verify = true;
  bool processor_time = false;  // of the whole program, in place of the space's clock
};

struct run_result {
  std::string machine;  // as the space calls itself: "cpu (2 threads)", "NVIDIA H200"
  std::vector<row> rows;
  bool was_interrupted = false;  // then only some of the operations have rows
  spent measured{};              // what is in the rows, and its warming up
};

using announce = std::function<void(std::string_view op)>;  // called before each op
using run_function = std::function<run_result(const workload&, const run_settings&, const announce&)>;

struct design_entry {
  std::string name, paper, summary;
  std::vector<std::string> abilities;
  std::map<std::string, run_function> spaces;  // by name: cpu, cuda
  // The same by type, for callers that use the tables themselves.
  std::optional<table_makers<cpu>> cpu_tables{};
  std::optional<table_makers<cuda>> cuda_tables{};
  double max_load_factor = 0.98;                     // of a table of pairs of 32 + 32 bits
  std::map<std::string, double> max_load_factors{};  // of tables of other pairs, by pair_name()
  bool needs_values = false;                         // has no tables of keys alone
  bool is_peer = false;                              // another library's
  // The bytes of a table of pairs of 32 + 32 bits, sized for so many items.
  std::uint64_t (*bytes)(std::uint64_t items, double load_factor) = nullptr;

  bool runs_on(const std::string& space) const { return spaces.contains(space); }
  // How full a table of such a pair of types may be. `key_bits`: 0 if it is not known yet.
  double load_factor_limit(unsigned key_bits, unsigned value_bits) const;
  // The pairs of types that it has tables of, as pair_name() names them.
  std::vector<std::string> pairs() const;
};

// Such as u32/u64, or u32/void for a set.
std::string pair_name(unsigned key_bits, unsigned value_bits);

class registry {
 public:
  // A design comes once for every space: what it is must then be the same, and the space is added.
  void add(const design_entry& entry);

  // Throws input_error with the known names, about the option that gave this one.
  const design_entry& at(const std::string& name, const char* option = "--design") const;
  const std::vector<design_entry>& designs() const { return designs_; }

 private:
  std::vector<design_entry> designs_;  // in the order of registration
};

// The work of `tilehash run` with a design's tables: see runner.hpp.
run_function run_with(const table_makers<cpu>& tables, const std::string& design);
run_function run_with(const table_makers<cuda>& tables, const std::string& design);

// All designs of designs/; CMake generates it from the files there.
registry all_designs();
// Other libraries' maps, those that the build found (peers/).
registry all_peers();

}  // namespace tilehash::app
