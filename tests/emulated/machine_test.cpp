// SPDX-License-Identifier: Apache-2.0
// The emulated GPU itself: its primitives against brute force, and the faults it must catch.
// length: one test for each primitive and each fault.
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <tilehash/space/bucket.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/cpu.hpp>

#include <toys/diverging.hpp>

#include "emulated.hpp"

namespace tilehash {
namespace {

using emulation::convergence_error;
using emulation::race_error;
using emulation::schedule;

// The line that a launch fails with; empty when it does not.
template <class Failure, class Launch>
std::string failure_of(Launch launch) {
  try {
    launch();
  } catch (const Failure& e) {
    return e.what();
  }
  return {};
}

#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << "it says: " << (text)

const schedule schedules[] = {{.seed = 1, .interleave = false}, {.seed = 2}, {.seed = 3, .preempt = true}};

// ---- collectives that not all reach ---------------------------------------------------------------------

TEST(Divergence, CollectiveBehindABranch) {
  for (const schedule& s : schedules) {
    emulated space(s);
    const auto said = failure_of<convergence_error>([&] {
      space.for_each_lane(300, [](auto lane) {
        const auto t = lane.template tile<4>();
        if (lane.index() != 77) t.ballot(true);
      });
    });
    EXPECT_SAYS(said, "block 0, warp 2, lanes 0-12 14-31 at ballot (machine_test.cpp:");
    EXPECT_SAYS(said, ", call 1; 13 ended");
  }
}

// The collective is in bucket.hpp. Its caller is known from debug information, which the sanitizers' build
// has.
TEST(Divergence, NamesTheLineOfTheDesign) {
  emulated space;
  const buffer<u64, emulated> words(space, 4);
  const auto said = failure_of<convergence_error>([&] {
    space.for_each_lane(32, [&](auto lane) {
      if (lane.index() % 4 != 1) toys::ask_behind_a_branch(lane.template tile<4>(), words.data());
    });
  });
  EXPECT_SAYS(said, "at ballot (bucket.hpp:");
#if defined(__SANITIZE_ADDRESS__)
  EXPECT_SAYS(said, "; in diverging.hpp:14");
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
  EXPECT_SAYS(said, "; in diverging.hpp:14");
#endif
#endif
}

TEST(Divergence, EarlyReturnBeforeABroadcast) {
  emulated space;
  const u64 n = 40;  // eight lanes of the second warp have an item
  const auto said = failure_of<convergence_error>([&] {
    space.for_each_lane(n, [=](auto lane) {
      if (lane.index() >= n) return;
      lane.template tile<8>().broadcast(u32(lane.index()), 0);
    });
  });
  EXPECT_SAYS(said, "warp 1, lanes 0-7 at broadcast of 4 bytes");
  EXPECT_SAYS(said, "; 8-31 ended");
}

TEST(Divergence, DifferentCollectivesInTwoBranches) {
  emulated space;
  const auto said = failure_of<convergence_error>([&] {
    space.for_each_lane(32, [](auto lane) {
      const auto t = lane.template tile<4>();
      t.sync();
      if (t.rank() < 2)
        t.any(true);
      else
        t.ballot(true);
    });
  });
  EXPECT_SAYS(said, "at any (machine_test.cpp:");
  EXPECT_SAYS(said, "at ballot (machine_test.cpp:");
  EXPECT_SAYS(said, ", call 2");
}

TEST(Divergence, TheSameCollectiveInTwoBranches) {
  emulated space;
  const auto launch = [&] {
    space.for_each_lane(32, [](auto lane) {
      const auto t = lane.template tile<4>();
      if (t.rank() < 2)
        t.ballot(true);
      else
        t.ballot(false);
    });
  };
  EXPECT_THROW(launch(), convergence_error);
}

TEST(Divergence, LoopsOfDifferentLength) {
  emulated space;
  const auto launch = [&](bool masked) {
    space.for_each_lane(64, [=](auto lane) {
      const auto t = lane.template tile<1>();
      u32 left = static_cast<u32>(lane.index() % 5);
      while (masked ? t.any(left != 0) : left != 0) {
        t.sync();
        left -= left != 0;
      }
    });
  };
  EXPECT_NO_THROW(launch(true));
  EXPECT_THROW(launch(false), convergence_error);
}

TEST(Divergence, TallyBehindABranch) {
  emulated space;
  u64 counter = 0;
  const auto launch = [&](u64 absent) {
    space.for_each_lane(256, [&, absent](auto lane) {
      if (lane.index() % 32 != absent) lane.tally(&counter, true);
    });
  };
  EXPECT_NO_THROW(launch(~u64(0)));
  EXPECT_EQ(counter, 256U);
  EXPECT_SAYS(failure_of<convergence_error>([&] { launch(3); }), "lanes 0-2 4-31 at tally");
}

TEST(Divergence, AWarpAtABallotWhileOthersTally) {
  emulated space;
  u64 counter = 0;
  EXPECT_THROW(space.for_each_lane(256,
                                   [&](auto lane) {
                                     if (lane.index() % 32 == 5)
                                       lane.template tile<1>().ballot(true);
                                     else
                                       lane.tally(&counter, true);
                                   }),
               convergence_error);
}

TEST(Divergence, LanesOfATileNameDifferentLanes) {
  emulated space;
  const auto launch = [&](u32 odd) {
    space.for_each_lane(32, [=](auto lane) {
      const auto t = lane.template tile<4>();
      t.broadcast(u32(7), t.rank() == 2 ? odd : 1);
    });
  };
  EXPECT_NO_THROW(launch(1));
  EXPECT_THROW(launch(3), convergence_error);
  EXPECT_SAYS(failure_of<convergence_error>([&] { launch(4); }), "names lane 4 of a tile of 4");
}

TEST(Divergence, ALoopWithoutEnd) {
  emulated space({.max_steps = 1000});
  EXPECT_SAYS(failure_of<convergence_error>([&] {
                space.for_each_lane(32, [](auto lane) {
                  while (lane.template tile<4>().any(true)) {
                  }
                });
              }),
              "a loop has no end");
}

TEST(Divergence, BarrierBehindABranch) {
  emulated space;
  const auto launch = [&](u32 absent) {
    space.for_each_block(3, 100, 0, [=](auto block) {
      if (block.rank() != absent) block.barrier();
    });
  };
  EXPECT_NO_THROW(launch(100));
  const auto said = failure_of<convergence_error>([&] { launch(99); });
  EXPECT_SAYS(said, "lanes 0-2 at barrier (machine_test.cpp:");
  EXPECT_SAYS(said, "; 3 ended");
}

TEST(Divergence, TwoBarriersForOne) {
  emulated space;
  const auto said = failure_of<convergence_error>([&] {
    space.for_each_block(1, 128, 0, [](auto block) {
      if (block.rank() < 64) block.barrier();
      if (block.rank() >= 64) block.barrier();
    });
  });
  EXPECT_SAYS(said, "block 0, threads 0-63 at barrier");
  EXPECT_SAYS(said, "; 64-127 at barrier");
}

// A launch that failed leaves nothing behind: not a thread, not what its bodies own.
TEST(Divergence, TheSpaceStaysUsable) {
  emulated space({.preempt = true});
  struct owner {
    std::shared_ptr<int> held;
    void operator()(emulated_lane lane) const {
      const auto mine = held;
      if (lane.index() % 64 == 3) throw std::runtime_error("from a body");
      lane.tile<4>().sync();
    }
  };
  const auto held = std::make_shared<int>(1);
  EXPECT_THROW(space.for_each_lane(1000, owner{held}), std::runtime_error);
  EXPECT_EQ(held.use_count(), 1);
  u64 counter = 0;
  space.for_each_lane(1000, [&](auto lane) { lane.tally(&counter, lane.index() < 1000); });
  EXPECT_EQ(counter, 1000U);
}

// ---- barriers that are missing --------------------------------------------------------------------------

// The sum of the ranks of a block, by halves. Thread 0 has it.
template <class Block>
u32 sum_of_ranks(Block block, bool barrier_at_start, bool barrier_in_loop) {
  auto s = block.template scratch<u32>();
  s[block.rank()] = block.rank();
  if (barrier_at_start) block.barrier();
  for (u32 half = block.size() / 2; half != 0; half /= 2) {
    if (block.rank() < half) s[block.rank()] += s[block.rank() + half];
    if (barrier_in_loop) block.barrier();
  }
  return block.rank() == 0 ? u32(s[0]) : 0;
}

TEST(MissingBarrier, IsCaughtInAnyOrder) {
  for (const schedule& s : schedules) {
    emulated space(s);
    u32 sum = 0;
    const auto launch = [&](bool at_start, bool in_loop) {
      space.for_each_block(4, 256, 1024, [&, at_start, in_loop](auto block) {
        const u32 mine = sum_of_ranks(block, at_start, in_loop);
        if (block.rank() == 0) sum = mine;
      });
    };
    launch(true, true);
    EXPECT_EQ(sum, 255U * 256 / 2);
    EXPECT_THROW(launch(false, true), race_error);
    EXPECT_SAYS(failure_of<race_error>([&] { launch(true, false); }),
                "tilehash: a barrier is missing: thread ");
  }
}

// Two threads, one word of scratch: what the first does, then what the second does.
template <class First, class Second>
bool races(First first, Second second, bool barrier = false) {
  for (u64 seed = 0; seed < 4; ++seed) {
    emulated space({.seed = seed});
    try {
      space.for_each_block(1, 2, 4, [=](auto block) {
        const auto s = block.template scratch<u32>();
        if (block.rank() == 0) s[0] = 0;
        block.barrier();
        if (block.rank() == 0) first(s);
        if (barrier) block.barrier();
        if (block.rank() == 1) second(s);
      });
    } catch (const race_error&) {
      return true;
    }
  }
  return false;
}

TEST(MissingBarrier, WhatConflictsWithWhat) {
  const auto read = [](auto s) { EXPECT_LT(u32(s[0]), 9U); };
  const auto write = [](auto s) { s[0] = 1; };
  const auto atomic = [](auto s) { fetch_add(s, 1U); };
  const auto peek = [](auto s) { EXPECT_LT(load_relaxed(s), 9U); };
  EXPECT_FALSE(races(read, read));
  EXPECT_TRUE(races(read, write));
  EXPECT_TRUE(races(read, atomic));
  EXPECT_TRUE(races(write, read));
  EXPECT_TRUE(races(write, write));
  EXPECT_TRUE(races(write, atomic));
  EXPECT_TRUE(races(atomic, read));
  EXPECT_TRUE(races(atomic, write));
  EXPECT_FALSE(races(atomic, atomic));
  EXPECT_FALSE(races(atomic, peek));
  EXPECT_FALSE(races(peek, read));
  EXPECT_TRUE(races(write, peek));
  EXPECT_FALSE(races(write, write, true));
  EXPECT_FALSE(races(write, read, true));
}

// sync() of a tile orders accesses of its warp, and of no other one. A broadcast orders nothing.
TEST(MissingBarrier, InAWarp) {
  const auto launch = [](u32 reader, bool sync) {
    emulated space;
    space.for_each_block(1, 64, 4, [=](auto block) {
      const auto s = block.template scratch<u32>();
      const auto t = block.template tile<4>();
      if (block.rank() == 1) s[0] = 5;
      if (sync)
        t.sync();
      else
        t.broadcast(0U, 0);
      if (block.rank() == reader) {
        EXPECT_EQ(u32(s[0]), 5U);
      }
      t.sync();
      if (block.rank() == 2) s[0] = 6;
    });
  };
  EXPECT_NO_THROW(launch(3, true));
  EXPECT_SAYS(failure_of<race_error>([&] { launch(3, false); }),
              "thread 3 read byte 0 of the scratch after thread 1");
  EXPECT_THROW(launch(32, true), race_error);
}

// Threads may write different bytes of a word. The word has the marks of all its bytes, and each byte those of its word.
TEST(MissingBarrier, InAWordAndItsBytes) {
  const auto launch = [](bool meet, bool word_first, bool barrier) {
    emulated space;
    space.for_each_block(1, 2, 8, [=](auto block) {
      const auto word = block.template scratch<u32>();
      const auto bytes = block.template scratch<u8>();
      if (block.rank() == 0) word[0] = 0, word[1] = 0;
      block.barrier();
      if (!word_first) bytes[meet ? 3 : 2 + block.rank()] = 1;
      if (word_first && block.rank() == 0) word[0] = 1;
      if (barrier) block.barrier();
      if (block.rank() == 1 && (word_first || barrier)) {
        EXPECT_EQ(u32(bytes[3]), word_first ? 0U : 1U);
      }
      if (block.rank() == 1 && !word_first && barrier) {
        EXPECT_EQ(u32(word[0]), 0x101'0000U);
      }
    });
  };
  EXPECT_NO_THROW(launch(false, false, false));
  EXPECT_NO_THROW(launch(false, false, true));
  EXPECT_NO_THROW(launch(false, true, true));
  EXPECT_SAYS(failure_of<race_error>([&] { launch(true, false, false); }), " wrote byte 3 of the scratch");
  EXPECT_SAYS(failure_of<race_error>([&] { launch(false, true, false); }), " byte 3 of the scratch");
}

TEST(Scratch, IsCheckedForBoundsAlignmentAndFirstUse) {
  emulated space;
  EXPECT_THROW(space.for_each_block(1, 32, u64(228) * 1024, [](auto) {}), invalid_argument);
  const auto launch = [&](u64 at_byte, u64 index) {
    space.for_each_block(1, 1, 16, [=](auto block) { block.template scratch<u32>(at_byte)[index] = 1; });
  };
  EXPECT_NO_THROW(launch(8, 1));
  EXPECT_THROW(launch(8, 2), invalid_argument);
  EXPECT_THROW(launch(0, ~u64(0)), invalid_argument);
  EXPECT_THROW(launch(2, 0), invalid_argument);
  EXPECT_SAYS(failure_of<race_error>([&] {
                space.for_each_block(
                    1, 1, 16, [](auto block) { EXPECT_EQ(u32(block.template scratch<u32>()[3]), 0U); });
              }),
              "byte 12 of the scratch, which nobody has written");
}

// ---- primitives against brute force ---------------------------------------------------------------------

template <u32 Width>
void check_tile(const schedule& s) {
  emulated space(s);
  const u64 n = 600, lanes = (n + 255) / 256 * 256;
  const auto yes = [](u64 lane, u32 round) { return mix64(lane * 31 + round) % 3 == 0; };
  std::vector<u32> visits(lanes, 0);
  space.for_each_lane(n, [&](auto lane) {
    const auto t = lane.template tile<Width>();
    const u64 i = lane.index(), tile = i / Width * Width, warp = i / 32 * 32;
    ASSERT_LT(i, lanes);
    ++visits[i];
    EXPECT_EQ(t.rank(), i % Width);
    for (u32 round = 0; round < 5; ++round) {
      u32 ballot = 0;
      bool any = false;
      for (u32 r = 0; r < Width; ++r) ballot |= u32(yes(tile + r, round)) << r;
      for (u32 r = 0; r < 32; ++r) any |= yes(warp + r, 100 + round);
      EXPECT_EQ(t.ballot(yes(i, round)), ballot);
      EXPECT_EQ(t.any(yes(i, 100 + round)), any);
      const u32 from = static_cast<u32>(mix64(tile + round) % Width);
      EXPECT_EQ(t.broadcast(u32(i), from), tile + from);
      EXPECT_EQ(t.broadcast(u64(i) << 40, from), (tile + from) << 40);
      EXPECT_TRUE(t.broadcast(u128(i) << 80, from) == u128(tile + from) << 80);
      EXPECT_EQ(t.from_left(u64(i) << 40), (tile + (i + Width - 1) % Width) << 40);
      t.sync();
    }
  });
  EXPECT_EQ(visits, std::vector<u32>(lanes, 1));
}

TEST(Tile, BallotAnyBroadcast) {
  for (const schedule& s : schedules) {
    check_tile<1>(s);
    check_tile<2>(s);
    check_tile<4>(s);
    check_tile<8>(s);
    check_tile<16>(s);
    check_tile<32>(s);
  }
}

TEST(Tile, Loads) {
  emulated space({.preempt = true});
  buffer<u32, emulated> words(space, 1024);
  std::iota(words.data(), words.data() + words.size(), 0U);
  const u32* const all = words.data();
  space.for_each_lane(256, [=](auto lane) {
    const auto t = lane.template tile<4>();
    u32 four[4], one[1];
    t.template load<4>(all + 4 * lane.index(), four, true);
    t.template load_shared<1>(all + lane.index(), one, lane.index() % 2 == 0);
    EXPECT_EQ(four[3], 4 * lane.index() + 3);
    EXPECT_EQ(one[0], lane.index() % 2 == 0 ? lane.index() : 0);
  });
  EXPECT_SAYS(failure_of<invalid_argument>([&] {
                space.for_each_lane(32, [=](auto lane) {
                  u32 four[4];
                  lane.template tile<4>().template load<4>(all + lane.index(), four, true);
                });
              }),
              "load of 16 bytes (machine_test.cpp:");
}

TEST(Lane, TallyAndEnlist) {
  for (const schedule& s : schedules) {
    emulated space(s);
    const u64 n = 2000;
    u64 counter = 5, length = 0;
    std::vector<u64> list(n, ~u64(0));
    space.for_each_lane(n, [&](auto lane) {
      const u64 i = lane.index();
      const bool yes = i < n && i % 3 == 0;
      const u64 at = lane.append(&length, yes);
      if (yes) list.at(at) = i;
      lane.tally(&counter, yes);
      lane.tally(&counter, false);
    });
    const u64 expected = (n + 2) / 3;
    EXPECT_EQ(counter, 5 + expected);
    EXPECT_EQ(length, expected);
    EXPECT_EQ(std::set<u64>(list.begin(), list.end()).size(),
              expected + 1);  // and the places that no lane took
  }
}

// The same body on every space: each block counts its keys by their low digit, and sums up the counts.
struct histogram_body {
  static constexpr u32 bins = 16, keys_per_block = 500;
  const u32* keys;
  u32* counts;   // bins a block
  u32* offsets;  // bins a block

  template <class Block>
  void operator()(Block block) const {
    using detail::fetch_add;
    auto count = block.template scratch<u32>();
    auto sum = block.template scratch<u32>(bins * sizeof(u32));
    for (u32 i = block.rank(); i < bins; i += block.size()) count[i] = 0;
    block.barrier();
    const u32* const mine = keys + block.index() * keys_per_block;
    for (u32 i = block.rank(); i < keys_per_block; i += block.size()) fetch_add(count + mine[i] % bins, 1U);
    block.barrier();
    for (u32 i = block.rank(); i < bins; i += block.size()) sum[i] = count[i];
    block.barrier();
    if (block.size() > 1) {  // all at once, by doubling distances
      for (u32 distance = 1; distance < bins; distance *= 2) {
        const bool adds = block.rank() >= distance && block.rank() < bins;
        const u32 left = adds ? u32(sum[block.rank() - distance]) : 0;
        block.barrier();
        if (adds) sum[block.rank()] += left;
        block.barrier();
      }
    } else {
      for (u32 i = 1; i < bins; ++i) sum[i] += u32(sum[i - 1]);
    }
    for (u32 i = block.rank(); i < bins; i += block.size()) {
      counts[block.index() * bins + i] = count[i];
      offsets[block.index() * bins + i] = u32(sum[i]) - u32(count[i]);
    }
  }
};

template <class Space>
void check_histogram(Space& space, u32 threads) {
  using body = histogram_body;
  constexpr u32 blocks = 7, bins = body::bins, keys_per_block = body::keys_per_block;
  buffer<u32, Space> keys(space, u64(blocks) * keys_per_block), counts(space, blocks * bins),
      offsets(space, blocks * bins);
  for (u32 i = 0; i < keys.size(); ++i) keys.data()[i] = mix32(i);
  space.for_each_block(blocks, threads, sizeof(u32) * 2 * bins,
                       body{keys.data(), counts.data(), offsets.data()});
  for (u32 b = 0; b < blocks; ++b) {
    std::array<u32, bins> expected{};
    for (u32 i = 0; i < keys_per_block; ++i) ++expected.at(keys.data()[b * keys_per_block + i] % bins);
    for (u32 i = 0, sum = 0; i < bins; sum += expected.at(i++)) {
      EXPECT_EQ(counts.data()[b * bins + i], expected.at(i));
      EXPECT_EQ(offsets.data()[b * bins + i], sum);
    }
  }
}

TEST(Block, HistogramAndPrefixSumOnBothSpaces) {
  cpu host(1);
  check_histogram(host, 64);
  for (const schedule& s : schedules) {
    emulated space(s);
    for (const u32 threads : {16U, 33U, 64U, 1024U}) check_histogram(space, threads);
  }
}

// A tile's answers are those of one thread that has the whole bucket.
TEST(Tile, AgreesWithTheSoloTile) {
  const auto ask = [](auto t, u32 x) {
    return std::array<u64, 3>{t.ballot(x % 2 == 0), t.any(x % 5 == 0), t.broadcast(u64(x), 0)};
  };
  emulated space;
  space.for_each_lane(32, [=](auto lane) {
    const u32 x = static_cast<u32>(lane.index());
    const auto alone = ask(solo_tile{}, x), among = ask(lane.template tile<1>(), x);
    EXPECT_EQ(among[0], alone[0]);
    EXPECT_EQ(among[1], 1U);  // any() is the warp's
    EXPECT_EQ(among[2], alone[2]);
  });
}

// The same of a bucket's questions: each tile has a bucket of its own, and only some of them hold the key. All lanes
// of the warp meet at every collective nevertheless, in tiles of one lane too.
template <u32 Width>
void check_questions_of_a_bucket() {
  SCOPED_TRACE(testing::Message() << "tiles of " << Width);
  using slot_type = slot<u32, u32>;
  constexpr u32 slots = 8, wanted = 7;
  const auto ask = []<class T>(T t, const slot_type::word* at, bool shared) {
    using bucket_type = bucket<slot_type, slots, T>;
    const auto b = shared ? bucket_type::read_shared(t, at) : bucket_type::read(t, at);
    const auto looked = b.look_up(t, wanted);
    const auto found = b.find_slot(t, wanted);
    const auto own = b.find_own(t, wanted);
    const auto or_free = b.find_own_or_free(t, wanted);
    const bool there = looked.what == lookup_state::found;
    return std::array<u64, 16>{b.match(t, wanted),
                               b.match_empty(t),
                               b.has(t, wanted),
                               b.has_empty(t),
                               there,
                               there ? looked.value : 0,
                               found.found,
                               found.slot,
                               own.found,
                               own.slot,
                               or_free.own,
                               or_free.free,
                               or_free.slot,
                               or_free.content,
                               b.at(t, 5),
                               b.bit(t, 5, 33, there) && there};
  };
  for (const schedule& s : schedules) {
    emulated space(s);
    buffer<slot_type::word, emulated> words(space, emulated::block_size / Width * slots);
    for (u32 i = 0; i < words.size(); ++i) {
      const u32 tile = i / slots, key = i % slots == tile % 5 + 2 && tile % 3 != 0 ? wanted : 100 + i;
      words.data()[i] = slot_type::pack(slot_type::encode(key), 3 * i);
      if (i % slots == tile % 7 + 1 && tile % 2 != 0) words.data()[i] = slot_type::empty_word;
    }
    space.for_each_lane(emulated::block_size, [=, all = words.data()](auto lane) {
      const auto* const mine = all + lane.index() / Width * slots;
      for (const bool shared : {false, true})
        EXPECT_EQ(ask(lane.template tile<Width>(), mine, shared), ask(solo_tile{}, mine, shared));
    });
  }
}
TEST(Tile, ABucketAnswersAsToTheSoloTile) {
  check_questions_of_a_bucket<1>();
  check_questions_of_a_bucket<4>();
  check_questions_of_a_bucket<16>();
}

// ---- the space ------------------------------------------------------------------------------------------

TEST(Space, OrdersDifferBySeedAndRepeat) {
  const auto order_of = [](u64 seed) {
    emulated space({.seed = seed});
    std::vector<u64> order;
    space.for_each_lane(512, [&](auto lane) { order.push_back(lane.index()); });
    return order;
  };
  EXPECT_EQ(order_of(1), order_of(1));
  EXPECT_NE(order_of(1), order_of(2));
}

// Warps change places between a read and the write that follows: an unguarded counter loses counts.
TEST(Space, InterleavingShowsRaces) {
  const auto count = [](schedule s) {
    emulated space(s);
    u32 counter = 0;
    space.for_each_lane(512, [&](auto lane) {
      const auto t = lane.template tile<32>();
      u32 seen[1];
      t.template load_shared<1>(&counter, seen, true);
      t.sync();
      if (t.rank() == 0) counter = seen[0] + 1;
    });
    return counter;
  };
  EXPECT_EQ(count({.interleave = false}), 16U);
  EXPECT_LT(count({.interleave = true}), 16U);
}

TEST(Space, MemoryAndAlgorithms) {
  emulated space({}, 1 << 20);
  EXPECT_THROW((buffer<char, emulated>(space, (1 << 20) + 1)), out_of_memory);
  buffer<u32, emulated> a(space, 1000);
  u32 on_the_host = 0;
  EXPECT_NO_THROW(space.check_pointer(a.data() + 5, "the keys"));
  EXPECT_NO_THROW(space.check_pointer(nullptr, "the keys"));
  EXPECT_THROW(space.check_pointer(&on_the_host, "the keys"), invalid_argument);
  space.fill(a.data(), a.size(), 3U);
  space.exclusive_scan(a.data(), a.data(), a.size());
  EXPECT_EQ(a.to_host()[999], 2997U);
  std::vector<u32> visits(1000, 0);
  space.for_each(1000, [&](u64 i) { ++visits.at(i); });
  EXPECT_EQ(visits, std::vector<u32>(1000, 1));
  std::reverse(a.data(), a.data() + a.size());
  space.sort(a.data(), a.size());
  EXPECT_TRUE(std::is_sorted(a.data(), a.data() + a.size()));
}

}  // namespace
}  // namespace tilehash
