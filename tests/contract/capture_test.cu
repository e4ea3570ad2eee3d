// SPDX-License-Identifier: Apache-2.0
// Every verb that does not synchronize, captured in a CUDA graph and replayed on other data.
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <tilehash/designs/dynamic_cuckoo.hpp>
#include <tilehash/designs/linear_probing.hpp>
#include <tilehash/designs/tiled.hpp>
#include <tilehash/dynamic_map.hpp>
#include <tilehash/space/cuda.cuh>
#include <tilehash/table.hpp>

#include <contract/own_stream.cuh>

namespace tilehash::contract {

// A graph of what f() puts on the stream.
class replayed_graph {
 public:
  template <class F>
  replayed_graph(cudaStream_t stream, const F& f) : stream_(stream) {
    cudaGraph_t graph = nullptr;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    f();
    check(cudaStreamEndCapture(stream, &graph));
    if (graph == nullptr) return;
    check(cudaGraphInstantiate(&runs_, graph, 0));
    cudaGraphDestroy(graph);
  }
  replayed_graph(const replayed_graph&) = delete;
  replayed_graph& operator=(const replayed_graph&) = delete;
  ~replayed_graph() {
    if (runs_ != nullptr) cudaGraphExecDestroy(runs_);
  }
  void launch() {
    ASSERT_NE(runs_, nullptr);
    check(cudaGraphLaunch(runs_, stream_));
    check(cudaStreamSynchronize(stream_));
  }

 private:
  static void check(cudaError_t e) { EXPECT_EQ(e, cudaSuccess) << cudaGetErrorString(e); }
  cudaStream_t stream_;
  cudaGraphExec_t runs_ = nullptr;
};

template <class Design>
class captured : public ::testing::Test {};
using captured_designs =
    ::testing::Types<tiled<u32, u32>, linear_probing<u32, u32>, dynamic_cuckoo<u32, u32>>;
TYPED_TEST_SUITE(captured, captured_designs);

TYPED_TEST(captured, verbs_run_again_on_other_data) {
  for (const u64 n : {u64(1000), u64(40'000)}) {  // pending bits in the table's memory, and in other memory
    SCOPED_TRACE(n);
    constexpr u64 rounds = 3;
    const own_stream stream;
    cuda space(stream);
    table<TypeParam, cuda> t(space, 4 * n, {.grow = false});
    buffer<u32, cuda> keys(space, n), values(space, n);
    const buffer<u32, cuda> out(space, n), out_or(space, n), counts(space, n);
    const buffer<u8, cuda> found(space, n), there(space, n);
    const buffer<insert_report, cuda> reports(space, 4);
    const buffer<u64, cuda> erased(space, 1);
    const auto half = keys.span().first(n / 2);
    replayed_graph graph(stream, [&] {
      t.insert_async(space, keys.span(), values.span(), reports.data());
      t.insert_or_assign_async(space, keys.span(), keys.span(), reports.data() + 1);
      t.insert_or_apply_async(space, keys.span(), values.span(), op::sum{}, reports.data() + 2);
      t.find_async(space, keys.span(), out.span(), flags(found.data(), n));
      t.erase_async(space, half, erased.data());
      t.contains_async(space, keys.span(), flags(there.data(), n));
      t.count_async(space, keys.span(), counts.span());
      t.find_or_async(space, keys.span(), out_or.span(), 7);
      t.insert_async(space, half, half, reports.data() + 3);
    });
    EXPECT_EQ(t.size(), 0U);
    for (u64 round = 0; round < rounds; ++round) {
      SCOPED_TRACE(round);
      std::vector<u32> k(n), v(n);
      std::iota(k.begin(), k.end(), static_cast<u32>(1 + round * n));
      std::iota(v.begin(), v.end(), static_cast<u32>(5 * round));
      keys.copy_from(k);
      values.copy_from(v);
      graph.launch();
      const auto r = reports.to_host();
      EXPECT_EQ(r[0], (insert_report{.inserted = n}));
      EXPECT_EQ(r[1], (insert_report{.present = n}));
      EXPECT_EQ(r[2], (insert_report{.present = n}));
      EXPECT_EQ(r[3], (insert_report{.inserted = n / 2}));
      EXPECT_EQ(erased.to_host()[0], n / 2);
      const auto o = out.to_host(), o7 = out_or.to_host(), counted = counts.to_host();
      const auto f = found.to_host(), c = there.to_host();
      u64 wrong = 0;
      for (u64 i = 0; i < n; ++i)
        wrong += o[i] != k[i] + v[i] || f[i] != 1 || c[i] != (i >= n / 2) || counted[i] != c[i] ||
                 o7[i] != (i < n / 2 ? 7 : k[i] + v[i]);
      EXPECT_EQ(wrong, 0U);
      EXPECT_EQ(t.size(), (round + 1) * n);
      // A verb that is not captured adds to the size what graphs have changed so far.
      EXPECT_EQ(t.insert(space, keys.span(), values.span()), (insert_report{.present = n}));
      EXPECT_EQ(t.size(), (round + 1) * n);
    }
  }
}

// A graph may find items in a table that was empty when it was captured, and must not build it again.
TEST(captured, inserts_into_an_empty_table_keep_what_it_holds_later) {
  constexpr u64 n = 50'000;
  const own_stream stream;
  cuda space(stream);
  table<tiled<u32, u32>, cuda> t(space, 2 * n, {.grow = false});
  std::vector<u32> k(2 * n);
  std::iota(k.begin(), k.end(), 1U);
  const buffer<u32, cuda> keys(space, k);
  const buffer<insert_report, cuda> report(space, 1);
  const auto first = keys.span().first(n), second = keys.span().subspan(n);
  replayed_graph graph(stream, [&] { t.insert_async(space, second, second, report.data()); });
  EXPECT_EQ(t.insert(space, first, first).inserted, n);
  graph.launch();
  EXPECT_EQ(report.to_host()[0], (insert_report{.inserted = n}));
  EXPECT_EQ(t.size(), 2 * n);
  EXPECT_EQ(t.insert(space, keys.span(), keys.span()).present, 2 * n);
}

}  // namespace tilehash::contract
