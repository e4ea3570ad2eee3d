// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <fmt/color.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "results_file.hpp"

namespace tilehash::app {
namespace {

const fmt::text_style title = fmt::emphasis::bold;
const fmt::text_style good = fmt::fg(fmt::terminal_color::green);
const fmt::text_style doubtful = fmt::fg(fmt::terminal_color::yellow);
const fmt::text_style bad = fmt::fg(fmt::terminal_color::red) | fmt::emphasis::bold;

std::string paint(const std::string& text, const fmt::text_style& style, colour use) {
  return use == colour::on ? fmt::format(style, "{}", text) : text;
}

std::string thousands(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (auto position = static_cast<std::ptrdiff_t>(digits.size()) - 3; position > 0; position -= 3) {
    digits.insert(static_cast<std::size_t>(position), 1, ',');
  }
  return digits;
}

// A number in the largest unit of which it holds at least one.
std::string in_units(double number, double step, std::span<const std::string_view> units) {
  std::size_t unit = 0;
  for (; number >= step && unit + 1 < units.size(); ++unit) number /= step;
  return fmt::format("{:.{}f} {}", number, number < 10 ? 2 : 1, units[unit]);
}

std::string duration(double seconds) {
  static constexpr std::array<std::string_view, 4> units{"ns", "us", "ms", "s"};
  return in_units(seconds * 1e9, 1000, units);
}

std::string memory(std::uint64_t bytes) {
  static constexpr std::array<std::string_view, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
  return in_units(static_cast<double>(bytes), 1024, units);
}

std::string rate(double mitems_per_s) { return fmt::format("{:.1f}", mitems_per_s); }

constexpr std::string_view one_thread = "* on one thread: this map takes no more for that\n";

std::string row_verdict(const row& r, colour use) {
  if (r.failed == 0 && r.wrong == 0) return r.verified ? paint("ok", good, use) : "not verified";
  std::vector<std::string> faults;
  if (r.failed > 0) faults.push_back(thousands(r.failed) + " refused");
  if (r.wrong > 0) faults.push_back(thousands(r.wrong) + " wrong");
  return paint(fmt::format("{}", fmt::join(faults, ", ")), bad, use);
}

std::string values_in_words(unsigned value_bits) {
  return value_bits == 0 ? "no values" : fmt::format("{}-bit values", value_bits);
}

std::vector<std::string> names_of(const std::map<std::string, run_function>& spaces) {
  std::vector<std::string> names(spaces.size());
  std::ranges::transform(spaces, names.begin(), [](const auto& space) { return space.first; });
  return names;
}

nlohmann::ordered_json or_null(bool known, std::uint64_t number) {
  return known ? nlohmann::ordered_json(number) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json row_as_json(const row& r) {
  nlohmann::ordered_json json{{"design", r.design},
                              {"space", r.space},
                              {"threads", or_null(r.threads > 0, static_cast<std::uint64_t>(r.threads))},
                              {"input", r.input},
                              {"n", r.n},
                              {"unique", r.unique},
                              {"key_bytes", r.key_bytes},
                              {"value_bytes", r.value_bytes},
                              {"load_factor", r.load_factor},
                              {"bytes", r.bytes},
                              {"bytes_per_pair", r.bytes_per_pair},
                              {"op", r.op},
                              {"items", r.items},
                              {"seconds", as_json(r.seconds)},
                              {"mitems_per_s", r.mitems_per_s()},
                              {"failed", r.failed},
                              {"wrong", or_null(r.verified || r.wrong > 0, r.wrong)},
                              {"verified", r.verified},
                              {"restarts", r.restarts}};
  if (r.probes) {
    json["probes_avg"] = r.probes->average;
    json["probes_p50"] = r.probes->p50;
    json["probes_p80"] = r.probes->p80;
    json["probes_p90"] = r.probes->p90;
    json["probes_p99"] = r.probes->p99;
    json["probes_p100"] = r.probes->p100;
  }
  return json;
}

nlohmann::ordered_json design_as_json(const design_entry& design) {
  return {{"name", design.name},
          {"paper", design.paper},
          {"summary", design.summary},
          {"abilities", design.abilities},
          {"max_load_factor", design.max_load_factor},
          {"spaces", names_of(design.spaces)}};
}

// How much memory a table takes, and how full it is: a build makes capacity for all items, inserts find a table
// made for the different keys among them.
std::string extent(const std::vector<row>& rows) {
  const auto of = [](const row& r) {
    std::string text = r.bytes == 0
                           ? std::string("memory unknown")
                           : fmt::format("{}, {:.1f} bytes a pair", memory(r.bytes), r.bytes_per_pair);
    if (r.load_factor > 0) text += fmt::format(", {:.1f} % full", 100 * r.load_factor);
    return text;
  };
  const std::string built = of(rows.front());
  const auto insert = std::ranges::find(rows, "insert", &row::op);
  if (insert == rows.end() || of(*insert) == built) return built;
  return fmt::format("{} as built; {} by inserts", built, of(*insert));
}

// One share of the median, from the fastest run to the slowest.
std::string noise(const row& r) {
  return r.seconds.runs.size() < 2 ? "-" : fmt::format("{:.0f} %", 100 * r.seconds.noise());
}

}  // namespace

std::string heading(const workload& work, const run_settings& settings, const style& look) {
  const std::string load = settings.load_factor == fullest_load
                               ? "each design as full as it takes"
                               : fmt::format("load factor {:.4g}", settings.load_factor);
  std::string text = fmt::format("{}: {} items, {} different keys; {}-bit keys, {}, {}", work.data.name,
                                 thousands(work.data.size()), thousands(work.truth.distinct()),
                                 work.data.key_bits, values_in_words(settings.value_bits), load);
  if (work.has_raw() && work.data.raw.size() != work.data.size())
    text += fmt::format("; {} with those that come again", thousands(work.data.raw.size()));
  if (!work.data.note.empty()) text += fmt::format("; {}", work.data.note);
  if (!settings.verify) text += "; answers are not verified";
  return wrap(text + '\n', look.width, 2);
}

std::string design_table(const run_result& result, const style& look) {
  if (result.rows.empty()) return {};
  const row& first = result.rows.front();
  std::string text = wrap(fmt::format("\n{} on {}: {}\n", paint(first.design, title, look.use),
                                      result.machine, extent(result.rows)),
                          look.width, 2);
  const bool some_on_one = std::ranges::any_of(result.rows, [](const row& r) { return r.threads > 1; });
  bool marked = false;
  text +=
      fmt::format("  {:<9} {:>13} {:>9} {:>5} {:>9}  answers\n", "op", "items", "time", "noise", "M items/s");
  for (const row& r : result.rows) {
    const std::string its_noise = fmt::format("{:>5}", noise(r));
    text +=
        fmt::format("  {:<9} {:>13} {:>9} {} {:>9}  {}", r.op, thousands(r.items), duration(r.seconds.median),
                    r.seconds.is_noisy() ? paint(its_noise, doubtful, look.use) : its_noise,
                    rate(r.mitems_per_s()), row_verdict(r, look.use));
    if (r.restarts > 0) text += fmt::format(" ({} restarts)", r.restarts);
    const bool alone = some_on_one && r.threads == 1;
    marked = marked || alone;
    text += alone ? "*\n" : "\n";
  }
  if (marked) text += fmt::format("  {}", one_thread);
  if (std::ranges::none_of(result.rows, [](const row& r) { return r.probes.has_value(); })) return text;
  text += fmt::format("  {:<9} {:>8} {:>5} {:>5} {:>5} {:>5} {:>5}\n", "probes", "average", "p50", "p80",
                      "p90", "p99", "max");
  for (const row& r : result.rows) {
    if (!r.probes) continue;
    text += fmt::format("  {:<9} {:>8.3f} {:>5} {:>5} {:>5} {:>5} {:>5}\n", r.op, r.probes->average,
                        r.probes->p50, r.probes->p80, r.probes->p90, r.probes->p99, r.probes->p100);
  }
  return text;
}

std::string rate_summary(std::span<const row> rows, const style& look) {
  std::vector<std::string> designs;
  std::vector<std::string_view> ops;
  std::map<std::string_view, double> best;
  std::map<std::pair<std::string_view, std::string_view>, const row*> cells;
  for (const row& r : rows) {
    if (designs.empty() || designs.back() != r.design) designs.push_back(r.design);
    best[r.op] = std::max(best[r.op], r.mitems_per_s());
    cells[{r.design, r.op}] = &r;
  }
  for (const auto op : all_ops) {
    if (best.contains(op)) ops.push_back(op);
  }
  std::size_t name_width = 20;
  for (const std::string& design : designs) name_width = std::max(name_width, design.size());
  constexpr std::size_t cell_width = 10;
  const bool some_on_one = std::ranges::any_of(rows, [](const row& r) { return r.threads > 1; });

  // As many columns as fit, and the others below.
  std::string text;
  bool marked = false;
  const std::size_t columns =
      look.width > name_width + cell_width ? (look.width - name_width) / cell_width : 1;
  for (std::size_t from = 0; from < ops.size(); from += columns) {
    const std::span<const std::string_view> these(ops.data() + from, std::min(columns, ops.size() - from));
    text += fmt::format("\n{:<{}}", "million items/s", name_width);
    for (const auto op : these) text += fmt::format("{:>{}}", op, cell_width);
    text += '\n';
    for (const std::string& design : designs) {
      text += fmt::format("{:<{}}", design, name_width);
      for (const auto op : these) {
        const auto found = cells.find({design, op});
        const bool there = found != cells.end();
        const bool alone = there && some_on_one && found->second->threads == 1;
        marked = marked || alone;
        const std::string cell = fmt::format(
            "{:>{}}", there ? rate(found->second->mitems_per_s()) + (alone ? "*" : "") : "-", cell_width);
        const bool fastest = there && found->second->mitems_per_s() == best[op];
        text += fastest ? paint(cell, good | title, look.use) : cell;
      }
      text += '\n';
    }
  }
  if (marked) text += one_thread;
  return text;
}

std::string time_line(const spent& all, const spent& input, const spent& measured, const style& look) {
  return wrap(fmt::format("measured {} of {}; the input and the right answers took {}, the rest {}\n",
                          duration(measured.wall), duration(all.wall), duration(input.wall),
                          duration(std::max(0.0, all.wall - input.wall - measured.wall))),
              look.width, 2);
}

std::string noise_warning(std::span<const row> rows, const style& look) {
  const row* worst = nullptr;
  std::size_t noisy = 0;
  for (const row& r : rows) {
    if (!r.seconds.is_noisy()) continue;
    ++noisy;
    if (worst == nullptr || r.seconds.noise() > worst->seconds.noise()) worst = &r;
  }
  if (worst == nullptr) return {};
  return wrap(
      fmt::format(
          "{}: the runs of {} of {} figures differ by more than {:.0f} % ({} of {} by {:.0f} %); see the "
          "columns of noise, stop other programs, or give --repeat more\n",
          paint("noise", doubtful, look.use), noisy, rows.size(), 100 * spread::much_noise, worst->op,
          worst->design, 100 * worst->seconds.noise()),
      look.width, 2);
}

std::string design_list(const registry& designs, const style& look, const std::string& why_no_cuda) {
  std::string text;
  for (const design_entry& design : designs.designs()) {
    const std::string no_gpu =
        design.runs_on("cuda") || why_no_cuda.empty() ? "" : fmt::format("; not on cuda: {}", why_no_cuda);
    text += fmt::format("{}\n", paint(design.name, title, look.use));
    for (const std::string& line :
         {design.summary, fmt::format("paper: {}", design.paper),
          fmt::format("can: {}", fmt::join(design.abilities, ", ")),
          fmt::format("load factor: at most {:.4g}", design.max_load_factor),
          fmt::format("runs on: {}{}", fmt::join(names_of(design.spaces), ", "), no_gpu)})
      text += wrap(fmt::format("  {}\n", line), look.width, 4);
  }
  return text;
}

nlohmann::ordered_json rows_as_json(std::span<const row> rows) {
  auto all = nlohmann::ordered_json::array();
  for (const row& r : rows) all.push_back(row_as_json(r));
  return all;
}

std::string designs_as_json(const registry& designs) {
  std::vector<std::string> lines;
  for (const design_entry& design : designs.designs()) lines.push_back(design_as_json(design).dump());
  return lines.empty() ? "[]\n" : fmt::format("[\n{}\n]\n", fmt::join(lines, ",\n"));
}

}  // namespace tilehash::app
