// SPDX-License-Identifier: Apache-2.0
// tilehash bench horton/...
#include "commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <tilehash/core/error.hpp>
#include <tilehash/papers/horton/model.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "breslow/horton_accesses.hpp"
#include "breslow/horton_churn.hpp"
#include "breslow/horton_sizes.hpp"
#include "dataset.hpp"
#include "experiment.hpp"
#include "fields.hpp"
#include "options.hpp"
#include "session.hpp"

namespace tilehash::app {
namespace {

using bench::field;
using bench::fields;
using bench::measurement;
using bench::subject;

struct accesses_options : common_options {
  std::uint64_t slots = 1 << 20, buckets = 1 << 22;
};

struct churn_options : common_options {
  bench::churn_case what{.table_slots = 1 << 18, .rounds = 100, .calls = 10};
};

struct sizes_options : common_options {
  std::vector<std::string> designs;
  std::vector<std::uint64_t> sizes;
  double load_factor = 0.9;
  std::uint64_t lookups = 0;
};

fields fields_of(const bench::bucket_reads& r) {
  const bool modelled = r.model_found != 0;
  // A table without a model in the paper has an empty column.
  const auto model = [&](const char* name, double value, const char* head, int width, double scale = 1) {
    return modelled ? bench::field{name, value, head, width, scale == 1 ? ".3f" : ".4g", scale}
                    : bench::field{"", nullptr, head, width};
  };
  return {{"what", "reads"},
          {"design", r.design, "buckets read by a lookup", -26},
          {"slots", r.slots, "slots", 5},
          {"load", r.load, "load", 6, ".3f"},
          {"items", r.items},
          {"found", r.found, "found", 7, ".3f"},
          model("model_found", r.model_found, "model", 7),
          {"not_found", r.not_found, "not found", 9, ".3f"},
          model("model_not_found", r.model_not_found, "model", 7),
          model("entries", r.entries, "remap entries, %", 16, 100),
          model("model_entries", r.model_entries, "model", 7, 100),
          bench::refused_items(r.failed),
          bench::wrong_answers(r.wrong)};
}

// The paper's model: for a smooth line, and beyond what tables reach; then tags stored in the buckets.
void keep_models(experiment& rows) {
  for (const std::uint32_t slots : {1U, 2U, 4U, 8U, 16U}) {
    const papers::horton_model m{slots};
    for (int percent = 1; percent / 100.0 < m.highest_load(); ++percent) {
      const double load = percent / 100.0;
      rows.keep({{"what", "model"},
                 {"slots", slots},
                 {"load", load},
                 {"entries", m.space_of_entries(load)},
                 {"found", m.found(load)},
                 {"not_found", m.not_found(load)}});
    }
  }
  for (const std::uint32_t bits : {3U, 4U, 5U, 6U, 8U}) {
    const auto m = papers::horton_model::with_explicit_tags(8, bits);
    for (const double load : {0.5, 0.6, 0.7, 0.8, 0.9, 0.95})
      rows.keep({{"what", "explicit_tags"},
                 {"slots", m.slots},
                 {"tag_bits", bits},
                 {"load", load},
                 {"not_found", m.not_found(load)}});
  }
}

void run_accesses(const accesses_options& options) {
  session session(options);
  experiment rows(session, "horton/accesses");
  bool faulty = false;
  keep_models(rows);
  bench::count_accesses(
      options.slots, options.buckets,
      [&](const bench::home_counts& h) {
        rows.keep({{"what", "homes"},
                   {"slots", h.slots},
                   {"load", h.load},
                   {"buckets_by_keys", h.buckets},
                   {"model", h.model}});
        session.say(fmt::format("load {}: {} buckets of 8 slots, at most {} keys in one\n", h.load,
                                options.buckets, h.buckets.size() - 1));
      },
      [&](const bench::bucket_reads& row) {
        rows.add(fields_of(row));
        faulty = faulty || row.faulty();
      });
  rows.finish(nullptr);
  session::fail_if(faulty, "answers were wrong or items lost");
}

std::string churn_heading() {
  return fmt::format("{:>24} | {:>31} | {:>31}\n{:>5} {:>5} {:>12} | {}{}\n", "", "buckets read, found",
                     "not found", "slots", "load", "after round", "  eager    lazy   never   fresh | ",
                     "  eager    lazy   never   fresh");
}
std::string churn_line(std::span<const bench::churn_row> of_one_round) {
  const bench::churn_row& first = of_one_round.front();
  std::string text = fmt::format("{:>5} {:>5} {:>12} |", first.slots, first.load, first.round), more = " |";
  std::uint64_t failed = 0, wrong = 0;
  for (const bench::churn_row& row : of_one_round) {
    text += fmt::format(" {:>7.4f}", row.found);
    more += fmt::format(" {:>7.4f}", row.not_found);
    failed += row.failed, wrong += row.wrong;
  }
  return text + more + bench::faults({{"refused", failed}, {"WRONG", wrong}}) + '\n';
}

void run_churn(const churn_options& options) {
  session session(options);
  experiment rows(session, "horton/churn", churn_heading());
  std::vector<bench::churn_row> all;
  bench::count_churn(options.what, [&](const bench::churn_row& row) {
    all.push_back(row);
    rows.keep({{"slots", row.slots},
               {"load", row.load},
               {"round", row.round},
               {"home", row.home},
               {"found", row.found},
               {"not_found", row.not_found},
               {"type_b", row.type_b},
               {"items", row.items},
               bench::refused_items(row.failed),
               bench::wrong_answers(row.wrong)});
    if (row.home == "fresh") session.say(churn_line(std::span(all).last(4)));  // a round's last
  });
  rows.finish(nullptr);
  session::fail_if(std::ranges::any_of(all, &bench::churn_row::faulty), "answers were wrong or items lost");
}

void run_sizes(sizes_options options) {
  session session(options);
  const bool on_gpu = session.space() == "cuda";
  if (options.sizes.empty()) options.sizes = bench::sizes_to(std::uint64_t{1} << (on_gpu ? 33 : 30));
  if (options.lookups == 0) options.lookups = std::uint64_t{1} << (on_gpu ? 26 : 22);
  for (const std::uint64_t bytes : options.sizes) {
    if (bytes < 1 << 10 || bytes >= 1ULL << 36)
      throw input_error(fmt::format("--bytes {}: must be at least 1K and below 64G", bytes));
  }
  std::vector<subject> known;
  for (const std::string& name : bench::size_designs) {
    for (const subject& s : bench::all_subjects()) {
      if (s.space == session.space() && s.name == name) known.push_back(s);
    }
  }
  const auto designs = options.designs.empty() ? known : choose(known, options.designs, "--design");
  experiment rows(session, "horton/sizes", session.machine() + '\n');
  bench::known_limits unused;
  for (const std::uint64_t bytes : options.sizes) {
    const auto n = static_cast<std::uint64_t>(options.load_factor * static_cast<double>(bytes / 8));
    bench::yardstick_case the_case{n, options.load_factor, 32, options.repeat, options.threads, {{0}, {100}}};
    the_case.least_lookups = options.lookups;
    the_case.count_buckets = true;
    session.say(bench::size_heading(bytes, n, options.load_factor));
    for (const subject& design : designs) {
      std::vector<bench::size_row> its;
      try {
        design.run(the_case, unused, [&](const measurement& m) {
          its.push_back({bytes, m});
          rows.keep(fields_of(its.back()));
        });
      } catch (const out_of_memory&) {
        session.say(fmt::format("  {:<26} there is not the memory\n", design.name));
        continue;
      }
      if (!its.empty()) session.say(bench::size_line(its));  // else it is never so full
    }
  }
  rows.finish();
}

}  // namespace

void add_horton_commands(CLI::App& bench) {
  CLI::App* accesses = bench.add_subcommand("horton/accesses",
                                            "Buckets that lookups read in Horton tables, next to the paper's "
                                            "model (figures 8 to 11 and 14; on the CPU)");
  const auto counted = std::make_shared<accesses_options>();
  counted->space = "cpu";
  add_size(*accesses, "--slots", counted->slots, "Slots of each table")
      ->check(CLI::Range(std::int64_t{1} << 12, std::int64_t{1} << 30))
      ->capture_default_str();
  add_size(*accesses, "--buckets", counted->buckets, "Buckets whose keys are counted")
      ->check(CLI::Range(std::int64_t{1} << 8, std::int64_t{1} << 27))
      ->capture_default_str();
  add_json(*accesses, *counted);
  accesses->callback([counted] { run_accesses(*counted); });

  CLI::App* churn = bench.add_subcommand(
      "horton/churn",
      "Buckets that lookups read after rounds of erasing and inserting a tenth of the items (on the CPU)");
  const auto churned = std::make_shared<churn_options>();
  churned->space = "cpu";
  add_size(*churn, "--slots", churned->what.table_slots, "Slots of each table")
      ->check(CLI::Range(std::int64_t{1} << 12, std::int64_t{1} << 26))
      ->capture_default_str();
  churn->add_option("--rounds", churned->what.rounds, "Rounds")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  churn->add_option("--calls", churned->what.calls, "Calls of erase, and of insert, in a round")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  add_json(*churn, *churned);
  churn->callback([churned] { run_churn(*churned); });

  CLI::App* sizes = bench.add_subcommand(
      "horton/sizes",
      "Rates of lookups against the table's size, and the bytes they move (figures 12 and 13)");
  const auto measured = std::make_shared<sizes_options>();
  add_common(*sizes, *measured);
  sizes
      ->add_option(option::design, measured->designs,
                   fmt::format("Designs to measure, all or some of {}", fmt::join(bench::size_designs, ",")))
      ->delimiter(',');
  add_sizes(*sizes, "--bytes", measured->sizes,
            "Sizes of the tables, such as 16K,1G (default: from 16K to 1G, on a GPU to 8G)");
  add_ratio(*sizes, option::load_factor, measured->load_factor, "Share of the slots to fill")
      ->check(CLI::Range(0.01, 0.98))
      ->capture_default_str();
  add_size(*sizes, "--lookups", measured->lookups, "Lookups in a call, at least (default: 4M, on a GPU 64M)");
  sizes->callback([measured] { run_sizes(*measured); });
}

}  // namespace tilehash::app
