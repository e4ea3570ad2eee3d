// SPDX-License-Identifier: Apache-2.0
// A bucket's masks against slots looked at one by one, for every size and kind of word.
#include <contract/random.hpp>
#include <tilehash/space/bucket.hpp>

#include <gtest/gtest.h>

#include <array>
#include <random>

#include <tilehash/space/solo_tile.hpp>

namespace tilehash {
namespace {

template <class Slot, u32 Slots>
void check_bucket() {
  SCOPED_TRACE(testing::Message() << Slots << " slots of " << sizeof(typename Slot::word)
                                  << " bytes, values of " << Slot::value_bytes);
  using word = typename Slot::word;
  using key_bits = typename Slot::key_bits;
  using bucket_type = bucket<Slot, Slots, solo_tile>;
  std::mt19937_64 random(contract::run_seed());
  const auto any_tag = [&] {
    switch (random() % 4) {
      case 0:
        return Slot::empty_mark;
      case 1:
        return Slot::tombstone_mark;
      default:
        return static_cast<key_bits>(Slot::encode({static_cast<typename Slot::key_type>(random() % 3)}));
    }
  };
  for (int round = 0; round < 200; ++round) {
    alignas(64) std::array<word, Slots> words;
    for (word& w : words) {
      typename Slot::value_bits value = 0;
      if constexpr (!Slot::is_set)
        value = detail::to_bits<typename Slot::value_bits>(static_cast<typename Slot::mapped_type>(random()));
      w = Slot::pack(any_tag(), value);
    }
    const auto before = words;
    for (const auto& b : {bucket_type::read(solo_tile{}, words.data()),
                          bucket_type::read_shared(solo_tile{}, words.data())}) {
      for (key_bits wanted : {Slot::empty_mark, Slot::tombstone_mark, any_tag(), any_tag()}) {
        u32 mask = 0, first = Slots;
        for (u32 i = Slots; i-- > 0;) {
          if (Slot::key_of(words[i]) == wanted) mask |= u32(1) << i, first = i;
          ASSERT_TRUE(b.at(solo_tile{}, i) == words[i]);
        }
        ASSERT_EQ(b.match(solo_tile{}, wanted), mask);
        ASSERT_EQ(b.has(solo_tile{}, wanted), mask != 0);
        const auto a = b.look_up(solo_tile{}, wanted);
        ASSERT_EQ(a.what, mask != 0 ? lookup_state::found : lookup_state::absent);
        if (mask != 0) {
          ASSERT_TRUE(a.value == Slot::value_of(words[first]));
        }
      }
      ASSERT_EQ(b.match_empty(solo_tile{}), b.match(solo_tile{}, Slot::empty_mark));
      ASSERT_EQ(b.match_tombstone(solo_tile{}), b.match(solo_tile{}, Slot::tombstone_mark));
      ASSERT_EQ(b.has_empty(solo_tile{}), b.match_empty(solo_tile{}) != 0);
    }
    ASSERT_TRUE(words == before);
  }
}

template <class Slot>
void check_sizes() {
  check_bucket<Slot, 1>();
  check_bucket<Slot, 2>();
  check_bucket<Slot, 4>();
  check_bucket<Slot, 8>();
  check_bucket<Slot, 16>();
  check_bucket<Slot, 32>();
}

TEST(bucket, of_4_byte_words) {
  check_sizes<slot<u32, void>>();
  check_sizes<slot<u16, u8>>();
  check_sizes<slot<u16, u16>>();
  check_sizes<slot<u8, void>>();
}
TEST(bucket, of_8_byte_words) {
  check_sizes<slot<u32, u32>>();
  check_sizes<slot<u64, void>>();
  check_sizes<slot<u32, u16>>();
  check_sizes<slot<u8, u32>>();
}
TEST(bucket, of_16_byte_words) {
  check_sizes<slot<u64, u64>>();
  check_sizes<slot<u64, u32>>();
  check_sizes<slot<u32, u64>>();
}

template <class Word>
void check_claim() {
  alignas(16) Word w = 5;
  EXPECT_FALSE(try_claim(solo_tile{}, &w, Word(4), Word(9), true));
  EXPECT_TRUE(w == 5);
  EXPECT_FALSE(try_claim(solo_tile{}, &w, Word(5), Word(9), false)) << "not wanted";
  EXPECT_TRUE(w == 5);
  EXPECT_TRUE(try_claim(solo_tile{}, &w, Word(5), static_cast<Word>(~Word(0)), true));
  EXPECT_TRUE(w == static_cast<Word>(~Word(0)));
}
TEST(claim, takes_a_slot_once) {
  check_claim<u32>();
  check_claim<u64>();
  check_claim<u128>();
}

TEST(atomics, locks_are_bits) {
  u32 bits[3] = {};
  for (u64 which : {0, 31, 32, 63, 95}) {
    EXPECT_TRUE(detail::try_lock(bits, which));
    EXPECT_FALSE(detail::try_lock(bits, which));
  }
  EXPECT_EQ(bits[0], 0x80000001U);
  detail::unlock(bits, 31);
  EXPECT_EQ(bits[0], 1U);
  EXPECT_TRUE(detail::try_lock(bits, 31));
}

}  // namespace
}  // namespace tilehash
