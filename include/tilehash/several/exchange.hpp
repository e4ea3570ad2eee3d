// SPDX-License-Identifier: Apache-2.0
// An exchange: how the ranks of one call reach each other. A rank is a process, or a thread with a GPU.
//
// Four functions are an exchange. A class of the caller's may have them, or exchange_of makes one from two
// functions. Models: one_rank (here), processes (several/processes.hpp), thread_ranks (several/threads.hpp),
// nccl_ranks (several/nccl.cuh), gpus (several/gpus.cuh), mpi_ranks (several/mpi.hpp).
//
//   rank()                     this rank's number, below size()
//   size()                     the number of ranks
//   all_gather(mine, all)      words of host memory; all has size() times the words of mine, by rank
//   all_to_all(sent, received) bytes of the space's memory: part r goes to rank r, and comes from it
//
// Each function is collective: all ranks call it, in one order, with sizes that fit. A function that fails
// throws, and so do the other ranks' then or after a time limit. The exchange is of no use afterwards.
// all_to_all runs in the order of the space's work, and need not wait for it. Ranks that can use each other's
// addresses may have windows in addition (several/windows.hpp).
#pragma once

#include <concepts>
#include <cstring>
#include <span>
#include <utility>

#include <tilehash/core/config.hpp>
#include <tilehash/core/error.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace several {

/// Memory that a rank sends: bytes[r] bytes at data + offsets[r] go to rank r.
struct sent_parts {
  const void* data;              ///< in memory of the space
  std::span<const u64> offsets;  ///< of each part, in bytes
  std::span<const u64> bytes;    ///< of each part

  /// The address of the part for rank r.
  const char* at(u32 r) const { return static_cast<const char*>(data) + offsets[r]; }
};
/// Memory that a rank receives: bytes[r] bytes from rank r go to data + offsets[r].
struct received_parts {
  void* data;                    ///< in memory of the space
  std::span<const u64> offsets;  ///< of each part, in bytes
  std::span<const u64> bytes;    ///< of each part

  /// The address of the part from rank r.
  char* at(u32 r) const { return static_cast<char*>(data) + offsets[r]; }
};

/// A class by which ranks reach each other.
template <class E>
concept exchange = requires(E& e, const E& c, std::span<const u64> mine, std::span<u64> all,
                            const sent_parts& sent, const received_parts& received) {
  { c.rank() } -> std::convertible_to<u32>;
  { c.size() } -> std::convertible_to<u32>;
  e.all_gather(mine, all);
  e.all_to_all(sent, received);
};

/// A world of one rank. Copies in memory of the space.
template <class Space>
class one_rank {
 public:
  /// \param space whose memory the tables use.
  explicit one_rank(Space& space) : space_(&space) {}
  static u32 rank() { return 0; }  ///< the only one
  static u32 size() { return 1; }  ///< ranks
  /// Copies the words.
  static void all_gather(std::span<const u64> mine, std::span<u64> all) {
    detail::require(all.size() == mine.size(), "one_rank: all_gather has arrays of different sizes");
    if (!mine.empty()) std::memcpy(all.data(), mine.data(), mine.size_bytes());
  }
  /// Copies the part.
  void all_to_all(const sent_parts& sent, const received_parts& received) {
    detail::require(sent.bytes[0] == received.bytes[0], "one_rank: all_to_all has parts of different sizes");
    if (sent.bytes[0] != 0) space_->copy(received.at(0), sent.at(0), sent.bytes[0]);
  }

 private:
  Space* space_;
};

/// An exchange made of two functions, for libraries with communicators.
///
/// `gather(mine, all)` and `send(sent, received)` are the functions of the concept `exchange`. They throw if
/// the library reports an error. mpi_ranks (several/mpi.hpp) shows what they do for MPI.
template <class Gather, class Send>
class exchange_of {
 public:
  /// \param rank,size of the caller's communicator.
  /// \param gather,send the two functions.
  exchange_of(u32 rank, u32 size, Gather gather, Send send)
      : rank_(rank), size_(size), gather_(std::move(gather)), send_(std::move(send)) {
    detail::require(size != 0 && rank < size, "exchange_of: a rank is below the number of ranks");
  }
  u32 rank() const { return rank_; }  ///< this rank's number
  u32 size() const { return size_; }  ///< ranks
  /// Calls gather(mine, all).
  void all_gather(std::span<const u64> mine, std::span<u64> all) { gather_(mine, all); }
  /// Calls send(sent, received).
  void all_to_all(const sent_parts& sent, const received_parts& received) { send_(sent, received); }

 private:
  u32 rank_, size_;
  Gather gather_;
  Send send_;
};

}  // namespace several
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(several);
}  // namespace tilehash
