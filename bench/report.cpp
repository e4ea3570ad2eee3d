// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "terminal.hpp"

namespace tilehash::bench {
namespace {

constexpr std::array<std::string_view, 6> ops{"build",     "insert",   "find_hit",
                                              "find_miss", "find_mix", "erase"};

std::string in_binary_units(u64 bytes) {
  static constexpr std::array<std::string_view, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  auto number = static_cast<double>(bytes);
  for (; number >= 1024 && unit + 1 < units.size(); ++unit) number /= 1024;
  return fmt::format("{:.4g} {}", number, units[unit]);
}

std::string fitted(const std::string& text) { return app::wrap(text, app::style_of(stdout).width, 4); }

// A number that is 0 when unknown.
std::string or_dash(double number, int digits) {
  return number > 0 ? fmt::format("{:.{}f}", number, digits) : "-";
}

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

std::string case_heading(const yardstick_case& the_case, const std::string& machine, int threads) {
  std::string text = fitted(fmt::format(
      "\n{} unique keys of {} bits with a value each, load factor {}, on {}{}\n"
      "million items a second; * on one thread, for this map takes no more for that; the best peer is the "
      "best on as many threads\n",
      the_case.n, the_case.bits, the_case.load_factor, machine, threads == 1 ? "; all on ONE thread" : ""));
  text += fmt::format("{:<20}", "");
  for (const auto op : ops) text += fmt::format("{:>10}", op);
  return text + '\n';
}

std::string subject_line(std::span<const measurement> of_one_subject) {
  u64 failed = 0, wrong = 0;
  int most = 0;
  bool has_ceiling = false;
  for (const measurement& m : of_one_subject) {
    failed += m.failed, wrong += m.wrong;
    most = std::max(most, m.threads);
    has_ceiling = has_ceiling || m.ratio() > 0;
  }
  const measurement& first = of_one_subject.front();
  std::string head = fmt::format("{}, {} bytes a pair: ", first.design, or_dash(first.bytes_per_pair, 1));
  if (failed != 0) head += fmt::format("{} REFUSED ", failed);
  if (wrong != 0) head += fmt::format("{} WRONG ", wrong);
  if (failed + wrong == 0) head += "ok";
  std::string rates = fmt::format("  {:<18}", "rate");
  std::string shares = fmt::format("  {:<18}", "of the ceiling");
  for (const auto op : ops) {
    const auto m = std::ranges::find(of_one_subject, op, &measurement::op);
    const bool there = m != of_one_subject.end();
    const char* mark = there && m->threads < most ? "*" : "";
    rates += fmt::format("{:>10}", there ? fmt::format("{:.1f}{}", m->rate() / 1e6, mark) : "-");
    shares += fmt::format("{:>10}", there ? or_dash(m->ratio(), 2) : "-");
  }
  std::string noisy;
  for (const measurement& m : of_one_subject) {
    if (m.seconds.is_noisy())
      noisy += fmt::format("{} {} {:.0f} %", noisy.empty() ? "; noise:" : ",", m.op, 100 * m.seconds.noise());
  }
  return fitted(head + noisy + '\n') + rates + '\n' + (has_ceiling ? shares + '\n' : "");
}

std::string advantage_line(std::span<const measurement> of_one_subject,
                           std::span<const measurement> of_peers) {
  std::string text = fmt::format("  {:<18}", "x the best peer");
  for (const auto op : ops) {
    const auto ours = std::ranges::find(of_one_subject, op, &measurement::op);
    double best = 0;
    for (const measurement& theirs : of_peers) {
      if (ours != of_one_subject.end() && theirs.op == op && theirs.threads == ours->threads)
        best = std::max(best, theirs.rate());
    }
    text += fmt::format("{:>10}", best > 0 ? fmt::format("{:.2f}", ours->rate() / best) : "-");
  }
  return text + '\n';
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
  fields all{{"design", m.design},
             {"space", m.space},
             {"threads", m.threads > 0 ? nlohmann::ordered_json(m.threads) : nlohmann::ordered_json(nullptr)},
             {"n", m.n},
             {"key_bytes", m.key_bytes},
             {"value_bytes", m.value_bytes},
             {"load_factor", or_null(m.load_factor)},
             {"bytes_per_pair", or_null(m.bytes_per_pair)},
             {"op", m.op},
             {"ceiling_mitems_per_s", or_null(m.ceiling / 1e6)},
             {"ratio", or_null(m.ratio())}};
  add_rate(all, m);
  return all;
}

}  // namespace tilehash::bench
