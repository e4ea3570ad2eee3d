// SPDX-License-Identifier: Apache-2.0
// Owned memory of a space.
#include <contract/message_of.hpp>
#include <tilehash/space/buffer.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory_resource>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <tilehash/space/cpu_algorithms.hpp>

namespace tilehash {
namespace {

using contract::message_of;

// A resource that knows every block that is out, and its size.
class counting : public std::pmr::memory_resource {
 public:
  std::map<void*, u64> out;

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    void* p = std::pmr::new_delete_resource()->allocate(bytes, alignment);
    out[p] = bytes;
    return p;
  }
  void do_deallocate(void* p, std::size_t bytes, std::size_t alignment) override {
    EXPECT_EQ(out[p], bytes);
    out.erase(p);
    std::pmr::new_delete_resource()->deallocate(p, bytes, alignment);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

TEST(buffer, copies_there_and_back) {
  cpu space;
  for (u64 n : {0, 1, 2, 63, 1000}) {
    std::vector<u32> host(n);
    for (u64 i = 0; i < n; ++i) host[i] = static_cast<u32>(i * i);
    const buffer<u32, cpu> b(space, host);
    EXPECT_EQ(b.size(), n);
    EXPECT_EQ(b.bytes(), 4 * n);
    EXPECT_EQ(b.span().size(), n);
    EXPECT_EQ(b.first(n / 2).size(), n / 2);
    EXPECT_EQ(b.to_host(), host);
  }
}

TEST(buffer, refuses_more_than_it_holds) {
  cpu space;
  buffer<u32, cpu> b(space, 3);
  EXPECT_THROW(b.copy_from(std::vector<u32>(4)), invalid_argument);
  b.copy_from(std::vector<u32>{7});
  EXPECT_EQ(b.to_host()[0], 7U);
}

TEST(buffer, has_bytes_for_flags) {
  cpu space;
  buffer<bool, cpu> b(space, 3);
  const bool flags[] = {true, false, true};
  b.copy_from(flags);
  EXPECT_EQ(b.to_host(), (std::vector<u8>{1, 0, 1}));
}

TEST(buffer, moves_and_gives_back_what_it_took) {
  counting memory;
  cpu space(1, memory);
  {
    buffer<u64, cpu> a(space, 10), b(space, 20), none;
    EXPECT_EQ(memory.out.size(), 2U);
    EXPECT_EQ(none.data(), nullptr);
    EXPECT_EQ(none.space(), nullptr);
    EXPECT_EQ(a.space(), &space);
    u64* const data = a.data();
    buffer<u64, cpu> c(std::move(a));
    EXPECT_EQ(c.data(), data);
    c = std::move(b);
    EXPECT_EQ(c.size(), 20U);
    EXPECT_EQ(memory.out.size(), 1U) << "what was overwritten is given back";
    none = std::move(c);
    EXPECT_EQ(none.size(), 20U);
    EXPECT_EQ(memory.out.size(), 1U);
    buffer<u64, cpu> empty(space, 0);
    EXPECT_EQ(empty.data(), nullptr);
  }
  EXPECT_TRUE(memory.out.empty());
}

TEST(buffer, what_was_moved_from_is_empty_and_of_use) {
  cpu space(1);
  buffer<u32, cpu> a(space, std::vector<u32>{1, 2, 3}), b(std::move(a));
  // NOLINTBEGIN(bugprone-use-after-move): it says what it is
  EXPECT_EQ(a.size(), 0U);
  EXPECT_EQ(a.bytes(), 0U);
  EXPECT_EQ(a.data(), nullptr);
  EXPECT_TRUE(a.to_host().empty());
  a.copy_from({});
  EXPECT_THROW(a.copy_from(std::vector<u32>{1}), invalid_argument);
  auto& itself = b;
  b = std::move(itself);
  // NOLINTEND(bugprone-use-after-move)
  EXPECT_EQ(b.size(), 3U);
  a = std::move(b);
  EXPECT_EQ(a.to_host(), (std::vector<u32>{1, 2, 3}));
}

// 2^61 + 1 elements of 8 bytes are 8 bytes modulo 2^64.
TEST(buffer, refuses_more_elements_than_can_be_addressed) {
  cpu space(1);
  EXPECT_THROW((buffer<u64, cpu>(space, (u64(1) << 61) + 1)), out_of_memory);
  EXPECT_THROW((buffer<std::array<u64, 3>, cpu>(space, ~u64(0) / 24 + 2)), out_of_memory);
}

TEST(resources, serve_all_that_a_space_allocates) {
  counting memory;
  cpu space(2, &memory);
  void* const p = space.allocate(100);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % 64, 0U);
  EXPECT_EQ(memory.out.size(), 1U);
  space.for_each_block(10, 1, 256, [&](auto) { EXPECT_EQ(memory.out.size(), 2U) << "scratch"; });
  space.deallocate(p, 100);
  EXPECT_TRUE(memory.out.empty());
}

TEST(resources, that_are_null_are_refused) {
  std::pmr::memory_resource* const none = nullptr;
  const std::string message = message_of<invalid_argument>([&] { cpu(1, none); });
  EXPECT_NE(message.find("the memory resource is a null pointer"), std::string::npos) << message;
  EXPECT_THROW(cpu(1, nullptr), invalid_argument);
}

TEST(resources, that_fail_are_out_of_memory) {
  cpu space(1, std::pmr::null_memory_resource());
  const std::string message = message_of<out_of_memory>([&] { space.allocate(77); });
  EXPECT_EQ(message, "tilehash: the memory resource has no 77 bytes: std::bad_alloc");
  struct {
    void* allocate(std::size_t, std::size_t) { throw std::runtime_error("one\ntwo"); }
    void deallocate(void*, std::size_t, std::size_t) {}
  } odd;
  EXPECT_NE(message_of<out_of_memory>([&] { cpu(1, odd).allocate(1); }).find("one two"), std::string::npos);
  struct {
    void* allocate(std::size_t, std::size_t) { throw 1; }
    void deallocate(void*, std::size_t, std::size_t) {}
  } odder;
  EXPECT_THROW(cpu(1, odder).allocate(1), out_of_memory);
  struct {  // our own exceptions, too: a verb expects no other one after it has begun
    void* allocate(std::size_t, std::size_t) { throw invalid_argument("none of this size"); }
    void deallocate(void*, std::size_t, std::size_t) {}
  } ours;
  EXPECT_NE(message_of<out_of_memory>([&] { cpu(1, ours).allocate(1); }).find("none of this size"),
            std::string::npos);
}

// The three shapes that CCCL's and RMM's resources for a GPU have had.
struct stream_first {
  void* allocate(CUstream_st* stream, std::size_t bytes, std::size_t alignment) {
    calls += "+" + std::to_string(bytes) + "/" + std::to_string(alignment) + (stream == nullptr ? "" : "s");
    return this;
  }
  void deallocate(CUstream_st* /*stream*/, void* p, std::size_t bytes, std::size_t /*alignment*/) {
    calls += (p == this ? "-" : "?") + std::to_string(bytes);
  }
  std::string calls;
};
struct async_names {
  void* allocate(std::size_t, std::size_t) { return nullptr; }
  void deallocate(void*, std::size_t, std::size_t) {}
  void* allocate_async(std::size_t bytes, std::size_t alignment, CUstream_st* stream) {
    return inner.allocate(stream, bytes, alignment);
  }
  void deallocate_async(void* p, std::size_t bytes, std::size_t alignment, CUstream_st* stream) {
    inner.deallocate(stream, p, bytes, alignment);
  }
  stream_first inner;
};
struct stream_view {  // as rmm::cuda_stream_view
  stream_view(int) = delete;
  stream_view(CUstream_st* s) : stream(s) {}  // NOLINT(google-explicit-constructor)
  CUstream_st* stream;
};
struct stream_last {
  void* allocate(std::size_t bytes, stream_view s) { return inner.allocate(s.stream, bytes, 256); }
  void deallocate(void* p, std::size_t bytes, stream_view s) { inner.deallocate(s.stream, p, bytes, 256); }
  stream_first inner;
};

TEST(resources, of_a_gpu_in_every_shape) {
  const auto use = [](device_resource_ref memory) {
    auto* const stream = reinterpret_cast<CUstream_st*>(64);
    memory.deallocate(memory.allocate(10, 256, stream), 10, 256, stream);
  };
  stream_first first;
  async_names names;
  stream_last last;
  use(first), use(&names), use(last);
  EXPECT_EQ(first.calls, "+10/256s-10");
  EXPECT_EQ(names.inner.calls, "+10/256s-10");
  EXPECT_EQ(last.inner.calls, "+10/256s-10");
  static_assert(!std::is_constructible_v<host_resource_ref, stream_first&>);
  static_assert(!std::is_constructible_v<host_resource_ref, stream_last&>);
  static_assert(!std::is_constructible_v<device_resource_ref, std::pmr::memory_resource&>);
  static_assert(!std::is_constructible_v<device_resource_ref, stream_first>, "it would not live long enough");
}

// ---- the machine's limits ----

class group_files : public ::testing::Test {
 protected:
  static void write(const std::filesystem::path& file, const std::string& text) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  std::filesystem::path root_ = std::filesystem::path(::testing::TempDir()) / "tilehash_groups";
};

TEST_F(group_files, the_tightest_limit_counts) {
  const auto own = root_ / "own";
  write(own, "0::/a/b\n");
  const auto left = [&] { return detail::left_by_groups(root_.string(), own.string()); };
  EXPECT_EQ(left(), ~u64(0));
  write(root_ / "a/b/memory.max", "max\n");
  write(root_ / "a/b/memory.current", "5\n");
  EXPECT_EQ(left(), ~u64(0));
  write(root_ / "a/memory.max", "1000\n");
  write(root_ / "a/memory.current", "700\n");
  EXPECT_EQ(left(), 300U);
  write(root_ / "a/memory.stat", "anon 1\ninactive_file 100\nactive_file 50\n");
  EXPECT_EQ(left(), 450U) << "what files are cached can be dropped";
  write(root_ / "a/b/memory.max", "20\n");
  EXPECT_EQ(left(), 15U);
  write(own, "0::/\n");
  EXPECT_EQ(left(), ~u64(0));
}

TEST_F(group_files, of_version_1_too) {
  const auto own = root_ / "own";
  write(own, "9:name=systemd:/x\n4:cpu,memory:/a/b\n3:cpuset:/\n0::/\n");
  const auto left = [&] { return detail::left_by_groups(root_.string(), own.string()); };
  EXPECT_EQ(left(), ~u64(0));
  write(root_ / "memory/a/b/memory.limit_in_bytes", "9223372036854771712\n");
  write(root_ / "memory/a/memory.limit_in_bytes", "1000\n");
  write(root_ / "memory/a/memory.usage_in_bytes", "700\n");
  EXPECT_EQ(left(), 300U);
  write(root_ / "memory/a/memory.stat", "inactive_file 9\ntotal_inactive_file 100\ntotal_active_file 50\n");
  EXPECT_EQ(left(), 450U);
  // Within a container the tree begins at its own group, whatever that is called outside.
  write(root_ / "memory/memory.limit_in_bytes", "60\n");
  write(root_ / "memory/memory.usage_in_bytes", "20\n");
  EXPECT_EQ(left(), 40U);
}

// A margin stays, and what was promised and has no pages yet is no longer free.
TEST_F(group_files, not_all_that_is_free_may_be_taken) {
  const detail::memory_files files{(root_ / "meminfo").string(), (root_ / "statm").string(),
                                   (root_ / "own").string(), root_.string()};
  EXPECT_EQ(detail::usable_memory(u64(1) << 40, files), ~u64(0)) << "this system does not say";
  constexpr u64 gibibyte = u64(1) << 30, page = 4096;
  write(root_ / "meminfo", "MemTotal: 9 kB\nMemAvailable:   33554432 kB\n");
  EXPECT_EQ(detail::available_memory(files), 32 * gibibyte);
  EXPECT_EQ(detail::usable_memory(0, files), 31 * gibibyte - (u64(64) << 20));
  EXPECT_EQ(detail::usable_memory(5 * gibibyte, files), 31 * gibibyte - (u64(64) << 20));
  write(root_ / "statm",
        "99999999 " + std::to_string(2 * gibibyte / u64(sysconf(_SC_PAGESIZE))) + " 7 1 0 3 0\n");
  EXPECT_EQ(detail::usable_memory(5 * gibibyte, files), 28 * gibibyte - (u64(64) << 20));
  EXPECT_EQ(detail::usable_memory(40 * gibibyte, files), 0U);
  write(root_ / "own", "0::/a\n");
  write(root_ / "a/memory.max", std::to_string(64 * page) + "\n");
  EXPECT_EQ(detail::available_memory(files), 64 * page);
  EXPECT_EQ(detail::usable_memory(0, files), 64 * page - 2 * page - 8 * page);
}
// Large blocks are counted for as long as they are allocated.
TEST(cpu, counts_what_was_promised) {
  cpu space(1);
  const u64 before = detail::promised_host_memory, bytes = detail::host_pages_from;
  void* p = space.allocate(bytes);
  EXPECT_EQ(detail::promised_host_memory, before + bytes);
  p = space.resize(p, bytes, 3 * bytes);
  EXPECT_EQ(detail::promised_host_memory, before + 3 * bytes);
  p = space.resize(p, 3 * bytes, 2 * bytes);
  EXPECT_EQ(detail::promised_host_memory, before + 2 * bytes);
  space.deallocate(p, 2 * bytes);
  EXPECT_EQ(detail::promised_host_memory, before);
}
TEST(cpu, leaves_a_margin) {
  const u64 all = available_host_memory();
  if (all == ~u64(0)) GTEST_SKIP() << "this system does not say";
  cpu space(1);
  EXPECT_THROW(space.allocate(all - all / 64), out_of_memory);
}

TEST(cpu, gives_no_more_than_the_machine_has) {
  const u64 all = available_host_memory();
  if (all == ~u64(0)) GTEST_SKIP() << "this system does not say";
  EXPECT_GT(all, u64(1) << 20);
  cpu space(1);
  const std::string message = message_of<out_of_memory>([&] { space.allocate(2 * all); });
  EXPECT_NE(message.find("the host has no " + std::to_string(2 * all) + " bytes free ("), std::string::npos)
      << message;
}

TEST(cpu, aligns_memory_to_cache_lines) {
  cpu space;
  for (u64 bytes : {u64(1), u64(63), u64(64), u64(65), u64(1) << 21, (u64(1) << 21) + 1}) {
    void* p = space.allocate(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % 64, 0U);
    space.fill(static_cast<char*>(p), bytes, 'x');
    EXPECT_EQ(static_cast<char*>(p)[bytes - 1], 'x');
    space.deallocate(p, bytes);
  }
}

TEST(cpu, says_when_there_is_no_memory) {
  cpu space;
  for (u64 bytes : {u64(1) << 55, ~u64(0), ~u64(0) - 4096}) {
    try {
      space.deallocate(space.allocate(bytes), bytes);
      FAIL() << bytes << " bytes were given";
    } catch (const out_of_memory& e) {
      EXPECT_NE(std::string(e.what()).find(std::to_string(bytes)), std::string::npos) << e.what();
    }
  }
}

TEST(cpu, algorithms) {
  for (int threads : {1, 2}) {
    cpu space(threads);
    EXPECT_NE(space.name().find("cpu (" + std::to_string(space.threads())), std::string::npos);
    for (u64 n : {u64(0), u64(1), u64(5), u64(4096), u64(4097), u64(100'000)}) {
      std::vector<u64> x(n), sums(n);
      for (u64 i = 0; i < n; ++i) x[i] = i * 7919 % 1009;
      space.exclusive_scan(x.data(), sums.data(), n);
      u64 sum = 0;
      for (u64 i = 0; i < n; ++i) {
        ASSERT_EQ(sums[i], sum);
        sum += x[i];
      }
      auto in_place = x;
      space.exclusive_scan(in_place.data(), in_place.data(), n);
      EXPECT_EQ(in_place, sums);
      auto sorted = x;
      space.sort(sorted.data(), n);
      std::sort(x.begin(), x.end());
      EXPECT_EQ(sorted, x);
      std::vector<u8> visits(n);
      space.for_each(n, [&](u64 i) { ++visits[i]; });
      EXPECT_EQ(visits, std::vector<u8>(n, 1));
      space.fill(x.data(), n, u64(3));
      EXPECT_EQ(x, std::vector<u64>(n, 3));
    }
  }
}

TEST(cpu, blocks_have_scratch_of_their_own) {
  cpu space(2);
  std::vector<u64> sums(1'000);
  space.for_each_block(sums.size(), 32, 64 * sizeof(u64), [&](auto block) {
    const auto scratch = block.template scratch<u64>();
    for (u32 i = block.rank(); i < 64; i += block.size()) scratch[i] = block.index();
    block.barrier();
    u64 sum = 0;
    for (u32 i = 0; i < 64; ++i) sum += scratch[i];
    sums[block.index()] = sum;
  });
  for (u64 i = 0; i < sums.size(); ++i) ASSERT_EQ(sums[i], 64 * i);
}

}  // namespace
}  // namespace tilehash
