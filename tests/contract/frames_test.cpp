// SPDX-License-Identifier: Apache-2.0
// How many functions a CPU enters between a verb and the body of a kernel, which stays few enough to step through
// in a debugger. Counted in a unit without optimisation or inlining; what must be inlined anyway does not count.
#include <gtest/gtest.h>

#include <execinfo.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <tilehash/designs/dynamic_cuckoo.hpp>
#include <tilehash/designs/linear_probing.hpp>
#include <tilehash/designs/tiled.hpp>
#include <tilehash/engine/insertion.hpp>
#include <tilehash/engine/subtables.hpp>
#include <tilehash/space/cpu.hpp>
#include <tilehash/table.hpp>

namespace tilehash {

inline int frames_now() {
  void* frames[256];
  return backtrace(frames, 256);
}

// A space that records from how deep it is asked to work.
struct frame_space : cpu {
  frame_space() : cpu(1) {}

  template <class Body>
  void for_each_share(u64 n, Body body, u64 grain = 4096) {
    record();
    cpu::for_each_share(n, body, grain);
  }
  template <class Body>
  void for_each(u64 n, Body body) {
    record();
    cpu::for_each(n, body);
  }
  template <class Body, class... Scratch>
  void for_each_block(u64 blocks, u32 threads, u64 bytes, Body body, const Scratch&... scratch) {
    record();
    cpu::for_each_block(blocks, threads, bytes, body, scratch...);
  }
  void record() { deepest = std::max(deepest, frames_now() - 1); }  // without record() itself

  int deepest = 0;
};

// From for_each_block() and for_each_share() to a body, both included.
struct body_frames {
  int* deepest;
  void operator()(u64 /*from*/, u64 /*to*/) const { *deepest = std::max(*deepest, frames_now()); }
  template <class Block>
  void operator()(Block /*block*/) const {
    *deepest = std::max(*deepest, frames_now());
  }
};
inline int frames_of_space() {
  frame_space space;
  int deepest = 0;
  const int here = frames_now();
  static_cast<cpu&>(space).for_each_block(1, 1, 64, body_frames{&deepest});
  static_cast<cpu&>(space).for_each_share(1, body_frames{&deepest});
  return deepest - here;
}

// Functions from a verb, which is called in `call`, to the body of a kernel: both are counted.
template <class Call>
int frames_of(frame_space& space, const Call& call) {
  space.deepest = 0;
  const int here = frames_now() + 1;  // `call` is no part of it
  call();
  const int above = space.deepest - 1 - here;  // without the space's own function
  return space.deepest == 0 ? 0 : above + frames_of_space();
}

template <class Design>
struct frames : testing::Test {
  static constexpr u32 n = 40'000;
  frame_space space;
  table<Design, frame_space> map{space, 2 * n + 1'000, {.load_factor = 0.8}};
  std::vector<u32> keys = std::vector<u32>(n), values = std::vector<u32>(n), more = std::vector<u32>(n);

  frames() {
    std::iota(keys.begin(), keys.end(), 1U);
    std::iota(more.begin(), more.end(), n + 1);
  }
};
using designs = testing::Types<tiled<u32, u32>, linear_probing<u32, u32>, dynamic_cuckoo<u32, u32>>;
TYPED_TEST_SUITE(frames, designs);

TYPED_TEST(frames, of_a_bulk_insert) {
  auto& m = this->map;
  const int first = frames_of(this->space, [&] { (void)m.insert(this->space, this->keys, this->values); });
  const int second = frames_of(this->space, [&] { (void)m.insert(this->space, this->more, this->values); });
  std::vector<u32> few(this->more.begin(), this->more.begin() + 100);
  for (u32& key : few) key += 1'000'000;
  const int third = frames_of(
      this->space, [&] { (void)m.insert(this->space, few, std::span(this->values).first(few.size())); });
  SCOPED_TRACE("into an empty table " + std::to_string(first) + ", into one with items " +
               std::to_string(second) + ", of few items " + std::to_string(third));
  EXPECT_LE(std::max({first, second, third}), 16);
  EXPECT_GT(std::min({first, second, third}), 5) << "nothing was counted";
}
TYPED_TEST(frames, of_a_bulk_lookup) {
  auto& m = this->map;
  const int one = frames_of(this->space, [&] { (void)m.find(this->space, this->keys, this->values); });
  EXPECT_LE(one, 10);
  EXPECT_GT(one, 3) << "nothing was counted";
}

// A hash function that records how deep it is called.
inline int deepest_hash = 0;
struct recording_hash : murmur {
  using murmur::murmur;
  TILEHASH_FN auto operator()(const auto& key) const noexcept {
    deepest_hash = std::max(deepest_hash, frames_now() - 2);  // without this and frames_now()
    return murmur::operator()(key);
  }
};
template <class Call>
int frames_to_hash(const Call& call) {
  deepest_hash = 0;
  const int here = frames_now();  // as deep as `call`, whose verb is the next
  call();
  return deepest_hash - here;
}
// The kernel's body is followed by what it asks of its design: locate(), and what that calls.
TEST(frames_of_one_key, are_few) {
#ifdef __OPTIMIZE__
  GTEST_SKIP() << "an optimised build has these frames in one";
#endif
  cpu space(1);
  table<linear_probing<u32, u32, recording_hash>, cpu> map(space, 1'000);
  const int insert = frames_to_hash([&] { (void)map.insert(space, 17U, 1U); });
  const int find = frames_to_hash([&] { EXPECT_EQ(map.find(17U), 1U); });
  EXPECT_LE(insert, 5);
  EXPECT_LE(find, 5);
  EXPECT_GT(std::min(insert, find), 1) << "nothing was counted";
}

}  // namespace tilehash
