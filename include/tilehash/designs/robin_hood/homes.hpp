// SPDX-License-Identifier: Apache-2.0
// The home bucket of a key of a Robin Hood table, and the further buckets of its sequence.
//
//   key      [      high      | low (g) | slot ]         2^slot slots in a bucket
//   home     = start(high) + low            modulo the buckets
//   at age i = home + offset(i)             modulo the buckets; offset(1) = 0
//
// So neighbouring keys share a bucket or have neighbouring ones, at every age, as each age moves the whole
// table by one random offset: the paper's coherent sequence. A range of 2^g homes starts where a
// multiplication by a random odd number sends `high`. The paper takes the key modulo the table: an adversary
// knows that start, no seed changes it, and it needs a division. With a random start, each bucket has nearly
// as many keys of the universe as any other. The reason: multiples of a number that is far from every
// fraction with a small denominator are distributed evenly. Home and remainder (high and slot) determine the
// key: low = home - start(high).
//
// The seed determines the offsets. If a few steps lead back to where they began, unplaced keys meet the same
// full buckets again. If the first offsets share a divisor with the number of buckets, the table splits into
// parts that cannot relieve each other. Such draws are rejected (leads_back).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <utility>

#include <tilehash/core/bits.hpp>
#include <tilehash/core/hash.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

namespace probe {

// Keys keep their order, so that neighbours read the same memory at the same time.
struct coherent {
  static constexpr const char* name = "robin_hood";
  static constexpr bool keeps_neighbours = true;
  template <class Bits>
  TILEHASH_FN static constexpr Bits scattered(Bits key, Bits /*seed*/) {
    return key;
  }
  template <class Bits>
  TILEHASH_FN static constexpr Bits gathered(Bits key, Bits /*seed*/) {
    return key;
  }
};

}  // namespace probe

namespace detail {

// MaxAgeBits: the bits of a slot that belong to its bucket and not to its key.
template <class Bits, class Sequence, u32 Slots, u32 MaxAgeBits>
class robin_hood_homes {
 public:
  static constexpr u32 key_width = 8 * sizeof(Bits);
  static constexpr u32 slot_bits = Slots == 1 ? 0 : Slots == 2 ? 1 : Slots == 4 ? 2 : Slots == 8 ? 3 : 4;
  static constexpr u32 least_age_bits = Slots == 16 ? 3 : 4, most_age_bits = 8;
  static constexpr u64 least = u64(1) << (least_age_bits + MaxAgeBits);  // buckets
  static constexpr u64 most = (u64(1) << 32) - 1;
  // Offsets of the first ages are multiples of eight slots, so a bulk build's group of homes asks one group
  // of slots. Not for all ages, nor for small tables: keys that are multiples of eight would all stay in an
  // eighth of the slots.
  static constexpr u32 group_buckets = Slots < 8 ? 8 / Slots : 1, last_in_groups = 4;
  static constexpr u32 least_in_groups = 1U << 15;

  robin_hood_homes() = default;
  robin_hood_homes(u64 buckets, u64 seed)
      : seed_(mix64(seed)),
        factor_(even_factor(seed_)),
        buckets_(static_cast<u32>(buckets)),
        low_bits_(fitting(bit_width(buckets) - 1)) {
    draw_offsets();
  }

  TILEHASH_FN u32 buckets() const { return buckets_; }
  TILEHASH_FN u32 age_bits() const { return low_bits_ - MaxAgeBits; }
  TILEHASH_FN u32 oldest() const { return (1U << age_bits()) - 1; }  // the oldest age that fits a slot

  // ---- a key: its home, and its remainder ----
  struct position {
    u32 home;
    Bits remainder;  // high and slot
  };
  TILEHASH_FN position position_of(Bits key) const { return position_of_hash(hash(key)); }
  // A hash as a key of the sequence: unchanged, or mixed.
  TILEHASH_FN Bits hash(Bits key) const { return Sequence::scattered(key, static_cast<Bits>(seed_)); }
  TILEHASH_FN Bits unhash(Bits k) const { return Sequence::gathered(k, static_cast<Bits>(seed_)); }
  TILEHASH_FN position position_of_hash(Bits k) const {
    const Bits high = k >> (low_bits_ + slot_bits);
    const u32 low = static_cast<u32>(k >> slot_bits) & ((1U << low_bits_) - 1);
    return {sum(start(high), low), static_cast<Bits>(high << slot_bits | (k & (Slots - 1)))};
  }
  TILEHASH_FN Bits key_of(const position& p) const {
    const Bits high = p.remainder >> slot_bits;
    const Bits low = difference(p.home, start(high));
    const Bits k = (high << low_bits_ | low) << slot_bits | (p.remainder & (Slots - 1));
    return unhash(k);
  }

  // ---- ages ----
  TILEHASH_FN u32 at(u32 home, u32 age) const { return sum(home, offset(age)); }
  TILEHASH_FN u32 home_of(u32 bucket, u32 age) const { return difference(bucket, offset(age)); }

  // ---- a key as it is stored: its age above its remainder ----
  TILEHASH_FN Bits stored_as(u32 age, Bits remainder) const {
    return static_cast<Bits>(static_cast<Bits>(age) << remainder_bits() | remainder);
  }
  TILEHASH_FN u32 age_of(Bits stored) const { return static_cast<u32>(stored >> remainder_bits()); }
  TILEHASH_FN Bits remainder_of(Bits stored) const { return stored & ((Bits(1) << remainder_bits()) - 1); }

 private:
  // A random odd number whose first n multiples, modulo a power of two, are distributed evenly for every n:
  // up to the number of ranges, no partial quotient of that fraction is large. One in seven qualifies.
  static Bits even_factor(u64 seed) {
    constexpr u32 most_tries = 512;
    constexpr u64 largest_quotient = 8, ranges = u64(1) << 16;
    for (u32 i = 0; i < most_tries; ++i) {
      const Bits factor = static_cast<Bits>(mix64(seed + i) | 1);
      u64 a = u64(1) << 32, b = static_cast<u32>(factor >> (key_width - 32));
      u64 denominator = 1, previous = 0;
      bool even = true;
      while (even && denominator < ranges) {
        even = b != 0 && a / b <= largest_quotient;
        if (!even) break;
        const u64 quotient = a / b, rest = a % b;
        previous = std::exchange(denominator, quotient * denominator + previous);
        a = std::exchange(b, rest);
      }
      if (even) return factor;
    }
    return static_cast<Bits>(0x9e3779b97f4a7c15ULL);
  }
  // Takes the first draw that does not lead back. (With any draw the slowest of a thousand tables of 25 253
  // lines at load 0.99 reads 11 % more than most, with this one 5 %. A table of 6314 lines with a common
  // divisor read twice as much. A draw takes about 4 us.)
  void draw_offsets() {
    constexpr u32 most_draws = 64;
    for (u32 i = 0; i < most_draws; ++i) {
      drawn_ = static_cast<u32>(mix64(seed_ + i) >> 32);
      if (!leads_back()) return;
    }
  }
  // True if a few steps, forward or back by offsets of ages 2 to 4, lead to one bucket in two ways. (Two
  // ways of four steps form a cycle of eight.) Also true if the first two offsets do not reach every bucket.
  bool leads_back() const {
    const std::int64_t n = buckets_, by[3] = {offset(2), offset(3), offset(4)};
    if (std::gcd(n, std::gcd(by[0], by[1])) != common_factor()) return true;
    const int steps = n < 512 ? 1 : n < 2048 ? 2 : n < 8192 ? 3 : 4;  // small tables have too few buckets
    std::array<u32, 129> positions{};
    auto end = positions.begin();
    for (int a = -steps; a <= steps; ++a) {
      for (int b = std::abs(a) - steps; b <= steps - std::abs(a); ++b) {
        const int left = steps - std::abs(a) - std::abs(b);
        u32 reached = static_cast<u32>(((a * by[0] + b * by[1] - left * by[2]) % n + n) % n);
        for (int c = -left; c <= left; ++c, reached = sum(reached, offset(4))) *end++ = reached;
      }
    }
    std::sort(positions.begin(), end);
    return std::adjacent_find(positions.begin(), end) != end;
  }
  // The divisor that the first offsets always share with the buckets: not 1 where they move whole groups.
  u32 common_factor() const { return moves_groups(2) ? std::gcd(buckets_, group_buckets) : 1; }
  TILEHASH_FN bool moves_groups(u32 age) const {
    return age <= last_in_groups && buckets_ >= least_in_groups;
  }
  TILEHASH_FN static constexpr u32 fitting(u32 bits) {
    return bits > most_age_bits + MaxAgeBits ? most_age_bits + MaxAgeBits : bits;
  }
  TILEHASH_FN u32 remainder_bits() const { return key_width - low_bits_; }
  TILEHASH_FN u32 scaled(u32 x) const { return static_cast<u32>((static_cast<u64>(x) * buckets_) >> 32); }
  TILEHASH_FN u32 sum(u32 a, u32 b) const { return a >= buckets_ - b ? a - (buckets_ - b) : a + b; }
  TILEHASH_FN u32 difference(u32 a, u32 b) const { return a >= b ? a - b : a + (buckets_ - b); }
  TILEHASH_FN u32 start(Bits high) const {
    return scaled(static_cast<u32>(static_cast<Bits>(high * factor_) >> (key_width - 32)));
  }
  TILEHASH_FN u32 offset(u32 age) const {
    if (age <= 1) return 0;
    const u32 by = scaled(mix32(drawn_ + age * 0x9e3779b9U));
    return moves_groups(age) ? by - by % group_buckets : by;
  }

  u64 seed_ = 0;
  Bits factor_ = 1;
  u32 drawn_ = 0;  // determines the offsets
  u32 buckets_ = 1;
  u32 low_bits_ = least_age_bits + MaxAgeBits;  // of a key: g
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
