// SPDX-License-Identifier: Apache-2.0
// Ranks in threads of one process: they read each other's parts.
//
//   publish the addresses | barrier | copy the parts for this rank | barrier
//
// A thread that leaves, or does not reach a barrier within a time limit, ends the calls of all ranks.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tilehash/several/exchange.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace several {

/// Copies parts in host memory. (Another copier: several/gpus.cuh.)
struct host_copier {
  /// Copies bytes from memory of rank `from_rank` to this rank's.
  static void copy(void* to, const void* from, u64 bytes, u32 /*from_rank*/) { std::memcpy(to, from, bytes); }
  static void finish() {}  ///< waits for the space's work and the copies
};

/// The ranks of one process. It must outlive its members.
class thread_ranks {
 public:
  static constexpr int usual_limit = 30'000;  ///< milliseconds

  /// \param ranks how many threads.
  /// \param limit milliseconds after which a call gives up on a rank.
  /// \param spins microseconds for which a thread that waits keeps its processor.
  explicit thread_ranks(u32 ranks, int limit = usual_limit, int spins = 0)
      : limit_(limit), spins_(spins), words_(ranks), parts_(ranks) {
    detail::require(ranks != 0, "thread_ranks: there is at least one rank");
  }
  u32 size() const { return static_cast<u32>(words_.size()); }  ///< ranks
  /// Says that a rank takes part no longer. The others' calls throw, unless all ranks have reached their end.
  void leave(u32 rank) {
    const std::lock_guard lock(mutex_);
    if (broken_.empty())
      broken_ = "rank " + std::to_string(rank) + " of " + std::to_string(size()) + " has ended";
    changed_.notify_all();
  }

  /// The exchange of one thread. Its end says that the thread takes part no longer.
  template <class Copier = host_copier>
  class member {
   public:
    /// \param all the ranks.
    /// \param rank of this thread.
    /// \param copier how parts are copied.
    member(thread_ranks& all, u32 rank, Copier copier = {})
        : all_(&all), rank_(rank), copier_(std::move(copier)) {
      detail::require(rank < all.size(), "thread_ranks: a rank is below the number of ranks");
    }
    member(const member&) = delete;
    member& operator=(const member&) = delete;
    ~member() { all_->leave(rank_); }

    u32 rank() const { return rank_; }         ///< this rank's number
    u32 size() const { return all_->size(); }  ///< ranks
    /// See the concept `exchange`. Throws error if a rank left or does not answer.
    void all_gather(std::span<const u64> mine, std::span<u64> all) {
      // There are two copies: a rank that is one call ahead writes the other one.
      const u32 copy = gathered_++ % 2;
      all_->words_[rank_][copy].assign(mine.begin(), mine.end());
      all_->meet("all_gather", rank_);
      bool same = true;
      for (u32 r = 0; r < size(); ++r) {
        const std::vector<u64>& its = all_->words_[r][copy];
        same = same && its.size() == mine.size();
        if (same && !its.empty())
          std::memcpy(all.data() + r * its.size(), its.data(), its.size() * sizeof(u64));
      }
      if (!same) throw error("tilehash: all_gather: the ranks' arrays differ in length");
    }
    /// See the concept `exchange`. Throws error if a rank left or does not answer.
    void all_to_all(const sent_parts& sent, const received_parts& received) {
      copier_.finish();
      all_->parts_[rank_] = sent;
      all_->meet("all_to_all", rank_);
      bool same = true;
      for (u32 k = 0; k < size(); ++k) {
        const u32 r = (rank_ + k) % size();  // each rank begins with another one
        const sent_parts& its = all_->parts_[r];
        const u64 bytes = received.bytes[r];
        if (its.bytes[rank_] != bytes)
          same = false;
        else if (bytes != 0)
          copier_.copy(received.at(r), its.at(rank_), bytes, r);
      }
      copier_.finish();
      all_->meet("all_to_all", rank_);
      if (!same) throw error("tilehash: all_to_all: the ranks' parts differ in length");
    }
    /// How this rank copies parts.
    Copier& copier() { return copier_; }

   protected:
    /// Waits for all ranks.
    void meet(const char* call) { all_->meet(call, rank_); }

   private:
    thread_ranks* all_;
    u32 rank_, gathered_ = 0;
    Copier copier_;
  };

 private:
  // A barrier.
  void meet(const char* call, u32 rank) {
    u64 round = 0;
    {
      const std::lock_guard lock(mutex_);
      refuse_broken(call);
      round = round_.load(std::memory_order_relaxed);
      if (++arrived_ == size()) {
        arrived_ = 0;
        round_.store(round + 1, std::memory_order_release);
        changed_.notify_all();
        return;
      }
    }
    if (spins_ != 0) {
      const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(spins_);
      do {
        if (round_.load(std::memory_order_acquire) != round) return;
      } while (std::chrono::steady_clock::now() < end);
    }
    std::unique_lock lock(mutex_);
    const bool in_time = changed_.wait_for(lock, std::chrono::milliseconds(limit_),
                                           [&] { return round_ != round || !broken_.empty(); });
    if (round_ != round) return;
    if (!in_time) {
      broken_ =
          "a rank did not answer rank " + std::to_string(rank) + " within " + std::to_string(limit_) + " ms";
      changed_.notify_all();
    }
    refuse_broken(call);
  }
  void refuse_broken(const char* call) const {
    if (!broken_.empty())
      throw error("tilehash: " + std::string(call) + ": " + broken_ + "; start the ranks again");
  }
  int limit_, spins_;
  std::vector<std::array<std::vector<u64>, 2>> words_;
  std::vector<sent_parts> parts_;
  std::mutex mutex_;
  std::condition_variable changed_;
  u32 arrived_ = 0;
  std::atomic<u64> round_ = 0;
  std::string broken_;
};

static_assert(exchange<thread_ranks::member<>>);

}  // namespace several
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(several);
}  // namespace tilehash
