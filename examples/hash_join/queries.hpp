// SPDX-License-Identifier: Apache-2.0
// Two of TPC-H's queries and three like them, for each kind of join one, and a count of what it gives.
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

// The wanted rows of one table (or of both) by their order keys.
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
// The same orders and lines: how many orders have none of the lines, one, two, ...; and pairs of a line of
// Q12 and such a line in one order, which comes more than once on both sides.

struct answers {
  std::array<std::array<count, 2>, 2> lines = {};     // Q12, by mode: of urgent or high priority, and others
  std::array<count, priorities.size()> orders = {};   // Q4, by priority
  std::array<count, priorities.size()> in_time = {};  // orders of the quarter without an overdue line
  std::array<count, 8> by_overdue = {};               // ... by how many they have
  std::array<count, 2> pairs = {};                    // of lines, by the mode of the first
  friend bool operator==(const answers&, const answers&) = default;
};
inline count mode_of(const tables& t, count line) { return t.lines.mode[line] != q12_modes[0]; }
inline void add_line(answers& to, const tables& t, count order, count line) {
  ++to.lines[mode_of(t, line)][t.orders.priority[order] > 1];
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
  const side asked = orders_of_quarter(t.orders);
  const buffer<count, Space> orders(space, asked.keys), lines(space, keys_of_overdue(t.lines));
  const auto joined = [&](const char* name, tilehash::join_kind kind) {
    return timed(name, orders.size(), lines.size(),
                 [&] { return tilehash::join(space, orders.span(), lines.span(), {.kind = kind}); });
  };
  for (const auto order : joined("Q4", tilehash::join_kind::semi).left.to_host())
    ++got.orders[t.orders.priority[asked.rows[order]]];
  for (const auto order : joined("in time", tilehash::join_kind::anti).left.to_host())
    ++got.in_time[t.orders.priority[asked.rows[order]]];
  {
    const auto rows = joined("overdue", tilehash::join_kind::left);
    const auto order = rows.left.to_host(), line = rows.right.to_host();
    std::vector<count> overdue(asked.rows.size(), 0);
    for (count i = 0; i < order.size(); ++i) overdue[order[i]] += line[i] != tilehash::join_options::no_match;
    for (const count n : overdue) ++got.by_overdue.at(n);
  }
  {
    const side late = late_lines(t.lines);
    const buffer<count, Space> firsts(space, late.keys);
    const auto rows = timed("pairs", firsts.size(), lines.size(),
                            [&] { return tilehash::join(space, firsts.span(), lines.span()); });
    for (const auto first : rows.left.to_host()) ++got.pairs[mode_of(t, late.rows[first])];
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
  std::unordered_map<count, count> overdue;  // lines of an order
  for (const count key : keys_of_overdue(t.lines)) ++overdue[key];
  const auto lines_of = [&](count key) { return overdue.contains(key) ? overdue.at(key) : 0; };
  for (const count order : orders_of_quarter(t.orders).rows) {
    const count lines = lines_of(t.orders.key[order]);
    ++(lines != 0 ? known.orders : known.in_time)[t.orders.priority[order]];
    ++known.by_overdue.at(lines);
  }
  for (const count line : late_lines(t.lines).rows)
    known.pairs[mode_of(t, line)] += lines_of(t.lines.order_key[line]);
  return known;
}

// The same on a GPU, if there is one: how many of the answers are wrong.
int wrong_on_gpu(const tables& t, const answers& known);

}  // namespace hash_join
