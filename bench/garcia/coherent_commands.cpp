// SPDX-License-Identifier: Apache-2.0
// tilehash bench coherent/...
#include "commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <tilehash/core/error.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "dataset.hpp"
#include "experiment.hpp"
#include "garcia/coherent_ages.hpp"
#include "garcia/coherent_rates.hpp"
#include "options.hpp"
#include "session.hpp"

namespace tilehash::app {
namespace {

using bench::coherent_data;
using bench::coherent_row;
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

void run_ages(const ages_options& options) {
  session session(options);
  experiment rows(session, "coherent/ages");
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
  rows.finish("keys were refused or lost");
}

void run_failures(const ages_options& options) {
  session session(options);
  experiment rows(session, "coherent/failures");
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
  rows.finish("builds failed, or lost keys");
}

// An experiment under way: its tables, and what came of them.
class rates {
 public:
  rates(const rates_options& options, const char* experiment)
      : options_(options), session_(options), rows_(session_, experiment, session_.machine() + '\n') {
    std::vector<subject> known;
    on_gpu() ? bench::register_one_slot_cuda(known) : bench::register_one_slot_cpu(known);
    for (const subject& s : bench::all_subjects()) {
      if (s.space == session_.space()) known.push_back(s);
    }
    if (options.designs.empty()) {
      for (const std::string& name : bench::coherent_designs) {
        for (const subject& s : known) {
          if (s.name == name) designs_.push_back(s);
        }
      }
    } else {
      designs_ = choose(known, options.designs, "--design");
    }
  }

  bool on_gpu() const { return session_.space() == "cuda"; }

  // `given` null: random keys, so many.
  void measure(const coherent_data& data, const bench::given_keys* given, std::uint64_t n, double load,
               bool with_peers) {
    bench::yardstick_case the_case{n, load, 32, options_.repeat, options_.threads, {{0}}};
    the_case.count_buckets = true;
    the_case.given = given;
    session_.say(bench::coherent_heading(data, n, given == nullptr ? n : given->questions.size(), load));
    for (const subject& design : designs_) {
      if (design.is_peer && !with_peers) continue;  // they choose their own load: once is enough
      std::vector<coherent_row> its;
      try {
        design.run(the_case, unused_, [&](const measurement& m) {
          its.push_back({data, load, m});
          rows_.keep(fields_of(its.back()));
          session_.stop_if_asked();
        });
      } catch (const out_of_memory&) {
        session_.say(fmt::format("  {:<26} there is not the memory\n", design.name));
        continue;
      }
      if (!its.empty()) session_.say(bench::coherent_line(its));  // else it is never so full
    }
  }
  void measure(const coherent_data& data, const std::vector<double>& loads) {
    const bench::given_keys given = bench::make_given(data);
    for (const double load : loads) measure(data, &given, given.keys.size(), load, load == loads.front());
  }

  void finish() { rows_.finish(); }

 private:
  const rates_options& options_;
  session session_;
  experiment rows_;
  std::vector<subject> designs_;
  bench::known_limits unused_;
};

// The paper's shares: 1 of 64 million points by chance, 20.5 of 64 in the fish.
double share_of(const std::string& model) { return model == "random" ? 1.0 / 64 : 0.3055; }

void run_sizes(rates_options options) {
  rates all(options, "coherent/sizes");
  if (options.items.empty())
    options.items = all.on_gpu() ? std::vector<std::uint64_t>{1 << 20, 1 << 22, 1 << 24, 1 << 25, 1 << 26}
                                 : std::vector<std::uint64_t>{1 << 16, 1 << 18, 1 << 20, 1 << 22};
  check_sizes(options.items, "--n", 2, most_items);
  for (const std::uint64_t n : options.items) {
    for (const double load : options.loads) all.measure({}, nullptr, n, load, load == options.loads.front());
  }
  all.finish();
}

void run_images(rates_options options, const char* experiment) {
  rates all(options, experiment);
  if (options.side == 0) options.side = all.on_gpu() ? 8192 : 2048;
  for (const std::string& model : options.models) {
    for (const std::string& layout : options.layouts) {
      using access = coherent_data::access;
      all.measure({model, layout, options.side, share_of(model), access::rows, 0}, options.loads);
      for (const double degrees : options.angles)
        all.measure({model, layout, options.side, share_of(model), access::turned, 0, degrees},
                    options.loads);
    }
  }
  all.finish();
}

void run_voxels(rates_options options) {
  rates all(options, "coherent/voxels");
  if (options.side == 0) options.side = all.on_gpu() ? 512 : 256;
  if (!options.mesh.empty()) options.models = {std::filesystem::path(options.mesh).stem().string()};
  for (const std::string& model : options.models) {
    for (const std::string& layout : options.layouts) {
      // The shares of the armadillo and of the hairball in a grid of 512^3.
      const double share = (model == "hairy" ? 24.0 : 9.2) * 1e6 / (512.0 * 512 * 512);
      all.measure({model, layout, options.side, share, coherent_data::access::slices, options.slices, 0,
                   options.mesh},
                  options.loads);
    }
  }
  all.finish();
}

void add_choices(CLI::App& command, rates_options& options, std::vector<double> loads) {
  add_common(command, options);
  options.loads = std::move(loads);
  command
      .add_option(option::design, options.designs,
                  fmt::format("Tables to measure, all or some (default: {})",
                              fmt::join(bench::coherent_designs, ",")))
      ->delimiter(',');
  add_ratios(command, option::load_factor, options.loads, "Shares of the slots to fill")
      ->check(CLI::Range(0.01, 1.0));
}
void add_grid(CLI::App& command, rates_options& options, std::vector<std::string> models,
              std::vector<std::string> layouts, const char* side) {
  options.models = std::move(models);
  options.layouts = std::move(layouts);
  command
      .add_option("--models", options.models,
                  fmt::format("Some of {}", fmt::join(bench::coherent_models, ",")))
      ->delimiter(',')
      ->check(CLI::IsMember(bench::coherent_models))
      ->default_str(fmt::format("{}", fmt::join(options.models, ",")));
  command
      .add_option("--layouts", options.layouts,
                  fmt::format("Orders of the points, some of {}", fmt::join(bench::coherent_layouts, ",")))
      ->delimiter(',')
      ->check(CLI::IsMember(bench::coherent_layouts))
      ->default_str(fmt::format("{}", fmt::join(options.layouts, ",")));
  command.add_option("--side", options.side, side)->check(CLI::Range(8, 1 << 20));
}

}  // namespace

void add_coherent_commands(CLI::App& bench) {
  const auto add_ages = [&](const char* name, const char* about, std::uint64_t keys) {
    CLI::App* command = bench.add_subcommand(name, about);
    const auto options = std::make_shared<ages_options>();
    options->space = "cpu";
    options->keys = keys;
    command->add_option("--keys", options->keys, "Keys of a table")
        ->check(CLI::Range(64, 1 << 24))
        ->capture_default_str();
    add_ratios(*command, option::load_factor, options->loads, "Shares of the slots to fill")
        ->check(CLI::Range(0.01, 1.0));
    add_json(*command, *options);
    return std::pair(command, options);
  };
  const auto [ages, counted] = add_ages(
      "coherent/ages",
      "Ages of keys in Robin Hood tables against the load, next to open addressing (figure 3)", 1 << 20);
  ages->callback([counted = counted] { run_ages(*counted); });
  const auto [failures, tried] =
      add_ages("coherent/failures", "How many of many builds fail or restart (section 4.1)", 2000);
  failures->add_option("--tables", tried->tables, "Tables of each shape at each load")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  failures->callback([tried = tried] { run_failures(*tried); });

  const std::vector<double> many{0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.99};

  CLI::App* sizes = bench.add_subcommand(
      "coherent/sizes", "Rates against the number of random keys, with both probe sequences (figure 5)");
  const auto random = std::make_shared<rates_options>();
  add_choices(*sizes, *random, {0.8});
  add_sizes(*sizes, "--n", random->items, "Numbers of keys (default: to 4M, on a GPU to 64M)");
  sizes->callback([random] { run_sizes(*random); });

  CLI::App* images = bench.add_subcommand(
      "coherent/images",
      "Sparse pictures against the load: built, and every pixel looked up in row order (figures 6 and 7)");
  const auto pictures = std::make_shared<rates_options>();
  add_choices(*images, *pictures, many);
  add_grid(*images, *pictures, {"random", "structured"}, {"row_major"},
           "Pixels along a side (default: 2048, on a GPU 8192)");
  images->callback([pictures] { run_images(*pictures, "coherent/images"); });

  CLI::App* layouts = bench.add_subcommand(
      "coherent/layouts",
      "The same against the order in which pixels become keys, looked up in rows and turned (figure 10)");
  const auto orders = std::make_shared<rates_options>();
  add_choices(*layouts, *orders, {0.5, 0.85, 0.99});
  add_grid(*layouts, *orders, {"structured"}, bench::coherent_layouts,
           "Pixels along a side (default: 2048, on a GPU 8192)");
  orders->angles = {30};
  layouts->add_option("--angles", orders->angles, "Degrees by which the picture is turned")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 360.0))
      ->capture_default_str();
  layouts->callback([orders] { run_images(*orders, "coherent/layouts"); });

  CLI::App* voxels = bench.add_subcommand(
      "coherent/voxels", "Sparse voxel models in every layout, sliced at random orientations (the 3D data)");
  const auto models = std::make_shared<rates_options>();
  add_choices(*voxels, *models, {0.8, 0.99});
  add_grid(*voxels, *models, {"structured", "hairy"}, bench::coherent_layouts,
           "Voxels along a side (default: 256, on a GPU 512)");
  voxels->add_option("--slices", models->slices, "Slices")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  voxels->add_option("--mesh", models->mesh, "The inside of a closed mesh in an OFF file, in place of models")
      ->check(CLI::ExistingFile);
  voxels->callback([models] { run_voxels(*models); });
}

}  // namespace tilehash::app
