// SPDX-License-Identifier: Apache-2.0
#include "advise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace tilehash::app {
namespace {

// A value at `items`, between the sizes that were measured, by the logarithm.
template <class Value>
double between(std::span<const design_costs> costs, std::uint64_t items, const Value& value) {
  const auto above = std::ranges::find_if(costs, [&](const design_costs& c) { return c.items >= items; });
  if (above == costs.begin()) return value(costs.front());
  if (above == costs.end()) return value(costs.back());
  const auto below = std::prev(above);
  const double low = std::log2(static_cast<double>(below->items));
  const double high = std::log2(static_cast<double>(above->items));
  const double share = (std::log2(static_cast<double>(items)) - low) / (high - low);
  return value(*below) + share * (value(*above) - value(*below));
}

bool has(const design_entry& design, const char* ability) {
  return std::ranges::find(design.abilities, ability) != design.abilities.end();
}

std::string obstacle_of(const wanted_table& wanted, const design_entry& design, double bytes) {
  if (wanted.keeps_all && !has(design, "multivalue")) return "it keeps one value of a key";
  if (wanted.grows && !has(design, "insert")) return "it is built at once";
  if (wanted.replaced > 0 && !(has(design, "insert") && has(design, "erase"))) return "it does not change";
  if (wanted.most_bytes != 0 && bytes > static_cast<double>(wanted.most_bytes))
    return fmt::format("it takes {:.0f} MiB", bytes / (1 << 20));
  return {};
}

}  // namespace

std::optional<double> seconds_of(const wanted_table& wanted, std::span<const design_costs> costs) {
  const auto of = [&](const char* op) {
    return between(costs, wanted.items, [&](const design_costs& c) {
      const auto found = c.seconds.find(op);
      return found == c.seconds.end() ? std::nan("") : found->second;
    });
  };
  double each = of(wanted.grows ? "insert" : "build");
  if (wanted.lookups >
      0) {  // through the costs of no, half and all absent keys: a mix is dearer than its parts
    const double hit = of("find_hit"), miss = of("find_miss"), extra = of("find_mix") - (hit + miss) / 2;
    const double a = wanted.absent;
    each += wanted.lookups * ((1 - a) * hit + a * miss + 4 * a * (1 - a) * extra);
  }
  if (wanted.replaced > 0) each += wanted.replaced * (of("erase") + of("reinsert"));
  if (!std::isfinite(each)) return std::nullopt;
  return each * static_cast<double>(wanted.items);
}

std::vector<advised> advise(const wanted_table& wanted, const registry& designs,
                            std::span<const design_costs> costs) {
  std::vector<advised> all;
  for (const design_entry& design : designs.designs()) {
    std::vector<design_costs> its;
    std::ranges::copy_if(costs, std::back_inserter(its),
                         [&](const design_costs& c) { return c.design == design.name; });
    if (its.empty()) continue;
    std::ranges::sort(its, {}, &design_costs::items);
    const double bytes = between(its, wanted.items, [](const design_costs& c) { return c.bytes; }) *
                         static_cast<double>(wanted.items);
    advised one{design.name, 0, bytes, obstacle_of(wanted, design, bytes)};
    const auto seconds = seconds_of(wanted, its);
    one.seconds = seconds.value_or(0);
    if (!seconds && one.obstacle.empty()) one.obstacle = "it lacks an operation";
    all.push_back(one);
  }
  std::ranges::stable_sort(all, [](const advised& a, const advised& b) {
    if (a.obstacle.empty() != b.obstacle.empty()) return a.obstacle.empty();
    return a.obstacle.empty() && a.seconds < b.seconds;
  });
  return all;
}

std::string code_for(const std::string& design, const wanted_table& wanted, const std::string& space) {
  const std::string key = fmt::format("std::uint{}_t", wanted.key_bits);
  const std::string value = wanted.value_bits == 0 ? "void" : fmt::format("std::uint{}_t", wanted.value_bits);
  const std::string types = fmt::format("{}, {}", key, value);
  if (design == "tiled" && wanted.value_bits == 0)
    return fmt::format("tilehash::set<{}, tilehash::{}> t(space, {});", key, space, wanted.items);
  if (design == "multi")
    return fmt::format("tilehash::multimap<{}, tilehash::{}> t(space, {});", types, space, wanted.items);
  if (design == "tiled")
    return fmt::format("tilehash::map<{}, tilehash::{}> t(space, {});", types, space, wanted.items);
  return fmt::format("tilehash::table<tilehash::{}<{}>, tilehash::{}> t(space, {});", design, types, space,
                     wanted.items);
}

}  // namespace tilehash::app
