// The emulated GPU: blocks of warps of 32 lanes, every lane a fiber, all on the host thread that launches.
//
//   run() --- picks a warp at random ---> step(): each lane runs to its next collective, in random order
//     ^                                      |
//     |       all at the same one of the warp: the warp may go on
//     +-----  all at the same one of the block: the warp waits until the block's other warps are there
//             all ended: the warp is done
//             anything else: convergence_error
//
// A collective leaves what each lane said in the warp's exchange. There are two, used in turns: a lane can be
// one collective ahead of another that has not yet read the answers, but not two.
// length: one machine; its lanes, warps and blocks wait for each other and are read together.
#pragma once

#include <algorithm>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <numeric>
#include <set>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tilehash/core/config.hpp>
#include <tilehash/core/error.hpp>
#include <tilehash/core/hash.hpp>

#include "callers.hpp"
#include "fiber.hpp"
#include "scratch.hpp"

namespace tilehash::emulation {

// Not all who must arrive at a collective or a barrier arrived at the same one.
class convergence_error : public error {
 public:
  using error::error;
};

// In which order lanes, warps and blocks run.
struct schedule {
  u64 seed = 1;
  bool interleave =
      true;              // after every collective another warp may run; false: a warp runs until it must wait
  bool preempt = false;  // and also while a lane reads words that others may be writing
  u32 resident = 2;      // blocks that run side by side
  u64 max_steps =
      u64(1) << 27;  // collectives of all warps of a launch, more of which say that a loop has no end
};

inline constexpr u32 warp_size = 32;

using site = std::source_location;

// What a lane waits at.
struct call {
  const char* what = "";
  u64 bytes = 0;          // of what each lane says
  bool of_block = false;  // all threads of the block must come, not only the warp
  site where = {};

  friend bool operator==(const call& a, const call& b) {
    const auto same = [](const char* x, const char* y) { return x == y || std::strcmp(x, y) == 0; };
    return a.where.line() == b.where.line() && a.where.column() == b.where.column() && a.bytes == b.bytes &&
           same(a.what, b.what) && same(a.where.file_name(), b.where.file_name());
  }
};

// 0 ... n - 1 once each, in a random order: by steps of a length that shares no divisor with n.
class shuffled {
 public:
  shuffled(u64 n, u64 dice) : n_(n), at_(dice % n), step_((dice >> 32) % n + (n == 1)) {
    while (std::gcd(step_, n_) != 1) step_ = (step_ + 1) % n_;
  }
  u64 next() { return std::exchange(at_, at_ < n_ - step_ ? at_ + step_ : at_ - (n_ - step_)); }

 private:
  u64 n_, at_, step_;
};

// What the lanes of a warp said at one collective.
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
  u32 votes[2] = {0, 0};  // of the two last of them
  u32 stopped = 0;        // warps that wait for the others, or have ended
  scratch_memory* scratch = nullptr;
};

struct warp_state {
  block_state* block = nullptr;
  u32 number = 0;
  u32 turn = 0;  // counts the collectives
  exchange_area exchanges[2];
};

class machine;

// One lane of the GPU.
class thread {
 public:
  explicit thread(machine& m) : machine_(&m), fiber_([this] { live(); }) {}
  ~thread() {
    quitting_ = true;
    fiber_.resume();
  }
  thread(const thread&) = delete;
  thread& operator=(const thread&) = delete;

  u32 rank() const { return rank_; }
  u32 lane() const { return rank_ % warp_size; }
  const block_state& block() const { return *warp_->block; }

  // ---- collectives of the warp ----
  // Bit i is what lane i of the warp says.
  u32 vote(const char* what, bool yes, site where) {
    exchange_area& here = warp_->exchanges[warp_->turn % 2];
    here.votes |= u32(yes) << lane();
    meet({what, 0, false, where});
    return here.votes;
  }
  // What lane `from` of this lane's tile says; `from` must be the same in the whole tile.
  template <class T>
  T said_by(const char* what, T x, u32 from, u32 width, site where) {
    const exchange_area& here = say(what, x, from, where);
    const u32 first = lane() / width * width;
    if (from >= width || from != here.from[first])
      throw convergence_error("tilehash: " + place({what, sizeof x, false, where}) + ": lane " +
                              std::to_string(lane()) + " names lane " + std::to_string(from) +
                              " of a tile of " + std::to_string(width) + ", the tile's first lane names " +
                              std::to_string(here.from[first]));
    std::memcpy(&x, here.said[first + from], sizeof x);
    return x;
  }
  // What the lane so many to the left says, in the first lanes of a tile one of its last.
  template <class T>
  T said_by_left(const char* what, T x, u32 by, u32 width, site where) {
    const exchange_area& here = say(what, x, 0, where);
    std::memcpy(&x, here.said[lane() / width * width + (lane() + width - by) % width], sizeof x);
    return x;
  }

  // ---- collectives of the block ----
  // How many threads of the block say yes.
  u32 count_in_block(const char* what, bool yes, site where) {
    u32& votes = warp_->block->votes[warp_->block->phase % 2];
    votes += yes;
    meet({what, 0, true, where});
    return votes;
  }

  // Between two accesses to shared memory: here others may run.
  void may_pause();

  // ---- the block's scratch ----
  template <class T>
  T load_scratch(u64 at, access how) {
    note_scratch(at, sizeof(T), how);
    T x;
    std::memcpy(&x, block().scratch->data() + at, sizeof x);
    return x;
  }
  template <class T>
  void store_scratch(u64 at, T x, access how) {
    note_scratch(at, sizeof(T), how);
    std::memcpy(block().scratch->data() + at, &x, sizeof x);
  }

  // `bucket.hpp:63` and what is called there.
  static std::string place(const call& c) {
    const std::string_view file = c.where.file_name();
    return std::string(c.what) + (c.bytes != 0 ? " of " + std::to_string(c.bytes) + " bytes" : "") + " (" +
           std::string(file.substr(file.rfind('/') + 1)) + ":" + std::to_string(c.where.line()) + ")";
  }

 private:
  // Says x to the warp, and gives what all lanes said.
  template <class T>
  const exchange_area& say(const char* what, const T& x, u32 from, site where) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= exchange_area::max_bytes);
    exchange_area& here = warp_->exchanges[warp_->turn % 2];
    std::memcpy(here.said[lane()], &x, sizeof x);
    here.from[lane()] = from;
    meet({what, sizeof x, false, where});
    return here;
  }

  friend class machine;
  struct abandoned {};  // thrown through a body that will not be finished
  enum class state : u8 { ready, waiting, ended };

  void live() {
    while (!quitting_) {
      try {
        work();
      } catch (const abandoned&) {
      } catch (...) {
        failure_ = std::current_exception();
      }
      state_ = state::ended;
      fiber_.pause();
    }
  }
  void work();
  void meet(const call& c) {
    at_ = c;
    ++calls_;
    state_ = state::waiting;
    stop();
  }
  void stop() {
    fiber_.pause();
    while (asked_for_callers_) {
      asked_for_callers_ = false;
      callers_ = callers();
      fiber_.pause();
    }
    if (abandoned_) throw abandoned{};
  }
  void note_scratch(u64 at, u64 bytes, access how) const {
    try {
      block().scratch->note(at, bytes, how, rank_, block().phase);
    } catch (const race_error& e) {
      throw race_error(std::string(e.what()) + ", since " + (calls_ != 0 ? place(at_) : "the block began"));
    }
  }
  std::string whereabouts() const {
    return state_ == state::ended ? "ended" : "at " + place(at_) + ", call " + std::to_string(calls_);
  }
  // The design's line that this lane waits in, below which all is the library's; empty where nothing tells.
  std::string line_of_design() {
    if (state_ != state::waiting) return {};
    asked_for_callers_ = true;
    fiber_.resume();
    return tilehash::emulation::line_of_design(callers_);
  }

  machine* machine_;
  warp_state* warp_ = nullptr;
  u32 rank_ = 0;
  state state_ = state::ended;
  bool abandoned_ = false, quitting_ = false, asked_for_callers_ = false;
  std::vector<void*> callers_;
  call at_;
  u64 calls_ = 0;
  std::exception_ptr failure_;
  fiber fiber_;
};

class machine {
 public:
  explicit machine(schedule s) : schedule_(s), dice_(mix64(s.seed)) {}

  u64 dice() { return mix64(dice_ += 0x9e37'79b9'7f4a'7c15); }

  // body(thread) for every thread of every block. Throws what a body throws, convergence_error and
  // race_error; then no thread is left running.
  void run(u64 blocks, u32 threads, u64 scratch_bytes, const std::function<void(thread&)>& body) {
    body_ = &body;
    std::vector<slot> slots(std::min<u64>(std::max(1U, schedule_.resident), blocks));
    while (pool_.size() < slots.size() * threads) pool_.push_back(std::make_unique<thread>(*this));
    try {
      run_in(slots, blocks, threads, scratch_bytes);
    } catch (...) {
      for (const auto& t : pool_) {
        t->abandoned_ = true;
        if (t->state_ != thread::state::ended) t->fiber_.resume();
      }
      throw;
    }
  }

 private:
  friend class thread;
  using lanes = std::span<const std::unique_ptr<thread>>;
  struct warp {
    warp_state state;
    lanes threads;
  };
  struct slot {  // room for one block at a time
    block_state block;
    std::unique_ptr<scratch_memory> scratch;
    std::vector<warp> warps;
    lanes threads;
  };

  void run_in(std::vector<slot>& slots, u64 blocks, u32 threads, u64 scratch_bytes) {
    shuffled order(blocks, dice());
    u64 begun = 0, steps = 0;
    std::vector<std::pair<slot*, warp*>> ready;
    const auto go = [&](slot& s) {
      s.block.stopped = 0;
      for (warp& w : s.warps) ready.emplace_back(&s, &w);
    };
    const auto begin = [&](slot& s) {
      const u64 number = static_cast<u64>(&s - slots.data());
      s.threads = lanes(pool_).subspan(number * threads, threads);
      s.scratch = std::make_unique<scratch_memory>(scratch_bytes);
      s.block = {order.next(), blocks, threads, 1, {0, 0}, 0, s.scratch.get()};
      s.warps.resize((threads + warp_size - 1) / warp_size);
      for (u32 i = 0; i < s.warps.size(); ++i) {
        warp& w = s.warps[i];
        w.state.block = &s.block;
        w.state.number = i;
        const u32 first = i * warp_size;
        w.threads = s.threads.subspan(first, std::min(warp_size, threads - first));
        w.state.exchanges[w.state.turn % 2].votes = 0;
      }
      for (u32 i = 0; i < threads; ++i) {
        thread& t = *s.threads[i];
        t.warp_ = &s.warps[i / warp_size].state;
        t.rank_ = i;
        t.state_ = thread::state::ready;
        t.abandoned_ = false;
        t.calls_ = 0;
      }
      ++begun;
      go(s);
    };
    for (slot& s : slots) begin(s);

    const u64 patience = u64(1) << dice() % 8;  // collectives in a row of one warp, on average
    for (u64 k = ready.size(); !ready.empty();) {
      const bool change = schedule_.interleave && dice() % patience == 0;
      if (change || k >= ready.size()) k = dice() % ready.size();
      const auto [s, w] = ready[k];
      if (++steps > schedule_.max_steps)
        throw convergence_error("tilehash: a loop has no end: after " + std::to_string(schedule_.max_steps) +
                                " collectives, " + situation(*s, *w));
      if (step(*s, *w)) continue;
      ready[k] = ready.back();
      ready.pop_back();
      k = ready.size();
      if (++s->block.stopped < s->warps.size()) continue;
      if (agree(s->threads, [&] { return "block " + std::to_string(s->block.index) + ", threads"; })) {
        s->block.votes[++s->block.phase % 2] = 0;
        for (const auto& t : s->threads) t->state_ = thread::state::ready;
        go(*s);
      } else if (begun < blocks) {
        begin(*s);
      }
    }
  }

  // Runs each lane to its next collective. True if the warp may go on at once.
  bool step(const slot& s, warp& w) {
    bool paused = false;
    shuffled order(w.threads.size(), dice());
    for (u64 i = 0; i < w.threads.size(); ++i) {
      thread& t = *w.threads[order.next()];
      if (t.state_ == thread::state::ready) t.fiber_.resume();
      if (t.failure_) std::rethrow_exception(std::exchange(t.failure_, nullptr));
      paused |= t.state_ == thread::state::ready;
    }
    if (paused) return true;
    const bool all_wait = agree(w.threads, [&] { return warp_name(s, w); });
    if (!all_wait || w.threads[0]->at_.of_block) return false;
    w.state.exchanges[++w.state.turn % 2].votes = 0;
    for (const auto& t : w.threads) t->state_ = thread::state::ready;
    return true;
  }

  // True when all wait at the same call, false when all have ended.
  template <class Name>
  static bool agree(lanes threads, Name name) {
    const thread& first = *threads[0];
    const bool all_agree = std::ranges::all_of(threads, [&](const auto& t) {
      return t->state_ == first.state_ && (t->state_ == thread::state::ended || t->at_ == first.at_);
    });
    if (!all_agree)
      throw convergence_error("tilehash: divergence: " + name() + " " + whereabouts(threads) +
                              lines_of_design(threads));
    return first.state_ == thread::state::waiting;
  }

  static std::string warp_name(const slot& s, const warp& w) {
    return "block " + std::to_string(s.block.index) + ", warp " + std::to_string(w.state.number) + ", lanes";
  }
  static std::string situation(const slot& s, const warp& w) {
    return warp_name(s, w) + " " + whereabouts(w.threads);
  }

  // "; in tiled.hpp:217" of those that wait, each line once.
  static std::string lines_of_design(lanes threads) {
    std::set<std::string> lines, asked;
    for (const auto& t : threads) {
      if (asked.insert(t->whereabouts()).second) lines.insert(t->line_of_design());
    }
    lines.erase("");
    std::string text;
    for (const std::string& line : lines) text += (text.empty() ? "; in " : " and ") + line;
    return text;
  }

  // "0-2 4-31 at ballot (bucket.hpp:63), call 17; 3 ended"
  static std::string whereabouts(lanes threads) {
    std::vector<std::pair<std::string, std::string>>
        groups;  // a place, and the numbers of those who are there
    for (u64 i = 0; i < threads.size();) {
      const std::string at = threads[i]->whereabouts();
      u64 last = i;
      while (last + 1 < threads.size() && threads[last + 1]->whereabouts() == at) ++last;
      const std::string range = std::to_string(i) + (last > i ? "-" + std::to_string(last) : "");
      const auto known = std::ranges::find(groups, at, [](const auto& g) { return g.first; });
      if (known == groups.end())
        groups.emplace_back(at, range);
      else
        known->second += " " + range;
      i = last + 1;
    }
    std::string text;
    for (const auto& [at, who] : groups)
      text.append(text.empty() ? "" : "; ").append(who).append(" ").append(at);
    return text;
  }

  schedule schedule_;
  u64 dice_;
  const std::function<void(thread&)>* body_ = nullptr;
  std::vector<std::unique_ptr<thread>> pool_;
};

inline void thread::work() {
  if (!abandoned_) (*machine_->body_)(*this);
}

inline void thread::may_pause() {
  if (!machine_->schedule_.preempt || machine_->dice() % 4 != 0) return;
  state_ = state::ready;
  stop();
}

}  // namespace tilehash::emulation
