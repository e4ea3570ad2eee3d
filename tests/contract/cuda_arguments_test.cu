// SPDX-License-Identifier: Apache-2.0
// Bad arguments on the GPU: host memory given to a table there, and more memory than there is. The
// table stays as it was, and the GPU can be used on.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <contract/message_of.hpp>
#include <tilehash/designs/linear_probing.hpp>
#include <tilehash/map.hpp>
#include <tilehash/set.hpp>
#include <tilehash/space/cuda.cuh>

namespace tilehash {
namespace {

using contract::message_of;

class cuda_arguments : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(table_.build(gpu_, keys_.span(), keys_.span()).inserted, host_.size()); }
  void TearDown() override {  // all is as it was
    buffer<u32, cuda> out(gpu_, host_.size());
    table_.find(gpu_, keys_.span(), out.span());
    EXPECT_EQ(out.to_host(), host_);
    EXPECT_EQ(table_.size(), host_.size());
  }
  static void expect_host_memory_is_refused(const std::string& what, const std::function<void()>& call) {
    const std::string message = message_of<invalid_argument>(call);
    EXPECT_NE(message.find("are in host memory, but the table is on the GPU"), std::string::npos)
        << what << ": " << message;
  }

  cuda gpu_;
  std::vector<u32> host_ = {1, 2, 3, ~0U, ~0U - 1};
  buffer<u32, cuda> keys_{gpu_, host_};
  map<u32, u32, cuda> table_{gpu_};
};

TEST_F(cuda_arguments, keys_and_values_of_the_host) {
  expect_host_memory_is_refused("build, keys",
                                [&] { std::ignore = table_.build(gpu_, host_, keys_.span()); });
  expect_host_memory_is_refused("build, values",
                                [&] { std::ignore = table_.build(gpu_, keys_.span(), host_); });
  expect_host_memory_is_refused("insert, keys",
                                [&] { std::ignore = table_.insert(gpu_, host_, keys_.span()); });
  expect_host_memory_is_refused("insert, values",
                                [&] { std::ignore = table_.insert(gpu_, keys_.span(), host_); });
  expect_host_memory_is_refused("insert_or_assign, keys",
                                [&] { std::ignore = table_.insert_or_assign(gpu_, host_, keys_.span()); });
  expect_host_memory_is_refused("insert_or_apply of keys",
                                [&] { std::ignore = table_.insert_or_apply(gpu_, host_, op::count{}); });
  expect_host_memory_is_refused("erase, keys", [&] { table_.erase(gpu_, host_); });
  expect_host_memory_is_refused("find, keys", [&] { table_.find(gpu_, host_, keys_.span()); });
}

TEST_F(cuda_arguments, keys_of_the_host_for_a_set) {
  const buffer<insert_report, cuda> report(gpu_, 1);
  set<u32, cuda> keys(gpu_), fixed(gpu_, 10, {.grow = false});
  expect_host_memory_is_refused("insert", [&] { std::ignore = keys.insert(gpu_, host_); });
  expect_host_memory_is_refused("insert_async", [&] { fixed.insert_async(gpu_, host_, report.data()); });
  EXPECT_EQ(keys.size() + fixed.size(), 0U);
}

TEST_F(cuda_arguments, results_of_the_host) {
  std::vector<u32> out(host_.size());
  std::vector<outcome> outcomes(host_.size());
  const std::unique_ptr<bool[]> flags(new bool[host_.size()]);
  const std::span<bool> found(flags.get(), host_.size());
  const buffer<u32, cuda> values(gpu_, host_.size());
  expect_host_memory_is_refused(
      "insert, outcomes", [&] { std::ignore = table_.insert(gpu_, keys_.span(), keys_.span(), outcomes); });
  expect_host_memory_is_refused("find, values", [&] { table_.find(gpu_, keys_.span(), out); });
  expect_host_memory_is_refused("find, flags",
                                [&] { table_.find(gpu_, keys_.span(), values.span(), found); });
  expect_host_memory_is_refused("contains", [&] { table_.contains(gpu_, keys_.span(), found); });
  expect_host_memory_is_refused("count", [&] { table_.count(gpu_, keys_.span(), out); });
  expect_host_memory_is_refused("retrieve_all, keys", [&] { table_.retrieve_all(gpu_, out, values.span()); });
  expect_host_memory_is_refused("retrieve_all, values",
                                [&] { table_.retrieve_all(gpu_, values.span(), out); });
}

TEST_F(cuda_arguments, more_memory_than_there_is) {
  const u64 items = u64(1) << 42;
  const std::string message =
      message_of<out_of_memory>([&] { table<linear_probing<u32, u32>, cuda>(gpu_, items); });
  EXPECT_NE(message.find("tilehash: the GPU has no"), std::string::npos) << message;
  EXPECT_NE(message.find("use a smaller table"), std::string::npos) << message;
  EXPECT_THROW((buffer<u64, cuda>(gpu_, items)), out_of_memory);
}

}  // namespace
}  // namespace tilehash
