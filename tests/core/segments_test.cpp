// SPDX-License-Identifier: Apache-2.0
// Work on segments visits each position once, with its segment.
#include <tilehash/algorithm/segments.hpp>
#include <tilehash/space/cpu.hpp>

#include <gtest/gtest.h>
#include <contract/random.hpp>

#include <random>
#include <vector>

namespace tilehash::detail {
namespace {

struct record_segments {
  const u64* offsets;
  u64 segments;
  u64* segment_of;  // of each position
  u32* visits;
  u32* wrong_requests;
  void operator()(u64 segment, u64 at) const {
    segment_of[at] = segment;
    ++visits[at];
  }
  void prefetch(u64 segment) const {
    if (segment >= segments) fetch_add(wrong_requests, 1U);
  }
};

// Segments of lengths up to `longest`, of which a share is empty.
void check_segments(u64 count, u32 longest, double empty) {
  std::mt19937_64 draw(contract::run_seed() + count);
  std::vector<u64> offsets{0};
  std::bernoulli_distribution is_empty(empty);
  for (u64 s = 0; s < count; ++s)
    offsets.push_back(offsets.back() + (is_empty(draw) ? 0 : draw() % longest + 1));
  const u64 positions = offsets.back();
  std::vector<u64> segment_of(positions, count);
  std::vector<u32> visits(positions);
  u32 wrong_requests = 0;
  cpu space(2);
  for_each_in_segments(
      space, offsets.data(), count, positions,
      record_segments{offsets.data(), count, segment_of.data(), visits.data(), &wrong_requests});
  EXPECT_EQ(wrong_requests, 0);
  for (u64 s = 0; s < count; ++s) {
    for (u64 at = offsets[s]; at < offsets[s + 1]; ++at) {
      ASSERT_EQ(segment_of[at], s) << at;
      ASSERT_EQ(visits[at], 1) << at;
    }
  }
}

TEST(Segments, VisitEachPositionOnce) {
  check_segments(0, 1, 0);
  check_segments(1, 1, 0);
  check_segments(1, 20000, 0);  // of several shares
  check_segments(1000, 1, 0);
  check_segments(20000, 1, 0.5);
  check_segments(20000, 3, 0.99);
  check_segments(3000, 40, 0.1);
  check_segments(7, 9000, 0.3);
}

}  // namespace
}  // namespace tilehash::detail
