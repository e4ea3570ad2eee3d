#include <tilehash/space/cpu.hpp>

namespace tilehash::contract {
struct engine_space : cpu {
  engine_space() : cpu(2) {}
};
}  // namespace tilehash::contract

#include <contract/engine.hpp>

// Bounded work is counted, not timed: in calls of the hash function.
namespace tilehash::contract {
namespace {

struct counting_hash : murmur {
  static inline std::atomic<u64> calls = 0;
  using murmur::murmur;
  template <class Bits>
  u64 operator()(Bits key) const {
    ++calls;
    return murmur::operator()(key);
  }
};

TEST(bounded_work, a_full_table_says_so_soon) {
  cpu space(1);
  table<bucketed_cuckoo<u32, u32, placement::first_fit, counting_hash>, cpu> t(
      space, scaled(40'000, 4'000), {.seed = run_seed(), .grow = false});
  const u64 n = t.capacity() + t.capacity() / 4;
  std::vector<u32> keys(n), values(n);
  for (u64 i = 0; i < n; ++i) keys[i] = mix32(static_cast<u32>(i));
  counting_hash::calls = 0;
  const auto report = t.insert(space, keys, values);
  EXPECT_GE(report.refused, n - t.capacity());
  EXPECT_EQ(report.inserted + report.refused, n);
  // 128 searches of some 20 calls each would be 2500 for each refused key.
  EXPECT_LT(counting_hash::calls, 150 * n);
}

// Keys whose hashes begin alike, under a seed that is known.
TEST(bounded_work, keys_made_up_to_meet_cost_a_restart) {
  cpu space(2);
  const u64 n = scaled(40'000, 10'000);
  for (const u64 room : {u64(0), 9 * n}) {
    table<tiled<u32, u32>, cpu> t(space, room, {.seed = known_seed});
    const auto design = t.view().design;
    std::vector<u32> keys(n);
    for (u64 i = 0; i < n; ++i) keys[i] = design.unhash(static_cast<u32>(0x5aU << 24 | (i * 419 & 0xffffff)));
    const u64 before = t.capacity();
    const auto report = t.insert(space, keys, keys);
    EXPECT_EQ(report.inserted, n);
    EXPECT_LE(report.restarts, 6U);
    EXPECT_GE(t.capacity(), before) << "reserved room is kept";
    EXPECT_LE(t.capacity(), std::max(before, 4 * n)) << "and no more is taken than the items need";
  }
}

}  // namespace
}  // namespace tilehash::contract
