// The space `cuda`: where its memory comes from, which GPU it works on, and how two of one GPU are ordered.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include <contract/faulty.cuh>
#include <tilehash/designs/sorted_array.hpp>
#include <tilehash/map.hpp>
#include <tilehash/space/cuda.cuh>
#include <tilehash/space/guest.hpp>

namespace tilehash {
namespace {

using contract::faulty_device;

template <class Error>
std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST(cuda_space, takes_all_its_memory_from_the_resource) {
  faulty_device memory;
  {
    cuda gpu(nullptr, memory);
    const std::vector<u32> host = {3, 1, 2};
    const buffer<u32, cuda> keys(gpu, host);
    EXPECT_EQ(memory.allocated(), 12U);
    table<sorted_array<u32, u32>, cuda> t(gpu);  // it sorts by CUB
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

// Memory that a guest's slow kernel still writes goes back, is taken again and filled by home: in that order.
TEST(cuda_space, memory_given_back_while_a_guest_works_is_not_taken_too_early) {
  cudaStream_t streams[2];
  for (cudaStream_t& s : streams)
    ASSERT_EQ(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), cudaSuccess);
  {
    cuda home(streams[0]), guest(streams[1]);
    for (int round = 0; round < 20; ++round) {
      constexpr u64 n = 1'000;
      {
        const buffer<u32, cuda> b(home, n);
        const detail::guest_change<cuda> call(b.space(), guest, "a test");
        guest.for_each(n, slow_fill{b.data(), 1});
      }  // the call is over, and then the buffer
      const buffer<u32, cuda> again(home, n);
      home.fill(again.data(), n, 2U);
      guest.synchronize();
      ASSERT_EQ(again.to_host(), std::vector<u32>(n, 2));
    }
  }
  for (const cudaStream_t s : streams) cudaStreamDestroy(s);
}

}  // namespace
}  // namespace tilehash
