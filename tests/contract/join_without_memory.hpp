// SPDX-License-Identifier: Apache-2.0
// Joins where memory ends, at each of their allocations: the guarantees of join.hpp and join_graph.hpp.
#pragma once

#include <contract/join.hpp>

namespace tilehash::contract {

// call() gets memory for 0, 1, 2, ... allocations, or for all but one, until it needs no more. It returns, or throws
// out_of_memory; then it keeps no memory, and after(threw) says the rest. Returns how often it threw.
template <class Memory, class Call, class After>
u64 at_every_allocation(Memory& memory, const Call& call, const After& after) {
  const u64 before = memory.allocated();
  u64 threw = 0;
  for (const u64 refusals : {faulty::never, u64(1)}) {
    for (u64 allocations = 0; allocations < 400; ++allocations) {
      SCOPED_TRACE(std::to_string(allocations) + " allocations" + (refusals == 1 ? ", then others" : ""));
      bool failed = false;
      memory.refuse_after(allocations, refusals);
      try {
        memory.guarded(call);
      } catch (const out_of_memory&) {
        failed = true;
      }
      memory.refuse_after(faulty::never);
      threw += failed;
      EXPECT_EQ(memory.allocated(), before) << "memory is kept, or given back twice";
      EXPECT_TRUE(!failed || memory.refused());
      after(failed);
      if (::testing::Test::HasFailure()) return threw;
      if (!memory.refused()) break;
      EXPECT_LT(allocations, 399U) << "it never had memory enough";
    }
  }
  return threw;
}

template <class Key>
class joins_without_memory : public ::testing::Test {
 protected:
  using space_type = decltype(join_ground::space);
  using host_keys = std::vector<Key>;
  join_ground ground;
  space_type& space = ground.space;

  // Sides of a join by regions, one of which is left to the table; or of one by the table.
  struct sides {
    host_keys left, right;
    join_options::ways way;
  };
  static std::vector<sides> all_sides() {
    std::vector<sides> all;
    for (const join_options::ways way :
         {join_options::ways::automatic, join_options::ways::by_regions, join_options::ways::by_table}) {
      if (sizeof(Key) > 8 && way == join_options::ways::by_regions) continue;
      if (small_sizes() && sizeof(Key) != 4 && way == join_options::ways::automatic) continue;  // seconds
      const u64 n = way == join_options::ways::automatic    ? 33'000
                    : way == join_options::ways::by_regions ? 5'000
                                                            : 900;
      auto right = keys_by<Key>(n, [](u64 i) { return mix64(i); });
      const host_keys left(right.begin(), right.begin() + 500);
      std::fill(right.begin() + 500, right.begin() + 700, right[0]);
      all.push_back({left, right, way});
    }
    return all;
  }
  static bool same(const host_keys& a, const host_keys& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(Key)) == 0;
  }
};
TYPED_TEST_SUITE_P(joins_without_memory);

// Strong: the keys are as they were.
TYPED_TEST_P(joins_without_memory, count_and_return_rows_or_change_nothing) {
  auto& space = this->space;
  using run_space = typename TestFixture::space_type;
  for (const auto& [left, right, way] : this->all_sides()) {
    SCOPED_TRACE("way " + std::to_string(static_cast<int>(way)));
    const buffer<TypeParam, run_space> l(space, left), r(space, right);
    const auto unchanged = [&](bool threw) {
      if (threw) {
        EXPECT_TRUE(this->same(l.to_host(), left) && this->same(r.to_host(), right));
      }
    };
    const join_model<TypeParam> model(left, right);
    for (const join_kind kind : {join_kind::left, join_kind::semi}) {
      if (kind != join_kind::left && way == join_options::ways::automatic) continue;
      const auto expected = model.rows(kind);
      const auto count = [&] {
        EXPECT_EQ(join_size(space, l.span(), r.span(), {kind, way}), expected.size());
      };
      EXPECT_GT(at_every_allocation(this->ground.memory, count, unchanged), 0U);
      const auto rows = [&] {
        const auto got = join(space, l.span(), r.span(), {kind, way});
        EXPECT_TRUE(in_order(got.left, got.right, kind) == expected);
      };
      EXPECT_GT(at_every_allocation(this->ground.memory, rows, unchanged), 0U);
    }
  }
}

// Basic: the keys are as they were, and each row that the caller's arrays have is untouched or one of the join's.
TYPED_TEST_P(joins_without_memory, write_no_wrong_row_to_the_callers_arrays) {
  auto& space = this->space;
  using run_space = typename TestFixture::space_type;
  constexpr u32 mark = no_match - 77;
  for (const auto& [left, right, way] : this->all_sides()) {
    SCOPED_TRACE("way " + std::to_string(static_cast<int>(way)));
    const auto expected = join_model<TypeParam>(left, right).rows(join_kind::left);
    const u64 n = expected.size(), beyond = 3;
    const buffer<TypeParam, run_space> l(space, left), r(space, right);
    const buffer<u32, run_space> a(space, n + beyond), b(space, n + beyond);
    const auto call = [&] {
      space.fill(a.data(), a.size(), mark);
      space.fill(b.data(), b.size(), mark);
      EXPECT_EQ(join(space, l.span(), r.span(), a.first(n), b.first(n), {join_kind::left, way}), n);
    };
    const auto judge = [&](bool threw) {
      const auto lefts = a.to_host(), rights = b.to_host();
      row_pairs written;
      for (u64 i = 0; i < lefts.size(); ++i) {
        EXPECT_EQ(lefts[i] == mark, rights[i] == mark) << "half a row";
        if (lefts[i] != mark) written.emplace_back(lefts[i], rights[i]);
      }
      for (u64 i = n; i < n + beyond; ++i) EXPECT_EQ(lefts[i], mark) << "beyond the array";
      std::ranges::sort(written);
      EXPECT_TRUE(threw ? std::ranges::includes(expected, written) : written == expected);
      EXPECT_TRUE(this->same(l.to_host(), left) && this->same(r.to_host(), right));
    };
    EXPECT_GT(at_every_allocation(this->ground.memory, call, judge), 0U);
  }
}

// Strong: the keys and the graph are as they were.
TYPED_TEST_P(joins_without_memory, with_a_graph_change_nothing) {
  auto& space = this->space;
  using run_space = typename TestFixture::space_type;
  auto right = keys_by<TypeParam>(600, [](u64 i) { return mix64(i); });
  const auto left = keys_by<TypeParam>(700, [](u64 i) { return mix64(2 * i); });
  std::fill(right.begin() + 300, right.begin() + 340, right[0]);
  std::vector<u32> places(right.size());
  std::iota(places.begin(), places.end(), 0);
  const buffer<TypeParam, run_space> l(space, left), r(space, right);
  const buffer<u32, run_space> numbers(space, places);
  table<hash_graph<TypeParam, u32>, run_space> graph(space);
  ASSERT_EQ(graph.build(space, r.span(), numbers.span()).inserted, right.size());
  const u64 bytes = graph.bytes();
  const join_model<TypeParam> model(left, right);
  for (const join_kind kind : join_kinds) {
    const auto expected = model.rows(kind);
    for (const join_options::probes probe :
         {join_options::probes::standard, join_options::probes::intersect}) {
      SCOPED_TRACE("kind " + std::to_string(static_cast<int>(kind)) + ", probe " +
                   std::to_string(static_cast<int>(probe)));
      const auto call = [&] {
        const auto got = join(space, l.span(), graph, {.kind = kind, .probe = probe});
        EXPECT_TRUE(in_order(got.left, got.right, kind) == expected);
      };
      const auto unchanged = [&](bool threw) {
        if (!threw) return;
        EXPECT_TRUE(this->same(l.to_host(), left));
        EXPECT_EQ(graph.bytes(), bytes);
        EXPECT_EQ(graph.size(), right.size());
        call();
      };
      EXPECT_GT(at_every_allocation(this->ground.memory, call, unchanged), 0U);
    }
  }
}

REGISTER_TYPED_TEST_SUITE_P(joins_without_memory, count_and_return_rows_or_change_nothing,
                            write_no_wrong_row_to_the_callers_arrays, with_a_graph_change_nothing);

}  // namespace tilehash::contract
