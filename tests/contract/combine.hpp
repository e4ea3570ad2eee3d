// SPDX-License-Identifier: Apache-2.0
// The library's ops and two of a user, compared with std::unordered_map. A call has so many items that
// those of equal keys are combined first, where the op allows it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include <contract/extremes.hpp>
#include <contract/only_read.hpp>
#include <contract/random.hpp>
#include <tilehash/designs/bucketed_cuckoo.hpp>
#include <tilehash/designs/linear_probing.hpp>
#include <tilehash/designs/tiled.hpp>
#include <tilehash/table.hpp>
#if !TILEHASH_FEW_TYPES && !defined(__CUDACC__)
#include <tilehash/engine/records.hpp>
#endif

namespace tilehash::contract {

// The least and the greatest of the given values.
struct extent {
  float least, greatest;
  friend bool operator==(const extent&, const extent&) = default;
};
struct widen {
  static constexpr bool is_associative = true;
  TILEHASH_FN extent operator()(const extent& a, const extent& b) const {
    return {a.least < b.least ? a.least : b.least, a.greatest > b.greatest ? a.greatest : b.greatest};
  }
};

// Counts the items of a key after its first. It is not associative, so each item reaches the table.
struct times {
  template <class Value>
  TILEHASH_FN Value operator()(const Value& stored, const Value& /*given*/) const {
    return static_cast<Value>(stored + 1);
  }
};

template <class Design>
class combining : public ::testing::Test {
 protected:
  using key = typename Design::key_type;
  using value = typename Design::mapped_type;

  // Many items of few keys, including those in sentinel cells. The op's arguments may be other types than
  // values.
  template <class Op>
  void expect_like_the_model(const Op& op, auto any_value) {
    using given = decltype(any_value(u64(0)));
    const u64 n = combining_space::has_lanes ? 600'000 : scaled(40'000, 1'000), seed = run_seed();
    SCOPED_TRACE("repeat it with TILEHASH_SEED=" + std::to_string(seed));
    combining_space space;
    table<Design, combining_space> t(space, 0, {.load_factor = 0.9});
    std::unordered_map<key, value> model;
    for (u64 round = 0; round < 3; ++round) {
      std::vector<key> keys(n);
      std::vector<given> values(n);
      for (u64 i = 0; i < n; ++i) {
        const u64 x = mix64(seed + round * n + i);
        keys[i] = static_cast<key>(std::numeric_limits<key>::max() -
                                   static_cast<key>(x % 4 == 0 ? x / 4 % 8 : x / 4 % n));
        values[i] = any_value(mix64(x));
      }
      u64 fresh = 0;
      for (u64 i = 0; i < n; ++i) {
        const value x = lifted<Op>(values[i]);
        const auto [at, is_new] = model.try_emplace(keys[i], x);
        if (!is_new) at->second = op(at->second, x);
        fresh += is_new;
      }
      const insert_report expected{.inserted = fresh, .present = n - fresh};
      const buffer<key, combining_space> k(space, keys);
      const buffer<given, combining_space> v(space, values);
      const buffer<value, combining_space> out(space, n);
      insert_report report;
      if constexpr (std::same_as<given_to<Op, value>, nothing>)
        report = t.insert_or_apply(space, k.span(), op);
      else
        report = t.insert_or_apply(space, k.span(), v.span(), op);
      report.restarts = 0;
      EXPECT_EQ(report, expected);
      t.find(space, k.span(), out.span());
      const auto found = out.to_host();
      u64 wrong = 0;
      for (u64 i = 0; i < n; ++i) wrong += !(found[i] == model.at(keys[i]));
      EXPECT_EQ(wrong, 0U);
      EXPECT_EQ(t.size(), model.size());
    }
  }

 private:
  template <class Op, class Given>
  static value lifted([[maybe_unused]] const Given& x) {
    if constexpr (std::same_as<given_to<Op, value>, nothing>)
      return value(1);
    else if constexpr (lifts<Op, value>)
      return Op::template lift<value>(x);
    else
      return x;
  }
};

// Changed in place where the word is small enough; by compare-and-swap in words of 16 bytes and for small
// values. (A GPU's kernels of all of them would take a minute to compile.)
#if TILEHASH_FEW_TYPES || defined(__CUDACC__)
using combining_designs =
    all_or_read<::testing::Types<tiled<u32, u32>, tiled<u64, std::int64_t>, tiled<u32, op::mean_of<float>>,
                                 linear_probing<u32, std::int32_t>>,
                ::testing::Types<tiled<u32, op::mean_of<float>>, linear_probing<u32, std::int32_t>>>;
#else
using combining_designs =
    ::testing::Types<tiled<u32, u32>, tiled<u64, std::int64_t>, tiled<u32, float>, tiled<u16, u8>,
                     bucketed_cuckoo<u32, std::int32_t>, linear_probing<u32, u64>, tiled<u32, extent>,
                     tiled<u64, op::mean_of<std::int32_t>>, indexed<u32, op::mean_of<double>>>;
#endif
TYPED_TEST_SUITE_P(combining);

TYPED_TEST_P(combining, gives_what_the_model_gives) {
  using mapped = typename TypeParam::mapped_type;
  if constexpr (std::is_same_v<mapped, extent>) {
    this->expect_like_the_model(widen{}, [](u64 x) {
      const auto y = static_cast<float>(x % 4096);
      return extent{y, y};
    });
  } else if constexpr (lifts<op::mean, mapped>) {
    using number = typename mapped::number;
    this->expect_like_the_model(op::mean{}, [](u64 x) { return static_cast<number>(x % 4); });
  } else {
    const auto small = [](u64 x) { return static_cast<mapped>(x % 64); };  // exact in a float, in any order
    const auto any = [](u64 x) { return static_cast<mapped>(x); };
    this->expect_like_the_model(op::sum{}, small);
    this->expect_like_the_model(op::minimum{}, any);
    if constexpr (!combining_space::has_lanes && std::is_signed_v<mapped>)
      this->expect_like_the_model(op::maximum{}, any);
    this->expect_like_the_model(times{}, [](u64) { return mapped(1); });
    if constexpr (!combining_space::has_lanes || std::is_same_v<mapped, u32>)
      this->expect_like_the_model(op::count{}, [](u64) { return nothing{}; });
  }
}

REGISTER_TYPED_TEST_SUITE_P(combining, gives_what_the_model_gives);

TEST(extremes, do_not_depend_on_the_order) {
  combining_space space;
  expect_extremes_in_any_order(space, combining_space::has_lanes ? 300 : 30);
}

}  // namespace tilehash::contract
