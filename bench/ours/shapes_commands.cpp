// SPDX-License-Identifier: Apache-2.0
// tilehash bench shapes
#include "commands.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dataset.hpp"
#include "ours/ceilings.hpp"
#include "ours/shapes.hpp"
#include "ours/shapes_report.hpp"
#include "session.hpp"

namespace tilehash::app {
namespace {

using bench::shape;

struct shapes_options : common_options {
  std::vector<std::string> verbs, widths, keys, forms, states;  // empty: all
  std::uint64_t items = 0;                                      // 0: as many as suit the space
  double limit = 1, least = 0.25;
  bench::shapes_clock clock = bench::shapes_clock::wall;
};

std::vector<shape> asked_shapes(const shapes_options& options, std::uint64_t items, bool on_gpu) {
  const auto is_asked = [](const std::vector<std::string>& names, std::string_view name) {
    return names.empty() || std::ranges::find(names, name) != names.end();
  };
  auto shapes = bench::all_shapes(items, on_gpu);
  std::erase_if(shapes, [&](const shape& s) {
    return !is_asked(options.verbs, s.verb_name()) || !is_asked(options.widths, s.width_name()) ||
           !is_asked(options.keys, s.keys_name()) || !is_asked(options.forms, s.form_name()) ||
           !is_asked(options.states, s.state_name());
  });
  return shapes;
}

// Measures the rates of memory once for each power of two, when they are asked for.
bench::rates_of_memory measured_rates(const bench::shapes_case& the_case, bool on_gpu) {
  const auto known = std::make_shared<std::map<std::uint64_t, bench::access_rates>>();
  return [=](std::string_view /*space*/, std::uint64_t bytes) {
    // The nearest power of two, of at least a line.
    const auto size = std::max<std::uint64_t>(std::bit_ceil(bytes + bytes / 2) / 2, 64);
    const auto [at, is_new] = known->try_emplace(size);
    if (is_new)
      at->second = on_gpu ? bench::cuda_access_rates(size)
                          : bench::cpu_access_rates(size, the_case.threads,
                                                    the_case.clock == bench::shapes_clock::processor);
    return at->second;
  };
}

void run_shapes(const shapes_options& options) {
  session session(options);
  const bool on_gpu = session.space() == "cuda";
  if (options.clock == bench::shapes_clock::processor && (on_gpu || options.threads != 1))
    throw input_error(
        "--clock processor: it is for one thread of a CPU; add --threads 1, or use --clock wall");
  const bench::shapes_case the_case{.items = options.items != 0 ? options.items
                                             : on_gpu           ? 1 << 24
                                                                : 1 << 20,
                                    .repeat = options.repeat,
                                    .limit = options.limit,
                                    .threads = options.threads,
                                    .clock = options.clock};
  const auto shapes = asked_shapes(options, the_case.items, on_gpu);
  if (shapes.empty()) throw input_error("no shape has all of these; name fewer of them");
  session.say(fmt::format("{}\n{} shapes of {} items\n", session.machine(), shapes.size(), the_case.items));
  std::vector<bench::shape_row> rows;
  const auto rates = measured_rates(the_case, on_gpu);
  const auto judged = [&] { return bench::judge(rows, bench::shape_bounds(), rates, options.least); };
  const auto objects = [](const auto& all) {
    auto json = nlohmann::ordered_json::array();
    for (const bench::judged_shape& j : all) json.push_back(object_of(fields_of(j)));
    return json;
  };
  session.keep([&] { return objects(judged()); });  // a row's verdict depends on all others
  const auto tell = [&](const bench::shape_row& row) {
    session.stop_if_asked();
    rows.push_back(row);
  };
  on_gpu ? bench::cuda_shapes(shapes, the_case, tell) : bench::cpu_shapes(shapes, the_case, tell);
  const auto all = judged();
  session.say(bench::shapes_table(all, options.least));
  session.write(objects(all), "shapes");
  session::fail_if(std::ranges::any_of(all, [](const bench::judged_shape& j) { return j.fails(); }),
                   "shapes are slow, refused items or had wrong answers");
}

template <class Names>
void add_names(CLI::App& command, const char* option, std::vector<std::string>& asked, const Names& known,
               const char* about) {
  command.add_option(option, asked, about)
      ->delimiter(',')
      ->check(CLI::IsMember(std::vector<std::string>(known.begin(), known.end())))
      ->default_str("all");
}

}  // namespace

void add_shapes_commands(CLI::App& bench) {
  CLI::App* shapes = bench.add_subcommand(
      "shapes", "The matrix that finds cliffs: verbs by keys' width and distribution, form of call and fill");
  const auto matrix = std::make_shared<shapes_options>();
  matrix->repeat = 3;
  add_common(*shapes, *matrix);
  add_names(*shapes, "--verb,--verbs", matrix->verbs, bench::verb_names, "Verbs to measure");
  add_names(*shapes, "--width,--widths", matrix->widths, bench::width_names,
            "Bytes of a key; a record has a key of 24 bytes and a value of 32");
  add_names(*shapes, "--distribution,--distributions", matrix->keys, bench::keys_names, "How keys repeat");
  add_names(*shapes, "--form,--forms", matrix->forms, bench::form_names, "Forms of the call");
  add_names(*shapes, "--state,--states", matrix->states, bench::state_names, "The table before the call");
  add_size(*shapes, "--items", matrix->items, "Items of a call (default: 2^24, on the CPU 2^20)")
      ->check(CLI::Range(std::int64_t{64}, std::int64_t{1} << 27));
  shapes
      ->add_option(
          "--limit", matrix->limit,
          "Seconds of a call; a call that a part of its items predicts to take longer fails, unmeasured")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  shapes
      ->add_option("--least", matrix->least,
                   "Share of the rate of a verb's best row, or of what is possible, that its others must "
                   "reach; 0: any will do")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  const std::map<std::string, bench::shapes_clock> clocks{{"wall", bench::shapes_clock::wall},
                                                          {"processor", bench::shapes_clock::processor}};
  shapes->add_option("--clock", matrix->clock, "wall, or processor: time of one CPU thread")
      ->transform(CLI::CheckedTransformer(clocks))
      ->default_str("wall");
  shapes->callback([matrix] { run_shapes(*matrix); });
}

}  // namespace tilehash::app
