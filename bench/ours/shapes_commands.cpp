// SPDX-License-Identifier: Apache-2.0
// tilehash bench shapes
#include "commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dataset.hpp"
#include "experiment.hpp"
#include "ours/ceilings.hpp"
#include "ours/shapes.hpp"
#include "report.hpp"

namespace tilehash::bench {

static std::string_view name_of(shape_verdict verdict) {
  return verdict_names[static_cast<unsigned>(verdict)];
}

static std::string shapes_summary(std::span<const judged_shape> rows, double least) {
  const auto of = [&](auto... verdicts) {
    return std::ranges::count_if(rows,
                                 [&](const judged_shape& j) { return ((j.verdict == verdicts) || ...); });
  };
  using enum shape_verdict;
  return fmt::format(
      "{} rows; {} fail: {} wrong, {} refused items, {} over the limit, {} under {} of the best "
      "of their verb and of what is possible; {} are under it of the former alone\n",
      rows.size(), of(wrong, refused, over_limit, slow), of(wrong), of(refused), of(over_limit), of(slow),
      least, of(bounded));
}

static fields fields_of(const judged_shape& j) {
  const shape_row& row = j.row;
  return {{"", name_of(j.verdict), "", -10},
          {"space", row.space},
          {"op", row.what.verb_name(), "verb", -16},
          {"", row.what.width_name(), "key", 6},
          {"key_bytes", row.key_bytes},
          {"value_bytes", row.value_bytes},
          {"keys", row.what.keys_name(), "keys", -14},
          {"form", row.what.form_name(), "form", -9},
          {"state", row.what.state_name(), "state", -9},
          {"held", row.held},
          {"items", row.items, "items", 9},
          {"", row.rate(), "G items/s", 10, ".4f", 1e-9},
          {"seconds", as_json(row.seconds)},
          {"mitems_per_s", row.rate() / 1e6},
          {"share_of_best", j.share, "share", 6, ".3f"},
          {"verdict", name_of(j.verdict)},
          {"", or_null(j.bound), "possible", 10, ".4f", 1e-9},
          {"", fmt::format("{}  {}", faults({{"REFUSED", row.refused}}), j.reason), "", -1},
          {"possible_mitems_per_s", j.bound / 1e6},
          {"bound", j.reason},
          {"over_limit", row.over_limit},
          {"failed", row.refused},  // which some calls may
          wrong_answers(row.wrong),
          {"", j.fails() ? 1 : 0, "", 0, {}, 1, true}};
}
}  // namespace tilehash::bench

namespace tilehash::app {
namespace {

using bench::shape;

struct shapes_options : common_options {
  shapes_options() { repeat = 3; }
  std::vector<std::string> verbs, widths, keys, forms, states;  // empty: all
  std::uint64_t items = 0;                                      // 0: as many as suit the space
  double limit = 1, least = 0.25;
  bench::measured_clock clock = bench::measured_clock::wall;
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
                                                    the_case.clock == bench::measured_clock::processor);
    return at->second;
  };
}

void run_shapes(experiment& rows, const shapes_options& options) {
  const bool on_gpu = rows.on_gpu();
  check_clock(options.clock, !on_gpu && options.threads == 1);
  const bench::shapes_case the_case{.items = options.items != 0 ? options.items
                                             : on_gpu           ? 1 << 24
                                                                : 1 << 20,
                                    .repeat = options.repeat,
                                    .limit = options.limit,
                                    .threads = options.threads,
                                    .clock = options.clock};
  const auto shapes = asked_shapes(options, the_case.items, on_gpu);
  if (shapes.empty()) throw input_error("no shape has all of these; name fewer of them");
  rows.say(fmt::format("{} shapes of {} items\n", shapes.size(), the_case.items));
  std::vector<bench::shape_row> measured;
  const auto rates = measured_rates(the_case, on_gpu);
  const auto judged = [&] { return bench::judge(measured, bench::shape_bounds(), rates, options.least); };
  rows.keep_if_stopped([&] {  // a row's verdict depends on all others
    auto json = nlohmann::ordered_json::array();
    for (const bench::judged_shape& j : judged()) json.push_back(object_of(fields_of(j)));
    return json;
  });
  const auto tell = [&](const bench::shape_row& row) {
    rows.stop_if_asked();
    measured.push_back(row);
  };
  on_gpu ? bench::cuda_shapes(shapes, the_case, tell) : bench::cpu_shapes(shapes, the_case, tell);
  const auto all = judged();
  for (const bench::judged_shape& j : all) rows.add(fields_of(j));
  rows.say(bench::shapes_summary(all, options.least));
}

}  // namespace

void add_shapes_commands(CLI::App& bench) {
  declare<shapes_options>(
      bench,
      {"shapes",
       "The matrix that finds cliffs: verbs by keys' width and distribution, form of call and fill",
       {},
       "shapes are slow, refused items or had wrong answers"},
      run_shapes, [](option_list& list, shapes_options& o) {
        const auto names = [&](const char* option, std::vector<std::string>& asked, const auto& known,
                               const char* about) {
          list.names(option, asked, about, {known.begin(), known.end()})->default_str("all");
        };
        names("--verb,--verbs", o.verbs, bench::verb_names, "Verbs to measure");
        names("--width,--widths", o.widths, bench::width_names,
              "Bytes of a key; a record has a key of 24 bytes and a value of 32");
        names("--distribution,--distributions", o.keys, bench::keys_names, "How keys repeat");
        names("--form,--forms", o.forms, bench::form_names, "Forms of the call");
        names("--state,--states", o.states, bench::state_names, "The table before the call");
        list.size("--items", o.items, "Items of a call (default: 2^24, on the CPU 2^20)", 64, 1 << 27);
        list.ratio(
            "--limit", o.limit,
            "Seconds of a call; a call that a part of its items predicts to take longer fails, unmeasured",
            1e-9, 1e9);
        list.ratio("--least", o.least,
                   "Share of the rate of a verb's best row, or of what is possible, that its others must "
                   "reach; 0: any "
                   "will do",
                   0, 1);
        list.clock(o.clock);
      });
}

}  // namespace tilehash::app
