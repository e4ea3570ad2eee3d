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

// Of so many items a table is filled region by region; of two that have one key the second comes so many
// items after the first.
TEST(first_of_equal_keys, of_items_that_few_others_equal) {
  const u64 n = scaled(5'000'000, 4'300'000);
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

}  // namespace
}  // namespace tilehash::contract
