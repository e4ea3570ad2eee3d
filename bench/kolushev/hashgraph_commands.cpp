// SPDX-License-Identifier: Apache-2.0
// tilehash bench hashgraph/...
#include "commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "dataset.hpp"
#include "experiment.hpp"
#include "kolushev/hashgraph_join.hpp"
#include "kolushev/hashgraph_join_report.hpp"
#include "options.hpp"
#include "session.hpp"

namespace tilehash::app {
namespace {

using bench::join_case;
using bench::join_measurement;
using bench::join_skew;

struct join_options : common_options {
  std::vector<std::string> designs{"all"};
  std::vector<std::uint64_t> left, copies{1, 16};
  std::uint64_t right = 0;
  std::vector<join_skew> skews{join_skew::none, join_skew::right};
  std::vector<join_kind> kinds{join_kind::inner};
  double found = 1;
};

void run_join(join_options options) {
  session session(options);
  const bool on_gpu = session.space() == "cuda";
  if (options.left.empty()) options.left = {std::uint64_t{1} << (on_gpu ? 26 : 22)};
  if (options.designs == std::vector<std::string>{"all"}) options.designs = bench::join_designs;
  std::vector<join_case> cases;
  for (const std::uint64_t left : options.left) {
    for (const std::uint64_t copies : options.copies) {
      for (const join_skew skew : options.skews) {
        for (const join_kind kind : options.kinds)
          cases.push_back(
              {left, options.right != 0 ? options.right : left, copies, skew, options.found, kind});
      }
    }
  }
  for (const join_case& one : cases) {
    for (const auto& [option, n] : {std::pair("--left", one.left), std::pair("--right", one.right)}) {
      if (n < 1 || n >= 1ULL << 31)
        throw input_error(fmt::format("{} {}: must be at least 1 and below 2^31", option, n));
    }
    if (one.copies < 1 || one.copies > one.right)
      throw input_error(
          fmt::format("--copies {}: must be at least 1 and at most the right rows", one.copies));
  }

  experiment rows(session, "hashgraph/join", session.machine() + '\n');
  std::vector<join_measurement> all;
  for (const join_case& one : cases) {
    session.say(bench::join_heading(one));
    const std::size_t first = all.size();
    const auto tell = [&](const join_measurement& m) {
      all.push_back(m);
      rows.keep(fields_of(m));
      const auto ours = std::ranges::find(all.begin() + static_cast<std::ptrdiff_t>(first), all.end(),
                                          bench::join_designs.front(), &join_measurement::design);
      session.say(bench::join_line(m, ours == all.end() ? nullptr : &*ours));
    };
    on_gpu ? bench::cuda_joins(one, options.designs, options.repeat, tell)
           : bench::cpu_joins(one, options.designs, options.repeat, options.threads, tell);
  }
  rows.finish("rows were joined to others than they should be");
}

// Names for the values of an option.
template <class Enum>
std::map<std::string, Enum> named(std::initializer_list<Enum> values) {
  std::map<std::string, Enum> names;
  for (const Enum value : values) names[bench::name_of(value)] = value;
  return names;
}

}  // namespace

void add_hashgraph_commands(CLI::App& bench) {
  CLI::App* join = bench.add_subcommand(
      "hashgraph/join",
      "Joins by regions, by a table and by graphs, next to sort and merge and lookups in a map");
  const auto joins = std::make_shared<join_options>();
  add_common(*join, *joins);
  join->add_option(option::design, joins->designs,
                   fmt::format("all, or some of {}", fmt::join(bench::join_designs, ",")))
      ->delimiter(',')
      ->check(CLI::IsMember(bench::join_designs) | CLI::IsMember({"all"}))
      ->capture_default_str();
  add_sizes(*join, "--left", joins->left, "Numbers of left rows (default: 2^22, on a GPU 2^26)");
  add_size(*join, "--right", joins->right, "Number of right rows (default: as many)");
  add_sizes(*join, "--copies", joins->copies, "How often a key of the right side comes there, on average");
  join->add_option("--skew", joins->skews,
                   "Whose keys come as often as Zipf's law says: some of none,left,right")
      ->delimiter(',')
      ->transform(CLI::CheckedTransformer(named({join_skew::none, join_skew::left, join_skew::right})))
      ->default_str("none,right");
  join->add_option("--kinds", joins->kinds, "Some of inner,left,semi,anti")
      ->delimiter(',')
      ->transform(CLI::CheckedTransformer(
          named({join_kind::inner, join_kind::left, join_kind::semi, join_kind::anti})))
      ->default_str("inner");
  join->add_option("--found", joins->found, "Share of the left rows whose key is on the right side, too")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  join->callback([joins] { run_join(*joins); });
  add_updates_command(bench);
  add_cells_commands(bench);
}

}  // namespace tilehash::app
