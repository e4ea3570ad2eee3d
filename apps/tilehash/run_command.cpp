#include "run_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "cuda_presence.hpp"
#include "input.hpp"
#include "progress.hpp"
#include "report.hpp"

namespace tilehash::app {
namespace {

constexpr std::size_t most_ops = 6;  // build, insert, three kinds of find, erase

bool asks_for_all(const run_options& options) {
  return std::ranges::find(options.designs, "all") != options.designs.end();
}
run_settings settings_for(const design_entry& design, run_settings settings) {
  if (settings.load_factor == fullest_load) settings.load_factor = design.max_load_factor;
  return settings;
}
// Why a design cannot do what is asked, or nothing.
std::string why_not(const design_entry& design, const run_settings& settings) {
  if (settings_for(design, settings).load_factor > design.max_load_factor)
    return fmt::format("it takes a load factor of at most {:.3f}; fuller tables cannot be built reliably",
                       design.max_load_factor);
  if (design.needs_values && settings.value_bits == 0) return "it keeps values, and keys alone are asked for";
  return {};
}

std::string choose_space(const std::string& asked) {
  const std::string obstacle = why_no_cuda();
  if (asked == "auto") return obstacle.empty() ? "cuda" : "cpu";
  if (asked == "cuda" && !obstacle.empty()) {
    throw input_error(fmt::format("--space cuda: {}; use --space cpu", obstacle));
  }
  return asked;
}

// "all" means all that can run there, and that full; a design asked for by name must be able to.
std::vector<const design_entry*> choose_designs(const run_options& options, const registry& designs,
                                                const std::string& space) {
  std::vector<const design_entry*> chosen;
  if (asks_for_all(options)) {
    for (const design_entry& design : designs.designs()) {
      if (design.runs_on(space) && why_not(design, options.settings).empty()) chosen.push_back(&design);
    }
    return chosen;
  }
  for (const std::string& name : options.designs) {
    const design_entry& design = designs.at(name);
    if (!design.runs_on(space)) throw input_error(fmt::format("--design {} does not run on {}", name, space));
    if (std::ranges::find(chosen, &design) == chosen.end()) chosen.push_back(&design);
  }
  return chosen;
}

// Opened before the work is done, so that a file that cannot be written costs nobody an hour.
class json_output {
 public:
  explicit json_output(const std::string& path) : path_(path) {
    if (path_.empty() || to_stdout()) return;
    file_.open(path_);
    if (!file_) throw input_error(fmt::format("--json {}: cannot write it: {}", path_, std::strerror(errno)));
  }

  bool to_stdout() const { return path_ == "-"; }

  void write(const std::vector<row>& rows) {
    if (to_stdout()) fmt::print("{}", rows_as_json(rows));
    if (!file_.is_open()) return;
    file_ << rows_as_json(rows) << std::flush;
    if (!file_) throw input_error(fmt::format("--json {}: cannot write it: {}", path_, std::strerror(errno)));
  }

 private:
  std::string path_;
  std::ofstream file_;
};

}  // namespace

exit_code run_command(const run_options& options, const registry& designs) {
  const std::string space = choose_space(options.space);
  const auto chosen = choose_designs(options, designs, space);
  for (const design_entry* design : chosen) {
    const std::string reason = why_not(*design, options.settings);
    if (!reason.empty()) throw input_error(fmt::format("--design {}: {}", design->name, reason));
  }
  json_output json(options.json);
  std::FILE* const out = json.to_stdout() ? stderr : stdout;
  const colour use = is_terminal(out) ? colour::on : colour::off;

  progress bar(chosen.size() * most_ops + 1);
  bar.show(0, "reading the input and preparing the right answers");
  const auto tell_input = [&](double share) {
    bar.show(0, fmt::format("making the input: {:.0f} %", 100 * share));
  };
  const workload work(load_input(options.input, options.key_bits, options.settings.seed, tell_input),
                      options.queries, options.hit_rate, options.settings.seed);
  bar.clear();
  fmt::print(out, "{}", heading(work, options.settings));
  for (const design_entry& design : designs.designs()) {
    const std::string reason = why_not(design, options.settings);
    if (asks_for_all(options) && design.runs_on(space) && !reason.empty())
      fmt::print(out, "{} is left out: {}\n", design.name, reason);
  }

  std::vector<row> rows;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    std::size_t step = i * most_ops;
    const auto tell = [&](std::string_view op) {
      bar.show(++step, fmt::format("{}: {}", chosen[i]->name, op));
    };
    const run_result result =
        chosen[i]->spaces.at(space)(work, settings_for(*chosen[i], options.settings), tell);
    bar.clear();
    fmt::print(out, "{}", design_table(result, use));
    std::fflush(out);
    rows.insert(rows.end(), result.rows.begin(), result.rows.end());
  }
  if (chosen.size() > 1) fmt::print(out, "{}", rate_summary(rows, use));
  json.write(rows);

  const bool faultless =
      std::ranges::all_of(rows, [](const row& r) { return r.failed == 0 && r.wrong == 0; });
  if (!faultless) fmt::print(stderr, "tilehash: some answers were wrong or items lost; see the rows above\n");
  return faultless ? all_right : wrong_or_lost;
}

}  // namespace tilehash::app
