// SPDX-License-Identifier: Apache-2.0
// tilehash bench horton/...
#include "commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tilehash/papers/horton/model.hpp>

#include <string>
#include <vector>

#include "breslow/horton_accesses.hpp"
#include "breslow/horton_churn.hpp"
#include "dataset.hpp"
#include "experiment.hpp"
#include "options.hpp"
#include "report.hpp"

namespace tilehash::bench {

// Lookups against the size of the table, all found and none found, with the bytes that each moves.
struct size_row {
  u64 bytes = 0;  // of the slots, as asked for
  measurement what;

  // The paper's reckoning: whole buckets, a key in and a value out. All of `size_designs` have buckets of 64
  // bytes where keys and values have 32 bits.
  double bytes_moved() const { return 64 * what.buckets + what.key_bytes + what.value_bytes; }
};

// The baseline first.
const std::vector<std::string> size_designs{"bucketed_cuckoo_balanced", "bucketed_cuckoo", "horton", "tiled"};

// Powers of two from 16 KiB on.
static std::vector<u64> sizes_to(u64 most) {
  std::vector<u64> sizes;
  for (u64 bytes = u64(16) << 10; bytes <= most; bytes *= 2) sizes.push_back(bytes);
  return sizes;
}

static fields fields_of(const size_row& row) {
  const measurement& m = row.what;
  const char* const op = m.op == "build" ? "build" : m.queries.failed_percent == 0 ? "found" : "none";
  fields all{{"design", m.design, "design", -26}, {"space", m.space},
             {"bytes", row.bytes, "bytes", 11},   {"n", m.n, "items", 10},
             {"load_factor", m.load_factor},      {"op", m.op}};
  const auto across = [&](std::string name, double value, const char* head, const char* format,
                          double scale = 1) {
    all.push_back({std::move(name), value, head, 8, format, scale, false, true});
  };
  across("", m.rate(), op, ".1f", 1e-6);
  if (m.op == "find") {
    all.push_back({"failed_percent", m.queries.failed_percent});
    across("buckets_per_lookup", m.buckets, "buckets", ".3f");
    across("bytes_per_lookup", row.bytes_moved(), "bytes", ".1f");
  }
  add_rate(all, m);
  return all;
}
}  // namespace tilehash::bench

namespace tilehash::app {
namespace {

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

// A fault unless the table is one that may refuse items.
bench::field refused_unless(bool may_refuse, std::uint64_t count) {
  bench::field refused = bench::refused_items(count);
  refused.is_fault = !may_refuse;
  return refused;
}

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
          refused_unless(r.slots < 4, r.failed),
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

void run_accesses(experiment& rows, const accesses_options& options) {
  keep_models(rows);
  bench::count_accesses(
      options.slots, options.buckets,
      [&](const bench::home_counts& h) {
        rows.keep({{"what", "homes"},
                   {"hash", h.hash},
                   {"slots", h.slots},
                   {"load", h.load},
                   {"buckets_by_keys", h.buckets},
                   {"model", h.model}});
        rows.say(fmt::format("load {}: {} buckets of 8 slots by {}, at most {} keys in one\n", h.load,
                             options.buckets, h.hash, h.buckets.size() - 1));
      },
      [&](const bench::bucket_reads& row) { rows.add(fields_of(row)); });
}

void run_churn(experiment& rows, const churn_options& options) {
  bench::count_churn(options.what, [&](const bench::churn_row& row) {
    rows.add(
        {{"slots", row.slots, "slots", 5},
         {"load", row.load, "load", 5, ".2f"},
         {"round", row.round, "after round", 12},
         {"home", row.home},
         {.name = "found", .value = row.found, .head = row.home, .width = 8, .format = ".4f", .across = true},
         {.name = "not_found",
          .value = row.not_found,
          .head = "none",
          .width = 8,
          .format = ".4f",
          .across = true},
         {"type_b", row.type_b},
         {"items", row.items},
         refused_unless(row.home == "never", row.failed),
         bench::wrong_answers(row.wrong)});
  });
}

void run_sizes(experiment& rows, const sizes_options& options) {
  const std::uint64_t lookups =
      options.lookups != 0 ? options.lookups : std::uint64_t{1} << (rows.on_gpu() ? 26 : 22);
  check_sizes(options.sizes, "--bytes", 1 << 10, (1ULL << 36) - 1);
  std::vector<subject> known = choose(subjects_in(rows.space(), false), {}, "", bench::size_designs);
  const auto designs = options.designs.empty() ? known : choose(known, options.designs, "--design");
  for (const std::uint64_t bytes : options.sizes.empty()
                                       ? bench::sizes_to(std::uint64_t{1} << (rows.on_gpu() ? 33 : 30))
                                       : options.sizes) {
    const std::uint64_t slots = bytes / 8;
    const auto n = static_cast<std::uint64_t>(options.load_factor * static_cast<double>(slots));
    bench::yardstick_case the_case{n, options.load_factor, 32, options.repeat, options.threads, {{0}, {100}}};
    the_case.least_lookups = lookups;
    the_case.count_buckets = true;
    for (const subject& design : designs)
      rows.measure(design, the_case, [&](const measurement& m) {
        return fields_of(bench::size_row{bytes, m});
      });
  }
}

}  // namespace

void add_horton_commands(CLI::App& bench) {
  declare<accesses_options>(bench,
                            {.name = "horton/accesses",
                             .about = "Buckets that lookups read in Horton tables, next to the paper's model "
                                      "(figures 8 to 11 and 14; on the CPU)",
                             .on_cpu_alone = true},
                            run_accesses, [](option_list& list, accesses_options& o) {
                              list.size("--slots", o.slots, "Slots of each table", 1 << 12, 1 << 30);
                              list.size("--buckets", o.buckets, "Buckets whose keys are counted", 1 << 8,
                                        1 << 27);
                            });
  declare<churn_options>(
      bench,
      {.name = "horton/churn",
       .about = "Buckets that lookups read after rounds of erasing and inserting a tenth of the items (on "
                "the CPU)",
       .above = "buckets read by lookups of present and of absent keys, as homes are updated\n",
       .on_cpu_alone = true},
      run_churn, [](option_list& list, churn_options& o) {
        list.size("--slots", o.what.table_slots, "Slots of each table", 1 << 12, 1 << 26);
        list.number("--rounds", o.what.rounds, "Rounds", 1, 1000);
        list.number("--calls", o.what.calls, "Calls of erase, and of insert, in a round", 1, 1000);
      });
  declare<sizes_options>(
      bench,
      {"horton/sizes",
       "Rates of lookups against the table's size, and the bytes they move (figures 12 and 13)",
       "million items a second; buckets and bytes a lookup\n"},
      run_sizes, [](option_list& list, sizes_options& o) {
        list.designs(o.designs, fmt::format("Designs to measure, all or some of {}",
                                            fmt::join(bench::size_designs, ",")));
        list.sizes("--bytes", o.sizes,
                   "Sizes of the tables, such as 16K,1G (default: from 16K to 1G, on a GPU to 8G)");
        list.ratio(option::load_factor, o.load_factor, "Share of the slots to fill", 0.01, 0.98);
        list.size("--lookups", o.lookups, "Lookups in a call, at least (default: 4M, on a GPU 64M)");
      });
}

}  // namespace tilehash::app
