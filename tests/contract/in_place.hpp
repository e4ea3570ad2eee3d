// SPDX-License-Identifier: Apache-2.0
// Tables that grow and shrink in their own memory (engine/region_resize.hpp): tests the answers, the promised
// memory, and that nothing is lost without memory. The tables have few regions, in memory that reports that
// it can be resized; a separate test uses the space's own memory.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <contract/faulty.hpp>
#include <contract/growth_memory.hpp>
#include <contract/random.hpp>
#include <tilehash/designs/tiled.hpp>
#include <tilehash/table.hpp>

namespace tilehash::contract {

// Memory that can be resized, and records its peak.
template <class Faulty>
class resizing : public Faulty {
 public:
  template <class... Where>
  void* allocate(Where... where) {
    void* const p = Faulty::allocate(where...);
    note();
    return p;
  }
  void* resize(void* p, std::size_t bytes, std::size_t new_bytes, std::size_t alignment) {
    this->take(new_bytes);
    void* const q = ::operator new(new_bytes, std::align_val_t(alignment));
    std::memset(q, Faulty::rubbish, new_bytes);
    std::memcpy(q, p, std::min(bytes, new_bytes));
    Faulty::deallocate(p, bytes, alignment);
    ++resizes_;
    note();
    return q;
  }
  u64 now() const { return this->allocated(); }
  u64 most() const { return most_; }
  void forget() { most_ = this->allocated(); }
  u64 resizes() const { return resizes_; }  // calls of resize

 private:
  void note() { most_ = std::max(most_, this->allocated()); }
  u64 most_ = 0, resizes_ = 0;
};

// A table, and which of the numbered keys it should hold. The value of a key is its mixed number.
template <class Design, class Space>
class modelled {
  using key = typename Design::key_type;
  static constexpr bool is_set = std::is_void_v<typename Design::mapped_type>;
  using value = std::conditional_t<is_set, char, typename Design::mapped_type>;

 public:
  modelled(Space& space, u64 items, table_options options) : tested(space, items, options), space_(space) {}

  // Keys number `first` to `end` - 1.
  insert_report insert(u64 first, u64 end, bool names_outcomes = false) {
    const buffer<key, Space> k(space_, keys(first, end));
    const buffer<outcome, Space> outcomes(space_, names_outcomes ? end - first : 0);
    insert_report report;
    if constexpr (is_set) {
      report = tested.insert(space_, k.span(), outcomes.span());
    } else {
      std::vector<value> v(end - first);
      for (u64 i = first; i < end; ++i) v[i - first] = value_of_key(i);
      const buffer<value, Space> values(space_, v);
      report = tested.insert(space_, k.span(), values.span(), outcomes.span());
    }
    if (report.refused == 0) note(first, end, true);
    return report;
  }
  void erase(u64 first, u64 end) {
    const u64 before = items_;
    note(first, end, false);
    const buffer<key, Space> k(space_, keys(first, end));
    ASSERT_EQ(tested.erase(space_, k.span()), before - items_);
  }
  // Checks that of the keys number 0 to `end` - 1 the expected ones are present with their values, and no
  // others.
  void verify(u64 end) {
    ASSERT_EQ(tested.size(), items_);
    const buffer<key, Space> k(space_, keys(0, end));
    const buffer<value, Space> out(space_, end);
    const buffer<bool, Space> found(space_, end);
    if constexpr (is_set)
      tested.contains(space_, k.span(), found.span());
    else
      tested.find(space_, k.span(), out.span(), found.span());
    const auto f = found.to_host();
    const auto o = out.to_host();
    u64 wrong = 0;
    for (u64 i = 0; i < end; ++i) {
      const bool there = i < there_.size() && there_[i];
      wrong += (f[i] != 0) != there || (!is_set && there && o[i] != value_of_key(i));
    }
    ASSERT_EQ(wrong, 0U);
    // No item is in a second slot, where no lookup would find it.
    const buffer<key, Space> all(space_, items_ + end);
    const buffer<value, Space> all_values(space_, is_set ? 0 : items_ + end);
    if constexpr (is_set)
      ASSERT_EQ(tested.retrieve_all(space_, all.span()), items_);
    else
      ASSERT_EQ(tested.retrieve_all(space_, all.span(), all_values.span()), items_);
    const buffer<u32, Space> probes(space_, end);
    tested.probe_counts(space_, k.span(), probes.span());
    const auto read = probes.to_host();
    const u64 more = std::accumulate(read.begin(), read.end(), u64(0)) - end;
    ASSERT_LE(*std::ranges::max_element(read), 2U);
    const bool sparse = tested.options().load_factor <= 0.8 && Design::bucket_slots >= 8;
    ASSERT_LE(more, sparse ? end / 4 : end / 2 + end / 4) << "most lookups read one bucket";
  }

  table<Design, Space> tested;

 private:
  static value value_of_key(u64 i) { return static_cast<value>(mix32(static_cast<u32>(i))); }
  static std::vector<key> keys(u64 first, u64 end) {
    std::vector<key> k(end - first);
    for (u64 i = first; i < end; ++i)
      k[i - first] = static_cast<key>(sizeof(key) == 4 ? mix32(static_cast<u32>(i)) : mix64(i));
    return k;
  }
  void note(u64 first, u64 end, bool now) {
    if (there_.size() < end) there_.resize(end);
    for (u64 i = first; i < end; ++i) {
      items_ += u64(now) - u64(there_[i]);
      there_[i] = now;
    }
  }

  Space& space_;
  std::vector<bool> there_;
  u64 items_ = 0;
};

// Grows from no items, in calls of n items each.
template <class Design, class Space>
void grow_from_nothing(Space& space, u64 n, u64 each, double load) {
  SCOPED_TRACE("calls of " + std::to_string(each) + " at " + std::to_string(load));
  modelled<Design, Space> m(space, 0, {.load_factor = load, .seed = known_seed});
  u64 capacity = m.tested.capacity();
  for (u64 first = 0; first < n; first += each) {
    ASSERT_EQ(m.insert(first, std::min(n, first + each)).refused, 0U);
    if (std::exchange(capacity, m.tested.capacity()) != capacity) m.verify(first + 2 * each);
  }
  m.verify(n + n / 4);
}

// reserve, shrink_to_fit, rehash and erases between inserts.
template <class Design, class Space>
void resize_at_random(Space& space, u64 n, u64 steps, double load) {
  random_numbers random("resize at random");
  modelled<Design, Space> m(space, n, {.load_factor = load, .seed = known_seed});
  u64 end = n / 2;
  ASSERT_EQ(m.insert(0, end).refused, 0U);
  const auto below = [&](u64 x) { return static_cast<u64>(random() % (x + 1)); };
  for (u64 step = 0; step < steps; ++step) {
    const u64 what = below(5), some = below(n / 2);
    SCOPED_TRACE(std::to_string(step) + ": " + std::to_string(what) + " of " + std::to_string(some));
    if (what <= 1) {
      ASSERT_EQ(m.insert(end, end + some, what == 1).refused, 0U);
      end += some;
    } else if (what == 2) {
      const u64 first = below(end);
      m.erase(first, std::min(end, first + some));
    } else if (what == 3) {
      m.tested.reserve(space, m.tested.size() + 4 * some);
      ASSERT_GE(static_cast<double>(m.tested.capacity()) * load + 1,
                static_cast<double>(m.tested.size() + 4 * some));
    } else if (what == 4) {
      const u64 before = m.tested.bytes();
      m.tested.shrink_to_fit(space);
      ASSERT_LE(m.tested.bytes(), before);
      ASSERT_LE(static_cast<double>(m.tested.capacity()),
                static_cast<double>(m.tested.size()) / load * 1.13 + 172'032);
    } else {
      m.tested.rehash(space, m.tested.size() + some);
    }
    m.verify(end + some);
  }
  m.tested.reserve(space, m.tested.capacity() + 1);  // whatever was drawn, the table has grown
  m.verify(end);
}

// The table has n items, fills its memory, doubles, and shrinks again. Bounds the peak memory meanwhile. (In
// buckets of four slots more keys find their first bucket full.)
template <class Design, class Space, class Meter>
void double_in_little_memory(Space& space, Meter& meter, u64 n, double load = 0.8) {
  modelled<Design, Space> m(space, n, {.load_factor = load, .seed = known_seed});
  ASSERT_EQ(m.insert(0, n).refused, 0U);
  // For a sparse table, as many items as its capacity allows at the usual load factor.
  const auto items = static_cast<u64>(static_cast<double>(n * sizeof(typename Design::word)) / load * 0.8);
  const u64 old = m.tested.bytes();
  // The rounding to whole regions, and the scratch of two threads.
  const u64 fixed = (u64(1) << 14) + (u64(1) << 20);
  const u64 share = Design::bucket_slots < 8 ? 12 : 16;
  meter.forget();
  m.tested.reserve(space, 2 * n);
  const u64 bytes = m.tested.bytes();
  ASSERT_GE(bytes, 2 * old - old / 64);
  EXPECT_LE(meter.most(), bytes + items / 16 + fixed);
  m.verify(n + n / 4);
  meter.forget();
  m.tested.shrink_to_fit(space);
  ASSERT_LE(m.tested.bytes(), old + old / 16);
  EXPECT_LE(meter.most(), bytes + bytes / share + fixed);
  EXPECT_EQ(meter.now(), m.tested.bytes()) << "what is not needed goes back";
  m.verify(n + n / 4);
}

// Copies a table whose regions are smaller than those of a new table of its capacity. So it has more regions.
template <class Design, class Space>
void clone_what_has_grown(Space& space) {
  constexpr double load = 0.9;
  const u64 buckets =
      4 * Design::max_region(load) + 1;  // in five regions, each a fifth smaller than the largest
  const auto n = static_cast<u64>(load * static_cast<double>(buckets * Design::bucket_slots));
  modelled<Design, Space> m(space, n, {.load_factor = load, .seed = known_seed});
  ASSERT_EQ(m.insert(0, n).refused, 0U);
  m.tested.reserve(space, 2 * n);
  const u64 capacity = m.tested.capacity();
  m.tested = m.tested.clone(space);
  ASSERT_EQ(m.tested.capacity(), capacity);
  m.verify(n + n / 4);
  ASSERT_EQ(m.insert(n, n + n / 2).refused, 0U);
  m.verify(2 * n);
}

// Refuses memory at each of a call's allocations: the table is unchanged.
template <class Design, class Space, class Memory, class Call>
void fail_at_every_allocation(Space& space, Memory& memory, u64 items, u64 n, const Call& call) {
  u64 threw = 0;
  for (u64 allocations = 0; allocations < 50; ++allocations) {
    SCOPED_TRACE(std::to_string(allocations) + " allocations");
    modelled<Design, Space> m(space, items, {.seed = known_seed});
    ASSERT_EQ(m.insert(0, n).refused, 0U);
    const u64 capacity = m.tested.capacity(), bytes = m.tested.bytes(), out = memory.allocated();
    memory.refuse_after(allocations);
    bool failed = false;
    memory.guarded([&] {
      try {
        call(m);
      } catch (const out_of_memory&) {
        failed = true;
      }
    });
    memory.refuse_after(faulty::never);
    const bool met = memory.refused();
    threw += failed;
    ASSERT_EQ(memory.allocated() - out, m.tested.bytes() - bytes) << "memory is kept, or given back twice";
    if (failed) {
      ASSERT_EQ(m.tested.capacity(), capacity);
    }
    m.verify(n + n / 4);
    if (!met) {
      ASSERT_GT(threw, 0U);
      ASSERT_NE(m.tested.capacity(), capacity);
      return;
    }
  }
  FAIL() << "the call never had memory enough";
}

}  // namespace tilehash::contract
