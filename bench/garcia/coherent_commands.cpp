// SPDX-License-Identifier: Apache-2.0
// tilehash bench coherent/...
#include "commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "experiment.hpp"
#include "garcia/coherent_ages.hpp"
#include "garcia/coherent_rates.hpp"
#include "options.hpp"
#include "report.hpp"

namespace tilehash::bench {

static const char* name_of(coherent_data::access how) {
  return std::array{"rows", "turned", "slices"}[static_cast<unsigned>(how)];
}

static fields fields_of(const coherent_row& row) {
  const measurement& m = row.what;
  const std::string op = m.op == "find" ? "access" : m.op;
  fields all{{"design", m.design, "design", -26}, {"space", m.space}, {"n", m.n, "keys", 9}};
  if (row.data.side != 0) {
    all.push_back({"model", row.data.model, "model", -10});
    all.push_back({"layout", row.data.layout, "layout", -14});
    all.push_back({"side", row.data.side, "side", 5});
    all.push_back({"access", name_of(row.data.how), "access", -6});
    if (row.data.how == coherent_data::access::turned)
      all.push_back({"degrees", row.data.degrees, "degrees", 7, "g"});
  }
  all.push_back({"load", row.load, "load", 5, "g"});
  all.push_back({"load_factor", m.load_factor});
  all.push_back({"op", op});
  all.push_back({"", m.rate(), op, 9, ".1f", 1e-6, false, true});
  all.push_back({"buckets_per_lookup", m.buckets, "buckets", m.buckets != 0 ? 8 : 0, ".3f", 1, false, true});
  add_rate(all, m);
  return all;
}
}  // namespace tilehash::bench

namespace tilehash::app {
namespace {

using bench::coherent_data;
using bench::measurement;
using bench::subject;

struct rates_options : common_options {
  std::vector<std::string> designs, models, layouts;
  std::vector<double> loads, angles;
  std::vector<std::uint64_t> items;
  std::uint32_t side = 0, slices = 64;
  std::string mesh;
};

struct ages_options : common_options {
  std::uint64_t keys = 1 << 20, tables = 1000;
  std::vector<double> loads{0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99, 1};
};

void run_ages(experiment& rows, const ages_options& options) {
  bench::count_ages(options.keys, options.loads, [&](const bench::age_row& r) {
    // Buckets of an array that is filled by a rule are not counted.
    const auto buckets = [&](double read) { return bench::or_null(r.found != 0 ? read : 0); };
    rows.add({{"table", r.table, "buckets read by lookups", -34},
              {"data", r.data, "keys", -10},
              {"items", r.items},
              {"load", r.load, "load", 5, ".2f"},
              {"oldest", r.oldest(), "oldest", 7},
              {"ages", r.ages},
              {"found", r.found},
              {"", buckets(r.found), "found", 8, ".3f"},
              {"not_found", r.not_found},
              {"", buckets(r.not_found), "not found", 9, ".3f"},
              bench::refused_items(r.refused),
              bench::wrong_answers(r.wrong)});
  });
}

void run_failures(experiment& rows, const ages_options& options) {
  bench::count_failures(options.tables, options.keys, options.loads, [&](const bench::failure_row& r) {
    rows.add({{"table", r.table, fmt::format("tables of {} keys", options.keys), -34},
              {"load", r.load, "load", 5, ".2f"},
              {"tables", r.tables, "built", 8},
              {"restarts", r.restarts},
              {"restarted", r.restarted, "restarted", 9},
              {"oldest", r.oldest, "oldest", 7},
              {.name = "failed", .value = r.failed, .head = "FAILED", .is_fault = true},
              bench::wrong_answers(r.wrong)});
  });
}

// The tables of one of these experiments.
class rates {
 public:
  rates(experiment& rows, const rates_options& options) : rows_(rows), options_(options) {
    std::vector<subject> known;
    rows.on_gpu() ? bench::register_one_slot_cuda(known) : bench::register_one_slot_cpu(known);
    for (const subject& s : subjects_in(rows.space(), true)) known.push_back(s);
    designs_ = choose(known, options.designs, "--design", bench::coherent_designs);
  }

  // `given` null: random keys, so many.
  void measure(const coherent_data& data, const bench::given_keys* given, std::uint64_t n) {
    for (const double load : options_.loads) {
      bench::yardstick_case the_case{n, load, 32, options_.repeat, options_.threads, {{0}}};
      the_case.count_buckets = true;
      the_case.given = given;
      for (const subject& design : designs_) {
        if (design.is_peer && load != options_.loads.front())
          continue;  // they choose their own load: once is enough
        rows_.measure(design, the_case, [&](const measurement& m) {
          return fields_of(bench::coherent_row{data, load, m});
        });
      }
    }
  }
  void measure(const coherent_data& data) {
    const bench::given_keys given = bench::make_given(data);
    measure(data, &given, given.keys.size());
  }

 private:
  experiment& rows_;
  const rates_options& options_;
  std::vector<subject> designs_;
};

// The paper's shares: 1 of 64 million points by chance, 20.5 of 64 in the fish.
double share_of(const std::string& model) { return model == "random" ? 1.0 / 64 : 0.3055; }

void run_random(experiment& rows, const rates_options& options) {
  rates all(rows, options);
  auto items = options.items;
  if (items.empty())
    items = rows.on_gpu() ? std::vector<std::uint64_t>{1 << 20, 1 << 22, 1 << 24, 1 << 25, 1 << 26}
                          : std::vector<std::uint64_t>{1 << 16, 1 << 18, 1 << 20, 1 << 22};
  check_sizes(items, "--n", 2, most_items);
  for (const std::uint64_t n : items) all.measure({}, nullptr, n);
}

void run_images(experiment& rows, const rates_options& options) {
  rates all(rows, options);
  const std::uint32_t side = options.side != 0 ? options.side : rows.on_gpu() ? 8192 : 2048;
  for (const std::string& model : options.models) {
    for (const std::string& layout : options.layouts) {
      using access = coherent_data::access;
      all.measure({model, layout, side, share_of(model), access::rows, 0});
      for (const double degrees : options.angles)
        all.measure({model, layout, side, share_of(model), access::turned, 0, degrees});
    }
  }
}

void run_voxels(experiment& rows, const rates_options& options) {
  rates all(rows, options);
  const std::uint32_t side = options.side != 0 ? options.side : rows.on_gpu() ? 512 : 256;
  auto models = options.models;
  if (!options.mesh.empty()) models = {std::filesystem::path(options.mesh).stem().string()};
  for (const std::string& model : models) {
    for (const std::string& layout : options.layouts) {
      // The shares of the armadillo and of the hairball in a grid of 512^3.
      const double share = (model == "hairy" ? 24.0 : 9.2) * 1e6 / (512.0 * 512 * 512);
      all.measure(
          {model, layout, side, share, coherent_data::access::slices, options.slices, 0, options.mesh});
    }
  }
}

void add_choices(option_list& list, rates_options& o, std::vector<double> loads) {
  o.loads = std::move(loads);
  list.designs(o.designs, fmt::format("Tables to measure, all or some (default: {})",
                                      fmt::join(bench::coherent_designs, ",")));
  list.ratios(option::load_factor, o.loads, "Shares of the slots to fill", 0.01, 1);
}
void add_grid(option_list& list, rates_options& o, std::vector<std::string> models,
              std::vector<std::string> layouts, const char* side) {
  o.models = std::move(models), o.layouts = std::move(layouts);
  list.names("--models", o.models, fmt::format("Some of {}", fmt::join(bench::coherent_models, ",")),
             bench::coherent_models);
  list.names("--layouts", o.layouts,
             fmt::format("Orders of the points, some of {}", fmt::join(bench::coherent_layouts, ",")),
             bench::coherent_layouts);
  list.number("--side", o.side, side, 8, 1 << 20);
}

constexpr const char* rates_above = "million points a second; buckets that an access reads\n";
constexpr const char* pixels = "Pixels along a side (default: 2048, on a GPU 8192)";

}  // namespace

void add_coherent_commands(CLI::App& bench) {
  const auto add_counts = [](option_list& list, ages_options& o) {
    list.size("--keys", o.keys, "Keys of a table", 64, 1 << 24);
    list.ratios(option::load_factor, o.loads, "Shares of the slots to fill", 0.01, 1);
  };
  declare<ages_options>(
      bench,
      {.name = "coherent/ages",
       .about = "Ages of keys in Robin Hood tables against the load, next to open addressing (figure 3)",
       .faults = "keys were refused or lost",
       .on_cpu_alone = true},
      run_ages, add_counts);
  declare<ages_options>(bench,
                        {.name = "coherent/failures",
                         .about = "How many of many builds fail or restart (section 4.1)",
                         .faults = "builds failed, or lost keys",
                         .on_cpu_alone = true},
                        run_failures, [=](option_list& list, ages_options& o) {
                          o.keys = 2000;
                          add_counts(list, o);
                          list.size("--tables", o.tables, "Tables of each shape at each load", 1, 1'000'000);
                        });
  declare<rates_options>(
      bench,
      {"coherent/sizes", "Rates against the number of random keys, with both probe sequences (figure 5)",
       rates_above},
      run_random, [](option_list& list, rates_options& o) {
        add_choices(list, o, {0.8});
        list.sizes("--n", o.items, "Numbers of keys (default: to 4M, on a GPU to 64M)");
      });
  declare<rates_options>(
      bench,
      {"coherent/images",
       "Sparse pictures against the load: built, and every pixel looked up in row order (figures 6 and 7)",
       rates_above},
      run_images, [](option_list& list, rates_options& o) {
        add_choices(list, o, {0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.99});
        add_grid(list, o, {"random", "structured"}, {"row_major"}, pixels);
      });
  declare<rates_options>(
      bench,
      {"coherent/layouts",
       "The same against the order in which pixels become keys, looked up in rows and turned (figure 10)",
       rates_above},
      run_images, [](option_list& list, rates_options& o) {
        add_choices(list, o, {0.5, 0.85, 0.99});
        add_grid(list, o, {"structured"}, bench::coherent_layouts, pixels);
        o.angles = {30};
        list.ratios("--angles", o.angles, "Degrees by which the picture is turned", 0, 360);
      });
  declare<rates_options>(
      bench,
      {"coherent/voxels", "Sparse voxel models in every layout, sliced at random orientations (the 3D data)",
       rates_above},
      run_voxels, [](option_list& list, rates_options& o) {
        add_choices(list, o, {0.8, 0.99});
        add_grid(list, o, {"structured", "hairy"}, bench::coherent_layouts,
                 "Voxels along a side (default: 256, on a GPU 512)");
        list.number("--slices", o.slices, "Slices", 1, 10'000);
        list.command()
            .add_option("--mesh", o.mesh, "The inside of a closed mesh in an OFF file, in place of models")
            ->check(CLI::ExistingFile);
      });
}

}  // namespace tilehash::app
