// SPDX-License-Identifier: Apache-2.0
// Simulated links: an exchange over another one, with the time that its calls would take between hosts.
//
//   all_gather    latency * ceil(log2 ranks) | the words of all other ranks, over the link
//   all_to_all    latency | the most bytes that a rank sends or receives, over the link of its host or between hosts
//
// All ranks have one clock. It has the time of the links alone, not that of the tables' work.
#pragma once

#include <algorithm>
#include <bit>
#include <chrono>
#include <span>
#include <thread>
#include <vector>

#include <tilehash/several/exchange.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace several {

/// The links that simulated ranks have, in seconds, and in bytes a second of a rank in each direction.
struct simulated_links {
  double latency = 10e-6;       ///< of a call
  double between_hosts = 50e9;  ///< bytes a second
  double within_host = 400e9;   ///< bytes a second
  u32 ranks_of_host = 8;        ///< ranks 0 to 7 are on one host, for example
  bool waits = false;           ///< whether calls take that time
};

/// An exchange whose calls count the time of simulated links. For tests and plans of many ranks on one machine.
template <exchange Exchange>
class simulated {
 public:
  /// \param real exchange that moves the bytes; it must outlive the object.
  /// \param links the same on all ranks.
  explicit simulated(Exchange& real, const simulated_links& links = {}) : real_(&real), links_(links) {}

  u32 rank() const { return static_cast<u32>(real_->rank()); }  ///< this rank's number
  u32 size() const { return static_cast<u32>(real_->size()); }  ///< ranks
  /// Returns the seconds that all_to_all() would have taken. The same on all ranks.
  double seconds_of_items() const { return of_items_; }
  /// Returns the seconds that all_gather() would have taken. The same on all ranks.
  double seconds_of_words() const { return of_words_; }
  /// Returns the bytes that this rank sent to other ranks by all_to_all().
  u64 bytes() const { return bytes_; }

  /// See the concept `exchange`.
  void all_gather(std::span<const u64> mine, std::span<u64> all) {
    real_->all_gather(mine, all);
    const double slowest = size() > links_.ranks_of_host ? links_.between_hosts : links_.within_host;
    const double bytes = static_cast<double>(mine.size_bytes()) * (size() - 1);
    pass(of_words_, links_.latency * std::bit_width(size() - 1) + bytes / slowest);
  }
  /// See the concept `exchange`.
  void all_to_all(const sent_parts& sent, const received_parts& received) {
    real_->all_to_all(sent, received);
    for (u32 r = 0; r < size(); ++r) bytes_ += r == rank() ? 0 : sent.bytes[r];
    const double own = std::max(link_time(sent.bytes), link_time(received.bytes));
    std::vector<u64> times(size());
    const u64 mine = std::bit_cast<u64>(own);
    real_->all_gather(std::span(&mine, 1), times);
    double slowest = 0;
    for (const u64 t : times) slowest = std::max(slowest, std::bit_cast<double>(t));
    pass(of_items_, links_.latency + slowest);
  }

 private:
  // The two links work at the same time.
  double link_time(std::span<const u64> parts) const {
    u64 within = 0, between = 0;
    for (u32 r = 0; r < size(); ++r) {
      if (r == rank()) continue;
      (r / links_.ranks_of_host == rank() / links_.ranks_of_host ? within : between) += parts[r];
    }
    return std::max(static_cast<double>(within) / links_.within_host,
                    static_cast<double>(between) / links_.between_hosts);
  }
  void pass(double& clock, double time) const {
    clock += time;
    if (links_.waits) std::this_thread::sleep_for(std::chrono::duration<double>(time));
  }

  Exchange* real_;
  simulated_links links_;
  double of_items_ = 0, of_words_ = 0;
  u64 bytes_ = 0;
};

}  // namespace several
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(several);
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
