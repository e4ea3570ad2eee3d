// Two of TPC-H's queries, each a join and a count of what it gives.
#pragma once

#include <array>
#include <chrono>
#include <cstdio>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <tilehash/join.hpp>

#include "tables.hpp"

namespace hash_join {

// What is asked for: rows of one table (or of both) by their order keys.
struct side {
  std::vector<count> keys;
  std::vector<count> rows;  // their numbers in the table
};
// Q12: lines that came late although they were shipped in time, by mail or ship, in 1994.
inline constexpr std::array q12_modes = {5, 3};  // MAIL, SHIP
inline side late_lines(const line_table& l) {
  const day from = day_of(1994, 1, 1), to = day_of(1995, 1, 1);
  side s;
  for (count i = 0; i < l.order_key.size(); ++i) {
    if (l.mode[i] != q12_modes[0] && l.mode[i] != q12_modes[1]) continue;
    if (l.committed[i] >= l.received[i] || l.shipped[i] >= l.committed[i]) continue;
    if (l.received[i] < from || l.received[i] >= to) continue;
    s.keys.push_back(l.order_key[i]);
    s.rows.push_back(i);
  }
  return s;
}
// Q4: the orders of a quarter of 1993, and lines that came later than promised.
inline side orders_of_quarter(const order_table& o) {
  const day from = day_of(1993, 7, 1), to = day_of(1993, 10, 1);
  side s;
  for (count i = 0; i < o.key.size(); ++i) {
    if (o.date[i] < from || o.date[i] >= to) continue;
    s.keys.push_back(o.key[i]);
    s.rows.push_back(i);
  }
  return s;
}
inline std::vector<count> keys_of_overdue(const line_table& l) {
  std::vector<count> keys;
  for (count i = 0; i < l.order_key.size(); ++i)
    if (l.committed[i] < l.received[i]) keys.push_back(l.order_key[i]);
  return keys;
}

struct answers {
  std::array<std::array<count, 2>, 2> lines = {};    // Q12, by mode: of urgent or high priority, and others
  std::array<count, priorities.size()> orders = {};  // Q4, by priority
  friend bool operator==(const answers&, const answers&) = default;
};
inline void add_line(answers& to, const tables& t, count order, count line) {
  ++to.lines[t.lines.mode[line] != q12_modes[0]][t.orders.priority[order] > 1];
}

// By the library, on any space. Says how long the joins took.
template <class Space>
answers ask(Space& space, const tables& t) {
  using tilehash::buffer;
  const auto timed = [&](const char* name, count left, count right, auto join) {
    const auto start = std::chrono::steady_clock::now();
    auto rows = join();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    std::printf("%s on %s: %llu and %llu rows joined to %llu in %.2f ms\n", name, space.name().c_str(),
                static_cast<unsigned long long>(left), static_cast<unsigned long long>(right),
                static_cast<unsigned long long>(rows.size()), took.count() * 1e3);
    return rows;
  };
  answers got;
  {
    const side late = late_lines(t.lines);
    // [join-begin]
    const buffer<count, Space> orders(space, t.orders.key), lines(space, late.keys);
    const auto rows = timed("Q12", orders.size(), lines.size(),
                            [&] { return tilehash::join(space, orders.span(), lines.span()); });
    const auto order = rows.left.to_host(), line = rows.right.to_host();  // numbers of rows, in pairs
    // [join-end]
    for (count i = 0; i < order.size(); ++i) add_line(got, t, order[i], late.rows[line[i]]);
  }
  {
    const side asked = orders_of_quarter(t.orders);
    const buffer<count, Space> orders(space, asked.keys), lines(space, keys_of_overdue(t.lines));
    const auto rows = timed("Q4", orders.size(), lines.size(), [&] {
      return tilehash::join(space, orders.span(), lines.span(), {.kind = tilehash::join_kind::semi});
    });
    for (const auto order : rows.left.to_host()) ++got.orders[t.orders.priority[asked.rows[order]]];
  }
  return got;
}

// By the standard library.
inline answers expected(const tables& t) {
  answers known;
  std::unordered_map<count, count> order_of;
  for (count i = 0; i < t.orders.key.size(); ++i) order_of[t.orders.key[i]] = i;
  for (const count line : late_lines(t.lines).rows)
    add_line(known, t, order_of.at(t.lines.order_key[line]), line);
  std::unordered_map<count, bool> overdue;
  for (const count key : keys_of_overdue(t.lines)) overdue[key] = true;
  for (const count order : orders_of_quarter(t.orders).rows)
    if (overdue.contains(t.orders.key[order])) ++known.orders[t.orders.priority[order]];
  return known;
}

// The same on a GPU, if there is one: how many of the answers are wrong.
int wrong_on_gpu(const tables& t, const answers& known);

}  // namespace hash_join
