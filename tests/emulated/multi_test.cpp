// Values side by side behind a table of ids, under the GPU's schedule: all builds, and rows of any lengths.
#include <tilehash/engine/multi.hpp>

#include <array>
#include <map>

#include "designs_test.hpp"

namespace tilehash::designs_test {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EmulatedDesign);

namespace {

using wide = std::array<u64, 3>;

template <class Key>
Key key(u64 i) {
  if constexpr (sizeof(Key) > 8)
    return {mix64(i), i, 5};
  else
    return static_cast<Key>(mix64(i));
}

// Builds from n items of `distinct` keys, the first of which has every `favoured`-th, and asks for
// everything.
template <class Design>
void build_and_ask(emulation::schedule s, u64 n, u64 distinct, grouping how, u64 favoured = 2) {
  SCOPED_TRACE("seed " + std::to_string(s.seed) + ", " + std::to_string(n) + " items of " +
               std::to_string(distinct) + " keys");
  using key_type = typename Design::key_type;
  emulated space(s);
  table<Design, emulated> t(space);
  std::vector<key_type> keys(n), asked;
  std::vector<u32> values(n);
  std::map<key_type, std::vector<u32>> model;
  for (u64 i = 0; i < n; ++i) {
    keys[i] = key<key_type>(i % favoured == 0 ? 0 : mix64(i) % distinct);
    values[i] = static_cast<u32>(i);
    model[keys[i]].push_back(values[i]);
  }
  buffer<key_type, emulated> k(space, keys);
  buffer<u32, emulated> v(space, values);
  EXPECT_EQ(t.build(space, k.span(), v.span(), how), (insert_report{.inserted = n}));
  ASSERT_EQ(t.key_count(), model.size());

  for (u64 i = 0; i < 2 * distinct; ++i) asked.push_back(key<key_type>(i));  // half are strangers, or more
  buffer<key_type, emulated> q(space, asked);
  const auto got = t.retrieve(space, q.span());
  for (u64 i = 0; i < asked.size(); ++i) {
    const u64 from = got.offsets.data()[i], to = got.offsets.data()[i + 1];
    std::vector<u32> its(got.values.data() + from, got.values.data() + to);
    std::ranges::sort(its);
    ASSERT_EQ(its, model[asked[i]]);
  }
  buffer<key_type, emulated> all_keys(space, n);
  buffer<u32, emulated> all_values(space, n);
  ASSERT_EQ(t.retrieve_all(space, all_keys.span(), all_values.span()), n);
  std::map<key_type, std::vector<u32>> back;
  for (u64 i = 0; i < n; ++i) back[all_keys.data()[i]].push_back(all_values.data()[i]);
  std::erase_if(model, [](const auto& item) { return item.second.empty(); });
  for (auto& [one, its] : back) std::ranges::sort(its);
  EXPECT_TRUE(back == model);
}

// So many items that they are grouped by regions; one key has 330 of them.
TEST(Multi, ByRegions) {
  build_and_ask<multi<u32, u32>>({.seed = 5, .preempt = true}, 33'000, 66'000, grouping::by_regions, 33'000);
  build_and_ask<multi<u32, u32>>({.seed = 6, .preempt = true}, 33'000, 9'000, grouping::by_regions, 100);
}

TEST(Multi, AnswersLikeTheModel) {
  const u64 n = small() ? 1500 : 6000;  // two shares of a block's and a bit
  u64 seed = 0;
  for (const u64 distinct : {u64(1), u64(40), 2 * n}) {
    ++seed;
    const emulation::schedule s{.seed = seed, .interleave = seed != 2, .preempt = seed != 1};
    build_and_ask<multi<u32, u32>>(s, n, distinct, grouping::by_sort);
    build_and_ask<multi<u32, u32>>(s, n, distinct, grouping::by_count);
    build_and_ask<multi<wide, u32>>(s, n / 3, distinct, grouping::automatic);
  }
}

}  // namespace
}  // namespace tilehash::designs_test
