// SPDX-License-Identifier: Apache-2.0
// The space `cuda`: where its memory comes from, which GPU it works on, and how two of one GPU are ordered.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <contract/faulty.cuh>
#include <contract/message_of.hpp>
#include <tilehash/map.hpp>
#include <tilehash/papers/sorted_array.hpp>
#include <tilehash/space/cuda.cuh>
#include <tilehash/space/foreign_stream.hpp>

namespace tilehash {
namespace {

using contract::faulty_device;
using contract::message_of;

TEST(cuda_space, takes_all_its_memory_from_the_resource) {
  faulty_device memory;
  {
    cuda gpu(nullptr, memory);
    const std::vector<u32> host = {3, 1, 2};
    const buffer<u32, cuda> keys(gpu, host);
    EXPECT_EQ(memory.allocated(), 12U);
    table<papers::sorted_array<u32, u32>, cuda> t(gpu);  // it sorts by CUB
    u64 allocations = 0;
    for (bool done = false; !done; ++allocations) {
      memory.refuse_after(allocations);
      try {
        const auto report = memory.guarded([&] { return t.build(gpu, keys.span(), keys.span()); });
        EXPECT_EQ(report.inserted, 3U);
        done = true;
      } catch (const out_of_memory&) {
      }
    }
    EXPECT_GT(allocations, 2U) << "the table, what it sorts by and CUB's own";
    EXPECT_EQ(memory.allocated(), keys.bytes() + t.bytes());
    EXPECT_EQ(t.size(), 3U);
  }
  EXPECT_EQ(memory.allocated(), 0U);
}

TEST(cuda_space, refuses_a_resource_that_is_null) {
  faulty_device* const none = nullptr;
  EXPECT_NE(message_of<invalid_argument>([&] { cuda(nullptr, none); }).find("is a null pointer"),
            std::string::npos);
}

TEST(cuda_space, works_on_the_gpu_it_is_given) {
  int before = -1, after = -1;
  ASSERT_EQ(cudaGetDevice(&before), cudaSuccess);
  cuda same(nullptr, {}, before);
  EXPECT_EQ(same.device(), before);
  EXPECT_EQ(same.where(), "GPU " + std::to_string(before));
  EXPECT_NE(message_of<cuda_error>([] { cuda(nullptr, {}, 1'000); }).find("choosing a GPU"),
            std::string::npos);
  int gpus = 0;
  cudaGetDeviceCount(&gpus);
  if (gpus > 1) {
    const int other = (before + 1) % gpus;
    cuda there(nullptr, {}, other);
    EXPECT_FALSE(there.same_memory(same));
    const std::vector<u32> host = {1, 2, 3};
    const buffer<u32, cuda> keys(there, host);
    map<u32, u32, cuda> t(there);
    EXPECT_EQ(t.insert(there, keys.span(), keys.span()).inserted, 3U);
    const buffer<u32, cuda> out(there, 3);
    t.find_or(there, keys.span(), out.span(), 0U);
    EXPECT_EQ(out.to_host(), host);
    EXPECT_NE(message_of<invalid_argument>([&] {
                detail::require_same_device(keys.space(), same, "find");
              }).find("the table is in the memory of GPU"),
              std::string::npos);
  }
  cudaGetDevice(&after);
  EXPECT_EQ(after, before);
}

TEST(cuda_space, looks_at_no_address_of_an_empty_span) {
  const cuda gpu;
  std::vector<u32> host(1);
  gpu.check_pointer(std::span<u32>(host).first(0), "the keys");
  gpu.check_pointer(host.data(), 0, "the keys");
  gpu.check_pointer(std::span<u32>(), "the keys");
  EXPECT_NE(message_of<invalid_argument>([&] {
              gpu.check_pointer(std::span<u32>(host), "the keys");
            }).find("the keys are in host memory"),
            std::string::npos);
  EXPECT_NE(message_of<invalid_argument>([&] {
              gpu.check_pointer(nullptr, 3, "the keys");
            }).find("the keys are at a null pointer"),
            std::string::npos);
}

struct slow_fill {
  u32* data;
  u32 value;
  __device__ void operator()(u64 i) const {
    for (const long long start = clock64(); clock64() - start < 2'000'000;) {
    }
    data[i] = value;
  }
};

// Memory that a foreign stream's slow kernel still writes goes back, is taken again and filled by home: in that order.
TEST(cuda_space, memory_given_back_while_a_foreign_stream_works_is_not_taken_too_early) {
  cudaStream_t streams[2];
  for (cudaStream_t& s : streams)
    ASSERT_EQ(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), cudaSuccess);
  {
    cuda home(streams[0]), foreign(streams[1]);
    for (int round = 0; round < 20; ++round) {
      constexpr u64 n = 1'000;
      {
        const buffer<u32, cuda> b(home, n);
        const detail::foreign_change<cuda> call(b.space(), foreign, "a test");
        foreign.for_each(n, slow_fill{b.data(), 1});
      }  // the call is over, and then the buffer
      const buffer<u32, cuda> again(home, n);
      home.fill(again.data(), n, 2U);
      foreign.synchronize();
      ASSERT_EQ(again.to_host(), std::vector<u32>(n, 2));
    }
  }
  for (const cudaStream_t s : streams) cudaStreamDestroy(s);
}

// ---- one table, several spaces and GPUs
// ---------------------------------------------------------------------

std::vector<u32> numbers(u64 n, u32 from) {
  std::vector<u32> keys(n);
  for (u64 i = 0; i < n; ++i) keys[i] = mix32(from + static_cast<u32>(i));
  return keys;
}
using table_type = map<u32, u32, cuda>;

// Every key with itself as its value, and no other.
void expect_keys(cuda& space, const table_type& t, const std::vector<u32>& there,
                 const std::vector<u32>& gone) {
  const buffer<u32, cuda> in(space, there), out(space, gone), values(space, there.size());
  const buffer<bool, cuda> found(space, gone.size());
  t.find_or(space, in.span(), values.span(), 0U);
  t.contains(space, out.span(), found.span());
  EXPECT_EQ(values.to_host(), there);
  EXPECT_EQ(found.to_host(), std::vector<u8>(gone.size(), 0));
}
// Fills the table until it has grown twice, and takes out and puts in again, all through `space`.
void use(cuda& space, table_type& t) {
  const auto keys = numbers(20'000, 1), others = numbers(20'000, 100'000);
  const buffer<u32, cuda> k(space, keys);
  const u64 before = t.capacity();
  for (const u64 n : {100, 4'000, 20'000}) {
    const auto some = k.first(n);
    EXPECT_EQ(t.insert(space, some, some).refused, 0U);
    EXPECT_EQ(t.size(), n);
  }
  EXPECT_GT(t.capacity(), before);
  expect_keys(space, t, keys, others);
  EXPECT_EQ(t.erase(space, k.first(5'000)), 5'000U);
  t.rehash(space, 0);
  expect_keys(space, t, {keys.begin() + 5'000, keys.end()}, {keys.begin(), keys.begin() + 5'000});
  t.clear(space);
  EXPECT_TRUE(t.empty());
  t.rehash(space, 0);
}

// Counts the blocks whose last word of scratch can be written.
struct use_all_scratch {
  u64 bytes;
  u64* blocks;
  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    if (block.rank() != 0) return;
    u64& last = *block.template scratch<u64>(bytes - sizeof(u64));
    last = bytes;
    detail::fetch_add(blocks, u64(last == bytes));
  }
};
TEST(cuda_space, threads_start_one_kernel_with_different_scratch) {
  constexpr u64 launches = 5'000;
  std::string messages[2];
  u64 blocks[2] = {};
  const auto work = [&](u32 me) {
    cudaStream_t stream = nullptr;
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    {
      cuda gpu(stream);
      const buffer<u64, cuda> count(gpu, 1);
      gpu.fill(count.data(), 1, u64(0));
      const u64 bytes = me == 0 ? 52 * 1024 : 64 * 1024;
      messages[me] = message_of<cuda_error>([&] {
        for (u64 i = 0; i < launches; ++i)
          gpu.for_each_block(1, 32, bytes, use_all_scratch{bytes, count.data()});
      });
      blocks[me] = read_one(gpu, count.data());
    }
    cudaStreamDestroy(stream);
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  for (const u32 me : {0U, 1U}) {
    EXPECT_EQ(messages[me], "nothing was thrown");
    EXPECT_EQ(blocks[me], launches);
  }
}

// Two space objects of one GPU, each with a stream of its own, take turns without waiting for each other:
// the work of one is done before the other goes on.
TEST(cuda_space, another_of_the_same_gpu_takes_turns) {
  cudaStream_t streams[2];
  for (cudaStream_t& s : streams)
    ASSERT_EQ(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), cudaSuccess);
  {
    cuda home(streams[0]), foreign(streams[1]);
    table_type t(home, 100);
    use(foreign, t);  // it grows on the foreign stream, in home's memory
    use(home, t);
    constexpr u64 n = 50'000, each = 5'000;
    const auto keys = numbers(n, 7);
    const buffer<u32, cuda> k(home, keys);
    const buffer<insert_report, cuda> reports(home, n / each);
    t = table_type(home, n, {.grow = false});
    for (u64 at = 0; at < n; at += each) {
      cuda& now = at / each % 2 == 0 ? home : foreign;
      const auto some = std::span<const u32>(k.span()).subspan(at, each);
      t.insert_async(now, some, some, reports.data() + at / each);
    }
    EXPECT_EQ(t.size(), n);
    for (const insert_report& report : reports.to_host()) EXPECT_EQ(report.inserted, each);
    expect_keys(foreign, t, keys, numbers(1'000, 1'000'000));
    const table_type copy = t.clone(foreign);
    t.clear(home);
    expect_keys(home, copy, keys, {});
  }
  for (const cudaStream_t s : streams) cudaStreamDestroy(s);
}

class two_gpus : public ::testing::Test {
 protected:
  void SetUp() override {
    int gpus = 0;
    cudaGetDeviceCount(&gpus);
    if (gpus < 2) GTEST_SKIP() << "it takes two GPUs";
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  }
  static int current() {
    int device = -1;
    cudaGetDevice(&device);
    return device;
  }
};

// Threads whose current GPU is another one use the table, and theirs stays the current one.
TEST_F(two_gpus, a_table_is_used_from_threads_of_the_other) {
  cuda there(nullptr, {}, 1);
  table_type t(there, 100);
  EXPECT_EQ(current(), 0);
  use(there, t);
  EXPECT_EQ(current(), 0);
  for (const int device : {0, 1}) {
    std::thread([&] {
      ASSERT_EQ(cudaSetDevice(device), cudaSuccess);
      cuda mine(nullptr, {}, 1);  // another space object of the table's GPU
      use(mine, t);
      EXPECT_EQ(current(), device);
    }).join();
  }
  { const table_type moved = std::move(t); }  // ends, and gives its memory back, where GPU 0 is current
  EXPECT_EQ(current(), 0);
  use(there, t);  // moved from: empty, and usable
}

// Every verb refuses the other GPU's space in one line, and the table is as it was.
TEST_F(two_gpus, a_table_of_the_other_is_refused_in_one_line) {
  cuda here(nullptr, {}, 0), there(nullptr, {}, 1);
  const auto keys = numbers(1'000, 3);
  const buffer<u32, cuda> k(there, keys), mine(here, keys), out(here, keys.size());
  const buffer<bool, cuda> found(here, keys.size());
  const buffer<insert_report, cuda> report(here, 1);
  table_type t(there, keys.size(), {.grow = false});
  ASSERT_EQ(t.insert(there, k.span(), k.span()).inserted, keys.size());
  const std::span<const u32> in = mine.span();
  const std::pair<const char*, std::function<void()>> calls[] = {
      {"insert", [&] { std::ignore = t.insert(here, in, in); }},
      {"insert_or_assign", [&] { std::ignore = t.insert_or_assign(here, in, in); }},
      {"insert_or_apply", [&] { std::ignore = t.insert_or_apply(here, in, in, op::sum{}); }},
      {"insert_async", [&] { t.insert_async(here, in, in, report.data()); }},
      {"build", [&] { std::ignore = t.build(here, in, in); }},
      {"find", [&] { t.find_or(here, in, out.span(), 0U); }},
      {"contains", [&] { t.contains(here, in, found.span()); }},
      {"erase", [&] { std::ignore = t.erase(here, in); }},
      {"retrieve_all", [&] { std::ignore = t.retrieve_all(here, out.span(), mine.span()); }},
      {"reserve", [&] { t.reserve(here, 100'000); }},
      {"rehash", [&] { t.rehash(here, 0); }},
      {"clear", [&] { t.clear(here); }},
      {"clone", [&] { std::ignore = t.clone(here); }},
      {"mutable_view", [&] { std::ignore = t.mutable_view(here); }},
  };
  for (const auto& [name, call] : calls) {
    const std::string said = message_of<invalid_argument>(call);
    EXPECT_NE(said.find("the table is in the memory of GPU 1"), std::string::npos) << name << ": " << said;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
    EXPECT_EQ(current(), 0) << name;
  }
  EXPECT_EQ(t.size(), keys.size());
  expect_keys(there, t, keys, numbers(1'000, 1'000'000));
  EXPECT_EQ(t.erase(there, k.span()), keys.size());
}

}  // namespace
}  // namespace tilehash
