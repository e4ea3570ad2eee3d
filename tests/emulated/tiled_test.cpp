// SPDX-License-Identifier: Apache-2.0
// length: one design; a test for each of its builds and merges.
#include <tilehash/designs/tiled.hpp>
#include <tilehash/engine/at_once.hpp>
#include <tilehash/engine/region_choice.hpp>
#include <tilehash/engine/unwaited_fill.hpp>
#include <tilehash/space/cpu.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "designs_test.hpp"

namespace tilehash::designs_test {

using i64 = std::int64_t;

// clang-format off
using types = testing::Types<
    with_width<tiled<u32, u32>, 4>,
#if !TILEHASH_FEW_TYPES
    with_width<tiled<u32, u32>, 1>,
    with_width<tiled<u64, u64>, 2>,
    with_width<tiled<u16, u8>, 32>,
    with_width<tiled<u32, void>, 16>,
#endif
    with_width<tiled<double, i64>, 8>>;
// clang-format on

INSTANTIATE_TYPED_TEST_SUITE_P(Tiled, EmulatedDesign, types);

TEST(TiledBuild, ByRegions) {
  if (contract::is_asked(0, 2)) build_by_regions<tiled<u32, u32>>(33'000, pattern::distinct, 0.95, 1);
  build_by_regions<tiled<u64, u64>>(33'000, pattern::some_twice, 0.9, 7);
  if (contract::is_asked(1, 2)) build_by_regions<tiled<u32, void>>(80'000, pattern::some_twice, 0.95, 6);
#if !TILEHASH_FEW_TYPES
  build_by_regions<tiled<u64, void>>(33'000, pattern::some_twice, 0.95, 2);
  build_by_regions<tiled<u64, void>>(32'768, pattern::distinct, 0.9, 3);
  build_by_regions<tiled<u32, u32>>(40'001, pattern::few, 0.5, 4);
  build_by_regions<tiled<u32, u32>>(33'000, pattern::all_equal, 0.9, 5);
#endif
}

// Item i has the value i. The keys that the table holds, each with the value of an item of it, and the items without.
struct items_found {
  u64 stored = 0, lost = 0;
};
template <class Table, class Key>
items_found look_up_items(emulated& space, const Table& t, const std::vector<Key>& keys) {
  using value_type = typename Table::mapped_type;
  const u64 n = keys.size();
  const buffer<Key, emulated> k(space, keys);
  const buffer<value_type, emulated> out(space, n);
  const buffer<u8, emulated> found(space, n);
  t.find(space, k.span(), out.span(), flags(found.data(), n));
  const auto values = out.to_host();
  const auto is = found.to_host();
  std::set<Key> stored;
  u64 lost = 0, wrong = 0;
  for (u64 i = 0; i < n; ++i) {
    if (is[i] == 0) {
      ++lost;
      continue;
    }
    stored.insert(keys[i]);
    wrong += keys[static_cast<u64>(values[i])] != keys[i];
  }
  EXPECT_EQ(wrong, 0U);
  return {stored.size(), lost};
}

// An asynchronous insert of keys into an empty table, which goes region by region, and then another one. The
// host learns no number in between: of items left over there may be none, a list, or more than a list takes.
// A table made for less than the keys refuses some.
template <class Design>
void insert_unwaited(const std::vector<typename Design::key_type>& keys, u64 made_for, double load_factor,
                     u64 seed, u64 illegal = 0) {
  SCOPED_TRACE(std::to_string(keys.size()) + " keys, load " + std::to_string(load_factor) + ", seed " +
               std::to_string(seed));
  using key_type = typename Design::key_type;
  using value_type = typename Design::mapped_type;
  using tested = with_width<Design, 4>;
  const u64 n = keys.size();
  emulated space({.seed = seed, .preempt = true});
  table<tested, emulated> t(space, made_for, {.load_factor = load_factor, .seed = seed, .grow = false});
  std::vector<value_type> values(n);
  for (u64 i = 0; i < n; ++i) values[i] = static_cast<value_type>(i);
  const buffer<key_type, emulated> k(space, keys);
  const buffer<value_type, emulated> v(space, values);
  const buffer<insert_report, emulated> reports(space, 3);
  ASSERT_TRUE(
      detail::regions_pay(space, t.view().design, n, 0) ||
      detail::one_region_pays<detail::array_source<typename Design::slot_type>>(space, t.view().design, n));
  for (int call = 0; call < 3; ++call) {
    if (call == 2) t.erase(space, k.span());  // the table is empty again, and not as new
    const u64 held = t.size();
    space.take_most_scratch();
    t.insert_async(space, k.span(), v.span(), reports.data() + call);
    if (call == 0) {
      using build = typename tested::template region_build<>;
      EXPECT_GE(space.take_most_scratch(), build::scratch_bytes(t.view().design.region_buckets()))
          << "not by regions";
    }
    const insert_report r = reports.to_host()[static_cast<std::size_t>(call)];
    const auto [stored, lost] = look_up_items(space, t, keys);
    EXPECT_EQ(t.size(), stored);
    EXPECT_EQ(r.inserted, stored - held);  // a key that was refused may find a slot later
    EXPECT_EQ(r.refused, lost);
    EXPECT_EQ(r.present, n - r.inserted - r.refused);
    if (made_for >= n) {
      EXPECT_EQ(lost, illegal);
    }
    if (made_for >= n && call == 1) {
      EXPECT_EQ(r.inserted, 0U);
    }
  }
}
TEST(TiledUnwaited, OneRegion) {
  insert_unwaited<tiled<u32, u32>>(make_keys<u32>(1000, pattern::distinct, 1), 1000, 0.8, 1);
  insert_unwaited<tiled<u32, u32>>(make_keys<u32>(3000, pattern::all_equal, 2), 3000, 0.8, 2);  // no list
  insert_unwaited<tiled<u32, u32>>(make_keys<u32>(600, pattern::distinct, 3), 400, 0.6, 3);     // too many
  insert_unwaited<tiled<u64, u64>>(make_keys<u64>(900, pattern::few, 4), 900, 0.95, 4);
  insert_unwaited<tiled<u64, u64>>(make_keys<u64>(2000, pattern::few, 5), 2000, 0.9, 5);
  auto some_nan = make_keys<double>(2000, pattern::distinct, 6);
  for (u64 i = 100; i < 110; ++i) some_nan[i] = std::numeric_limits<double>::quiet_NaN();
  insert_unwaited<tiled<double, i64>>(some_nan, 2000, 0.8, 6, 10);
  auto no_list = make_keys<double>(3000, pattern::all_equal, 7);
  no_list[5] = std::numeric_limits<double>::quiet_NaN();
  insert_unwaited<tiled<double, i64>>(no_list, 3000, 0.8, 7, 1);
}
TEST(TiledUnwaited, ManyRegions) {
  if (contract::is_asked(0, 2))
    insert_unwaited<tiled<u32, u32>>(make_keys<u32>(33'000, pattern::distinct, 1), 33'000, 0.95, 1);
  if (contract::is_asked(1, 2))
    insert_unwaited<tiled<u32, u32>>(make_keys<u32>(33'000, pattern::all_equal, 2), 33'000, 0.8, 2);
#if !TILEHASH_FEW_TYPES
  insert_unwaited<tiled<u32, u32>>(make_keys<u32>(50'000, pattern::distinct, 3), 48'000, 0.96, 3);
  insert_unwaited<tiled<u64, u64>>(make_keys<u64>(33'000, pattern::few, 4), 33'000, 0.9, 4);
#endif
}

// The same by regions, of which the last kernel inserts the items left over: none, a list, or more than a list takes. It
// is the kernel that builds the regions, or another one.
template <class Design>
void fill_unwaited(const std::vector<typename Design::key_type>& keys, double load_factor, u64 seed,
                   u64 illegal = 0) {
  SCOPED_TRACE(std::to_string(keys.size()) + " keys, load " + std::to_string(load_factor) + ", seed " +
               std::to_string(seed));
  using key_type = typename Design::key_type;
  using value_type = typename Design::mapped_type;
  const u64 n = keys.size();
  emulated space({.seed = seed, .preempt = true});
  const table<with_width<Design, 4>, emulated> t(space, n, {.load_factor = load_factor, .seed = seed});
  std::vector<value_type> values(n);
  for (u64 i = 0; i < n; ++i) values[i] = static_cast<value_type>(i);
  const buffer<key_type, emulated> k(space, keys);
  const buffer<value_type, emulated> v(space, values);
  const buffer<insert_report, emulated> report(space, 1);
  const buffer<char, emulated> memory(space, detail::call_memory::bytes);
  const detail::call_memory calls(memory.data());
  calls.clear(space);
  const detail::array_source<typename Design::slot_type> items{k.data(), v.data()};
  ASSERT_TRUE(detail::regions_pay(space, t.view().design, n, 0));
  for (int call = 0; call < 4; ++call) {  // each leaves the counters zero for the next one
    detail::call_end end = calls.unwaited(n, 0);
    end.report = report.data();
    end.blocks_done = calls.blocks_done();
    detail::start_few_regions(space, t.view().design, items, n, calls, end, call % 2 == 0);
    const auto [stored, lost] = look_up_items(space, t, keys);
    const insert_report r = report.to_host()[0];
    EXPECT_EQ(lost, illegal);
    EXPECT_EQ(r.refused, lost);
    EXPECT_EQ(r.inserted, stored);
    EXPECT_EQ(r.present, n - r.inserted - r.refused);
    EXPECT_EQ(calls.change(space).items, stored);
    calls.start_size(space);
  }
}
TEST(TiledUnwaited, LeftOverByOneKernel) {
  if (contract::is_asked(0, 2)) {
    fill_unwaited<tiled<u32, u32>>(make_keys<u32>(33'000, pattern::distinct, 1), 0.8, 1);
    fill_unwaited<tiled<u32, u32>>(make_keys<u32>(33'000, pattern::all_equal, 2), 0.8, 2);
  }
  if (!contract::is_asked(1, 2)) return;
  fill_unwaited<tiled<u64, u64>>(make_keys<u64>(33'000, pattern::few, 3), 0.85, 3);
  auto some_nan = make_keys<double>(33'000, pattern::few, 4);
  for (u64 i = 100; i < 110; ++i) some_nan[i] = std::numeric_limits<double>::quiet_NaN();
  fill_unwaited<tiled<double, i64>>(some_nan, 0.8, 4, 10);
}

// Returns keys that all have the same two buckets, more than these have slots.
template <class Design>
std::vector<typename Design::key_type> keys_of_two_buckets(const Design& design, u64 n) {
  std::map<std::pair<u32, u32>, std::vector<typename Design::key_type>> of;
  for (u32 i = 1;; ++i) {
    const auto key = static_cast<typename Design::key_type>(i);
    const auto first = design.locate(Design::slot_type::encode(key));
    auto second = first;
    design.turn(second);
    auto& some = of[std::minmax(design.where(first), design.where(second))];
    some.push_back(key);
    if (some.size() == n) return some;
  }
}
// Few items are built into a region in fewer steps if their keys differ and find slots by one move each.
template <class Build>
struct build_few_items {
  static constexpr u32 block_size = 256;
  Build build;
  u32 cells;
  u32* result;  // 0 unless it has built the region

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    u32 placed = 0;
    const bool built = build.build_few(block, cells, placed);
    if (block.rank() == 0) *result = built ? placed : 0;
  }
};
template <class Design>
void build_few(const std::vector<typename Design::key_type>& keys, u64 slots, u64 seed, bool possible) {
  SCOPED_TRACE(std::to_string(keys.size()) + " keys, " + std::to_string(slots) + " slots, seed " +
               std::to_string(seed));
  using key_type = typename Design::key_type;
  using source = detail::array_source<typename Design::slot_type>;
  using bin = detail::source_as_bin<Design, source>;
  using build = typename Design::template region_build<bin>;
  const u64 n = keys.size(), capacity = Design::whole_capacity(slots, 0.8);
  emulated space({.seed = seed, .preempt = true});
  buffer<char, emulated> memory(space, Design::bytes(capacity));
  space.fill(memory.data(), memory.size(), char(0x5a));  // of another table
  const Design design(memory.data(), capacity, seed, 0.8);
  ASSERT_EQ(design.regions(), 1U);
  const buffer<key_type, emulated> k(space, keys);
  const buffer<u32, emulated> result(space, 1);
  const build builds{
      design, bin{design, source{k.data(), k.data()}, static_cast<u32>(n), nullptr}, 0, false, {}, nullptr};
  using body = build_few_items<build>;
  const u32 cells = build::few_cells(n);
  space.for_each_block(1, body::block_size, build::few_scratch_bytes(design.region_buckets(), cells),
                       body{builds, cells, result.data()});
  EXPECT_EQ(result.to_host()[0], possible ? n : 0U);
  std::set<key_type> stored;
  u64 taken = 0;
  for (u64 i = 0; i < capacity; ++i) {
    const auto w = design.slots()[i];
    if (!possible) {
      EXPECT_EQ(reinterpret_cast<const char*>(&w)[0], char(0x5a)) << "slot " << i;
      continue;
    }
    if (Design::slot_type::is_free(w)) continue;
    ++taken;
    const auto key = design.key_at(i, w);
    stored.insert(Design::slot_type::decode(key));
    EXPECT_EQ(Design::slot_type::value_of(w), key);
    // A lookup reads the slot's bucket.
    const auto first = design.locate(key);
    const auto t = solo_tile{};
    using bucket = typename Design::template bucket_type<solo_tile>;
    const auto seen =
        design.examine(t, bucket::read_shared(t, design.bucket_at(design.where(first))), first.stored);
    EXPECT_EQ(seen.what, design.is_home(w) ? lookup_state::found : lookup_state::go_on) << "slot " << i;
  }
  if (possible) {
    EXPECT_EQ(taken, n);
    EXPECT_EQ(stored, std::set<key_type>(keys.begin(), keys.end()));
  }
}
TEST(TiledFew, BuiltOrGivenUp) {
  using tested = with_width<tiled<u32, u32>, 4>;
  for (const u64 seed : {1, 2, 3}) {
    for (const u64 n : {1, 40, 1000, 2000})
      build_few<tested>(make_keys<u32>(n, pattern::distinct, seed), n * 5 / 4, seed, true);
    build_few<tested>(make_keys<u32>(300, pattern::distinct, seed), 4000, seed, true);
    build_few<tested>(make_keys<u32>(1000, pattern::distinct, seed), 1104, seed,
                      true);  // one move is not enough
    auto keys = make_keys<u32>(1000, pattern::distinct, seed);
    keys[17] = keys[996];
    build_few<tested>(keys, 1250, seed, false);
    const tested design(nullptr, tested::whole_capacity(1000, 0.8), seed, 0.8);
    build_few<tested>(keys_of_two_buckets(design, 17), 1000, seed, false);
    keys = make_keys<u32>(10, pattern::distinct, seed);
    keys[3] = tested::slot_type::decode(design.unhash(0));  // 0 is a free cell of the set of keys
    build_few<tested>(keys, 1000, seed, false);
    auto some_nan = make_keys<float>(100, pattern::distinct, seed);
    some_nan[5] = std::numeric_limits<float>::quiet_NaN();
    build_few<with_width<tiled<float, float>, 4>>(some_nan, 1000, seed, false);
  }
}

// Four keys find no slot, each twice. An asynchronous insert refuses them, and one that synchronizes, too, unless
// the table grows.
TEST(TiledAtOnce, KeysWithoutSlots) {
  using tested = with_width<tiled<u32, u32>, 4>;
  for (const u64 seed : {1, 2, 3}) {
    if (!contract::is_asked(seed, 3)) continue;
    SCOPED_TRACE("seed " + std::to_string(seed));
    for (const bool waits : {false, true}) {
      for (const bool grow : {false, true}) {
        if (grow && !waits) continue;
        emulated space({.seed = seed, .preempt = true});
        table<tested, emulated> t(space, 1000, {.load_factor = 0.8, .seed = seed, .grow = grow});
        const std::vector<u32> colliding = keys_of_two_buckets(t.view().design, 20);
        std::vector<u32> keys = colliding;
        keys.insert(keys.end(), colliding.begin(), colliding.end());
        for (u32 i = 0; i < 200; ++i) keys.push_back(0x9000'0000U + i);
        const buffer<u32, emulated> k(space, keys);
        const buffer<u8, emulated> found(space, keys.size());
        const buffer<insert_report, emulated> report(space, 1);
        insert_report r;
        if (waits) {
          r = t.insert(space, k.span(), k.span());
        } else {
          space.take_kernels();
          t.insert_async(space, k.span(), k.span(), report.data());
          EXPECT_EQ(space.take_kernels(), 1U);
          r = report.to_host()[0];
        }
        t.contains(space, k.span(), flags(found.data(), keys.size()));
        u64 lost = 0;
        for (const u8 is : found.to_host()) lost += is == 0;
        EXPECT_EQ(lost, grow ? 0U : 8U);
        EXPECT_EQ(r.refused, lost);
        EXPECT_EQ(r.inserted, 220 - lost / 2);
        EXPECT_EQ(t.size(), 220 - lost / 2);
      }
    }
  }
}
// One kernel inserts while the table is known to stay rather empty.
TEST(TiledAtOnce, WhileTheTableStaysRatherEmpty) {
  using tested = table<with_width<tiled<u32, u32>, 4>, emulated>;
  emulated space({.seed = 1, .preempt = true});
  tested t(space, 1000, {.seed = 1, .grow = false});
  const buffer<u32, emulated> k(space, make_keys<u32>(1600, pattern::distinct, 1));
  const buffer<insert_report, emulated> report(space, 1);
  const auto insert = [&](u64 first, u64 n) {
    const std::span<const u32> keys = k.span().subspan(first, n);
    space.take_kernels();
    t.insert_async(space, keys, keys, report.data());
    const u64 kernels = space.take_kernels();
    EXPECT_EQ(report.to_host()[0].inserted, n);
    return kernels;
  };
  EXPECT_EQ(insert(0, 400), 1U);
  EXPECT_EQ(insert(400, 400), 1U);
  space.take_kernels();
  t.insert_async(space, k.span().first(400), k.span().first(400), report.data());  // present
  EXPECT_GT(space.take_kernels(), 1U) << "1200 of " << t.capacity() << " slots";
  EXPECT_EQ(t.insert(space, k.span().first(10), k.span().first(10)).present, 10U);  // learns the size
  EXPECT_EQ(insert(800, 100), 1U);
  EXPECT_EQ(t.size(), 900U);
  const tested copy = t.clone(space);
  EXPECT_EQ(copy.size(), 900U);
  [[maybe_unused]] const auto view = t.mutable_view(space);
  EXPECT_GT(insert(900, 10), 1U) << "a view may have inserted any number of items";
  EXPECT_EQ(t.size(), 910U);
}

// A call of few items takes one kernel: a second one takes as long as the work.
class TiledSmall : public testing::TestWithParam<u64> {};
INSTANTIATE_TEST_SUITE_P(Items, TiledSmall, testing::Values(1000, 20'000));
TEST_P(TiledSmall, OneKernelACall) {
  const u64 n = GetParam();
  emulated space({.seed = 1, .preempt = true});
  using tested = table<with_width<tiled<u32, u32>, 4>, emulated>;
  const buffer<u32, emulated> k(space, make_keys<u32>(n, pattern::distinct, 1)), v(space, n);
  space.fill(v.data(), n, 1U);
  const buffer<insert_report, emulated> report(space, 1);
  const buffer<u64, emulated> erased(space, 1);
  tested t(space, n);
  const auto kernels = [&](auto call) {
    space.take_kernels();
    call();
    return space.take_kernels();
  };
  insert_report r;
  const u64 built = kernels([&] { r = t.insert(space, k.span(), v.span()); });
  EXPECT_TRUE(built == 1 || n > 1000);
  EXPECT_EQ(r.inserted, n);
  EXPECT_EQ(kernels([&] { r = t.insert(space, k.span(), v.span()); }), 1U);
  EXPECT_EQ(r.present, n);
  if (n < detail::least_to_combine(space)) {
    EXPECT_EQ(kernels([&] { r = t.insert_or_assign(space, k.span(), v.span()); }), 1U);
    EXPECT_EQ(r.present, n);
    EXPECT_EQ(kernels([&] { r = t.insert_or_apply(space, k.span(), v.span(), op::sum{}); }), 1U);
    EXPECT_EQ(r.present, n);
  }
  u64 gone = 0;
  EXPECT_EQ(kernels([&] { gone = t.erase(space, k.first(n / 2)); }), 1U);
  EXPECT_EQ(gone, n / 2);
  EXPECT_EQ(kernels([&] { t.erase_async(space, k.span(), erased.data()); }), 1U);
  EXPECT_EQ(read_one(space, erased.data()), n - n / 2);
  EXPECT_EQ(t.size(), 0U);
  tested fixed(space, n, {.grow = false});
  const u64 filled = kernels([&] { fixed.insert_async(space, k.span(), v.span(), report.data()); });
  EXPECT_TRUE(filled == 1 || n > 1000);
  EXPECT_EQ(report.to_host()[0].inserted, n);
  EXPECT_EQ(fixed.size(), n);
}

// Values are assigned to the first keys of `all` while the table holds the last ones, so to present keys, new
// ones and some that occur twice. Each key then has a value that it was given last.
template <class Design>
void assign_by_regions(const std::vector<typename Design::key_type>& all, u64 held, u64 assigned,
                       double load_factor, u64 seed, bool waits, bool grow = false, bool by_regions = true,
                       bool whole = true) {
  SCOPED_TRACE(std::to_string(assigned) + " values, " + std::to_string(held) + " keys, seed " +
               std::to_string(seed) + (waits ? "" : ", asynchronous"));
  using key_type = typename Design::key_type;
  using value_type = typename Design::mapped_type;
  const u64 n = all.size();
  emulated space({.seed = seed, .preempt = true});
  table<with_width<Design, 4>, emulated> t(space, n,
                                           {.load_factor = load_factor, .seed = seed, .grow = grow});
  std::vector<value_type> values(n);
  for (u64 i = 0; i < n; ++i) values[i] = static_cast<value_type>(n + i);
  const buffer<value_type, emulated> old(space, values);
  for (u64 i = 0; i < n; ++i) values[i] = static_cast<value_type>(i);
  const buffer<key_type, emulated> k(space, all);
  const buffer<value_type, emulated> v(space, values), out(space, n);
  const buffer<u8, emulated> found(space, n);
  const buffer<insert_report, emulated> report(space, 1);
  ASSERT_EQ(t.insert(space, k.span().subspan(n - held), old.span().subspan(n - held)).refused, 0U);
  const u64 before = t.size();
  ASSERT_TRUE(detail::assigning_pays(space, t.view().design, assigned));
  if (by_regions) {
    ASSERT_EQ(detail::assigns_whole_regions(space, t.view().design, assigned), whole);
  }
  space.take_most_scratch();
  insert_report r;
  if (waits) {
    r = t.insert_or_assign(space, k.first(assigned), v.first(assigned));
  } else {
    t.insert_or_assign_async(space, k.first(assigned), v.first(assigned), report.data());
    r = report.to_host()[0];
  }
  const u64 scratch = space.take_most_scratch();  // a sample has 64 KiB, a partition 128, combining 227
  EXPECT_EQ(scratch >= u64(128) * 1024, by_regions) << scratch;
  EXPECT_LT(scratch, u64(200) * 1024) << "combined first";
  std::map<key_type, std::vector<u64>> given, offered;
  for (u64 i = 0; i < assigned; ++i) given[all[i]].push_back(i);
  for (u64 i = n - held; i < n; ++i) {
    if (!given.contains(all[i])) offered[all[i]].push_back(i);
  }
  EXPECT_EQ(r.refused, 0U);
  EXPECT_EQ(r.inserted, given.size() + offered.size() - before);
  EXPECT_EQ(r.present, assigned - r.inserted);
  EXPECT_EQ(t.size(), given.size() + offered.size());
  t.find(space, k.span(), out.span(), flags(found.data(), n));
  const auto its = out.to_host();
  const auto is = found.to_host();
  for (u64 i = 0; i < n; ++i) {
    const bool is_given = given.contains(all[i]);
    ASSERT_EQ(is[i] != 0, is_given || offered.contains(all[i]));
    if (is[i] == 0) continue;
    const auto& some = is_given ? given[all[i]] : offered[all[i]];
    const u64 number = static_cast<u64>(its[i]) - (is_given ? 0 : n);
    ASSERT_NE(std::ranges::find(some, number), some.end()) << its[i];
  }
}
TEST(TiledAssign, ByRegions) {
  if (contract::is_asked(0, 3)) {
    assign_by_regions<tiled<u32, u32>>(make_keys<u32>(40'000, pattern::distinct, 1), 40'000, 34'000, 0.9, 1,
                                       true);
    assign_by_regions<tiled<u32, u32>>(make_keys<u32>(41'000, pattern::some_twice, 2), 20'000, 33'000, 0.95,
                                       2, false);
  }
  if (contract::is_asked(1, 3)) {
    assign_by_regions<tiled<u32, u32>>(make_keys<u32>(40'000, pattern::distinct, 5), 39'800, 40'000, 0.8, 5,
                                       true, true);
    assign_by_regions<tiled<u64, u64>>(make_keys<u64>(40'000, pattern::distinct, 7), 40'000, 34'000, 0.8, 7,
                                       true, false, false);
  }
  // few of the keys: in place
  if (contract::is_asked(2, 3))
    assign_by_regions<tiled<u32, u32>>(make_keys<u32>(120'000, pattern::some_twice, 9), 110'000, 33'000, 0.9,
                                       9, false, false, true, false);
#if !TILEHASH_FEW_TYPES
  assign_by_regions<tiled<u32, u32>>(make_keys<u32>(41'000, pattern::distinct, 6), 20'000, 41'000, 0.8, 6,
                                     true, true, false);
  assign_by_regions<tiled<u32, u32>>(make_keys<u32>(41'000, pattern::some_twice, 3), 20'000, 33'000, 0.95, 3,
                                     true);
  assign_by_regions<tiled<u32, u32>>(make_keys<u32>(40'000, pattern::few, 4), 10'000, 33'000, 0.8, 4, false);
#endif
}

// A region is given 20 values more than its bin takes. The list of what is left has these; their keys are
// present, too.
TEST(TiledAssign, ListedItems) {
  using design = with_width<tiled<u32, u32>, 4>;
  const u64 n = 40'000, assigned = 33'000;
  auto keys = make_keys<u32>(n, pattern::distinct, 8);
  cpu space(1);
  const table<design, cpu> like(space, n, {.load_factor = 0.9, .seed = 8, .grow = false});
  const design d = like.view().design;
  const auto is_first = [&](u32 key) {
    return d.region_of(d.hash(detail::query<design::slot_type>(key).bits)) == 0;
  };
  const auto others = std::stable_partition(keys.begin(), keys.end(), is_first);
  const auto too_many =
      keys.begin() + static_cast<std::ptrdiff_t>(detail::bin_capacity(assigned, d.regions()) + 20);
  ASSERT_LT(too_many, others);
  std::rotate(too_many, others, keys.end());  // the rest of the region is not given any
  for (const bool waits : {true, false}) {
    if (!contract::is_asked(waits ? 0 : 1, 2)) continue;
    assign_by_regions<tiled<u32, u32>>(keys, n, assigned, 0.9, 8, waits);
  }
}

TEST(TiledBuild, MergesByRegions) {
  merge_by_regions<tiled<u32, u32>>(43'000, pattern::distinct, 0.95, 10'000, 1);
#if !TILEHASH_FEW_TYPES
  merge_by_regions<tiled<u64, void>>(66'000, pattern::some_twice, 0.95, 33'000, 2);
  merge_by_regions<tiled<u32, u32>>(43'000, pattern::few, 0.5, 10'000, 3);
  merge_by_regions<tiled<u32, void>>(43'000, pattern::some_twice, 0.9, 2'000, 4);
#endif
}

// A block builds a region, keys are erased, and another block adds more, in place
// (designs/tiled/merge.hpp) or built around the present ones (build.hpp): new ones, some twice, and some that
// are present. Each key is stored once then, with a value that it was given, the first if it was present; its bit in
// the filter is set if it is in its second bucket; and a key that is neither present nor left over has
// been lost.
// A `crowd` of new keys comes to so few first buckets that those without a place push for the same slots. One
// may lag behind when it has read a slot's contents, before it takes the slot: in a block of several warps
// another warp may get far meanwhile.
enum class merged { where_they_stand, by_their_buckets, built_around };
// A large region, of which nothing is erased, gets new keys only.
struct merged_region {
  u64 items = 300;
  double load = 0.9;
  u32 threads = 96;
  bool is_large() const { return items > 300; }
};
template <class Design>
void merge_into_a_region(u64 seed, double held, double asked, merged how, u32 crowd = 0,
                         const merged_region& sized = {}) {
  SCOPED_TRACE("seed " + std::to_string(seed) + (how == merged::built_around ? ", built around" : ""));
  using slot_type = typename Design::slot_type;
  using word = typename Design::word;
  using key_bits = typename slot_type::key_bits;
  using value_bits = typename slot_type::value_bits;
  using build = typename Design::template region_build<>;
  using merge = typename Design::template region_merge<>;
  using merge_few = typename Design::region_merge_few;
  using entry = typename build::entry;
  emulated space({.seed = seed, .preempt = true, .lags = true});
  const u64 capacity = Design::capacity_for(sized.items, sized.load);
  const buffer<u32, emulated> memory(space, Design::bytes(capacity) / sizeof(u32));
  space.fill(memory.data(), memory.size(), 0U);
  const Design d(memory.data(), capacity, seed, sized.load);
  ASSERT_EQ(d.regions(), 1U);

  const auto slots_of = [&](double part) { return static_cast<u64>(part * static_cast<double>(capacity)); };
  auto keys =
      make_keys<typename Design::key_type>(slots_of(crowd != 0 ? 16 : asked), pattern::distinct, seed << 32);
  if (crowd != 0) {
    u64 stay = slots_of(held);
    for (u64 i = stay; i < keys.size() && stay < slots_of(asked); ++i) {
      if (crowd > d.locate(slot_type::encode(keys[i])).bucket) keys[stay++] = keys[i];
    }
    keys.resize(stay);
  }
  std::unordered_map<key_bits, std::vector<value_bits>> may_have;  // by what hash
  u32 serial = 0;
  const auto item = [&](u64 i) {
    const key_bits h = d.hash(slot_type::encode(keys[i]));
    const value_bits v = slot_type::is_set ? 0 : ++serial;
    may_have[h].push_back(v);
    return entry::pack(h, v);
  };
  const auto run = [&](std::vector<word> items, const auto& body_of) {
    std::shuffle(items.begin(), items.end(), std::mt19937_64(seed));
    const auto n = static_cast<u32>(items.size());
    const buffer<word, emulated> bin(space, items), spilled(space, n);
    const buffer<u32, emulated> fill(space, std::vector<u32>{n});
    const buffer<u64, emulated> counters(space, std::vector<u64>{0, 0});
    body_of(detail::even_bins<word>{bin.data(), n, fill.data()},
            detail::spill_list<word>{spilled.data(), counters.data(), n}, counters.data() + 1);
    std::vector<word> left(spilled.data(), spilled.data() + counters.data()[0]);
    return std::pair(left, counters.data()[1]);
  };
  std::vector<word> first, second;
  for (u64 i = 0; i < slots_of(held); ++i) first.push_back(item(i));
  run(first, [&](const auto& bins, const auto& spill, u64* inserted) {
    space.for_each_block(1, 32, build::scratch_bytes(d.region_buckets()),
                         build{d, bins, 0, false, spill, inserted});
  });
  std::unordered_map<key_bits, value_bits> there;
  for (u64 i = 0; i < capacity; ++i) {
    word& w = d.slots()[i];
    if (slot_type::is_free(w)) continue;
    if (i % 13 == 3 && !sized.is_large())
      w = slot_type::filter_of(w);
    else
      there[d.hash(d.key_at(i, w))] = slot_type::value_of(w);
  }
  for (auto& [h, values] : may_have) {
    if (there.contains(h))
      values = {there[h]};
    else
      values.clear();
  }
  for (u64 i = sized.is_large() ? slots_of(held) : slots_of(held) / 2; i < keys.size(); ++i) {
    const key_bits h = d.hash(slot_type::encode(keys[i]));
    for (u32 copies = i % 3 == 0 ? 2 : 1; copies != 0; --copies) {
      second.push_back(item(i));
      if (there.contains(h)) may_have[h].resize(1);
    }
  }
  const auto [left, inserted] = run(second, [&](const auto& bins, const auto& spill, u64* count) {
    if (how == merged::built_around)
      space.for_each_block(1, 32, build::scratch_bytes(d.region_buckets()),
                           build{d, bins, 0, true, spill, count});
    else if (how == merged::by_their_buckets)
      space.for_each_block(1, sized.threads, merge_few::scratch_bytes(d.region_buckets()),
                           merge_few{d, bins, 0, spill, count});
    else
      space.for_each_block(1, sized.threads, merge::scratch_bytes(d.region_buckets()),
                           merge{d, bins, 0, spill, count});
  });

  u64 standing = 0;
  for (u64 i = 0; i < capacity; ++i) {
    const word w = d.slots()[i];
    if (slot_type::is_free(w)) continue;
    ++standing;
    const key_bits h = d.hash(d.key_at(i, w));
    const auto stored = slot_type::stored_in(w);
    auto& its = may_have[h];
    EXPECT_TRUE(std::ranges::find(its, slot_type::value_of(w)) != its.end()) << "slot " << i;
    its.clear();  // it may not come again
    const auto f = Design::filter_for(stored);
    if (slot_type::is_second(stored)) {
      EXPECT_NE(
          d.bucket_at(d.first_bucket(static_cast<u32>(i / Design::bucket_slots), stored))[f.slot] >> f.at & 1,
          word(0))
          << "slot " << i;
    }
  }
  EXPECT_EQ(inserted, standing - there.size());
  for (const word e : left) {
    const auto at = there.find(entry::hash_of(e));
    if (at != there.end() && !slot_type::is_set) {
      EXPECT_NE(entry::value_of(e), at->second) << "what was there may not leave";
    }
    may_have[entry::hash_of(e)].clear();
  }
  for (const auto& [h, values] : may_have) EXPECT_TRUE(values.empty()) << "a key is lost";
  // A build has a list for few that find no slot in their first bucket, as is right for a region of
  // thousands.
  const u64 may_be_left = asked >= 1 || crowd != 0          ? second.size()
                          : how == merged::built_around     ? second.size() / 2
                          : how == merged::by_their_buckets ? sized.is_large() ? 0 : second.size() / 8
                                                            : 0;
  EXPECT_LE(left.size(), may_be_left);
}
TEST(TiledMerge, WhereTheyStand) {
  for (u64 seed = 1; seed <= (small() ? 12U : 60U); ++seed) {
    merge_into_a_region<tiled<u32, u32>>(seed, 0.5, 0.9, merged::where_they_stand);
    merge_into_a_region<tiled<u64, u64>>(seed, 0.7, 0.85, merged::where_they_stand);
    merge_into_a_region<tiled<u32, u32>>(seed, 0.8, 1.2, merged::where_they_stand);
    merge_into_a_region<tiled<u32, void>>(seed, 0.1, 1.0, merged::where_they_stand);
  }
}
// The regions of a table differ in load. Some of 3000 regions at a load of 0.95 come to 0.97, where the move of two
// keys leaves an item over in one of ten: then a call of 4 million items takes a tenth longer.
TEST(TiledMerge, LargeRegion) {
  for (u64 seed = 1; seed <= (small() ? 8U : 40U); ++seed) {
    merge_into_a_region<tiled<u32, u32>>(seed, 0.91, 0.97, merged::where_they_stand, 0, {20'400, 0.95, 640});
  }
}
// The block reads the buckets of its items alone (designs/tiled/merge_few.hpp). Items may be left over in fuller regions,
// as at most two keys move for one. A large region gets more items than the registers of a few threads hold.
TEST(TiledMerge, ByTheirBuckets) {
  for (u64 seed = 1; seed <= (small() ? 12U : 60U); ++seed) {
    merge_into_a_region<tiled<u32, u32>>(seed, 0.5, 0.9, merged::by_their_buckets);
    merge_into_a_region<tiled<u64, u64>>(seed, 0.7, 0.85, merged::by_their_buckets);
    merge_into_a_region<tiled<u32, u32>>(seed, 0.8, 1.2, merged::by_their_buckets);
    merge_into_a_region<tiled<u32, void>>(seed, 0.1, 1.0, merged::by_their_buckets);
    merge_into_a_region<tiled<u32, u32>>(seed, 0.8, 1.1, merged::by_their_buckets, 3);
  }
}
TEST(TiledMerge, LargeRegionByItsBuckets) {
  for (u64 seed = 1; seed <= (small() ? 8U : 40U); ++seed)
    merge_into_a_region<tiled<u32, u32>>(seed, 0.75, 0.82, merged::by_their_buckets, 0, {20'400, 0.95, 384});
}
TEST(TiledMerge, LargeRegionOfWideWordsByItsBuckets) {
  for (u64 seed = 1; seed <= (small() ? 8U : 40U); ++seed)
    merge_into_a_region<tiled<u64, u64>>(seed, 0.75, 0.82, merged::by_their_buckets, 0, {7'900, 0.8, 256});
}
TEST(TiledMerge, BuiltAround) {
  for (u64 seed = 1; seed <= (small() ? 12U : 60U); ++seed) {
    merge_into_a_region<tiled<u32, u32>>(seed, 0.5, 0.9, merged::built_around);
    merge_into_a_region<tiled<u64, u64>>(seed, 0.1, 0.85, merged::built_around);
    merge_into_a_region<tiled<u64, u64>>(seed, 0.8, 1.2, merged::built_around);
    // More than it takes: present keys stay, and new ones leave.
    merge_into_a_region<tiled<u32, u32>>(seed, 1.0, 2.0, merged::built_around);
    merge_into_a_region<tiled<u64, u64>>(seed, 1.0, 2.0, merged::built_around);
  }
}
TEST(TiledMerge, BuiltAroundInACrowd) {
  for (u64 seed = 1; seed <= (small() ? 12U : 60U); ++seed) {
    merge_into_a_region<tiled<u32, u32>>(seed, 0.8, 1.1, merged::built_around, 3);
    merge_into_a_region<tiled<u64, u64>>(seed, 0.7, 0.9, merged::built_around, 4);
  }
}
// (A merge marks keys that have moved as settled. Without that where a slot is taken, keys get lost here.
// Without it where a key is dropped in its other bucket nothing does, in 12 000 merges: it would have to go
// back, to a bucket that is full, unless one gives back its promise of a slot there in that moment.)
TEST(TiledMerge, WhereTheyStandInACrowd) {
  for (u64 seed = 1; seed <= (small() ? 40U : 200U); ++seed) {
    merge_into_a_region<tiled<u32, u32>>(seed, 0.8, 1.1, merged::where_they_stand, 3);
    merge_into_a_region<tiled<u64, u64>>(seed, 0.7, 0.9, merged::where_they_stand, 4);
  }
}

}  // namespace tilehash::designs_test
