// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "terminal.hpp"

namespace tilehash::bench {
namespace {

std::string in_binary_units(u64 bytes) {
  static constexpr std::array<std::string_view, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  auto number = static_cast<double>(bytes);
  for (; number >= 1024 && unit + 1 < units.size(); ++unit) number /= 1024;
  return fmt::format("{:.4g} {}", number, units[unit]);
}

std::string fitted(const std::string& text) { return app::wrap(text, app::style_of(stdout).width, 4); }

}  // namespace

std::string noise_of(std::string_view op, const spread& seconds) {
  if (!seconds.is_noisy()) return {};
  return fmt::format("  ({} varies by {:.0f} %)", op, seconds.noise() * 100);
}

fields fields_of(const aggregation& row) {
  return {{"method", row.method, "method", -26},
          {"space", row.space},
          {"items", row.what.items, "items", 12},
          {"groups", row.what.groups, "groups", 10},
          {"skewed", row.what.skewed},
          {"", row.what.skewed ? "skewed" : "uniform", "keys", -8},
          {"", row.seconds.median, "ms", 9, ".3f", 1e3},
          {"seconds", as_json(row.seconds)},
          {"", row.rate(), "G/s", 8, ".2f", 1e-9},
          {"mitems_per_s", row.rate() / 1e6},
          {"", noise_of("this", row.seconds), "", -1},
          wrong_answers(row.wrong)};
}

fields fields_of(const ceiling& row, const std::string& space) {
  return {{"space", space},
          {"what", row.what, "", -38},
          {"bytes", row.bytes},
          {"", in_binary_units(row.bytes), "in", 9},
          {"items", row.ops},
          {"seconds", as_json(row.seconds)},
          {"gitems_per_s", row.ops_per_s() / 1e9, "G/s", 9, ".4f"},
          {"gb_per_s", row.bytes_per_s() / 1e9, "GB/s", 9, ".1f"}};
}

std::string limits_lines(const known_limits& known) {
  std::string text = fitted(
      "\nceilings: million reads of 64 bytes a second (for finds); the same with a compare-and-swap (for the "
      "rest); compare-and-swaps alone\n");
  for (const auto& [bytes, limit] : known.by_size())
    text += fmt::format("  {:>10} {:>10.1f} {:>10.1f} {:>10.1f}\n", in_binary_units(bytes), limit.reads / 1e6,
                        limit.updates / 1e6, limit.swaps / 1e6);
  return text;
}

void add_rate(fields& row, const measurement& m) {
  row.push_back({"items", m.items});
  row.push_back({"seconds", as_json(m.seconds)});
  row.push_back({"mitems_per_s", m.rate() / 1e6});
  row.push_back(refused_items(m.failed));
  row.push_back(wrong_answers(m.wrong));
}

fields fields_of(const measurement& m) {
  const std::string marks = fmt::format("{}{}", m.threads == 1 ? "*" : "", m.seconds.is_noisy() ? "~" : "");
  fields all{
      {"design", m.design, "design", -26},
      {"space", m.space},
      {"threads", m.threads > 0 ? nlohmann::ordered_json(m.threads) : nlohmann::ordered_json(nullptr)},
      {"n", m.n, "pairs", 9},
      {"key_bytes", m.key_bytes, "key", 3},
      {"value_bytes", m.value_bytes},
      {"load_factor", or_null(m.load_factor), "load", 5, ".2f"},
      {"bytes_per_pair", or_null(m.bytes_per_pair), "B/pair", m.op == "build" ? 6 : 0, ".1f", 1, false, true},
      {"op", m.op},
      {"", m.rate(), m.op, 10, ".1f", 1e-6, false, true},
      {"ceiling_mitems_per_s", or_null(m.ceiling / 1e6)},
      {"ratio", or_null(m.ratio()), "share", 5, ".2f", 1, false, true},
      {"", marks, "", -2, {}, 1, false, true}};
  add_rate(all, m);
  return all;
}

}  // namespace tilehash::bench
