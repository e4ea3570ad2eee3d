// SPDX-License-Identifier: Apache-2.0
// Reductions of groups. Values of a group come in the order of their rows, from one thread.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <tilehash/analysis/group_by.hpp>
#include <tilehash/analysis/join_by_codes.hpp>

#include "arrays.hpp"

namespace tilehash::python {
namespace {

namespace codes = tilehash::analysis::detail;
using codes::no_code;

// A column of values; a NaN, and a row that the mask leaves out, is missing.
template <class T>
struct column {
  const char* data;
  i64 stride;
  const std::uint8_t* valid;

  T operator[](u64 row) const {
    T x;
    std::memcpy(&x, data + static_cast<i64>(row) * stride, sizeof x);
    return x;
  }
  bool has(u64 row, [[maybe_unused]] T x) const {
    if (valid != nullptr && valid[row] == 0) return false;
    if constexpr (std::is_floating_point_v<T>)
      return x == x;
    else
      return true;
  }
};

struct grouping {
  cpu& space;
  const u32* of;
  u64 rows, number;
};

template <class State, class T, class Step>
buffer<State, cpu> fold(const grouping& g, const column<T>& values, State start, const Step& step) {
  buffer<State, cpu> states(g.space, g.number);
  g.space.fill(states.data(), states.size(), start);
  codes::fold_groups(g.space, g.of, g.rows, states.data(), g.number, [&](State& s, u64 row) {
    const T x = values[row];
    if (values.has(row, x)) step(s, x, row);
  });
  return states;
}
// An array of part(state) for each group.
template <class Part, class State>
auto parts(cpu& space, const buffer<State, cpu>& states, const Part& part) {
  using result = decltype(part(states.data()[0]));
  buffer<result, cpu> out(space, states.size());
  for (u64 i = 0; i < states.size(); ++i) out.data()[i] = part(states.data()[i]);
  return out;
}

template <class T>
struct chosen {
  T value;
  u32 row;  // no_code: none yet
};
struct moments {
  double mean, squares;
  u64 count;
};

// The values and whether there are any: for min, max, first, last, argmin and argmax.
template <class T>
nb::tuple choose(const grouping& g, const column<T>& values, const std::string& op) {
  buffer<chosen<T>, cpu> states;
  {
    nb::gil_scoped_release release;
    const auto by = [&](const auto& replaces) {
      return fold(g, values, chosen<T>{T(0), no_code}, [&](chosen<T>& s, T x, u64 row) {
        if (s.row == no_code || replaces(x, s.value)) s = {x, static_cast<u32>(row)};
      });
    };
    if (op == "min" || op == "argmin")
      states = by([](T x, T s) { return x < s; });
    else if (op == "max" || op == "argmax")
      states = by([](T x, T s) { return s < x; });
    else if (op == "first")
      states = by([](T, T) { return false; });
    else
      states = by([](T, T) { return true; });
  }
  auto rows =
      parts(g.space, states, [](const chosen<T>& s) { return s.row == no_code ? i64(-1) : i64(s.row); });
  auto chosen_values = parts(g.space, states, [](const chosen<T>& s) { return s.value; });
  return nb::make_tuple(to_numpy(std::move(chosen_values)), to_numpy(std::move(rows)));
}

template <class T>
nb::object add(const grouping& g, const column<T>& values) {
  using sum = std::conditional_t<std::is_floating_point_v<T>, double,
                                 std::conditional_t<std::is_signed_v<T>, i64, u64>>;
  buffer<sum, cpu> sums;
  {
    nb::gil_scoped_release release;
    sums = fold(g, values, sum(0), [](sum& s, T x, u64) {
      if constexpr (std::is_integral_v<T>)
        s = static_cast<sum>(static_cast<u64>(s) + static_cast<u64>(x));  // wraps round
      else
        s += x;
    });
  }
  return nb::cast(to_numpy(std::move(sums)));
}
template <class T>
nb::object count(const grouping& g, const column<T>& values) {
  buffer<i64, cpu> counts;
  {
    nb::gil_scoped_release release;
    counts = fold(g, values, i64(0), [](i64& s, T, u64) { ++s; });
  }
  return nb::cast(to_numpy(std::move(counts)));
}
template <class T>
nb::object truth(const grouping& g, const column<T>& values, bool all) {
  buffer<bool, cpu> yes;
  {
    nb::gil_scoped_release release;
    yes = fold(g, values, all, [&](bool& s, T x, u64) { s = all ? s && x != 0 : s || x != 0; });
  }
  return nb::cast(to_numpy(std::move(yes)));
}
// mean, var or std. (Sums of squares by Welford: large means lose no digits.)
template <class T>
nb::object moment(const grouping& g, const column<T>& values, const std::string& op, i64 ddof) {
  buffer<double, cpu> out;
  {
    nb::gil_scoped_release release;
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    if (op == "mean") {
      const auto states = fold(g, values, moments{0, 0, 0}, [](moments& s, T x, u64) {
        s.mean += static_cast<double>(x);
        ++s.count;
      });
      out = parts(g.space, states,
                  [&](const moments& s) { return s.count == 0 ? none : s.mean / double(s.count); });
    } else {
      const auto states = fold(g, values, moments{0, 0, 0}, [](moments& s, T value, u64) {
        const double x = static_cast<double>(value), from = x - s.mean;
        s.mean += from / static_cast<double>(++s.count);
        s.squares += from * (x - s.mean);
      });
      out = parts(g.space, states, [&](const moments& s) {
        const double variance = i64(s.count) <= ddof ? none : s.squares / double(i64(s.count) - ddof);
        return op == "var" ? variance : std::sqrt(variance);
      });
    }
  }
  return nb::cast(to_numpy(std::move(out)));
}
// Linear between the two nearest values.
template <class T>
nb::object quantile(const grouping& g, const column<T>& values, double q) {
  buffer<double, cpu> out(g.space, g.number);
  {
    nb::gil_scoped_release release;
    const codes::rows_by_code by(g.space, g.of, g.rows, g.number);
    const u32* const offsets = by.offsets.data();
    buffer<T, cpu> sorted(g.space, by.rows.size());
    g.space.for_each(g.number, [&](u64 group) {
      T* const first = sorted.data() + offsets[group];
      T* last = first;
      for (u32 i = offsets[group]; i < offsets[group + 1]; ++i) {
        const T x = values[by.rows.data()[i]];
        if (values.has(by.rows.data()[i], x)) *last++ = x;
      }
      if (first == last) {
        out.data()[group] = std::numeric_limits<double>::quiet_NaN();
        return;
      }
      const double at = q * static_cast<double>(last - first - 1);
      T* const low = first + static_cast<i64>(at);
      std::nth_element(first, low, last);
      double x = static_cast<double>(*low);
      const double part = at - std::floor(at);
      if (part > 0) x += part * (static_cast<double>(*std::min_element(low + 1, last)) - x);
      out.data()[group] = x;
    });
  }
  return nb::cast(to_numpy(std::move(out)));
}

template <class T>
nb::object reduce_column(const grouping& g, const column<T>& values, const std::string& op, double argument) {
  if (op == "sum") return add(g, values);
  if (op == "count") return count(g, values);
  if (op == "any" || op == "all") return truth(g, values, op == "all");
  if (op == "mean" || op == "var" || op == "std") return moment(g, values, op, static_cast<i64>(argument));
  if (op == "quantile") return quantile(g, values, argument);
  return choose(g, values, op);
}

nb::object reduce(const vector_in<u32>& of, u64 number, const any_in& a, const mask_in& valid,
                  const std::string& op, double argument, int threads) {
  if (a.size() != of.size()) throw nb::value_error("tilehash: keys and values differ in length");
  const grouping g{space_of(threads), of.data(), of.size(), number};
  const std::uint8_t* mask = bytes_of_mask(valid, a.size());
  nb::object result;
  const auto is = [&]<class T>(T) {
    if (a.dtype() != nb::dtype<T>()) return false;
    const i64 stride = a.size() == 0 ? i64(sizeof(T)) : a.stride(0) * i64(sizeof(T));
    result = reduce_column(g, column<T>{static_cast<const char*>(a.data()), stride, mask}, op, argument);
    return true;
  };
  if (is(double{}) || is(i64{}) || is(float{}) || is(std::int32_t{}) || is(u64{}) || is(u32{}) ||
      is(std::int16_t{}) || is(u16{}) || is(std::int8_t{}) || is(u8{}))
    return result;
  throw nb::type_error("tilehash: values are integers or floating-point numbers of up to 8 bytes");
}

array_out<i64> sizes(const vector_in<u32>& of, u64 number, int threads) {
  cpu& space = space_of(threads);
  buffer<i64, cpu> counts(space, number);
  {
    nb::gil_scoped_release release;
    space.fill(counts.data(), number, i64(0));
    codes::fold_groups(space, of.data(), of.size(), counts.data(), number, [](i64& s, u64) { ++s; });
  }
  return to_numpy(std::move(counts));
}

}  // namespace

void bind_reductions(nb::module_& m) {
  m.def("reduce", &reduce, nb::arg("codes"), nb::arg("number"), nb::arg("values"), nb::arg("valid").none(),
        nb::arg("op"), nb::arg("argument"), nb::arg("threads"));
  m.def("sizes", &sizes, nb::arg("codes"), nb::arg("number"), nb::arg("threads"));
}

}  // namespace tilehash::python
