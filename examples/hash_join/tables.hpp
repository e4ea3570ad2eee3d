// SPDX-License-Identifier: Apache-2.0
// TPC-H's tables orders and lineitem, as far as two of its queries read them (rows: tpch.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tpch.hpp"

namespace hash_join {

using tpch::count;
using tpch::day;
using tpch::day_of;

inline constexpr std::array priorities = {"1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"};
inline constexpr std::array ship_modes = {"REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"};

inline std::string text_of(day d) {
  const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(d))};
  const auto two = [](unsigned n) { return std::string(n < 10 ? "-0" : "-") + std::to_string(n); };
  return std::to_string(static_cast<int>(date.year())) + two(static_cast<unsigned>(date.month())) +
         two(static_cast<unsigned>(date.day()));
}

struct order_table {
  std::vector<count> key;
  std::vector<day> date;
  std::vector<std::uint8_t> priority;
};
struct line_table {
  std::vector<count> order_key;
  std::vector<day> shipped, committed, received;
  std::vector<std::uint8_t> mode;
};
struct tables {
  order_table orders;
  line_table lines;
};

inline tables make_tables(double scale, count seed) {
  static_assert(priorities.size() == tpch::priorities && ship_modes.size() == tpch::ship_modes);
  const auto parts = static_cast<count>(static_cast<double>(tpch::parts_a_scale) * scale);
  tpch::rows rows(std::max(parts, count(1)), seed);
  tables t;
  for (auto left = static_cast<count>(static_cast<double>(tpch::orders_a_scale) * scale); left != 0; --left) {
    const tpch::order order = rows.next_order();
    t.orders.key.push_back(order.key);
    t.orders.date.push_back(order.date);
    t.orders.priority.push_back(order.priority);
    while (rows.has_line()) {
      const tpch::line line = rows.next_line();
      t.lines.order_key.push_back(line.order_key);
      t.lines.shipped.push_back(line.shipped);
      t.lines.committed.push_back(line.committed);
      t.lines.received.push_back(line.received);
      t.lines.mode.push_back(line.mode);
    }
  }
  return t;
}

// orders.csv and lineitem.csv, in a folder.
inline void write_csv(const tables& t, const std::filesystem::path& folder) {
  const auto written = [&](const char* name, const auto& put) {
    std::ofstream file(folder / name);
    put(file);
    if (!file.flush()) throw std::runtime_error("cannot write " + (folder / name).string());
  };
  written("orders.csv", [&](auto& file) {
    for (count i = 0; i < t.orders.key.size(); ++i)
      file << t.orders.key[i] << ',' << text_of(t.orders.date[i]) << ',' << priorities[t.orders.priority[i]]
           << '\n';
  });
  written("lineitem.csv", [&](auto& file) {
    const line_table& l = t.lines;
    for (count i = 0; i < l.order_key.size(); ++i)
      file << l.order_key[i] << ',' << text_of(l.shipped[i]) << ',' << text_of(l.committed[i]) << ','
           << text_of(l.received[i]) << ',' << ship_modes[l.mode[i]] << '\n';
  });
}

}  // namespace hash_join
