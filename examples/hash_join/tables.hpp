// TPC-H's tables orders and lineitem, as far as two of its queries read them, made by its rules: of each 32
// order keys 8 are used; an order has 1 to 7 lines; dates follow each other as the rules say.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace hash_join {

using count = std::uint64_t;
using day = std::int32_t;  // since 1970

inline constexpr std::array priorities = {"1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"};
inline constexpr std::array ship_modes = {"REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"};

inline day day_of(int year, unsigned month, unsigned date) {
  using namespace std::chrono;
  return static_cast<day>(
      sys_days(std::chrono::year(year) / std::chrono::month(month) / std::chrono::day(date))
          .time_since_epoch()
          .count());
}
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
  std::mt19937_64 random(seed);
  const auto from_to = [&](count least, count most) { return least + random() % (most - least + 1); };
  const day first = day_of(1992, 1, 1), last = day_of(1998, 12, 31) - 151;
  tables t;
  const auto orders = static_cast<count>(1'500'000 * scale);
  for (count i = 1; i <= orders; ++i) {
    const count key = i / 8 * 32 + i % 8;
    const day ordered = first + static_cast<day>(from_to(0, static_cast<count>(last - first)));
    t.orders.key.push_back(key);
    t.orders.date.push_back(ordered);
    t.orders.priority.push_back(static_cast<std::uint8_t>(from_to(0, priorities.size() - 1)));
    for (count lines = from_to(1, 7); lines != 0; --lines) {
      const day shipped = ordered + static_cast<day>(from_to(1, 121));
      t.lines.order_key.push_back(key);
      t.lines.shipped.push_back(shipped);
      t.lines.committed.push_back(ordered + static_cast<day>(from_to(30, 90)));
      t.lines.received.push_back(shipped + static_cast<day>(from_to(1, 30)));
      t.lines.mode.push_back(static_cast<std::uint8_t>(from_to(0, ship_modes.size() - 1)));
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
