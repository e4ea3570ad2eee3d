// SPDX-License-Identifier: Apache-2.0
// The exchange of MPI over a stand-in with one rank (mpi_stand_in/mpi.h). scripts/check_distributed.sh runs the tests of
// tables over MPI itself.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilehash/map.hpp>
#include <tilehash/several/distributed.hpp>
#include <tilehash/several/mpi.hpp>
#include <tilehash/space/cpu.hpp>

namespace {

std::string message_of_failure(auto call) {
  try {
    call();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

TEST(SeveralMpi, IsAnExchange) {
  const MPI_Comm comm = MPI_COMM_WORLD;
  {
    // [mpi-begin]
    tilehash::cpu space(1);
    tilehash::several::mpi_ranks ranks(comm, space);
    tilehash::several::distributed<tilehash::map<std::uint64_t, std::uint32_t, tilehash::cpu>,
                                   decltype(ranks)>
        counts(space, ranks);
    // [mpi-end]
    static_assert(tilehash::several::exchange<decltype(ranks)>);
    EXPECT_EQ(mpi_stand_in::duplicates, 1);
    const std::vector<std::uint64_t> words{1, 2}, zero{0}, bytes{16}, none{0};
    std::vector<std::uint64_t> all(2), received(2);
    ranks.all_gather(words, all);
    EXPECT_EQ(all, words);
    ranks.all_to_all({words.data(), zero, bytes}, {received.data(), zero, bytes});
    EXPECT_EQ(received, words);
    ranks.all_to_all({words.data(), zero, none}, {received.data(), zero, none});
    const std::vector<std::uint64_t> keys{4, 5, 4};
    EXPECT_EQ(counts.insert_or_apply(space, keys, tilehash::op::count{}).inserted, 2U);
  }
  EXPECT_EQ(mpi_stand_in::duplicates, 0);
}
TEST(SeveralMpi, Failures) {
  tilehash::cpu space(1);
  mpi_stand_in::initialized = false;
  EXPECT_EQ(message_of_failure([&] { tilehash::several::mpi_ranks(MPI_COMM_WORLD, space); }),
            "tilehash: mpi_ranks: call MPI_Init first");
  mpi_stand_in::initialized = true;
  EXPECT_EQ(message_of_failure([&] { tilehash::several::mpi_ranks(MPI_COMM_NULL, space); }),
            "tilehash: mpi_ranks: this process is no rank of the communicator");
  tilehash::several::mpi_ranks ranks(MPI_COMM_WORLD, space);
  const std::vector<std::uint64_t> zero{0}, bytes{8};
  std::uint64_t word = 0;
  mpi_stand_in::fails = true;
  EXPECT_EQ(message_of_failure([&] {
              ranks.all_to_all({&word, zero, bytes}, {&word, zero, bytes});
            }),
            "tilehash: starting a message failed: no link");
  mpi_stand_in::fails = false;
}

}  // namespace
