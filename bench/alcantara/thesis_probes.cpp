// SPDX-License-Identifier: Apache-2.0
#include "alcantara/thesis_probes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include <tilehash/designs/double_hashing.hpp>
#include <tilehash/designs/linear_probing.hpp>
#include <tilehash/kernel/upsert.hpp>
#include <tilehash/papers/quadratic_probing.hpp>
#include <tilehash/space/cpu.hpp>

#include "rows.hpp"

namespace tilehash::bench {
namespace {

// Lookups of the n keys from number `first` on, all different: the mixer is a bijection.
template <class Design>
void count_lookups(cpu& space, const Design& design, u64 first, u64 n, probe_statistics& row) {
  using slot = typename Design::slot_type;
  std::vector<u64> times(design.max_steps() + 1);
  space.for_each_share(n, [&](u64 from, u64 to) {
    for (u64 i = from; i < to; ++i) {
      const auto bits = slot::encode(mix32(static_cast<u32>(first + i)));
      auto location = design.locate(bits);
      u32 steps = 1;
      for (; steps < design.max_steps(); ++steps, design.next(location)) {
        const auto word = *design.address(location);
        if (slot::key_of(word) == bits || word == slot::empty_word) break;
      }
      detail::fetch_add(times.data() + steps, u64(1));
    }
  });
  static constexpr double shares[] = {0.5, 0.8, 0.9, 0.99, 1};
  u64 so_far = 0;
  for (u32 steps = 0, next = 0; next < 5; ++steps) {
    so_far += times[steps];
    row.average += static_cast<double>(steps) * static_cast<double>(times[steps]) / static_cast<double>(n);
    while (next < 5 && static_cast<double>(so_far) >= std::ceil(shares[next] * static_cast<double>(n)))
      row.at[next++] = steps;
  }
}

template <class Design>
void count(probe_statistics row, const std::function<void(const probe_statistics&)>& tell) {
  using slot = typename Design::slot_type;
  cpu space;
  const u64 capacity = Design::capacity_for(row.items, 1 / row.size);
  std::vector<typename Design::word> memory(capacity, slot::empty_word);
  const Design design(memory.data(), capacity, 1);
  space.for_each_share(row.items, [&](u64 from, u64 to) {
    for (u64 i = from; i < to; ++i) {
      const auto bits = slot::encode(mix32(static_cast<u32>(i)));
      if (slot::is_reserved(bits)) continue;  // these would not live here
      const auto became = detail::insert_one(design, bits, 0);
      if (became == outcome::refused) detail::fetch_add(&row.refused, u64(1));
    }
  });
  for (const bool found : {true, false}) {
    probe_statistics its = row;
    its.found = found;
    count_lookups(space, design, found ? 0 : row.items, row.items, its);
    tell(its);
  }
}

template <class Hash>
void count_with(probe_statistics row, const char* hash,
                const std::function<void(const probe_statistics&)>& tell) {
  row.hash = hash;
  row.probing = "linear";
  count<linear_probing<u32, u32, Hash>>(row, tell);
  row.probing = "quadratic";
  count<papers::quadratic_probing<u32, u32, Hash>>(row, tell);
  row.probing = "double hashing";
  row.jump_prime = 41;
  count<double_hashing<u32, u32, Hash>>(row, tell);
}

}  // namespace

void count_probes(u64 items, double size, const std::function<void(const probe_statistics&)>& tell) {
  probe_statistics row;
  row.items = items;
  row.size = size;
  count_with<linear_polynomial>(row, "multiplicative", tell);
  count_with<xor_polynomial>(row, "XOR", tell);
  count_with<murmur>(row, "murmur", tell);
  row.hash = "murmur";
  row.probing = "double hashing";
  const auto with_jumps = [&]<u64 Prime>() {
    row.jump_prime = Prime;
    count<double_hashing<u32, u32, murmur, Prime>>(row, tell);
  };
  with_jumps.template operator()<3>();
  with_jumps.template operator()<11>();
  with_jumps.template operator()<1009>();
  with_jumps.template operator()<1'000'003>();
}

namespace {

// Table 3.2 of the thesis: 10 million random keys in tables of open addressing.
struct published {
  std::string_view probing;
  bool found;
  double size, average;
  std::array<u32, 5> at;
};
constexpr std::array<published, 18> table_3_2{{
    {"linear", true, 1.05, 11.06, {1, 6, 16, 195, 5144}},
    {"linear", true, 1.25, 2.99, {1, 3, 6, 29, 301}},
    {"linear", true, 2, 1.50, {1, 2, 3, 7, 43}},
    {"quadratic", true, 1.05, 3.39, {1, 4, 8, 29, 264}},
    {"quadratic", true, 1.25, 2.13, {1, 3, 4, 12, 80}},
    {"quadratic", true, 2, 1.43, {1, 2, 2, 5, 22}},
    {"double hashing", true, 1.05, 3.23, {1, 4, 7, 28, 237}},
    {"double hashing", true, 1.25, 2.02, {1, 3, 4, 11, 54}},
    {"double hashing", true, 2, 1.39, {1, 2, 2, 5, 20}},
    {"linear", false, 1.05, 223.40, {77, 340, 622, 1820, 5650}},
    {"linear", false, 1.25, 12.97, {6, 19, 34, 95, 354}},
    {"linear", false, 2, 2.49, {1, 3, 5, 13, 58}},
    {"quadratic", false, 1.05, 21.85, {15, 35, 50, 98, 318}},
    {"quadratic", false, 1.25, 5.43, {4, 9, 12, 23, 78}},
    {"quadratic", false, 2, 2.13, {1, 3, 4, 8, 26}},
    {"double hashing", false, 1.05, 21.42, {15, 34, 49, 97, 359}},
    {"double hashing", false, 1.25, 5.06, {4, 8, 11, 22, 81}},
    {"double hashing", false, 2, 2.01, {1, 3, 4, 7, 27}},
}};

// What the thesis says of such a table with its jumps, or null.
const published* thesis_of(const probe_statistics& row) {
  if (row.jump_prime != 0 && row.jump_prime != 41) return nullptr;
  const auto* const at = std::ranges::find_if(table_3_2, [&](const published& its) {
    return its.probing == row.probing && its.found == row.found && its.size == row.size;
  });
  return at == table_3_2.end() ? nullptr : at;
}

}  // namespace

std::string probes_heading() {
  return fmt::format("{:<16} {:<15} {:>8} {:>9} {:>7} {:>7} {:>8} {:>6} {:>6} {:>6} {:>6} {:>6}\n", "probing",
                     "hash functions", "jump mod", "items", "size", "", "average", "50 %", "80 %", "90 %",
                     "99 %", "100 %");
}
std::string probes_line(const probe_statistics& row) {
  std::string thesis;
  if (const published* its = thesis_of(row))
    thesis = fmt::format("{:<60} thesis: {:>8.2f} {:>6} {:>6} {:>6} {:>6} {:>6}\n", "", its->average,
                         its->at[0], its->at[1], its->at[2], its->at[3], its->at[4]);
  return fmt::format(
      "{:<16} {:<15} {:>8} {:>9} {:>5.2f} N {:>7} {:>8.2f} {:>6} {:>6} {:>6} {:>6} {:>6}{}\n{}", row.probing,
      row.hash, row.jump_prime == 0 ? "" : std::to_string(row.jump_prime), row.items, row.size,
      row.found ? "found" : "missing", row.average, row.at[0], row.at[1], row.at[2], row.at[3], row.at[4],
      faults({{"REFUSED", row.refused}}), thesis);
}
nlohmann::ordered_json probes_as_json(std::span<const probe_statistics> rows) {
  return rows_as_json(rows, [](const probe_statistics& row) {
    return nlohmann::ordered_json{{"probing", row.probing},
                                  {"hash", row.hash},
                                  {"jump_prime", row.jump_prime},
                                  {"items", row.items},
                                  {"size", row.size},
                                  {"found", row.found},
                                  {"average", row.average},
                                  {"at_50_80_90_99_100_percent", row.at},
                                  {"refused", row.refused}};
  });
}

}  // namespace tilehash::bench
