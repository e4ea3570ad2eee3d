// SPDX-License-Identifier: Apache-2.0
#include "run_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "cuda_presence.hpp"
#include "environment.hpp"
#include "input.hpp"
#include "offered_pairs.hpp"
#include "parallel.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "results_file.hpp"
#include "terminal.hpp"

namespace tilehash::app {
namespace {

bool asks_for_all(const std::vector<std::string>& names) {
  return std::ranges::find(names, "all") != names.end();
}
run_settings settings_for(const design_entry& design, run_settings settings, unsigned key_bits) {
  if (settings.load_factor == fullest_load)
    settings.load_factor = design.load_factor_limit(key_bits, settings.value_bits);
  return settings;
}
// Why a design cannot do what is asked, or nothing. A peer chooses its own load factor. `key_bits`: 0 until the
// input is read.
std::string why_not(const design_entry& design, const run_settings& settings, unsigned key_bits) {
  const double limit = design.load_factor_limit(key_bits, settings.value_bits);
  if (!design.is_peer && settings_for(design, settings, key_bits).load_factor > limit)
    return fmt::format("it takes a load factor of at most {:.3f}; fuller tables cannot be built reliably",
                       limit);
  if (design.needs_values && settings.value_bits == 0) return "it keeps values, and the run has keys alone";
  const std::vector<std::string> pairs = design.pairs();
  if (key_bits != 0 && !pairs.empty() && offers_pair(key_bits, settings.value_bits) &&
      std::ranges::find(pairs, pair_name(key_bits, settings.value_bits)) == pairs.end())
    return fmt::format(
        "the program has its tables of {} (--key-bits, --value-bits; TILEHASH_CLI_PAIRS adds {})",
        fmt::join(pairs, ", "), pair_name(key_bits, settings.value_bits));
  return {};
}

// "all" means all that can run there, and that full; a design asked for by name must be able to.
void choose(std::vector<const design_entry*>& chosen, const std::vector<std::string>& names,
            const registry& known, const char* option, const run_settings& settings, const std::string& space,
            unsigned key_bits) {
  if (asks_for_all(names)) {
    for (const design_entry& design : known.designs()) {
      if (design.runs_on(space) && why_not(design, settings, key_bits).empty()) chosen.push_back(&design);
    }
    return;
  }
  for (const std::string& name : names) {
    if (name == "none" && names.size() == 1) return;
    const design_entry& design = known.at(name, option);
    if (!design.runs_on(space))
      throw input_error(fmt::format("{} {} does not run on {}", option, name, space));
    const std::string reason = why_not(design, settings, key_bits);
    if (!reason.empty()) throw input_error(fmt::format("{} {}: {}", option, name, reason));
    if (std::ranges::find(chosen, &design) == chosen.end()) chosen.push_back(&design);
  }
}

// The designs and peers that run on keys of so many bits.
std::vector<const design_entry*> chosen_of(const run_options& options, const registry& designs,
                                           const registry& peers, const std::string& space,
                                           unsigned key_bits) {
  std::vector<const design_entry*> chosen;
  choose(chosen, options.designs, designs, "--design", options.settings, space, key_bits);
  if (options.peers != std::vector<std::string>{"none"} && space != "cpu")
    throw input_error("--peers: other libraries' maps run on the CPU; add --space cpu");
  choose(chosen, options.peers, peers, "--peers", options.settings, space, key_bits);
  if (chosen.empty()) throw input_error("--design none, --peers none: that leaves nothing to run");
  return chosen;
}

// Steps of the progress: making the input ready, then every operation of every design, of which most have
// six.
constexpr std::size_t usual_ops = 6;

// A guess of the seconds that one operation takes, and of those until there is one: off by a factor, and
// right about which is the larger.
double guessed_op_seconds(double items, unsigned repeat) { return items * 3e-8 * (repeat + 2) + 1e-3; }
double guessed_reading_seconds(double items) { return items * 1e-7 + 1e-3; }

}  // namespace

std::string choose_space(const std::string& asked) {
  const std::string obstacle = why_no_cuda();
  if (asked == "auto") return obstacle.empty() ? "cuda" : "cpu";
  if (asked == "cuda" && !obstacle.empty()) {
    throw input_error(fmt::format("--space cuda: {}; use --space cpu", obstacle));
  }
  return asked;
}

exit_code run_command(const run_options& options, const registry& designs, const registry& peers) {
  const std::string space = choose_space(options.space);
  if (options.key_bits != 0) require_offered(options.key_bits, options.settings.value_bits);
  std::vector<const design_entry*> chosen = chosen_of(options, designs, peers, space, options.key_bits);
  results_file json(options.json);
  std::FILE* const out = json.to_stdout() ? stderr : stdout;
  const style look = style_of(out);
  nlohmann::ordered_json header = environment({.space = space,
                                               .threads = options.threads_asked,
                                               .repeat = options.settings.repeat,
                                               .seed = options.settings.seed,
                                               .hit_rate = options.hit_rate});
  header["experiment"] = "run";
  if (const int runs = threads_that_run(options.threads_asked); options.threads_asked > runs)
    fmt::print(out, "--threads {}: this machine runs {} at once, and so does the program\n",
               options.threads_asked, runs);

  const stopwatch since_start;
  const double expected = expected_items(options.input);
  std::vector<double> guesses(chosen.size() * usual_ops + 1,
                              guessed_op_seconds(expected, options.settings.repeat));
  guesses.front() = guessed_reading_seconds(expected);
  progress bar(std::move(guesses));
  bar.begin(0, "reading the input and preparing the right answers");
  const auto tell_input = [&](double share) {
    bar.say(fmt::format("making the input: {:.0f} %", 100 * share));
  };
  const workload work(load_input(options.input, options.key_bits, options.settings.seed, tell_input),
                      options.queries, options.hit_rate, options.settings.seed);
  if (options.key_bits == 0) chosen = chosen_of(options, designs, peers, space, work.data.key_bits);
  const spent on_input = since_start.so_far();
  bar.guess(1, guessed_op_seconds(static_cast<double>(work.data.size()), options.settings.repeat));
  bar.clear();
  keep_results();
  fmt::print(out, "{}", heading(work, options.settings, look));
  for (const design_entry& design : designs.designs()) {
    const std::string reason = why_not(design, options.settings, work.data.key_bits);
    if (asks_for_all(options.designs) && design.runs_on(space) && !reason.empty())
      fmt::print(out, "{}", wrap(fmt::format("{} is left out: {}\n", design.name, reason), look.width, 2));
  }

  std::vector<row> rows;
  spent measured;
  bool was_interrupted = asked_to_stop();
  for (std::size_t i = 0; i < chosen.size() && !was_interrupted; ++i) {
    std::size_t step = i * usual_ops;
    const auto tell = [&](std::string_view op) {
      step = std::min(step + 1, (i + 1) * usual_ops);
      bar.begin(step, fmt::format("{}: {}", chosen[i]->name, op));
    };
    const run_result result = chosen[i]->spaces.at(space)(
        work, settings_for(*chosen[i], options.settings, work.data.key_bits), tell);
    bar.clear();
    fmt::print(out, "{}", design_table(result, look));
    std::fflush(out);
    rows.insert(rows.end(), result.rows.begin(), result.rows.end());
    measured += result.measured;
    was_interrupted = result.was_interrupted;
  }
  if (chosen.size() > 1) fmt::print(out, "{}", rate_summary(rows, look));
  fmt::print(out, "{}", noise_warning(rows, look));
  const spent all = since_start.so_far();
  fmt::print(out, "{}", time_line(all, on_input, measured, look));
  header["spent"] = {{"wall_s", {{"all", all.wall}, {"input", on_input.wall}, {"measured", measured.wall}}},
                     {"cpu_s", {{"all", all.cpu}, {"input", on_input.cpu}, {"measured", measured.cpu}}}};
  if (was_interrupted) {
    fmt::print(stderr, "tilehash: stopped; what was done until then is {}\n",
               json.wanted() ? "above and written" : "above");
    header["stopped"] = true;
  }
  std::fflush(out);  // before a message of what failed
  json.write(results_text(header, rows_as_json(rows)));

  const bool faultless =
      std::ranges::all_of(rows, [](const row& r) { return r.failed == 0 && r.wrong == 0; });
  if (!faultless) fmt::print(stderr, "tilehash: some answers were wrong or items lost; see the rows above\n");
  if (was_interrupted) return stopped;
  return faultless ? all_right : wrong_or_lost;
}

}  // namespace tilehash::app
