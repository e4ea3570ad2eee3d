// SPDX-License-Identifier: Apache-2.0
// Ranks of tests as those of MPI: mpiexec starts the program, and a call's ranks are the first ones of all.
// scripts/check_distributed.sh compiles several_test.cpp with it.
#pragma once

#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include <contract/several.hpp>
#include <tilehash/several/mpi.hpp>
#include <tilehash/space/cpu.hpp>

namespace tilehash::contract {

// Runs body(exchange) on the first `ranks` processes. A failure of one is a failure of all, so that all run the same
// tests. Leaves out numbers of ranks that mpiexec has not started.
inline void over_mpi(u32 ranks, const std::function<void(any_exchange&)>& body) {
  int size = 0, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (static_cast<int>(ranks) > size) return;
  const bool member = rank < static_cast<int>(ranks);
  MPI_Comm some = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, member ? 0 : MPI_UNDEFINED, rank, &some);
  alarm(120);
  if (member) {
    try {
      cpu space(1);
      several::mpi_ranks<cpu> real(some, space);
      any_exchange exchange(real);
      body(exchange);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "rank %d of %u: %s\n", rank, ranks, e.what());
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Comm_free(&some);
  }
  int failed = ::testing::Test::HasFailure() ? 1 : 0, any = 0;
  MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  alarm(0);
  if (any != failed) {
    ADD_FAILURE() << "another rank failed";
  }
}
inline void in_processes(u32 ranks, const std::function<void(any_exchange&)>& body, int = 0) {
  over_mpi(ranks, body);
}
inline void in_threads(u32 ranks, const std::function<void(any_exchange&)>& body, int = 0) {
  over_mpi(ranks, body);
}

class failures_of_a_rank : public ::testing::EmptyTestEventListener {
 public:
  void OnTestPartResult(const ::testing::TestPartResult& result) override {
    if (result.failed())
      std::fprintf(stderr, "%s:%d: %s\n", result.file_name(), result.line_number(), result.message());
  }
};

}  // namespace tilehash::contract

// Tests that end a rank, share variables or a folder, or need 64 ranks, are for processes and threads.
inline int main_over_mpi(int argc, char** argv) {
  using namespace tilehash::contract;
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  unsigned long long seed = rank == 0 ? run_seed() : 0;
  MPI_Bcast(&seed, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
  setenv("TILEHASH_SEED", std::to_string(seed).c_str(), 1);
  GTEST_FLAG_SET(filter,
                 "-*ARank*:*AThread*:*AnyVerb*:*Loads*:*Files*:*AMerge*:*RefusedKeys*:*Simulate*:*Library*");
  ::testing::InitGoogleTest(&argc, argv);
  auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
  if (rank != 0) {
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new failures_of_a_rank);
  }
  const int result = RUN_ALL_TESTS();
  MPI_Finalize();
  return result;
}
int main(int argc, char** argv) { return main_over_mpi(argc, argv); }
