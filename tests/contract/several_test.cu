// SPDX-License-Identifier: Apache-2.0
// Tables over GPUs: over one, and over all of the machine.
#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <contract/random.hpp>
#include <tilehash/map.hpp>
#include <tilehash/several/distributed.hpp>
#include <tilehash/several/gpus.cuh>
#include <tilehash/several/group_by.hpp>
#include <tilehash/several/streamed.cuh>

namespace tilehash::contract {
namespace {

using gpu_table = several::distributed<map<u32, u32, cuda>, several::gpu_rank>;

u32 all_gpus() {
  int devices = 0;
  cudaGetDeviceCount(&devices);
  return static_cast<u32>(devices);
}
std::vector<int> first_gpus(u32 ranks) {
  std::vector<int> all;
  for (u32 r = 0; r < ranks; ++r) all.push_back(static_cast<int>(r % all_gpus()));
  return all;
}

// Two ranks, or more, are on one GPU where there is only one.
std::vector<std::pair<u32, bool>> rank_counts() {
  const u32 more = std::max(2U, all_gpus());
  return {{1, false}, {more, false}, {more, true}};
}

// Each rank draws the items of all.
void expect_one_gpu_table(cuda& space, several::gpu_rank& exchange, u64 most, u64 combined_from) {
  random_numbers random("one table over GPUs");
  gpu_table table(space, exchange, 100);
  table.combine_from(combined_from);
  std::unordered_map<u32, u32> model;
  for (u32 turn = 0; turn < 6; ++turn) {
    const u64 before = model.size();
    const u32 frequent = static_cast<u32>(random());
    u64 given = 0;
    std::vector<u32> keys, values;
    for (u32 r = 0; r < exchange.size(); ++r) {
      std::vector<u32> its_keys(random.below(most)), its_values;
      for (u32& k : its_keys) {
        k = turn % 2 == 1 && random.one_in(2) ? frequent : spread_key<u32>(random.below(3 * most));
        its_values.push_back(static_cast<u32>(random()));
        model[k] += its_values.back();
      }
      given += its_keys.size();
      if (r == exchange.rank()) keys = its_keys, values = its_values;
    }
    const buffer<u32, cuda> k(space, keys), v(space, values), out(space, keys.size());
    const buffer<u8, cuda> found(space, keys.size());
    const auto report = table.insert_or_apply(space, k.span(), v.span(), op::sum{});
    EXPECT_EQ(report, (insert_report{.inserted = model.size() - before,
                                     .present = given - (model.size() - before),
                                     .restarts = report.restarts}));
    table.find(space, k.span(), out.span(), found.span());
    const auto values_found = out.to_host();
    const auto flags_found = found.to_host();
    for (std::size_t i = 0; i < keys.size(); ++i) {
      ASSERT_EQ(flags_found[i], 1);
      ASSERT_EQ(values_found[i], model[keys[i]]);
    }
    ASSERT_EQ(table.size(), model.size());
  }
}

TEST(SeveralGpus, AnswerAsOneTable) {
  for (const auto& [ranks, windows] : rank_counts()) {
    several::gpus all(first_gpus(ranks), several::thread_ranks::usual_limit, windows);
    all.run([](cuda& space, several::gpu_rank& exchange) {
      expect_one_gpu_table(space, exchange, 20'000, ~u64(0));
      expect_one_gpu_table(space, exchange, 1'000, 1);
    });
  }
}
// Files and groups. Rank r has the keys r, r + 1 ... r + 999, each twice.
TEST(SeveralGpus, SaveLoadAndGroup) {
  const std::string folder = ::testing::TempDir() + "several_gpus";
  for (const u32 ranks : {1U, all_gpus()}) {
    std::filesystem::remove_all(folder);
    several::gpus all(first_gpus(ranks));
    all.run([&](cuda& space, several::gpu_rank& exchange) {
      std::vector<u32> host(2000);
      for (u32 i = 0; i < host.size(); ++i) host[i] = exchange.rank() + i % 1000;
      const buffer<u32, cuda> keys(space, host);
      gpu_table table(space, exchange);
      EXPECT_EQ(table.insert(space, keys.span(), keys.span()).inserted, 999U + ranks);
      table.save(space, folder);
      gpu_table other(space, exchange);
      EXPECT_EQ(other.load(space, folder), (insert_report{.inserted = 999U + ranks}));
      const buffer<u32, cuda> out(space, 2000);
      other.find_or(space, keys.span(), out.span(), 7);
      EXPECT_EQ(out.to_host(), host);
      const auto counts = several::value_counts(space, exchange, std::span<const u32>(keys.span()));
      const auto sums = several::group_by(space, exchange, std::span<const u32>(keys.span()),
                                          std::span<const u32>(keys.span()), op::sum{}, 0);
      const auto keys_counted = counts.keys.to_host(), keys_summed = sums.keys.to_host();
      const auto counted = counts.values.to_host();
      const auto summed = sums.values.to_host();
      const auto expected = [&](u32 key) {
        u32 rows = 0;
        for (u32 r = 0; r < ranks; ++r) rows += key >= r && key < r + 1000 ? 2 : 0;
        return rows;
      };
      EXPECT_EQ(counts.size(), other.local().size());
      EXPECT_EQ(sums.size(), counts.size());
      for (u64 i = 0; i < counts.size(); ++i) {
        EXPECT_EQ(counted[i], expected(keys_counted[i]));
        EXPECT_EQ(summed[i], expected(keys_summed[i]) * keys_summed[i]);
      }
    });
    std::filesystem::remove_all(folder);
  }
}
// So many items that blocks take tiles of them. The keys of the second call have one owner, so they do not fit windows.
void expect_large_calls(cuda& space, several::gpu_rank& exchange) {
  gpu_table table(space, exchange);
  table.combine_from(~u64(0));
  const u32 n = 1'200'000, ranks = exchange.size();
  for (const bool one_owner : {false, true}) {
    std::vector<u32> keys, values, expected;
    for (u32 i = exchange.rank(); keys.size() < n; i += ranks) {
      const u32 key = spread_key<u32>(i);
      if (!one_owner || table.owner(key) == ranks - 1) keys.push_back(key), values.push_back(key * 3 + 1);
    }
    const buffer<u32, cuda> k(space, keys), v(space, values), out(space, n);
    const buffer<u8, cuda> found(space, n);
    EXPECT_EQ(table.build(space, k.span(), v.span()).inserted, u64(n) * ranks);
    table.find_or(space, k.span(), out.span(), 7);
    EXPECT_EQ(out.to_host(), values);
    table.find(space, k.span(), out.span(), found.span());
    EXPECT_EQ(out.to_host(), values);
    EXPECT_EQ(found.to_host(), std::vector<u8>(n, 1));
    EXPECT_EQ(table.erase(space, k.first(n / 2)), u64(n / 2) * ranks);
    EXPECT_EQ(table.size(), u64(n - n / 2) * ranks);
  }
}
TEST(SeveralGpus, LargeCalls) {
  for (const auto& [ranks, windows] : rank_counts()) {
    several::gpus all(first_gpus(ranks), several::thread_ranks::usual_limit, windows);
    all.run(expect_large_calls);
  }
}
// Arrays in host memory, page-locked and not, through places for three batches.
TEST(SeveralGpus, StreamedCalls) {
  cuda space;
  map<u32, u32, cuda> table(space);
  std::vector<u32> keys(100'003), values(keys.size()), out(keys.size());
  for (u32 i = 0; i < keys.size(); ++i) keys[i] = spread_key<u32>(i), values[i] = keys[i] + 5;
  u32* locked = nullptr;
  ASSERT_EQ(cudaMallocHost(&locked, 2 * keys.size() * sizeof(u32)), cudaSuccess);
  const std::span<u32> locked_keys(locked, keys.size()), locked_out(locked + keys.size(), keys.size());
  for (const u64 batch : {1'000, 70'000, 1'000'000}) {
    several::streamed<map<u32, u32, cuda>> stream(space, table, batch);
    EXPECT_EQ(stream.build(keys, values).inserted, keys.size());
    std::fill(out.begin(), out.end(), 0);
    stream.find_or(keys, out, 7);
    EXPECT_EQ(out, values);
    std::copy(keys.begin(), keys.end(), locked);
    stream.find_or(locked_keys, locked_out, 7);
    EXPECT_TRUE(std::equal(values.begin(), values.end(), locked_out.begin()));
    EXPECT_EQ(stream.insert_or_apply(keys, keys, op::sum{}).present, keys.size());
    std::vector<u8> found(keys.size());
    stream.find(keys, out, found);
    for (u32 i = 0; i < keys.size(); ++i) ASSERT_EQ(out[i], values[i] + keys[i]);
    EXPECT_EQ(stream.erase(std::span(keys).first(50'000)), 50'000U);
    stream.contains(keys, found);
    EXPECT_EQ(std::count(found.begin(), found.end(), 1), 50'003);
  }
  cudaFreeHost(locked);
}
TEST(SeveralGpus, ARankThatThrowsEndsTheOthers) {
  several::gpus all(first_gpus(2));
  std::string other;
  const auto body = [&](cuda& space, several::gpu_rank& exchange) {
    gpu_table table(space, exchange);
    if (exchange.rank() == 0) throw std::runtime_error("planted");
    try {
      static_cast<void>(table.size());
    } catch (const error& e) {
      other = e.what();
    }
  };
  EXPECT_THROW(all.run(body), std::runtime_error);
  EXPECT_NE(other.find("rank 0 of 2 has ended"), std::string::npos) << other;
}

}  // namespace
}  // namespace tilehash::contract
