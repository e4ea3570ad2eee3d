// SPDX-License-Identifier: Apache-2.0
#include "data_sets.hpp"

#include <fmt/format.h>

#include <tilehash/core/config.hpp>

#include <algorithm>
#include <cmath>
#include <hash_join/tpch.hpp>
#include <string>

#include "dataset.hpp"
#include "memory_guard.hpp"
#include "scramble.hpp"

namespace tilehash::app {
namespace {

struct published {
  std::string_view name;
  u64 pairs, keys, most;  // most: pairs of one key
};
// In the order of data_set.
constexpr published sets[] = {{"tw", 50'876'784, 44'523'684, 4},
                              {"re", 48'104'875, 41'466'682, 2},
                              {"com", 10'000'000, 4'583'941, 14},
                              {"line", 50'000'000, 50'000'000, 1},
                              {"rand", 100'000'000, 100'000'000, 1}};
const published& facts(data_set which) { return sets[static_cast<unsigned>(which)]; }
std::string name_of(const data_set_spec& spec) {
  return fmt::format("{} keys of '{}'", spec.n, facts(spec.which).name);
}

// f falls from above to below `aim` between the two.
template <class Function>
double where_it_falls_to(double aim, double low, double high, Function f) {
  for (int step = 0; step < 100; ++step) {
    const double middle = (low + high) / 2;
    (f(middle) > aim ? low : high) = middle;
  }
  return (low + high) / 2;
}

// exp(b (c - most) + d (c^2 - most^2)) keys come c times, so that one comes most often: the parabola that
// gives so many keys, and so many pairs that repeat one.
struct parabola {
  double most, b, d;
  double operator()(double c) const { return std::exp(b * (c - most) + d * (c * c - most * most)); }
  double sum(auto weight) const {
    double all = 0;
    for (double c = 1; c <= most; ++c) all += weight(c) * (*this)(c);
    return all;
  }
};
parabola fit(double keys, double repeats, double most) {
  const auto for_keys = [&](double d) {
    const auto keys_at = [&](double b) { return parabola{most, b, d}.sum([](double) { return 1.0; }); };
    return parabola{most, where_it_falls_to(keys, -500, 500, keys_at), d};
  };
  const auto repeats_at = [&](double d) { return for_keys(d).sum([](double c) { return c - 1; }); };
  return for_keys(where_it_falls_to(repeats, -8, 8, repeats_at));
}

// 0 ... n-1, each once, in an order that looks random: a bijection of the numbers of some bits, applied again
// to what falls outside, less than twice on average.
class drawn_order {
 public:
  drawn_order(u64 n, u64 seed) : n_(n), seed_(scramble(64, seed)(1)) {
    while (bits_ < 63 && n > u64(1) << bits_) ++bits_;
    mask_ = (u64(1) << bits_) - 1;
  }
  u64 operator()(u64 i) const {
    do {
      i = (i + seed_) & mask_;
      for (const u64 odd : {0xd1342543de82ef95, 0xaf251af3b0f025b5, 0x9fb21c651e98df25}) {
        i = i * odd & mask_;
        i ^= i >> (bits_ / 2 + 1) % 64;
      }
    } while (i >= n_);
    return i;
  }

 private:
  u64 n_, seed_, mask_ = 0;
  unsigned bits_ = 1;
};

// The number of the key of pair `at`, where pairs of one key are neighbours, and those that come least are
// first.
class numbered_keys {
 public:
  explicit numbered_keys(const copies_plan& plan) : plan_(plan) {}
  u64 operator()(u64 at) const {
    u64 number = 0;
    for (u64 copies = 1; copies < plan_.keys_with.size(); ++copies) {
      const u64 keys = plan_.keys_with[copies];
      if (at < keys * copies) return number + at / copies;
      number += keys, at -= keys * copies;
    }
    return number;
  }

 private:
  copies_plan plan_;
};

// n different numbers below 2^bits by a bell: mean in the middle, four standard deviations to either end.
// Cells of equal width have as many as are due to them, which lie in parts of equal width, one in each.
class bell {
 public:
  bell(u64 n, unsigned bits, u64 seed) : width_log2_(bits - cells_log2), draw_(64, seed) {
    const double ends = std::erfc(4 / std::sqrt(2.0)) / 2;
    for (u64 cell = 0; cell <= cells; ++cell) {
      const double z = 8 * (static_cast<double>(cell) / cells - 0.5);
      const double share = (std::erfc(-z / std::sqrt(2.0)) / 2 - ends) / (1 - 2 * ends);
      before_.push_back(static_cast<u64>(std::llround(share * static_cast<double>(n))));
      if (cell != 0) fullest_ = std::max(fullest_, before_[cell] - before_[cell - 1]);
    }
  }
  bool fits() const { return fullest_ <= u64(1) << width_log2_; }
  // The i-th in their order, i < n.
  u64 operator()(u64 i) const {
    const auto cell = std::upper_bound(before_.begin(), before_.end(), i) - before_.begin() - 1;
    const u64 first = before_[cell], in_cell = before_[cell + 1] - first;
    const u64 part = (u64(1) << width_log2_) / in_cell;
    return (static_cast<u64>(cell) << width_log2_) + (i - first) * part + draw_(i) % part;
  }

 private:
  static constexpr unsigned cells_log2 = 16;
  static constexpr u64 cells = u64(1) << cells_log2;
  unsigned width_log2_;
  std::vector<u64> before_;
  u64 fullest_ = 0;
  scramble draw_;
};

// Order key, part key and line number, behind one another in 64 bits; hashed where the key has fewer.
class lineitem {
 public:
  lineitem(u64 n, unsigned key_bits, u64 seed)
      : rows_(std::max(u64(1), n / tpch::lines_an_order * tpch::parts_a_scale / tpch::orders_a_scale), seed),
        key_bits_(key_bits),
        hash_(64, seed) {}
  u64 next() {
    while (!rows_.has_line()) rows_.next_order();
    const tpch::line its = rows_.next_line();
    const u64 key = its.order_key << 31 | its.part_key << 3 | its.number;
    return key_bits_ == 64 ? key : hash_(key) >> (64 - key_bits_);
  }

 private:
  tpch::rows rows_;
  unsigned key_bits_;
  scramble hash_;
};

template <class Draw>
std::vector<u64> draw_all(const data_set_spec& spec, const tell_share& tell, Draw draw) {
  constexpr u64 each = 1 << 20;
  require_memory(spec.n * sizeof(u64), name_of(spec));
  std::vector<u64> keys(spec.n);
  for (u64 i = 0; i < spec.n; ++i) {
    if (i % each == 0 && tell) tell(static_cast<double>(i) / static_cast<double>(spec.n));
    keys[i] = draw(i);
  }
  return keys;
}

}  // namespace

std::optional<data_set> data_set_called(std::string_view name) {
  const auto at = std::ranges::find(sets, name, &published::name);
  if (at == std::end(sets)) return std::nullopt;
  return static_cast<data_set>(at - std::begin(sets));
}

std::uint64_t full_size(data_set which) { return facts(which).pairs; }

copies_plan plan_copies(data_set which, std::uint64_t n) {
  const published& full = facts(which);
  if (n == 0) return {0, {0, 0}};
  const auto scaled = static_cast<u64>(std::llround(static_cast<double>(full.keys) * static_cast<double>(n) /
                                                    static_cast<double>(full.pairs)));
  const u64 keys = std::clamp(scaled, u64(1), n), most = std::min(full.most, n - keys + 1);
  copies_plan plan{keys, std::vector<u64>(std::max(most, u64(2)) + 1)};
  u64 repeats = n - keys;  // pairs of keys that have come before
  if (most > 2) {
    const parabola shape =
        fit(static_cast<double>(keys), static_cast<double>(repeats), static_cast<double>(most));
    plan.keys_with[most] = 1, repeats -= most - 1;
    for (u64 c = most - 1; c > 2; --c) {
      const auto wanted = static_cast<u64>(std::llround(shape(static_cast<double>(c))));
      plan.keys_with[c] = std::min(wanted, repeats / (c - 1));
      repeats -= (c - 1) * plan.keys_with[c];
    }
  }
  plan.keys_with[2] += repeats;
  plan.keys_with[1] = keys;
  for (u64 c = 2; c <= std::max(most, u64(2)); ++c) plan.keys_with[1] -= plan.keys_with[c];
  return plan;
}

std::vector<std::uint64_t> data_set_keys(const data_set_spec& spec, unsigned key_bits, std::uint64_t seed,
                                         const tell_share& tell) {
  const u64 n = spec.n;
  const drawn_order order(n, seed);
  const scramble nth_key(key_bits, seed);
  switch (spec.which) {
    case data_set::line: {
      lineitem rows(n, key_bits, seed);
      return draw_all(spec, tell, [&](u64) { return rows.next(); });
    }
    case data_set::rand: {
      const bell nth(n, key_bits, seed);
      if (!nth.fits())
        throw input_error(name_of(spec) +
                          ": 32 bits have too few values for a normal distribution; use --key-bits 64");
      return draw_all(spec, tell, [&](u64 i) { return nth(order(i)); });
    }
    default: {
      const numbered_keys number(plan_copies(spec.which, n));
      return draw_all(spec, tell, [&](u64 i) { return nth_key(number(order(i))); });
    }
  }
}

}  // namespace tilehash::app
