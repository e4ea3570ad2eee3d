// SPDX-License-Identifier: Apache-2.0
// Random numbers that differ in every run, and can be repeated.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include <tilehash/core/hash.hpp>

namespace tilehash::contract {

// The seed differs in every run, unless the environment sets TILEHASH_SEED=n. The first test that draws
// prints it.
inline u64 run_seed() {
  static const u64 seed = [] {
    const char* given = std::getenv("TILEHASH_SEED");
    const u64 drawn = given != nullptr ? std::strtoull(given, nullptr, 0)
                                       : u64(std::random_device{}()) << 32 | std::random_device{}();
    std::printf("TILEHASH_SEED=%llu repeats what these tests draw\n", static_cast<unsigned long long>(drawn));
    std::fflush(stdout);  // before a sanitizer ends the program
    return drawn;
  }();
  return seed;
}

// A bijection of the numbers that a Key holds. Numbers below 2^32 give different keys of 4 bytes too, unlike
// the low half of mix64.
template <class Key>
constexpr Key spread_key(u64 number) {
  static_assert(sizeof(Key) == 4 || sizeof(Key) == 8);
  if constexpr (sizeof(Key) == 4)
    return static_cast<Key>(mix32(static_cast<u32>(number)));
  else
    return static_cast<Key>(mix64(number));
}

// The tests' sizes: TILEHASH_SIZES=small (the tier quick, sanitizers), usual or large (the tier full). The
// contract's questions have small sizes for all but a design's first pair of types (check() in
// table_subject.hpp), unless sizes are large.
enum class test_sizes { small, usual, large };
inline test_sizes sizes_asked_for() {
  const char* value = std::getenv("TILEHASH_SIZES");
  const std::string_view asked = value != nullptr ? value : "usual";
  if (asked == "small") return test_sizes::small;
  if (asked == "large") return test_sizes::large;
  if (asked == "usual") return test_sizes::usual;
  throw std::invalid_argument("TILEHASH_SIZES is neither small, usual nor large");
}
inline bool large_sizes() { return sizes_asked_for() == test_sizes::large; }
inline bool this_test_is_small = false;
inline bool small_sizes() {
  const test_sizes asked = sizes_asked_for();
  return asked == test_sizes::small || (this_test_is_small && asked != test_sizes::large);
}
inline u64 scaled(u64 usual, u64 when_small) { return small_sizes() ? when_small : usual; }
// Small sizes ask one of so many long cases in each run. The run's seed chooses it.
inline bool is_asked(u64 which, u64 of) { return !small_sizes() || run_seed() % of == which % of; }

class random_numbers {
 public:
  // Each test has a sequence of its own, so it draws the same numbers alone and among others.
  explicit random_numbers(std::string_view test)
      : engine_(run_seed() ^ std::hash<std::string_view>{}(test)) {}
  explicit random_numbers(u64 seed) : engine_(seed) {}
  // For a fuzzer: numbers drawn from a range are its bytes, one or two each, and then 0. Numbers of 64 bits
  // are the same for all inputs.
  explicit random_numbers(std::span<const unsigned char> bytes) : bytes_(bytes), fuzzed_(true) {}

  u64 operator()() { return engine_(); }
  u64 below(u64 n) {
    if (!fuzzed_) return engine_() % n;
    u64 x = next_byte();
    if (n > 256) x = x << 8 | next_byte();
    return x % n;
  }
  bool ended() const { return bytes_.empty(); }  // are the fuzzer's bytes used up?
  u64 between(u64 least, u64 most) { return least + below(most - least + 1); }
  bool one_in(u64 n) { return below(n) == 0; }

  using result_type = u64;
  static constexpr u64 min() { return 0; }
  static constexpr u64 max() { return ~u64(0); }

 private:
  u64 next_byte() {
    if (bytes_.empty()) return 0;
    const u64 x = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return x;
  }

  std::mt19937_64 engine_;
  std::span<const unsigned char> bytes_;
  bool fuzzed_ = false;
};

// The seed of tables for which a test constructs colliding keys.
inline constexpr u64 known_seed = 0x7469'6c65'6861'7368;

}  // namespace tilehash::contract
