// Owned memory of a space.
#include <tilehash/space/buffer.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <tilehash/space/cpu.hpp>

namespace tilehash {
namespace {

// Knows every block that is out, and its size.
class counting : public cpu {
 public:
  void* allocate(u64 bytes) {
    void* p = cpu::allocate(bytes);
    out[p] = bytes;
    return p;
  }
  void deallocate(void* p, u64 bytes) noexcept {
    EXPECT_EQ(out[p], bytes);
    out.erase(p);
    cpu::deallocate(p, bytes);
  }
  std::map<void*, u64> out;
};

TEST(buffer, copies_there_and_back) {
  cpu space;
  for (u64 n : {0, 1, 2, 63, 1000}) {
    std::vector<u32> host(n);
    for (u64 i = 0; i < n; ++i) host[i] = static_cast<u32>(i * i);
    const buffer<u32, cpu> b(space, host);
    EXPECT_EQ(b.size(), n);
    EXPECT_EQ(b.bytes(), 4 * n);
    EXPECT_EQ(b.span().size(), n);
    EXPECT_EQ(b.first(n / 2).size(), n / 2);
    EXPECT_EQ(b.to_host(), host);
  }
}

TEST(buffer, refuses_more_than_it_holds) {
  cpu space;
  buffer<u32, cpu> b(space, 3);
  EXPECT_THROW(b.copy_from(std::vector<u32>(4)), invalid_argument);
  b.copy_from(std::vector<u32>{7});
  EXPECT_EQ(b.to_host()[0], 7U);
}

TEST(buffer, has_bytes_for_flags) {
  cpu space;
  buffer<bool, cpu> b(space, 3);
  const bool flags[] = {true, false, true};
  b.copy_from(flags);
  EXPECT_EQ(b.to_host(), (std::vector<u8>{1, 0, 1}));
}

TEST(buffer, moves_and_gives_back_what_it_took) {
  counting space;
  {
    buffer<u64, counting> a(space, 10), b(space, 20), none;
    EXPECT_EQ(space.out.size(), 2U);
    EXPECT_EQ(none.data(), nullptr);
    u64* const data = a.data();
    buffer<u64, counting> c(std::move(a));
    EXPECT_EQ(c.data(), data);
    c = std::move(b);
    EXPECT_EQ(c.size(), 20U);
    EXPECT_EQ(space.out.size(), 1U) << "what was overwritten is given back";
    none = std::move(c);
    EXPECT_EQ(none.size(), 20U);
    EXPECT_EQ(space.out.size(), 1U);
    buffer<u64, counting> empty(space, 0);
    EXPECT_EQ(empty.data(), nullptr);
  }
  EXPECT_TRUE(space.out.empty());
}

TEST(cpu, aligns_memory_to_cache_lines) {
  cpu space;
  for (u64 bytes : {u64(1), u64(63), u64(64), u64(65), u64(1) << 21, (u64(1) << 21) + 1}) {
    void* p = space.allocate(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % 64, 0U);
    space.fill(static_cast<char*>(p), bytes, 'x');
    EXPECT_EQ(static_cast<char*>(p)[bytes - 1], 'x');
    space.deallocate(p, bytes);
  }
}

TEST(cpu, says_when_there_is_no_memory) {
  cpu space;
  for (u64 bytes : {u64(1) << 55, ~u64(0), ~u64(0) - 4096}) {
    try {
      space.deallocate(space.allocate(bytes), bytes);
      FAIL() << bytes << " bytes were given";
    } catch (const out_of_memory& e) {
      EXPECT_NE(std::string(e.what()).find(std::to_string(bytes)), std::string::npos) << e.what();
    }
  }
}

TEST(cpu, algorithms) {
  for (int threads : {1, 2}) {
    cpu space(threads);
    EXPECT_NE(space.name().find("cpu (" + std::to_string(space.threads())), std::string::npos);
    for (u64 n : {u64(0), u64(1), u64(5), u64(4096), u64(4097), u64(100'000)}) {
      std::vector<u64> x(n), sums(n);
      for (u64 i = 0; i < n; ++i) x[i] = i * 7919 % 1009;
      space.exclusive_scan(x.data(), sums.data(), n);
      u64 sum = 0;
      for (u64 i = 0; i < n; ++i) {
        ASSERT_EQ(sums[i], sum);
        sum += x[i];
      }
      auto in_place = x;
      space.exclusive_scan(in_place.data(), in_place.data(), n);
      EXPECT_EQ(in_place, sums);
      auto sorted = x;
      space.sort(sorted.data(), n);
      std::sort(x.begin(), x.end());
      EXPECT_EQ(sorted, x);
      std::vector<u8> visits(n);
      space.for_each(n, [&](u64 i) { ++visits[i]; });
      EXPECT_EQ(visits, std::vector<u8>(n, 1));
      space.fill(x.data(), n, u64(3));
      EXPECT_EQ(x, std::vector<u64>(n, 3));
    }
  }
}

TEST(cpu, blocks_have_scratch_of_their_own) {
  cpu space(2);
  std::vector<u64> sums(1'000);
  space.for_each_block(sums.size(), 32, 64 * sizeof(u64), [&](auto block) {
    const auto scratch = block.template scratch<u64>();
    for (u32 i = block.rank(); i < 64; i += block.size()) scratch[i] = block.index();
    block.barrier();
    u64 sum = 0;
    for (u32 i = 0; i < 64; ++i) sum += scratch[i];
    sums[block.index()] = sum;
  });
  for (u64 i = 0; i < sums.size(); ++i) ASSERT_EQ(sums[i], 64 * i);
}

}  // namespace
}  // namespace tilehash
