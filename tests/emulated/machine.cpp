// SPDX-License-Identifier: Apache-2.0
// How the emulated GPU runs: lanes go from collective to collective, warps and blocks in turns (machine.hpp).
#include "points.hpp"

#include "machine.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "callers.hpp"
#include "fiber.hpp"

namespace tilehash::emulation {

bool operator==(const call& a, const call& b) {
  const auto same = [](const char* x, const char* y) { return x == y || std::strcmp(x, y) == 0; };
  return a.where.line() == b.where.line() && a.where.column() == b.where.column() && a.bytes == b.bytes &&
         same(a.what, b.what) && same(a.where.file_name(), b.where.file_name());
}

namespace {
thread* running = nullptr;  // the lane that runs, where there are choices
}

load_order order_of_halves() {
  if (running == nullptr) return load_order::whole;
  machine& m = *running->machine_;
  if (!m.schedule_.torn_loads) return load_order::whole;
  return m.dice() % 2 == 0 ? load_order::low_first : load_order::high_first;
}
void schedule_point() {
  if (running != nullptr) running->at_point();
}

// ---- a lane ---------------------------------------------------------------------------------------------

thread::thread(machine& m) : machine_(&m), fiber_(std::make_unique<fiber>([this] { live(); })) {}
thread::~thread() {
  quitting_ = true;
  fiber_->resume();
}

u32 thread::vote(const char* what, bool yes, site where) {
  exchange_area& here = warp_->exchanges[warp_->turn % 2];
  here.votes |= u32(yes) << lane();
  meet({what, 0, false, where});
  return here.votes;
}
void thread::sync(const char* what, site where) {
  vote(what, false, where);
  synced_ = warp_->turn;
}
const exchange_area& thread::tell(const call& c, const void* x, u32 from) {
  exchange_area& here = warp_->exchanges[warp_->turn % 2];
  std::memcpy(here.said[lane()], x, c.bytes);
  here.from[lane()] = from;
  meet(c);
  return here;
}
void thread::say(const call& c, void* x, u32 from, u32 width) {
  const exchange_area& here = tell(c, x, from);
  const u32 first = lane() / width * width;
  if (from >= width || from != here.from[first])
    throw convergence_error("tilehash: " + describe(c) + ": lane " + std::to_string(lane()) + " names lane " +
                            std::to_string(from) + " of a tile of " + std::to_string(width) +
                            ", the tile's first lane names " + std::to_string(here.from[first]));
  std::memcpy(x, here.said[first + from], c.bytes);
}
void thread::say_left(const call& c, void* x, u32 by, u32 width) {
  const u32 from = lane() / width * width + (lane() + width - by) % width;
  std::memcpy(x, tell(c, x, 0).said[from], c.bytes);
}
u32 thread::count_in_block(const char* what, bool yes, site where) {
  u32& votes = warp_->block->votes[warp_->block->phase % 2];
  votes += yes;
  meet({what, 0, true, where});
  return votes;
}

void thread::may_pause() {
  if (machine_->schedule_.preempt && machine_->dice() % 4 == 0) pause();
}
void thread::may_lag() {
  if (machine_->schedule_.lags && machine_->dice() % 4 == 0) pause();
}
void thread::at_point() {
  if (std::uncaught_exceptions() != 0) return;  // the end of a lane that has failed must not be stopped
  machine& m = *machine_;
  if (++m.points_ > m.schedule_.max_points)
    throw convergence_error("tilehash: a loop has no end: after " + std::to_string(m.schedule_.max_points) +
                            " atomic operations, block " + std::to_string(block().index) + ", thread " +
                            std::to_string(rank_) + " is in one");
  const u32 next = m.schedule_.at_atomics->at_point(number_, m.ready_);
  if (next == number_) return;
  m.next_ = next;
  pause();
}
void thread::pause() {
  state_ = state::ready;
  stop();
}
void thread::load_scratch(u64 at, u64 bytes, access how, void* x) const {
  note_scratch(at, bytes, how);
  std::memcpy(x, block().scratch->data() + at, bytes);
}
void thread::store_scratch(u64 at, u64 bytes, access how, const void* x) const {
  note_scratch(at, bytes, how);
  std::memcpy(block().scratch->data() + at, x, bytes);
}
void thread::note_scratch(u64 at, u64 bytes, access how) const {
  try {
    block().scratch->note(at, bytes, how, {block().phase, rank_, rank_ / warp_size, synced_});
  } catch (const race_error& e) {
    throw race_error(std::string(e.what()) + ", since " + (calls_ != 0 ? describe(at_) : "the block began"));
  }
}

void thread::live() {
  while (!quitting_) {
    try {
      if (!abandoned_) (*machine_->body_)(*this);
    } catch (const abandoned&) {
    } catch (...) {
      failure_ = std::current_exception();
    }
    state_ = state::ended;
    fiber_->pause();
  }
}
void thread::meet(const call& c) {
  at_ = c;
  ++calls_;
  state_ = state::waiting;
  stop();
}
void thread::stop() {
  fiber_->pause();
  while (asked_for_callers_) {
    asked_for_callers_ = false;
    callers_ = callers();
    fiber_->pause();
  }
  if (abandoned_) throw abandoned{};
}

std::string thread::describe(const call& c) {
  const std::string_view file = c.where.file_name();
  return std::string(c.what) + (c.bytes != 0 ? " of " + std::to_string(c.bytes) + " bytes" : "") + " (" +
         std::string(file.substr(file.rfind('/') + 1)) + ":" + std::to_string(c.where.line()) + ")";
}
std::string thread::whereabouts() const {
  return state_ == state::ended ? "ended" : "at " + describe(at_) + ", call " + std::to_string(calls_);
}
std::string thread::line_of_design() {
  if (state_ != state::waiting) return {};
  asked_for_callers_ = true;
  fiber_->resume();
  return tilehash::emulation::line_of_design(callers_);
}

// ---- the machine ----------------------------------------------------------------------------------------

struct machine::warp {
  warp_state state;
  lanes threads;
  u64 running = 0;  // lanes that neither wait nor have ended, where there are choices
};
struct machine::slot {  // for one block at a time
  block_state block;
  std::unique_ptr<scratch_memory> scratch;
  std::vector<warp> warps;
  lanes threads;
};
struct machine::launch {
  u64 blocks;
  u32 threads;
  u64 scratch_bytes;
  shuffled order;
  std::vector<slot> slots;
  u64 begun = 0;
};

void machine::run(u64 blocks, u32 threads, u64 scratch_bytes, launch_body body) {
  body_ = &body;
  launch all{blocks, threads, scratch_bytes, shuffled(blocks, dice()), {}};
  all.slots.resize(std::min<u64>(std::max(1U, schedule_.resident), blocks));
  while (pool_.size() < all.slots.size() * threads) {
    pool_.push_back(std::make_unique<thread>(*this));
    pool_.back()->number_ = static_cast<u32>(pool_.size() - 1);
  }
  steps_ = points_ = 0;
  next_ = nobody;
  ready_.clear();
  try {
    for (slot& s : all.slots) begin(all, s, pool_);
    schedule_.at_atomics != nullptr ? run_by_choice(all) : run_in_turns(all);
  } catch (...) {
    running = nullptr;
    for (const auto& t : pool_) {
      t->abandoned_ = true;
      if (t->state_ != thread::state::ended) t->fiber_->resume();
    }
    throw;
  }
}

// Puts the next block into a slot.
void machine::begin(launch& all, slot& s, lanes pool) {
  const u64 number = static_cast<u64>(&s - all.slots.data());
  s.threads = pool.subspan(number * all.threads, all.threads);
  s.scratch = std::make_unique<scratch_memory>(all.scratch_bytes);
  s.block = {all.order.next(), all.blocks, all.threads, 1, {0, 0}, 0, s.scratch.get()};
  s.warps.resize((all.threads + warp_size - 1) / warp_size);
  for (u32 i = 0; i < s.warps.size(); ++i) {
    warp& w = s.warps[i];
    w.state.block = &s.block;
    w.state.number = i;
    const u32 first = i * warp_size;
    w.threads = s.threads.subspan(first, std::min(warp_size, all.threads - first));
    w.state.exchanges[w.state.turn % 2].votes = 0;
  }
  for (u32 i = 0; i < all.threads; ++i) {
    thread& t = *s.threads[i];
    t.warp_ = &s.warps[i / warp_size].state;
    t.rank_ = i;
    t.state_ = thread::state::ready;
    t.abandoned_ = false;
    t.calls_ = 0;
    t.synced_ = 0;
  }
  ++all.begun;
}

void machine::count_step(const slot& s, const warp& w) {
  if (++steps_ > schedule_.max_steps)
    throw convergence_error("tilehash: a loop has no end: after " + std::to_string(schedule_.max_steps) +
                            " collectives, " + situation(s, w));
}

void machine::run_in_turns(launch& all) {
  std::vector<std::pair<slot*, warp*>> ready;
  const auto go = [&](slot& s) {
    for (warp& w : s.warps) ready.emplace_back(&s, &w);
  };
  for (slot& s : all.slots) go(s);
  const u64 patience = u64(1) << dice() % 8;  // collectives in a row of one warp, on average
  for (u64 k = ready.size(); !ready.empty();) {
    const bool change = schedule_.interleave && dice() % patience == 0;
    if (change || k >= ready.size()) k = dice() % ready.size();
    const auto [s, w] = ready[k];
    count_step(*s, *w);
    if (step(*s, *w)) continue;
    ready[k] = ready.back();
    ready.pop_back();
    k = ready.size();
    if (stop(all, *s, pool_)) go(*s);
  }
}

// One lane after the other goes on, up to its next atomic operation or collective.
void machine::run_by_choice(launch& all) {
  const auto go = [&](slot& s) {
    for (warp& w : s.warps) make_ready(w), w.running = w.threads.size();
  };
  for (slot& s : all.slots) go(s);
  while (!ready_.empty()) {
    const u32 number = next_ != nobody ? next_ : schedule_.at_atomics->at_stop(ready_);
    next_ = nobody;
    thread& t = *pool_[number];
    running = &t;
    t.fiber_->resume();
    running = nullptr;
    if (t.failure_) std::rethrow_exception(std::exchange(t.failure_, nullptr));
    if (t.state_ == thread::state::ready) continue;
    *std::ranges::find(ready_, number) = ready_.back();
    ready_.pop_back();
    slot& s = all.slots[number / all.threads];
    warp& w = s.warps[t.rank_ / warp_size];
    if (--w.running != 0) continue;
    count_step(s, w);
    if (meet(s, w)) {
      make_ready(w);
      w.running = w.threads.size();
    } else if (stop(all, s, pool_)) {
      go(s);
    }
  }
}
void machine::make_ready(const warp& w) {
  for (const auto& t : w.threads) ready_.push_back(t->number_);
}

// Runs each lane to its next collective. True if the warp may go on at once.
bool machine::step(const slot& s, warp& w) {
  bool paused = false;
  shuffled order(w.threads.size(), dice());
  for (u64 i = 0; i < w.threads.size(); ++i) {
    thread& t = *w.threads[order.next()];
    if (t.state_ == thread::state::ready) t.fiber_->resume();
    if (t.failure_) std::rethrow_exception(std::exchange(t.failure_, nullptr));
    paused |= t.state_ == thread::state::ready;
  }
  return paused || meet(s, w);
}

// No lane of the warp goes on by itself. True if they have met at a collective of the warp.
bool machine::meet(const slot& s, warp& w) {
  const bool all_wait = agree(w.threads, [&] { return warp_name(s, w); });
  if (!all_wait || w.threads[0]->at_.of_block) return false;
  w.state.exchanges[++w.state.turn % 2].votes = 0;
  for (const auto& t : w.threads) t->state_ = thread::state::ready;
  return true;
}
// One more warp of the block waits for the others, or has ended. True if the slot's block goes on, this one
// or the next.
bool machine::stop(launch& all, slot& s, lanes pool) {
  if (++s.block.stopped < s.warps.size()) return false;
  if (agree(s.threads, [&] { return "block " + std::to_string(s.block.index) + ", threads"; })) {
    s.block.votes[++s.block.phase % 2] = 0;
    for (const auto& t : s.threads) t->state_ = thread::state::ready;
    s.block.stopped = 0;
    return true;
  }
  if (all.begun == all.blocks) return false;
  begin(all, s, pool);
  return true;
}

// True when all wait at the same call, false when all have ended.
template <class Name>
bool machine::agree(lanes threads, Name name) {
  const thread& first = *threads[0];
  const bool all_agree = std::ranges::all_of(threads, [&](const auto& t) {
    return t->state_ == first.state_ && (t->state_ == thread::state::ended || t->at_ == first.at_);
  });
  if (!all_agree)
    throw convergence_error("tilehash: divergence: " + name() + " " + whereabouts(threads) +
                            lines_of_design(threads));
  return first.state_ == thread::state::waiting;
}

std::string machine::warp_name(const slot& s, const warp& w) {
  return "block " + std::to_string(s.block.index) + ", warp " + std::to_string(w.state.number) + ", lanes";
}
std::string machine::situation(const slot& s, const warp& w) {
  return warp_name(s, w) + " " + whereabouts(w.threads);
}

// "; in tiled.hpp:217" of those that wait, each line once.
std::string machine::lines_of_design(lanes threads) {
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
std::string machine::whereabouts(lanes threads) {
  std::vector<std::pair<std::string, std::string>> groups;  // a place, and the numbers of the lanes at it
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

}  // namespace tilehash::emulation
