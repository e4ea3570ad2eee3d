// SPDX-License-Identifier: Apache-2.0
// The same calls on the GPU, on the CPU and on std::unordered_map: the same answers, at sizes that fill a
// GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include <contract/random.hpp>
#include <tilehash/papers/papers.hpp>
#include <tilehash/space/cuda.cuh>
#include <tilehash/tilehash.hpp>

namespace tilehash {
namespace {

using keys_t = std::vector<u32>;

u64 items() { return contract::scaled(400'000, 20'000); }

struct input {
  std::string name;
  keys_t keys;
};

std::vector<input> inputs() {
  const u64 n = items();
  input spread{"random", {}}, sequential{"sequential", {}}, skewed{"skewed", {}}, equal{"equal", {}};
  for (u64 i = 0; i < n; ++i) {
    spread.keys.push_back(static_cast<u32>(mix64(i + 12345)) % static_cast<u32>(2 * n));
    sequential.keys.push_back(static_cast<u32>(i));
    skewed.keys.push_back(static_cast<u32>(n / (1 + mix64(i) % n)));  // key k about n / k^2 times
    equal.keys.push_back(42);
  }
  for (input* x : {&spread, &sequential}) x->keys[0] = ~0U, x->keys[1] = ~0U - 1, x->keys[2] = 0;
  return {spread, sequential, skewed, equal};
}

// A table's answers for its keys and for as many others, and the number of keys that an erase of every third removed.
struct answers {
  insert_report report;
  std::vector<u8> found, found_after;
  std::vector<u32> values, counts, sums;
  u64 size = 0, erased = 0;
};

// One design of each kind; the others share their code.
template <class Design>
constexpr bool changes_values =
    std::same_as<Design, linear_probing<u32, u32>> || std::same_as<Design, bucketed_cuckoo<u32, u32>> ||
    std::same_as<Design, tiled<u32, u32>>;

template <class Design, class Space>
answers ask(Space& space, const keys_t& keys, const keys_t& queries, double load_factor) {
  std::vector<u32> numbers(keys.size());
  for (u32 i = 0; i < numbers.size(); ++i) numbers[i] = i;
  buffer<u32, Space> k(space, keys), v(space, numbers), q(space, queries), out(space, queries.size());
  buffer<bool, Space> found(space, queries.size());
  const double load = std::min(load_factor, detail::highest_load_factor<Design>());
  table<Design, Space> t(space, 0, {.load_factor = load});
  answers a;
  a.report = t.build(space, k.span(), v.span());
  t.find(space, q.span(), out.span(), found.span());
  a.values = out.to_host();
  a.found = found.to_host();
  t.count(space, q.span(), out.span());
  a.counts = out.to_host();
  a.size = t.size();
  if constexpr (erasable<Design>) {
    a.erased = t.erase(space, k.first(keys.size() / 3));
    t.contains(space, q.span(), found.span());
    a.found_after = found.to_host();
    EXPECT_EQ(t.insert(space, k.span(), v.span()).inserted, a.erased);
    EXPECT_EQ(t.size(), a.size);
    if constexpr (changes_values<Design>) {
      t.erase(space, k.first(keys.size() / 3));
      EXPECT_EQ(t.insert_or_assign(space, k.span(), k.span()).inserted, a.erased);
      EXPECT_EQ(t.insert_or_apply(space, k.span(), v.span(), op::sum{}).present, keys.size());
      t.find(space, q.span(), out.span());
      a.sums = out.to_host();
    }
  }
  return a;
}

void compare(const answers& on_gpu, const answers& on_cpu, const keys_t& keys, const keys_t& queries) {
  std::unordered_map<u32, u32> model;
  for (const u32 key : keys) ++model[key];
  std::unordered_map<u32, u32> sums;  // a key's own number and those of its items
  for (u32 i = 0; i < keys.size(); ++i) sums.try_emplace(keys[i], keys[i]).first->second += i;
  u64 wrong = 0;
  for (u64 i = 0; i < queries.size(); ++i) {
    const bool known = model.contains(queries[i]);
    wrong += known != bool(on_gpu.found[i]) || known != bool(on_cpu.found[i]);
    wrong += known && (keys[on_gpu.values[i]] != queries[i] || keys[on_cpu.values[i]] != queries[i]);
    wrong += on_gpu.counts[i] != on_cpu.counts[i];
    if (!on_gpu.sums.empty()) {
      const u32 expected = known ? sums[queries[i]] : 0;
      wrong += on_gpu.sums[i] != expected || on_cpu.sums[i] != expected;
    }
  }
  EXPECT_EQ(wrong, 0U);
  EXPECT_EQ(on_gpu.size, on_cpu.size);
  EXPECT_EQ(on_gpu.erased, on_cpu.erased);
  EXPECT_EQ(on_gpu.found_after, on_cpu.found_after);
  EXPECT_EQ(on_gpu.report.inserted, on_cpu.report.inserted);
  EXPECT_EQ(on_gpu.report.present, on_cpu.report.present);
  EXPECT_EQ(on_gpu.report.refused + on_cpu.report.refused, 0U);
}

template <class Design>
class differential : public ::testing::Test {};

template <class Builder>
using graph_by = hash_graph<u32, u32, murmur, u32, Builder>;
using designs = ::testing::Types<
    linear_probing<u32, u32>, papers::quadratic_probing<u32, u32>, double_hashing<u32, u32>,
    bucketed_cuckoo<u32, u32>, papers::bucketed_cuckoo_balanced<u32, u32>, papers::cuckoo<u32, u32>,
    papers::two_level_cuckoo<u32, u32>, hash_graph<u32, u32>, graph_by<builders::count_and_scatter>,
    graph_by<builders::binned<builders::count_and_scatter>>, graph_by<papers::segments>,
    papers::indexed_cuckoo<u32, u32>, chained<u32, u32>, papers::sorted_array<u32, u32>, tiled<u32, u32>>;

struct design_name {
  template <class Design>
  static std::string GetName(int) {
    return Design::name;
  }
};
TYPED_TEST_SUITE(differential, designs, design_name);

TYPED_TEST(differential, gpu_cpu_and_standard_map_agree) {
  cuda gpu;
  cpu host;
  for (const input& in : inputs()) {
    if (multivalue<TypeParam> && (in.name == "equal" || in.name == "skewed"))
      continue;  // rows of millions of items
    keys_t queries = in.keys;
    for (u64 i = 0; i < in.keys.size(); ++i) queries.push_back(static_cast<u32>(mix64(i + 999)));
    for (const double load_factor : {0.5, 0.9}) {
      SCOPED_TRACE(in.name + " at load " + std::to_string(load_factor));
      compare(ask<TypeParam>(gpu, in.keys, queries, load_factor),
              ask<TypeParam>(host, in.keys, queries, load_factor), in.keys, queries);
    }
  }
}

template <class Design>
class differential_updates : public ::testing::Test {};
using updated = ::testing::Types<linear_probing<u32, u32>, bucketed_cuckoo<u32, u32>, tiled<u32, u32>>;
TYPED_TEST_SUITE(differential_updates, updated, design_name);

// So many at once that some meet a key while another puts it into its second bucket.
TYPED_TEST(differential_updates, all_of_a_key_count) {
  cuda gpu;
  const u64 n = 50 * items(), different = n / 4;
  std::vector<u32> keys(n), all(different), expected(different, 0);
  for (u64 i = 0; i < n; ++i) {
    const u64 which = mix64(i) % different;
    keys[i] = mix32(static_cast<u32>(which));
    ++expected[which];
  }
  for (u64 i = 0; i < different; ++i) all[i] = mix32(static_cast<u32>(i));
  buffer<u32, cuda> k(gpu, keys), ones(gpu, n), q(gpu, all), found(gpu, different);
  gpu.fill(ones.data(), n, 1U);
  for (const double load_factor : {0.8, 0.95, 0.95, 0.95}) {
    table<TypeParam, cuda> t(gpu, different, {.load_factor = load_factor});
    EXPECT_EQ(t.insert_or_apply(gpu, k.span(), ones.span(), op::sum{}).refused, 0U);
    t.find_or(gpu, q.span(), found.span(), 0U);
    EXPECT_TRUE(found.to_host() == expected) << "at load " << load_factor;
  }
}

}  // namespace
}  // namespace tilehash
