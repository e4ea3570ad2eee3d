// SPDX-License-Identifier: Apache-2.0
// Ranks for tests: processes or threads, and an exchange that fails at a given step.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <contract/random.hpp>
#include <tilehash/several/exchange.hpp>
#include <tilehash/several/processes.hpp>
#include <tilehash/several/shards.hpp>
#include <tilehash/several/threads.hpp>
#include <tilehash/space/cpu.hpp>

namespace tilehash::contract {

// Memory of windows. It stays until all ranks have ended, because others may write to the window of one that ended.
// The rank's own space fails in its place.
class window_memory {
 public:
  window_memory() = default;
  window_memory(const window_memory&) = delete;
  window_memory& operator=(const window_memory&) = delete;
  ~window_memory() {
    for (const auto& [p, alignment] : all_) ::operator delete(p, alignment);
  }
  void* allocate(std::size_t bytes, std::size_t alignment) {
    asked->deallocate(asked->allocate(bytes), bytes);
    all_.emplace_back(::operator new(bytes, std::align_val_t(alignment)), std::align_val_t(alignment));
    return all_.back().first;
  }
  void deallocate(void* /*p*/, std::size_t /*bytes*/, std::size_t /*alignment*/) {}

  cpu* asked = nullptr;

 private:
  std::vector<std::pair<void*, std::align_val_t>> all_;
};

// Any exchange, so that the tables are compiled once for all of them. Before step `fails_at` (0: the first
// all_gather or all_to_all) it calls fail().
class any_exchange {
 public:
  template <class Exchange>
  explicit any_exchange(Exchange& real)
      : rank_(real.rank()),
        size_(real.size()),
        gather_([&real](std::span<const u64> mine, std::span<u64> all) { real.all_gather(mine, all); }),
        send_([&real](const several::sent_parts& sent, const several::received_parts& received) {
          real.all_to_all(sent, received);
        }) {}
  u32 rank() const { return rank_; }
  u32 size() const { return size_; }
  void all_gather(std::span<const u64> mine, std::span<u64> all) {
    step();
    gather_(mine, all);
  }
  void all_to_all(const several::sent_parts& sent, const several::received_parts& received) {
    step();
    for (u32 r = 0; r < size_; ++r) bytes += sent.bytes[r];
    send_(sent, received);
  }
  // Threads read and write each other's memory, if the test says so.
  bool has_windows() const { return windows != nullptr; }
  cpu& memory(cpu& space) {
    if (windows == nullptr) return space;
    windows->asked = &space;
    if (!memory_) memory_.emplace(1, *windows);
    return *memory_;
  }
  void fence() {
    step();
    const u64 nothing = 0;
    std::vector<u64> all(size_);
    gather_(std::span(&nothing, 1), all);
  }

  window_memory* windows = nullptr;
  u64 steps = 0, fails_at = ~u64(0), bytes = 0;
  std::function<void()> fail;

 private:
  void step() {
    if (steps++ == fails_at) fail();
  }

  u32 rank_, size_;
  std::optional<cpu> memory_;
  std::function<void(std::span<const u64>, std::span<u64>)> gather_;
  std::function<void(const several::sent_parts&, const several::received_parts&)> send_;
};

#ifndef TILEHASH_RANKS_OVER_MPI
// Runs body(exchange) on so many processes. A process fails if the test does there, or with an exception.
inline void in_processes(u32 ranks, const std::function<void(any_exchange&)>& body, int limit = 20'000) {
  run_seed();  // the same in all of them
  const auto sockets = several::processes::connected(ranks);
  std::vector<pid_t> children;
  std::fflush(nullptr);
  for (u32 rank = 0; rank < ranks; ++rank) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child != 0) {
      children.push_back(child);
      continue;
    }
    alarm(120);
    for (u32 r = 0; r < ranks; ++r)
      if (r != rank) several::processes::close_sockets(sockets[r]);
    try {
      several::processes real(rank, sockets[rank], limit);
      any_exchange exchange(real);
      body(exchange);
    } catch (const std::exception& e) {
      ADD_FAILURE() << "rank " << rank << " of " << ranks << ": " << e.what();
    }
    std::fflush(nullptr);
    _exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  for (u32 r = 0; r < ranks; ++r) several::processes::close_sockets(sockets[r]);
  for (u32 r = 0; r < ranks; ++r) {
    int status = 0;
    waitpid(children[r], &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "rank " << r << " of " << ranks;
  }
}

// Runs body(exchange) on so many threads, by copies or through windows.
inline void in_threads(u32 ranks, bool windows, const std::function<void(any_exchange&)>& body,
                       int limit = 20'000) {
  several::thread_ranks all(ranks, limit);
  std::vector<window_memory> memory(ranks);
  std::vector<std::thread> threads;
  for (u32 rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      try {
        several::thread_ranks::member<> real(all, rank);
        any_exchange exchange(real);
        if (windows) exchange.windows = &memory[rank];
        body(exchange);
      } catch (const std::exception& e) {
        ADD_FAILURE() << "rank " << rank << " of " << ranks << (windows ? ", windows: " : ": ") << e.what();
      }
    });
  for (std::thread& t : threads) t.join();
}
// Both, one after the other.
inline void in_threads(u32 ranks, const std::function<void(any_exchange&)>& body, int limit = 20'000) {
  for (const bool windows : {false, true}) in_threads(ranks, windows, body, limit);
}
#endif

// How the keys of a call are distributed.
enum class spread { even, few, half_one_key, one_owner, empty_ranks };
inline constexpr spread all_spreads[] = {spread::even, spread::few, spread::half_one_key, spread::one_owner,
                                         spread::empty_ranks};

// The arrays of all ranks, which every rank draws in the same way.
struct rank_items {
  std::vector<std::vector<u32>> keys, values;

  rank_items(random_numbers& random, u32 ranks, spread how, u64 most) : keys(ranks), values(ranks) {
    const u32 frequent = static_cast<u32>(random());
    for (u32 r = 0; r < ranks; ++r) {
      const u64 n = how == spread::empty_ranks && r % 2 == 0 ? 0 : random.below(most + 1);
      while (keys[r].size() < n) {
        u32 key = static_cast<u32>(random.below(how == spread::few ? 50 : 4 * most));
        if (how == spread::half_one_key && random.one_in(2)) key = frequent;
        if (how == spread::one_owner && several::rank_of(several::shard_of(key), ranks) != ranks / 2)
          continue;
        if (random.one_in(100)) key = ~u32(0) - static_cast<u32>(random.below(3));  // patterns of marks
        keys[r].push_back(key);
        values[r].push_back(static_cast<u32>(random()));
      }
    }
  }
};

}  // namespace tilehash::contract

#ifdef TILEHASH_RANKS_OVER_MPI
#include <contract/over_mpi.hpp>
#endif
