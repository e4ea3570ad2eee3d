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

// Of so many items a table is filled as they come and then put right (engine/insertion.hpp); the i-th and the
// (i + m)-th have one key.
TEST(first_of_equal_keys, of_items_that_few_others_equal) {
  const u64 n = scaled(5'000'000, 4'300'000);
  for (const u64 m : {n, n - n / 300, n - n / 16}) {
    ground<habits_space, habits_memory> here;
    auto& space = here.space;
    std::vector<u32> k(n), v(n);
    for (u64 i = 0; i < n; ++i) k[i] = mix32(static_cast<u32>(i % m)), v[i] = static_cast<u32>(i);
    const buffer<u32, habits_space> keys(space, k), values(space, v), out(space, n);
    table<tiled<u32, u32>, habits_space> t(space);
    EXPECT_EQ(t.build(space, keys.span(), values.span(), keep::first),
              (insert_report{.inserted = m, .present = n - m}));
    t.find_or(space, keys.span(), out.span(), 0);
    const auto host = out.to_host();
    u64 wrong = 0;
    for (u64 i = 0; i < n; ++i) wrong += host[i] != i % m;
    EXPECT_EQ(wrong, 0U);
  }
}

}  // namespace
}  // namespace tilehash::contract
