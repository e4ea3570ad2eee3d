// SPDX-License-Identifier: Apache-2.0
// The emulated GPU: blocks of warps of 32 lanes, every lane a fiber, all on the host thread that launches.
//
//   run() --- picks a warp at random ---> step(): each lane runs to its next collective, in random order
//     ^                                      |
//     |       all at the same one of the warp: the warp may go on
//     +-----  all at the same one of the block: the warp waits until the block's other warps reach it
//             all ended: the warp is done
//             anything else: convergence_error
//
// Where a schedule has `choices`, lanes also stop at every atomic operation, and the choices name the lane
// that continues, of any warp and block (choices.hpp, points.hpp).
//
// A collective stores each lane's value in the warp's exchange. Two exchanges are used in turn: a lane can be
// one collective ahead of another that has not yet read the values, but not two.
//
// Code that depends on no body's types is in machine.cpp, which is optimised and not sanitized even where the
// tests are. The sanitizers check the bodies, and most of a test's time is spent in the machine.
#pragma once

#include <cstring>
#include <exception>
#include <memory>
#include <numeric>
#include <source_location>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tilehash/core/config.hpp>
#include <tilehash/core/error.hpp>
#include <tilehash/core/hash.hpp>

#include "choices.hpp"
#include "scratch.hpp"

namespace tilehash::emulation {

// Not all required lanes reached the same collective or barrier.
class convergence_error : public error {
 public:
  using error::error;
};

// The order in which lanes, warps and blocks run.
struct schedule {
  u64 seed = 1;
  bool interleave =
      true;  // after every collective another warp may run; false: a warp runs until it is blocked
  bool preempt = false;  // also while a lane reads words that others may be writing
  bool lags = false;     // also after a lane changes shared memory, before its next access
  u32 resident = 2;      // blocks that run concurrently
  u64 max_steps =
      u64(1) << 27;  // limit of the collectives of all warps in a launch; more mean an endless loop
  choices* at_atomics = nullptr;  // chooses the lane that continues at each atomic operation
  u64 max_points = u64(1) << 22;  // limit of the atomic operations, as max_steps
  bool torn_loads = false;        // words of 16 bytes are read in halves, and other lanes may run in between
};

inline constexpr u32 warp_size = 32;

using site = std::source_location;

// The collective or barrier at which a lane is blocked.
struct call {
  const char* what = "";
  u64 bytes = 0;          // of each lane's value
  bool of_block = false;  // all threads of the block must reach it, not only the warp
  site where = {};

  friend bool operator==(const call& a, const call& b);
};

// Returns 0 ... n - 1 once each, in a random order: by steps of a length that is coprime to n.
class shuffled {
 public:
  shuffled(u64 n, u64 dice) : n_(n), at_(dice % n), step_((dice >> 32) % n + (n == 1)) {
    while (std::gcd(step_, n_) != 1) step_ = (step_ + 1) % n_;
  }
  u64 next() { return std::exchange(at_, at_ < n_ - step_ ? at_ + step_ : at_ - (n_ - step_)); }

 private:
  u64 n_, at_, step_;
};

// The values of a warp's lanes at one collective.
struct exchange_area {
  static constexpr u64 max_bytes = 128;
  u32 votes = 0;
  u32 from[warp_size];
  alignas(16) std::byte said[warp_size][max_bytes];
};

struct block_state {
  u64 index = 0, count = 0;
  u32 threads = 0;
  u32 phase = 1;          // counts the barriers
  u32 votes[2] = {0, 0};  // of the last two barriers
  u32 stopped = 0;        // warps that are blocked or have ended
  scratch_memory* scratch = nullptr;
};

struct warp_state {
  block_state* block = nullptr;
  u32 number = 0;
  u32 turn = 0;  // counts the collectives
  exchange_area exchanges[2];
};

class fiber;
class machine;
class thread;
enum class load_order : unsigned char;  // points.hpp

// The body of a launch: a function of each thread, which outlives the launch. (std::function makes a dozen functions
// of each body.)
class launch_body {
 public:
  template <class F>
  launch_body(const F& f)  // NOLINT(google-explicit-constructor): an argument only
      : f_(&f), call_([](const void* of, thread& me) { (*static_cast<const F*>(of))(me); }) {}
  void operator()(thread& me) const { call_(f_, me); }

 private:
  const void* f_;
  void (*call_)(const void*, thread&);
};

// One lane of the GPU.
class thread {
 public:
  explicit thread(machine& m);
  ~thread();
  thread(const thread&) = delete;
  thread& operator=(const thread&) = delete;

  u32 rank() const { return rank_; }
  u32 lane() const { return rank_ % warp_size; }
  const block_state& block() const { return *warp_->block; }

  // ---- collectives of the warp ----
  // Bit i is the vote of lane i of the warp.
  u32 vote(const char* what, bool yes, site where);
  // Orders the accesses to scratch of the warp's lanes.
  void sync(const char* what, site where);
  // Returns the value of lane `from` of this lane's tile; `from` must be the same in the whole tile.
  template <class T>
  T said_by(const char* what, T x, u32 from, u32 width, site where) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= exchange_area::max_bytes);
    say({what, sizeof x, false, where}, &x, from, width);
    return x;
  }
  // Returns the value of the lane `by` to the left; in the first lanes of a tile, of one of its last.
  template <class T>
  T said_by_left(const char* what, T x, u32 by, u32 width, site where) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= exchange_area::max_bytes);
    say_left({what, sizeof x, false, where}, &x, by, width);
    return x;
  }

  // ---- collectives of the block ----
  // Returns how many threads of the block vote yes.
  u32 count_in_block(const char* what, bool yes, site where);

  // Between two accesses to shared memory: other lanes may run here.
  void may_pause();
  // After a change of shared memory. The lane's next access may be to other memory, and other lanes then see
  // that it has not happened yet.
  void may_lag();

  // Before an atomic operation of the running lane: other lanes may run here.
  void at_point();

  // ---- the block's scratch ----
  template <class T>
  T load_scratch(u64 at, access how) {
    T x;
    load_scratch(at, sizeof x, how, &x);
    return x;
  }
  template <class T>
  void store_scratch(u64 at, T x, access how) {
    store_scratch(at, sizeof x, how, &x);
  }

  // `bucket.hpp:63` and the function called there.
  static std::string describe(const call& c);

 private:
  // Gives the c.bytes at x to the warp, and puts the result there. (Copies are in machine.cpp: one of a few bytes in
  // the bodies would be a call of the sanitizer.)
  void say(const call& c, void* x, u32 from, u32 width);
  void say_left(const call& c, void* x, u32 by, u32 width);
  const exchange_area& tell(const call& c, const void* x, u32 from);

  friend class machine;
  friend load_order order_of_halves();
  struct abandoned {};  // thrown through an unfinished body
  enum class state : u8 { ready, waiting, ended };

  void live();
  void meet(const call& c);
  void pause();
  void stop();
  void load_scratch(u64 at, u64 bytes, access how, void* x) const;
  void store_scratch(u64 at, u64 bytes, access how, const void* x) const;
  void note_scratch(u64 at, u64 bytes, access how) const;
  std::string whereabouts() const;
  // The design's line in which this lane is blocked (frames below are the library's); empty if unknown.
  std::string line_of_design();

  machine* machine_;
  warp_state* warp_ = nullptr;
  u32 rank_ = 0, number_ = 0;  // in its block; in the machine
  state state_ = state::ended;
  bool abandoned_ = false, quitting_ = false, asked_for_callers_ = false;
  std::vector<void*> callers_;
  call at_;
  u64 calls_ = 0;
  u32 synced_ = 0;  // the warp's turn after its last sync()
  std::exception_ptr failure_;
  std::unique_ptr<fiber> fiber_;
};

class machine {
 public:
  explicit machine(schedule s) : schedule_(s), dice_(mix64(s.seed)) {}
  // Resets the machine and keeps its lanes.
  void restart(const schedule& s) { schedule_ = s, dice_ = mix64(s.seed); }

  u64 dice() { return mix64(dice_ += 0x9e37'79b9'7f4a'7c15); }
  // Atomic operations at which a lane of the last launch could have stopped.
  u64 points() const { return points_; }

  // Runs body(thread) for every thread of every block. Throws exceptions of bodies, convergence_error and
  // race_error; no thread is then left running.
  void run(u64 blocks, u32 threads, u64 scratch_bytes, launch_body body);

 private:
  friend class thread;
  friend load_order order_of_halves();
  using lanes = std::span<const std::unique_ptr<thread>>;
  struct warp;
  struct slot;
  struct launch;

  static void begin(launch& all, slot& s, lanes pool);
  void run_in_turns(launch& all);
  void run_by_choice(launch& all);
  void count_step(const slot& s, const warp& w);
  bool step(const slot& s, warp& w);
  static bool meet(const slot& s, warp& w);
  static bool stop(launch& all, slot& s, lanes pool);
  void make_ready(const warp& w);
  template <class Name>
  static bool agree(lanes threads, Name name);
  static std::string warp_name(const slot& s, const warp& w);
  static std::string situation(const slot& s, const warp& w);
  static std::string lines_of_design(lanes threads);
  static std::string whereabouts(lanes threads);

  schedule schedule_;
  u64 dice_;
  u64 steps_ = 0, points_ = 0;
  const launch_body* body_ = nullptr;
  std::vector<std::unique_ptr<thread>> pool_;
  std::vector<u32> ready_;  // numbers of the lanes that may continue, where there are choices
  u32 next_ = nobody;       // the chosen one of them
  static constexpr u32 nobody = ~0U;
};

}  // namespace tilehash::emulation
