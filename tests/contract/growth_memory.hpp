// SPDX-License-Identifier: Apache-2.0
// The memory that a call takes while a table grows: the old and the new table, and in addition at most a
// sixteenth of the items' bytes.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <contract/random.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/table.hpp>

namespace tilehash::contract {

// A space that records its peak memory. (The scratch of a CPU's threads fits their caches at any table size,
// and is not counted.)
template <class Space>
class counted : public Space {
 public:
  using Space::Space;
  void* allocate(u64 bytes) {
    void* const p = Space::allocate(bytes);
    most_ = std::max(most_, now_ += bytes);
    return p;
  }
  void deallocate(void* p, u64 bytes) noexcept {
    now_ -= bytes;
    Space::deallocate(p, bytes);
  }
  void* allocate_resizable(u64 bytes) {
    if constexpr (requires(Space s) { s.allocate_resizable(bytes); }) {
      void* const p = Space::allocate_resizable(bytes);
      most_ = std::max(most_, now_ += bytes);
      return p;
    } else {
      return allocate(bytes);
    }
  }
  void* resize(void* p, u64 bytes, u64 new_bytes) {
    void* const q = Space::resize(p, bytes, new_bytes);
    most_ = std::max(most_, now_ = now_ - bytes + new_bytes);
    return q;
  }
  void forget() { most_ = now_; }
  u64 now() const { return now_; }
  u64 most() const { return most_; }

 private:
  u64 now_ = 0, most_ = 0;
};

// Inserts `given` items into a table of `held`, which must grow for them.
template <class Design, class Space>
void expect_little_memory_of_growth(counted<Space>& space, u64 held, u64 given, bool names_outcomes) {
  using key = typename Design::key_type;
  using value = typename Design::mapped_type;
  SCOPED_TRACE(std::string(Design::name) + " of " + std::to_string(held) + " items, given " +
               std::to_string(given));
  const u64 n = held + given;
  std::vector<key> host_keys(n);
  for (u64 i = 0; i < n; ++i) host_keys[i] = static_cast<key>(mix64(i));
  const buffer<key, counted<Space>> keys(space, host_keys);
  const buffer<value, counted<Space>> values(space, std::vector<value>(n));
  const buffer<outcome, counted<Space>> outcomes(space, names_outcomes ? given : 0);
  table<Design, counted<Space>> t(space, held);
  const auto k = keys.span();
  const auto v = values.span();
  ASSERT_EQ(t.insert(space, k.first(held), v.first(held)).refused, 0U);
  const u64 old_bytes = t.bytes(), apart = space.now() - old_bytes;
  space.forget();
  const insert_report report = t.insert(space, k.subspan(held), v.subspan(held), outcomes.span());
  ASSERT_EQ(report.refused, 0U);
  ASSERT_GT(t.bytes(), old_bytes) << "it was to grow";
  // Where the table grew in steps, the last step started from at most half the size.
  const u64 tables = t.bytes() + std::max(old_bytes, t.bytes() / 2);
  const u64 beside = n * (sizeof(key) + sizeof(value)) / 16, fixed = u64(1) << 14;
  EXPECT_LE(space.most() - apart, tables + beside + fixed);
}

// Some items into a full table, and about as many as it holds; many into a small one and into an empty one.
template <class Design, class Space>
void expect_little_memory_of_growth(counted<Space>& space, u64 n) {
  for (const bool names_outcomes : {false, true}) {
    if (!is_asked(names_outcomes ? 1 : 0, 2)) continue;
    expect_little_memory_of_growth<Design>(space, n, n / 4, names_outcomes);
    expect_little_memory_of_growth<Design>(space, n / 2, n / 2, names_outcomes);
    for (const u64 given : {n / 20 * 11, n / 5 * 3, n / 4 * 3})  // by regions up to 1.2 times as many
      expect_little_memory_of_growth<Design>(space, n / 2, given, names_outcomes);
    expect_little_memory_of_growth<Design>(space, n / 50, n, names_outcomes);
    expect_little_memory_of_growth<Design>(space, 0, n, names_outcomes);
  }
}

}  // namespace tilehash::contract
