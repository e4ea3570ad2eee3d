// SPDX-License-Identifier: Apache-2.0
// `tilehash advise`: which design for a workload, from rates that were measured on this machine.
//
//   workload      items, lookups of each, absent keys, items replaced, ...
//   costs         seconds of an item in each operation, measured at a few sizes and kept in a file
//   advice        designs that can do it, by the seconds that the costs give, least first
//
// `--check` measures each design on 20 workloads of other sizes and keys, and compares the fastest with the first
// choice.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "registry.hpp"
#include "run_command.hpp"

namespace CLI {
class App;
}

namespace tilehash::app {

struct wanted_table {
  std::uint64_t items = 1'000'000;
  double lookups = 1;        // of each item
  double absent = 0;         // share of the lookups
  double replaced = 0;       // share of the items that are erased, and as many inserted
  bool grows = false;        // items come in several calls
  bool keeps_all = false;    // all values of a key
  bool in_sequence = false;  // keys 0, 1, 2 ... in place of random ones
  unsigned key_bits = 32, value_bits = 32;
  std::uint64_t most_bytes = 0;  // 0: any
};

// The costs of a design at one size.
struct design_costs {
  std::string design;
  std::uint64_t items = 0;
  double bytes = 0;                         // of an item
  std::map<std::string, double> seconds{};  // of an item, by operation as in all_ops
};

struct advised {
  std::string design;
  double seconds = 0, bytes = 0;  // of the workload and of its table
  std::string obstacle{};         // why the design cannot do it, or empty
};

// The seconds of the workload by these costs, which are of one design; nothing where they lack an operation.
std::optional<double> seconds_of(const wanted_table& wanted, std::span<const design_costs> costs);

// All designs of the costs: those that can do it, least seconds first, then the others.
std::vector<advised> advise(const wanted_table& wanted, const registry& designs,
                            std::span<const design_costs> costs);

// The line that makes such a table.
std::string code_for(const std::string& design, const wanted_table& wanted, const std::string& space);

struct advise_request {
  wanted_table wanted;
  std::string space = "auto", folder = "tilehash-results", json;
  int threads_asked = 0, threads = 0;
  bool again = false, check = false;
  bool processor_time = false;  // of one thread
};

CLI::App* add_advise_command(CLI::App& app, advise_request& request);
exit_code advise_command(const advise_request& request, const registry& designs);  // throws input_error

}  // namespace tilehash::app
