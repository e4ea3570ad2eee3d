// SPDX-License-Identifier: Apache-2.0
#include <contract/faulty.hpp>
#include <tilehash/space/cpu.hpp>

namespace tilehash::contract {
struct indexing_space : cpu {
  indexing_space() : cpu(2) {}
};
}  // namespace tilehash::contract

#include <contract/index.hpp>
#include <contract/index_model.hpp>
#include <tilehash/designs/bucketed_cuckoo.hpp>
#include <tilehash/designs/linear_probing.hpp>
#include <tilehash/designs/robin_hood.hpp>
#include <tilehash/papers/cuckoo.hpp>
#include <tilehash/papers/mega_kv.hpp>

// Over any design that maps a key to 32 bits.
namespace tilehash::contract {
namespace {

// Where memory ends the call says so, and not that keys have no places; or it names the items that it
// refused. One key comes often, or keys clash, so that the call needs another hash function for those in the
// table.
template <class Table>
void index_without_memory(u64 distinct, u64 copies) {
  auto keys = keys_from(0, distinct);
  keys.insert(keys.end(), copies, keys[0]);
  const u64 n = keys.size();
  u64 threw = 0;
  for (u64 allocations = 0;; ++allocations) {
    SCOPED_TRACE(allocations);
    ASSERT_LT(allocations, 100U);
    ground<cpu, faulty_host> here(2);
    cpu& space = here.space;
    Table t(space, 0, {.seed = 0});
    const auto few = keys_from(0, 10);
    ASSERT_EQ(t.insert(space, few).inserted, 10U);
    std::vector<u32> ids(n, 12'345'678), found(n);
    insert_report report;
    bool thrown = false;
    here.memory.refuse_after(allocations);
    here.memory.guarded([&] {
      try {
        report = t.insert_and_find(space, keys, ids);
      } catch (const out_of_memory&) {
        thrown = true;
      }
    });
    here.memory.refuse_after(faulty::never);
    t.find_ids(space, keys, found);
    const u64 absent = static_cast<u64>(std::ranges::count(found, Table::no_id));
    threw += thrown;
    if (thrown) {
      EXPECT_EQ(t.size(), 10U);
      EXPECT_EQ(absent, distinct - 10);
    } else {
      EXPECT_EQ(ids, found);
      EXPECT_EQ(report.refused, absent);
      EXPECT_EQ(t.size(), 10 + report.inserted);
    }
    EXPECT_EQ(t.insert(space, keys).refused, 0U);
    EXPECT_EQ(t.size(), distinct);
    EXPECT_EQ(t.id_limit(), distinct) << "ids of refused keys are given to none";
    if (!here.memory.refused()) break;
  }
  EXPECT_GT(threw, 0U);
}
TEST(indexing_without_memory, says_so_or_names_what_it_refused) {
  index_without_memory<tilehash::index<word_key, cpu>>(scaled(34'000, 4'000), 1'000);
  index_without_memory<table<indexed<word_key, void, clashing>, cpu>>(500, 20);
}

// Lookups take no memory, so none can fail for want of it.
TEST(indexing_without_memory, finds_ids_and_keys) {
  ground<cpu, faulty_host> here(2);
  cpu& space = here.space;
  const u64 n = 2'000;
  const auto keys = keys_from(0, n);
  tilehash::index<word_key, cpu> t(space);
  std::vector<u32> ids(n), found(n);
  ASSERT_EQ(t.insert_and_find(space, keys, ids).inserted, n);
  std::vector<word_key> back(n);
  here.memory.refuse_after(0);
  here.memory.guarded([&] {
    t.find_ids(space, keys, found);
    t.keys_of(space, ids, back);
  });
  EXPECT_FALSE(here.memory.refused());
  EXPECT_EQ(found, ids);
  EXPECT_EQ(back, keys);
}

// Where there is no memory for twice the records, there may be for the few that come.
TEST(indexing_without_memory, makes_do_with_a_few_records_more) {
  using design = indexed<word_key, nine_words>;
  const u64 held = 4'000, few = 10;
  const auto keys = keys_from(0, held + few);
  const std::vector<nine_words> values(held + few);
  ground<cpu, faulty_host> here(2);
  table<design, cpu> t(here.space, held);
  const std::span<const word_key> k = keys;
  const std::span<const nine_words> v = values;
  ASSERT_EQ(t.insert(here.space, k.first(held), v.first(held)).inserted, held);
  here.memory.refuse_larger_than(3 * held * sizeof(design::record) / 2);
  const auto report = t.insert(here.space, k.last(few), v.last(few));
  EXPECT_EQ(report.inserted, few);
  EXPECT_EQ(report.refused, 0U);
  EXPECT_EQ(t.size(), held + few);
}

template <class Ids>
class indexing_over : public indexing {};
using ids_designs =
#if TILEHASH_FEW_TYPES
    ::testing::Types<bucketed_cuckoo<u64, u32>, linear_probing<u64, u32>>;
#else
    ::testing::Types<bucketed_cuckoo<u64, u32>, papers::cuckoo<u64, u32>, linear_probing<u64, u32>,
                     papers::mega_kv<u64, u32>, robin_hood<u64, u32>>;
#endif
TYPED_TEST_SUITE(indexing_over, ids_designs);

TYPED_TEST(indexing_over, ids_are_dense_and_stay) {
  const u64 all = this->n, part = all / 4;
  tilehash::index<word_key, indexing_space, TypeParam> t(this->space);
  const auto keys = keys_from(0, all);
  const auto ids = this->insert(t, keys);
  EXPECT_EQ(this->sorted(ids), this->numbers(0, all));
  const auto gone = keys_from(0, part);
  EXPECT_EQ(t.erase(this->space, gone), part);
  const std::vector<u32> freed(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(part));
  EXPECT_EQ(this->sorted(this->insert(t, keys_from(all, part))), this->sorted(freed));
  const auto kept = keys_from(part, all - part);
  EXPECT_EQ(this->insert(t, kept), this->ids_of(t, kept)) << "they are there";
  EXPECT_EQ(t.size(), all);
  this->expect_keys(t, this->ids_of(t, kept), kept);
}

// A key that is stored in the table of ids itself, with a value too large for it.
TYPED_TEST(indexing_over, values_are_found_and_changed) {
  table<indexed<u64, nine_words, murmur, TypeParam>, indexing_space> t(this->space);
  const u64 items = this->n;
  std::vector<u64> keys(items);
  std::vector<nine_words> values(items), out(items);
  for (u64 i = 0; i < items; ++i) keys[i] = mix64(i / 2), values[i].fill(static_cast<u32>(i / 2));
  const insert_report report = t.insert(this->space, keys, values);
  EXPECT_EQ(report.inserted, items / 2);
  EXPECT_EQ(report.present, items / 2);
  EXPECT_EQ(t.insert_or_apply(this->space, keys, values, add_blocks{}).present, items);
  t.find(this->space, keys, out);
  for (u64 i = 0; i < items; ++i) ASSERT_EQ(out[i][8], 3 * values[i][8]);
}

}  // namespace
}  // namespace tilehash::contract
