// SPDX-License-Identifier: Apache-2.0
#include <tilehash/space/cuda.cuh>

#include <contract/faulty.cuh>

namespace tilehash::contract {
struct habits_space : cuda {
  explicit habits_space(faulty_device& memory) : cuda(nullptr, memory) {}
};
using habits_memory = faulty_device;
}  // namespace tilehash::contract

#include <contract/habits.hpp>

namespace tilehash::contract {
namespace {

// A table of so many items is filled region by region. The second of two items with one key comes so many
// items after the first.
TEST(first_of_equal_keys, of_items_that_few_others_equal) {
  const u64 n = scaled(5'000'000, 300'000);
  for (const u64 apart : {n, n - n / 300, n - n / 16, n / 2, u64(20'000), u64(1'500), u64(1)}) {
    const auto first = [=](u64 i) { return i / apart % 2 == 0 ? i : i - apart; };
    u64 m = 0;
    for (u64 i = 0; i < n; ++i) m += first(i) == i;
    ground<habits_space, habits_memory> here;
    auto& space = here.space;
    std::vector<u32> k(n), v(n);
    for (u64 i = 0; i < n; ++i) k[i] = mix32(static_cast<u32>(first(i))), v[i] = static_cast<u32>(i);
    const buffer<u32, habits_space> keys(space, k), values(space, v), out(space, n);
    table<tiled<u32, u32>, habits_space> t(space);
    EXPECT_EQ(t.build(space, keys.span(), values.span(), keep::first),
              (insert_report{.inserted = m, .present = n - m}));
    t.find_or(space, keys.span(), out.span(), 0);
    const auto host = out.to_host();
    u64 wrong = 0;
    for (u64 i = 0; i < n; ++i) wrong += host[i] != first(i);
    EXPECT_EQ(wrong, 0U);
  }
}

// Keys that occur often, at random; or one key that half of the items have, where the others differ.
template <class Key, class Which>
void check_firsts(u64 n, const Which& which) {
  using design = tiled<Key, Key>;
  ground<habits_space, habits_memory> here;
  auto& space = here.space;
  std::vector<Key> k(n), v(n);
  std::unordered_map<Key, Key> first;
  for (u64 i = 0; i < n; ++i) {
    k[i] = static_cast<Key>(which(i)), v[i] = static_cast<Key>(i);
    first.try_emplace(k[i], v[i]);
  }
  const buffer<Key, habits_space> keys(space, k), values(space, v), out(space, n);
  table<design, habits_space> t(space);
  EXPECT_EQ(t.build(space, keys.span(), values.span(), keep::first),
            (insert_report{.inserted = first.size(), .present = n - first.size()}));
  t.find_or(space, keys.span(), out.span(), Key(0));
  const auto host = out.to_host();
  u64 wrong = 0;
  for (u64 i = 0; i < n; ++i) wrong += host[i] != first.at(k[i]);
  EXPECT_EQ(wrong, 0U);
}
TEST(first_of_equal_keys, of_keys_that_come_often) {
  for (const u64 n : {u64(40'000), u64(scaled(3'000'000, 300'000))}) {
    for (const u64 copies : {3, 10, 100, 2'000, 20'000}) {
      SCOPED_TRACE(std::to_string(n) + " items, " + std::to_string(copies) + " copies");
      const auto some = [=](u64 i) { return mix64(mix64(i) % (n / copies)); };
      check_firsts<u32>(n, some);
      check_firsts<u64>(n, some);
    }
    const auto then_once = [=](u64 i) { return mix64(i < n / 2 ? mix64(i) % (n / 50) : i); };
    check_firsts<u32>(n, then_once);
    check_firsts<u64>(n, then_once);
    const auto half = [](u64 i) { return mix64(i) % 2 == 0 ? 7 : mix64(i + 8); };
    check_firsts<u32>(n, half);
    check_firsts<u64>(n, half);
  }
}

}  // namespace
}  // namespace tilehash::contract
