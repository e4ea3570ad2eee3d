// SPDX-License-Identifier: Apache-2.0
// TPC-H's tables orders and lineitem, row after row by its rules (specification 4.2.3), in no memory: of each
// 32 order keys 8 are used; an order has 1 to 7 lines; dates follow each other; a line's part is one of 200
// 000 for each unit of scale.
#pragma once

#include <chrono>
#include <cstdint>
#include <random>

namespace tpch {

using count = std::uint64_t;
using day = std::int32_t;  // since 1970

inline constexpr count orders_a_scale = 1'500'000, parts_a_scale = 200'000, lines_an_order = 4;  // on average
inline constexpr unsigned priorities = 5, ship_modes = 7;

struct order {
  count key;
  day date;
  std::uint8_t priority;  // of 5
};
struct line {
  count order_key, part_key;
  std::uint8_t number;  // in its order: 1 to 7
  day shipped, committed, received;
  std::uint8_t mode;  // of 7
};

inline day day_of(int year, unsigned month, unsigned date) {
  using namespace std::chrono;
  return static_cast<day>(
      sys_days(std::chrono::year(year) / std::chrono::month(month) / std::chrono::day(date))
          .time_since_epoch()
          .count());
}

// Orders in the order of their keys, each with its lines. The same seed and number of parts give the same
// rows.
class rows {
 public:
  rows(count parts, count seed) : parts_(parts), random_(seed), part_of_(~seed) {}

  // The next order, of which the lines are asked for then.
  order next_order() {
    ++orders_;
    its_ = {orders_ / 8 * 32 + orders_ % 8,
            first_ + static_cast<day>(from_to(0, static_cast<count>(last_ - first_))),
            static_cast<std::uint8_t>(from_to(0, priorities - 1))};
    lines_ = from_to(1, 7);
    number_ = 0;
    return its_;
  }
  bool has_line() const { return number_ != lines_; }
  line next_line() {
    ++number_;
    const day shipped = its_.date + static_cast<day>(from_to(1, 121));
    const day committed = its_.date + static_cast<day>(from_to(30, 90));
    const day received = shipped + static_cast<day>(from_to(1, 30));
    const auto mode = static_cast<std::uint8_t>(from_to(0, ship_modes - 1));
    return {
        its_.key, 1 + part_of_() % parts_, static_cast<std::uint8_t>(number_), shipped, committed, received,
        mode};
  }

 private:
  count from_to(count least, count most) { return least + random_() % (most - least + 1); }

  const day first_ = day_of(1992, 1, 1), last_ = day_of(1998, 12, 31) - 151;
  count parts_, orders_ = 0, lines_ = 0, number_ = 0;
  order its_{};
  std::mt19937_64 random_, part_of_;
};

}  // namespace tpch
