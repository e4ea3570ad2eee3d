// SPDX-License-Identifier: Apache-2.0
// The exchange of docs/guide/several.md for MPI, over a stand-in for MPI with one rank.
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <tilehash/several/exchange.hpp>

namespace {

// ---- the stand-in ----

using MPI_Comm = int;
using MPI_Datatype = int;
constexpr MPI_Datatype MPI_BYTE = 1, MPI_UINT64_T = 8;
constexpr void* MPI_STATUSES_IGNORE = nullptr;
struct MPI_Request {
  void* to;
  const void* from;
  std::size_t bytes;
};
void MPI_Allgather(const void* from, int n, MPI_Datatype type, void* to, int, MPI_Datatype, MPI_Comm) {
  std::memcpy(to, from, static_cast<std::size_t>(n) * static_cast<std::size_t>(type));
}
void MPI_Irecv_c(void* to, std::size_t n, MPI_Datatype, int, int, MPI_Comm, MPI_Request* request) {
  *request = {to, nullptr, n};
}
void MPI_Isend_c(const void* from, std::size_t n, MPI_Datatype, int, int, MPI_Comm, MPI_Request* request) {
  *request = {nullptr, from, n};
}
void MPI_Waitall(int n, MPI_Request* requests, void*) {
  ASSERT_EQ(n, 2);
  ASSERT_EQ(requests[0].bytes, requests[1].bytes);
  std::memcpy(requests[0].to, requests[1].from, requests[0].bytes);
}

// ---- its exchange ----

TEST(SeveralMpi, IsAnExchange) {
  const int rank = 0, size = 1;
  const MPI_Comm comm = 0;
  // [mpi-begin]
  tilehash::several::exchange_of ranks(
      rank, size,
      [&](auto mine, auto all) {
        MPI_Allgather(mine.data(), int(mine.size()), MPI_UINT64_T, all.data(), int(mine.size()), MPI_UINT64_T,
                      comm);
      },
      [&](const auto& sent,
          const auto& received) {  // the bytes of a part are sent.bytes[r], its address sent.at(r)
        std::vector<MPI_Request> requests(2 * size);
        for (int r = 0; r < size; ++r) {
          MPI_Irecv_c(received.at(r), received.bytes[r], MPI_BYTE, r, 0, comm, &requests[r]);
          MPI_Isend_c(sent.at(r), sent.bytes[r], MPI_BYTE, r, 0, comm, &requests[size + r]);
        }
        MPI_Waitall(2 * size, requests.data(), MPI_STATUSES_IGNORE);
      });
  // [mpi-end]
  static_assert(tilehash::several::exchange<decltype(ranks)>);
  const std::vector<std::uint64_t> words{1, 2}, zero{0}, bytes{16};
  std::vector<std::uint64_t> all(2), received(2);
  ranks.all_gather(words, all);
  EXPECT_EQ(all, words);
  ranks.all_to_all({words.data(), zero, bytes}, {received.data(), zero, bytes});
  EXPECT_EQ(received, words);
}

}  // namespace
