// SPDX-License-Identifier: Apache-2.0
// Ranks of an MPI communicator, which is the caller's. Without <mpi.h> this header has nothing; compile with
// mpicxx or link with MPI.
#pragma once

#if __has_include(<mpi.h>)
#include <mpi.h>

#include <span>
#include <string>
#include <vector>

#include <tilehash/several/exchange.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace several {

/// The exchange of one rank of an MPI communicator.
///
/// Memory of a GPU needs an MPI that takes such addresses ("CUDA-aware"). A rank that ends usually ends all, as
/// MPI's launcher does; there is no time limit.
template <class Space>
class mpi_ranks {
 public:
  /// Collective.
  ///
  /// \param communicator of the caller. The object uses a duplicate, so its messages meet no others.
  /// \param space whose memory the tables use; it must outlive the object.
  /// \throws invalid_argument before MPI_Init and for MPI_COMM_NULL; error where MPI reports one.
  mpi_ranks(MPI_Comm communicator, Space& space) : space_(&space) {
    int ready = 0;
    MPI_Initialized(&ready);
    detail::require(ready != 0, "mpi_ranks: call MPI_Init first");
    detail::require(communicator != MPI_COMM_NULL, "mpi_ranks: this process is no rank of the communicator");
    check(MPI_Comm_dup(communicator, &communicator_), "MPI_Comm_dup");
    check(MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(MPI_Comm_rank(communicator_, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(communicator_, &size_), "MPI_Comm_size");
  }
  mpi_ranks(const mpi_ranks&) = delete;
  mpi_ranks& operator=(const mpi_ranks&) = delete;
  /// Collective. After MPI_Finalize it does nothing.
  ~mpi_ranks() {
    int ended = 0;
    MPI_Finalized(&ended);
    if (ended == 0) MPI_Comm_free(&communicator_);
  }
  u32 rank() const { return static_cast<u32>(rank_); }  ///< this rank's number
  u32 size() const { return static_cast<u32>(size_); }  ///< ranks

  /// See the concept `exchange`. Throws error where MPI reports one.
  void all_gather(std::span<const u64> mine, std::span<u64> all) {
    const int n = static_cast<int>(mine.size());
    check(MPI_Allgather(mine.data(), n, MPI_UINT64_T, all.data(), n, MPI_UINT64_T, communicator_),
          "MPI_Allgather");
  }
  /// See the concept `exchange`. Throws error where MPI reports one.
  void all_to_all(const sent_parts& sent, const received_parts& received) {
    space_->synchronize();
    requests_.clear();
    for (int k = 0; k < size_; ++k) {
      const int from = (rank_ + size_ - k) % size_;
      const auto r = static_cast<u32>(from);
      for_blocks(received.bytes[r], [&](u64 at, int n) {
        return MPI_Irecv(received.at(r) + at, n, MPI_BYTE, from, 0, communicator_, &requests_.back());
      });
    }
    for (int k = 0; k < size_; ++k) {
      const int to = (rank_ + k) % size_;
      const auto r = static_cast<u32>(to);
      for_blocks(sent.bytes[r], [&](u64 at, int n) {
        return MPI_Isend(sent.at(r) + at, n, MPI_BYTE, to, 0, communicator_, &requests_.back());
      });
    }
    check(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE),
          "MPI_Waitall");
  }

 private:
  static constexpr u64 block = u64(1) << 30;  // bytes: MPI before version 4 counts them in an int

  // Messages of a pair of ranks arrive in order, so the blocks of both sides fit.
  template <class Start>
  void for_blocks(u64 bytes, const Start& start) {
    for (u64 at = 0; at < bytes; at += block) {
      requests_.emplace_back();
      check(start(at, static_cast<int>(bytes - at < block ? bytes - at : block)), "starting a message");
    }
  }
  static void check(int result, const char* call) {
    if (result == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(result, text, &length);
    throw error("tilehash: " + std::string(call) + " failed: " + text);
  }

  Space* space_;
  MPI_Comm communicator_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  std::vector<MPI_Request> requests_;
};

}  // namespace several
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(several);
}  // namespace tilehash
#endif
