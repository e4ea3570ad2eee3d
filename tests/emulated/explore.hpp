// SPDX-License-Identifier: Apache-2.0
// Runs a test under many schedules of the emulated machine, and prints how to repeat a failed one.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <random>
#include <string>

#include <contract/random.hpp>

#include "machine.hpp"

namespace tilehash::emulation {

// One schedule: its seed determines all that is drawn.
class exploration {
 public:
  exploration(machine& m, u64 seed) : machine_(m), random_(seed) {
    const u64 way = random_() % 4;
    if (way == 0)
      choices_ = std::make_unique<random_choices>(random_());
    else
      choices_ =
          std::make_unique<priority_choices>(random_(), static_cast<u32>(way), u64(16) << random_() % 6);
    schedule_ = {
        .seed = seed, .resident = ~0U, .at_atomics = choices_.get(), .torn_loads = random_() % 2 == 0};
  }
  exploration(machine& m, u64 seed, choices& given) : machine_(m), random_(seed) {
    schedule_ = {.resident = ~0U, .at_atomics = &given};
  }

  u64 below(u64 n) { return random_() % n; }
  u64 operator()() { return random_(); }
  // Runs f(thread) by all threads of all blocks concurrently.
  template <class F>
  void run(u64 blocks, u32 threads, F f) {
    schedule_.seed = random_();
    machine_.restart(schedule_);
    machine_.run(blocks, threads, 0, f);
  }

 private:
  machine& machine_;
  std::mt19937_64 random_;
  std::unique_ptr<choices> choices_;
  schedule schedule_;
};

// Runs one(exploration) under many schedules, each with a seed, and stops at the first failure.
// TILEHASH_SCHEDULE_SEED=n runs that one alone, and TILEHASH_SCHEDULES=n runs n times as many.
template <class One>
void explore(u64 schedules, One one) {
  machine m({});
  const auto run = [&](u64 seed) {
    SCOPED_TRACE("TILEHASH_SCHEDULE_SEED=" + std::to_string(seed) + " runs this schedule again");
    try {
      exploration e(m, seed);
      one(e);
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
    return !::testing::Test::HasFailure();
  };
  if (const char* given = std::getenv("TILEHASH_SCHEDULE_SEED")) {
    run(std::strtoull(given, nullptr, 0));
    return;
  }
  if (const char* times = std::getenv("TILEHASH_SCHEDULES")) schedules *= std::strtoull(times, nullptr, 0);
  for (u64 i = 0; i < schedules; ++i)
    if (!run(mix64(contract::run_seed() + i))) return;
}

// Runs one(exploration) under all schedules with a limited number of preemptions, at most `most` schedules.
// Returns how many it ran.
template <class One>
u64 explore_all(u32 changes, u64 most, u64 seed, One one) {
  machine m({});
  listed_choices ways(changes);
  u64 n = 0;
  do {
    SCOPED_TRACE("schedule " + std::to_string(n) + " of seed " + std::to_string(seed));
    try {
      exploration e(m, seed, ways);
      one(e);
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
    ++n;
  } while (!::testing::Test::HasFailure() && n < most && ways.advance());
  return n;
}

}  // namespace tilehash::emulation
