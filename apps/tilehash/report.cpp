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

namespace tilehash::app {
namespace {

const fmt::text_style title = fmt::emphasis::bold;
const fmt::text_style good = fmt::fg(fmt::terminal_color::green);
const fmt::text_style bad = fmt::fg(fmt::terminal_color::red) | fmt::emphasis::bold;

std::string paint(const std::string& text, const fmt::text_style& style, colour use) {
  return use == colour::on ? fmt::format(style, "{}", text) : text;
}

std::string thousands(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (auto place = static_cast<std::ptrdiff_t>(digits.size()) - 3; place > 0; place -= 3) {
    digits.insert(static_cast<std::size_t>(place), 1, ',');
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

std::string verdict(const row& r, colour use) {
  if (r.failed == 0 && r.wrong == 0) return paint("ok", good, use);
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

nlohmann::ordered_json as_json(const row& r) {
  nlohmann::ordered_json json{{"design", r.design},
                              {"space", r.space},
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
                              {"seconds", r.seconds},
                              {"mitems_per_s", r.mitems_per_s},
                              {"failed", r.failed},
                              {"wrong", r.wrong},
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

nlohmann::ordered_json as_json(const design_entry& design) {
  return {{"name", design.name},
          {"paper", design.paper},
          {"summary", design.summary},
          {"abilities", design.abilities},
          {"spaces", names_of(design.spaces)}};
}

template <class Things>
std::string one_a_line(const Things& things) {
  std::vector<std::string> lines;
  lines.reserve(things.size());
  constexpr auto replace = nlohmann::ordered_json::error_handler_t::replace;  // a file's name may be no UTF-8
  for (const auto& thing : things) lines.push_back(as_json(thing).dump(-1, ' ', false, replace));
  return lines.empty() ? "[]\n" : fmt::format("[\n{}\n]\n", fmt::join(lines, ",\n"));
}

// How much memory a table takes, and how full it is: a build makes room for all items, inserts find a table
// made for the different keys among them.
std::string extent(const std::vector<row>& rows) {
  const auto of = [](const row& r) {
    return fmt::format("{}, {:.1f} bytes a pair, {:.1f} % full", memory(r.bytes), r.bytes_per_pair,
                       100 * r.load_factor);
  };
  const std::string built = of(rows.front());
  const auto insert = std::ranges::find(rows, "insert", &row::op);
  if (insert == rows.end() || of(*insert) == built) return built;
  return fmt::format("{} as built; {} by inserts", built, of(*insert));
}

}  // namespace

std::string heading(const workload& work, const run_settings& settings) {
  const std::string load = settings.load_factor == fullest_load
                               ? "each design as full as it takes"
                               : fmt::format("load factor {}", settings.load_factor);
  return fmt::format("{}: {} items, {} different keys; {}-bit keys, {}, {}\n", work.data.name,
                     thousands(work.data.size()), thousands(work.truth.distinct()), work.data.key_bits,
                     values_in_words(settings.value_bits), load);
}

std::string design_table(const run_result& result, colour use) {
  if (result.rows.empty()) return {};
  const row& first = result.rows.front();
  const bool probes = std::ranges::any_of(result.rows, [](const row& r) { return r.probes.has_value(); });
  std::string text =
      fmt::format("\n{} on {}: {}\n", paint(first.design, title, use), result.machine, extent(result.rows));
  text += fmt::format("  {:<9} {:>14} {:>11} {:>10}", "op", "items", "time", "M items/s");
  if (probes)
    text += fmt::format(" {:>8} {:>5} {:>5} {:>5} {:>5} {:>5}", "probes", "p50", "p80", "p90", "p99", "max");
  text += "  answers\n";
  for (const row& r : result.rows) {
    text += fmt::format("  {:<9} {:>14} {:>11} {:>10}", r.op, thousands(r.items), duration(r.seconds),
                        rate(r.mitems_per_s));
    if (r.probes) {
      text += fmt::format(" {:>8.3f} {:>5} {:>5} {:>5} {:>5} {:>5}", r.probes->average, r.probes->p50,
                          r.probes->p80, r.probes->p90, r.probes->p99, r.probes->p100);
    } else if (probes) {
      text += fmt::format("{:39}", "");
    }
    text += "  " + verdict(r, use);
    if (r.restarts > 0) text += fmt::format(" ({} restarts)", r.restarts);
    text += '\n';
  }
  return text;
}

std::string rate_summary(std::span<const row> rows, colour use) {
  std::vector<std::string> designs;
  std::map<std::string_view, double> best;
  std::map<std::pair<std::string_view, std::string_view>, double> rates;
  for (const row& r : rows) {
    if (designs.empty() || designs.back() != r.design) designs.push_back(r.design);
    best[r.op] = std::max(best[r.op], r.mitems_per_s);
    rates[{r.design, r.op}] = r.mitems_per_s;
  }
  static constexpr std::array<std::string_view, 6> ops{"build",     "insert",   "find_hit",
                                                       "find_miss", "find_mix", "erase"};
  std::string text = fmt::format("\n{:<26}", "million items a second");
  for (const auto op : ops) text += fmt::format(" {:>10}", op);
  text += '\n';
  for (const std::string& design : designs) {
    text += fmt::format("{:<26}", design);
    for (const auto op : ops) {
      const auto found = rates.find({design, op});
      const std::string cell = fmt::format(" {:>10}", found == rates.end() ? "-" : rate(found->second));
      text += found != rates.end() && found->second == best[op] ? paint(cell, good | title, use) : cell;
    }
    text += '\n';
  }
  return text;
}

std::string design_list(const registry& designs, colour use) {
  std::string text;
  for (const design_entry& design : designs.designs()) {
    text += fmt::format("{}\n  {}\n  paper: {}\n  can: {}\n  runs on: {}\n", paint(design.name, title, use),
                        design.summary, design.paper, fmt::join(design.abilities, ", "),
                        fmt::join(names_of(design.spaces), ", "));
  }
  return text;
}

std::string rows_as_json(std::span<const row> rows) { return one_a_line(rows); }

std::string designs_as_json(const registry& designs) { return one_a_line(designs.designs()); }

}  // namespace tilehash::app
