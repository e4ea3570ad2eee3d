// SPDX-License-Identifier: Apache-2.0
// Chooses the lane of the emulated machine that runs next at each atomic operation.
//
//   random      another lane, with a probability that is drawn for each run, from 1/2 to 1/64
//   priorities  each lane has one, and the highest runs; at a few points, drawn before, the running lane gets
//               the lowest. A fault that needs k changes at certain points occurs in one of about n^k runs of
//               n points, however long the rest of the run is
//   listed      all schedules with a limited number of preemptions, one after the other
//
// Memory is sequentially consistent: a lane sees all earlier writes of other lanes.
//
// Sources: S. Burckhardt et al., A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs, ASPLOS
// 2010; M. Musuvathi and S. Qadeer, Iterative Context Bounding, PLDI 2007.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include <tilehash/core/config.hpp>
#include <tilehash/core/hash.hpp>

namespace tilehash::emulation {

class choices {
 public:
  virtual ~choices() = default;
  // The lane reached an atomic operation. Returns the lane to run next, one of the ready lanes; so is this
  // lane.
  virtual u32 at_point(u32 lane, const std::vector<u32>& ready) = 0;
  // The lane that ran is blocked or has ended.
  virtual u32 at_stop(const std::vector<u32>& ready) = 0;

 protected:
  explicit choices(u64 seed = 1) : dice_(mix64(seed)) {}
  u64 dice() { return mix64(dice_ += 0x9e37'79b9'7f4a'7c15); }
  u32 one_of(const std::vector<u32>& ready) { return ready[dice() % ready.size()]; }

 private:
  u64 dice_;
};

class random_choices : public choices {
 public:
  explicit random_choices(u64 seed) : choices(seed), patience_(u64(2) << dice() % 6) {}
  u32 at_point(u32 lane, const std::vector<u32>& ready) override {
    return dice() % patience_ == 0 ? one_of(ready) : lane;
  }
  u32 at_stop(const std::vector<u32>& ready) override { return one_of(ready); }

 private:
  u64 patience_;
};

class priority_choices : public choices {
 public:
  // `length`: the expected number of points of the run.
  priority_choices(u64 seed, u32 changes, u64 length) : choices(seed) {
    for (u32 i = 0; i < changes; ++i) changes_.push_back(1 + dice() % std::max<u64>(length, 1));
    std::ranges::sort(changes_, std::greater<>());
  }
  u32 at_point(u32 lane, const std::vector<u32>& ready) override {
    ++points_;
    alone_ = lane == last_ ? alone_ + 1 : 0;
    last_ = lane;
    const bool due = !changes_.empty() && points_ >= changes_.back();
    if (due) changes_.pop_back();
    // A lane that spins until another changes something would never let that one run.
    if (due || alone_ >= most_alone) {
      of(lane) = lowest_--;
      alone_ = 0;
      return at_stop(ready);
    }
    return lane;
  }
  u32 at_stop(const std::vector<u32>& ready) override {
    return *std::ranges::max_element(ready, {}, [this](u32 lane) { return of(lane); });
  }

 private:
  static constexpr u64 most_alone = 256;
  static constexpr u64 first_lowest = u64(1) << 32;
  u64& of(u32 lane) {
    while (priorities_.size() <= lane) priorities_.push_back(2 * first_lowest + dice() / 2);
    return priorities_[lane];
  }

  std::vector<u64> changes_;  // points, the first last
  std::vector<u64> priorities_;
  u64 points_ = 0, alone_ = 0, lowest_ = first_lowest;
  u32 last_ = ~0U;
};

class listed_choices : public choices {
 public:
  explicit listed_choices(u32 most_changes) : most_changes_(most_changes) {}

  u32 at_point(u32 lane, const std::vector<u32>& ready) override {
    if (changes_ == most_changes_ || ready.size() == 1) return lane;
    // 0: the lane continues; else another lane, in the order of their numbers.
    const u32 way = next_way(static_cast<u32>(ready.size()));
    if (way == 0) return lane;
    ++changes_;
    std::vector<u32> others = ready;
    std::erase(others, lane);
    std::ranges::sort(others);
    return others[way - 1];
  }
  u32 at_stop(const std::vector<u32>& ready) override {
    std::vector<u32> all = ready;
    std::ranges::sort(all);
    return all[next_way(static_cast<u32>(all.size()))];
  }
  // Prepares the next run, which takes another way. Returns false if there is none.
  bool advance() {
    depth_ = changes_ = 0;
    while (!ways_.empty() && ways_.back().taken + 1 == ways_.back().all) ways_.pop_back();
    if (ways_.empty()) return false;
    ++ways_.back().taken;
    return true;
  }

 private:
  struct fork {
    u32 taken, all;
  };
  u32 next_way(u32 all) {
    if (depth_ == ways_.size()) ways_.push_back({0, all});
    return ways_[depth_++].taken;
  }

  std::vector<fork> ways_;
  u64 depth_ = 0;
  u32 most_changes_, changes_ = 0;
};

}  // namespace tilehash::emulation
