// SPDX-License-Identifier: Apache-2.0
// The calls that may run at the same time on one table, by the designs' headers: inserts with inserts,
// lookups with lookups, erases with erases, and displacements with displacements once all inserts are done.
// Threads work on the design's view as lone tiles; nothing else orders them. Meaningful under
// ThreadSanitizer, except that slots of 16 bytes are changed by instructions it cannot see.
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <random>
#include <thread>
#include <unordered_map>
#include <vector>

#include <contract/random.hpp>
#include <tilehash/designs/tiled.hpp>
#include <tilehash/papers/papers.hpp>
#include <tilehash/tilehash.hpp>

namespace tilehash {
namespace {

using contract::run_seed;
using contract::scaled;

constexpr u32 threads = 4;

// f(number of the thread) on all threads, started together.
template <class F>
void together(F f) {
  std::atomic<u32> missing = threads;
  std::vector<std::thread> all;
  for (u32 t = 0; t < threads; ++t) {
    all.emplace_back([&, t] {
      --missing;
      while (missing != 0) std::this_thread::yield();
      f(t);
    });
  }
  for (auto& thread : all) thread.join();
}

template <class Design>
class race : public ::testing::Test {
 protected:
  using slot_type = typename Design::slot_type;
  using key = typename Design::key_type;
  using bits = typename slot_type::value_bits;
  struct round {
    u64 keys;
    double load;
  };
  // Small tables, where threads meet often, and some large ones.
  static std::vector<round> rounds() {
    std::vector<round> all;
    for (u64 i = 0; i < scaled(60, 24); ++i) all.push_back({1 + i % 60, i % 3 == 0 ? 0.98 : 0.7});
    for (double load : {0.5, 0.9, 0.98}) all.push_back({scaled(20'000, 2'000), load});
    return all;
  }

  void make(const round& r) {
    table_.emplace(space_, r.keys, table_options{.load_factor = r.load, .seed = random_()});
    design_ = table_->view().design;
    keys_.clear();
    for (u64 start = random_(); keys_.size() < r.keys; ++start) {
      const auto k = static_cast<key>(sizeof(key) < 4 ? start : mix32(static_cast<u32>(start)));
      if (!slot_type::is_reserved(slot_type::encode(k))) keys_.push_back(k);  // those never reach a design
    }
    became_.assign(threads, std::vector<outcome>(keys_.size(), outcome::refused));
  }

  // Thread t's value for every key is t + 1.
  outcome insert(u32 t, u64 i) {
    return became_[t][i] = detail::insert_one(design_, key_bits(i), value_bits(t));
  }
  outcome displace(u32 t, u64 i) {
    if constexpr (displacing<Design>)
      became_[t][i] = design_.displacement_of(key_bits(i), word(t, i)).run(solo_tile{}, true);
    return became_[t][i];
  }
  // Thread t's share of the buckets that are due.
  void tidy(u32 t)
    requires tidying<Design>
  {
    for (u64 b = t; b < design_.due_words() * 32; b += threads) {
      if ((design_.due()[b / 32] >> b % 32 & 1) != 0) design_.tidy(solo_tile{}, static_cast<u32>(b), true);
    }
  }
  bool erase(u64 i) { return detail::erase_one(design_, {}, detail::query<slot_type>(keys_[i])); }
  auto find(u64 i) { return table_->view().find(keys_[i]); }

  auto key_bits(u64 i) const { return slot_type::encode(keys_[i]); }
  auto word(u32 t, u64 i) const { return slot_type::pack(key_bits(i), value_bits(t)); }
  bits value_bits(u32 t) const {
    if constexpr (slot_type::is_set)
      return bits(0);
    else if constexpr (values_apart<Design>)
      return values_ + t;
    else
      return bits(t + 1);
  }
  u64 slots() const {
    if constexpr (values_apart<Design>)
      return design_.entries();
    else
      return design_.capacity();
  }
  auto slot(u64 s) const {
    if constexpr (values_apart<Design>)
      return *design_.slot_at(s);
    else
      return design_.slots()[s];
  }

  // Every key is in the table once, with the value of the one thread that inserted it; those that no
  // thread could insert are absent.
  void expect_one_winner_each() {
    std::unordered_map<key, u32> copies;
    for (u64 s = 0; s < slots(); ++s) {
      const auto w = slot(s);
      if (detail::holds_item(design_, s, w)) ++copies[slot_type::decode(design_.key_at(s, w))];
    }
    for (u64 i = 0; i < keys_.size(); ++i) {
      u32 winners = 0, winner = 0;
      bool present = false;
      for (u32 t = 0; t < threads; ++t) {
        if (became_[t][i] == outcome::inserted) ++winners, winner = t;
        present |= became_[t][i] == outcome::present;
      }
      ASSERT_LE(winners, 1U) << "two threads inserted key " << i;
      ASSERT_TRUE(winners == 1 || !present) << "present, but nobody inserted key " << i;
      ASSERT_EQ(copies[keys_[i]], winners) << "copies of key " << i;
      ASSERT_EQ(find(i).found(), winners == 1);
      if constexpr (!slot_type::is_set) {
        if (winners == 1) {
          ASSERT_EQ(find(i).value(), winner + 1);
        }
      }
    }
  }

  cpu space_{1};
  std::mt19937_64 random_{run_seed()};
  std::optional<table<Design, cpu>> table_;
  Design design_;
  std::vector<key> keys_;
  // The values of keys whose values are not handed on in words.
  u32 values_[threads] = {1, 2, 3, 4};
  std::vector<std::vector<outcome>> became_;  // of thread and key
};

// ThreadSanitizer is asked about each way to write: other probes and sets have none of their own, and words
// of 16 bytes it sees once.
using designs =
    ::testing::Types<linear_probing<u32, u32>, linear_probing<u32, u64>, bucketed_cuckoo<u32, u32>,
                     papers::bucketed_cuckoo_balanced<u32, u32>, papers::cuckoo<u32, u32>, tiled<u32, u32>,
                     tiled<u64, u64>, tiled<u16, u8>, horton<u32, u32>, horton<u32, u32, 4>,
                     dynamic_cuckoo<u32, u32>, dynamic_cuckoo<u64, u32, 5, 2>
#if TILEHASH_FEW_TYPES != 2
                     ,
                     papers::quadratic_probing<u32, u32>, double_hashing<u32, void>,
                     bucketed_cuckoo<u32, void>, bucketed_cuckoo<u64, u64>,
                     papers::cuckoo<u32, u32, 3, murmur, 0>, horton<u64, u64>, horton<u32, void>
#endif
                     >;
TYPED_TEST_SUITE(race, designs);

TYPED_TEST(race, inserts_of_different_keys) {
  SCOPED_TRACE(run_seed());
  for (const auto& r : this->rounds()) {
    this->make(r);
    together([&](u32 t) {
      for (u64 i = t; i < r.keys; i += threads) this->insert(t, i);
    });
    together([&](u32 t) {
      for (u64 i = t; i < r.keys; i += threads) {
        if (this->became_[t][i] == outcome::refused) this->displace(t, i);
      }
    });
    ASSERT_NO_FATAL_FAILURE(this->expect_one_winner_each());
  }
}

TYPED_TEST(race, inserts_of_the_same_keys) {
  SCOPED_TRACE(run_seed());
  for (const auto& r : this->rounds()) {
    this->make(r);
    together([&](u32 t) {
      for (u64 i = 0; i < r.keys; ++i) this->insert(t, i);
    });
    together([&](u32 t) {
      for (u64 i = 0; i < r.keys; ++i) {
        if (this->became_[t][i] == outcome::refused) this->displace(t, i);
      }
    });
    ASSERT_NO_FATAL_FAILURE(this->expect_one_winner_each());
  }
}

// Into the slots that erased keys left, in front of and behind the keys that stayed.
TYPED_TEST(race, inserts_into_erased_slots) {
  SCOPED_TRACE(run_seed());
  for (const auto& r : this->rounds()) {
    this->make(r);
    for (u64 i = 0; i < r.keys; ++i) {
      if (this->insert(0, i) == outcome::refused) this->displace(0, i);
    }
    std::vector<bool> stays(r.keys);
    for (u64 i = 0; i < r.keys; ++i)
      stays[i] = this->random_() % 3 == 0 || !this->find(i).found() || !this->erase(i);
    const auto first = this->became_[0];
    together([&](u32 t) {
      for (u64 n = 0; n < r.keys; ++n) {
        const u64 i = t % 2 == 0 ? n : r.keys - 1 - n;
        this->insert(t, i);
      }
    });
    together([&](u32 t) {
      for (u64 i = 0; i < r.keys; ++i) {
        if (this->became_[t][i] == outcome::refused) this->displace(t, i);
      }
    });
    for (u64 i = 0; i < r.keys; ++i) {
      if (stays[i] && first[i] == outcome::inserted) {  // it was present all the time
        for (u32 t = 0; t < threads; ++t) ASSERT_EQ(this->became_[t][i], outcome::present);
        this->became_[0][i] = outcome::inserted;
      }
    }
    ASSERT_NO_FATAL_FAILURE(this->expect_one_winner_each());
  }
}

TYPED_TEST(race, erases_of_the_same_keys) {
  SCOPED_TRACE(run_seed());
  for (const auto& r : this->rounds()) {
    this->make(r);
    for (u64 i = 0; i < r.keys; ++i) {
      if (this->insert(0, i) == outcome::refused) this->displace(0, i);
    }
    const u64 gone = r.keys * 2 / 3;
    std::vector<std::atomic<u32>> erased(r.keys);
    together([&](u32 t) {
      for (u64 n = 0; n < gone; ++n) {
        const u64 i = t % 2 == 0 ? n : gone - 1 - n;
        if (this->erase(i)) ++erased[i];
      }
    });
    for (u64 i = 0; i < gone; ++i) {
      ASSERT_EQ(erased[i], this->became_[0][i] == outcome::inserted ? 1U : 0U) << "key " << i;
      this->became_[0][i] = outcome::refused;
    }
    ASSERT_NO_FATAL_FAILURE(this->expect_one_winner_each());
    if constexpr (tidying<TypeParam>) {
      together([&](u32 t) { this->tidy(t); });
      ASSERT_NO_FATAL_FAILURE(this->expect_one_winner_each());
    }
  }
}

TYPED_TEST(race, lookups_of_the_same_keys) {
  const typename TestFixture::round r{scaled(20'000, 3'000), 0.8};
  this->make(r);
  for (u64 i = 0; i < r.keys; i += 2) {
    if (this->insert(0, i) == outcome::refused) this->displace(0, i);
  }
  std::atomic<u64> wrong = 0;
  together([&](u32) {
    for (u64 i = 0; i < r.keys; ++i)
      wrong += this->find(i).found() != (this->became_[0][i] == outcome::inserted);
  });
  EXPECT_EQ(wrong, 0U);
}

// The two sentinel cells of a table.
TEST(race_aside, inserts_and_erases) {
  using slot_type = slot<u32, u32>;
  using cells = detail::sentinel_cells<slot_type>;
  for (u64 i = 0; i < scaled(300, 25); ++i) {
    cells::cell memory[2] = {};
    const cells sentinels{memory};
    std::atomic<u32> inserted = 0, erased = 0, winner = 0;
    together([&](u32 t) {
      if (sentinels.insert(slot_type::tombstone_mark, t + 1) == outcome::inserted) ++inserted, winner = t + 1;
    });
    EXPECT_EQ(inserted, 1U);
    EXPECT_EQ(sentinels.find(slot_type::tombstone_mark).value, winner);
    together([&](u32) { erased += sentinels.erase(slot_type::tombstone_mark); });
    EXPECT_EQ(erased, 1U);
  }
}

// One table, many host threads that look things up in it, through one space or each through its own.
TEST(race_bulk, lookups_side_by_side) {
  cpu shared(2);
  const u64 n = scaled(50'000, 5'000);
  std::vector<u32> keys(n), values(n);
  for (u64 i = 0; i < n; ++i) keys[i] = mix32(static_cast<u32>(i)), values[i] = static_cast<u32>(i);
  map<u32, u32, cpu> m(shared);
  EXPECT_EQ(m.build(shared, keys, values).inserted, n);
  multimap<u32, u32, cpu> mm(shared);
  EXPECT_EQ(mm.build(shared, keys, values).inserted, n);
  std::atomic<u64> wrong = 0;
  together([&](u32 t) {
    cpu own(1);
    cpu& space = t % 2 == 0 ? shared : own;
    for (int i = 0; i < 3; ++i) {
      std::vector<u32> out(n);
      m.find(space, keys, out);
      wrong += out != values;
      mm.find(space, keys, out);
      wrong += out != values;
    }
  });
  EXPECT_EQ(wrong, 0U);
}

}  // namespace
}  // namespace tilehash
