// The phases of an insert over windows of its items (engine/subtables.hpp), from one kernel to the next, and
// what became of the items. They know nothing of growth.
//
//   look      which keys are there? They are done, their values changed
//   place     each key into the first free slot on its way
//   move      what found none: room is made by moving other pairs
//
// A phase says of each item, in a bit, whether it is pending (kernel/recorder.hpp). Where values change,
// those of keys that place and move met are changed after each, when no key moves.
#pragma once

#include <algorithm>
#include <concepts>

#include <tilehash/core/capacity.hpp>
#include <tilehash/engine/call_memory.hpp>
#include <tilehash/kernel/displace.hpp>
#include <tilehash/kernel/pending.hpp>
#include <tilehash/kernel/upsert.hpp>
#include <tilehash/space/buffer.hpp>

namespace tilehash::inline TILEHASH_ABI::detail {

template <class Design, class Space, class Source, class Update>
class insert_phases {
  static constexpr bool updates = !std::same_as<Update, keep>;
  using work = upsert_items<Design, Source, Update, Design::preferred_width>;

 public:
  insert_phases(Space& space, const Source& source, u64 n, outcome* outcomes, const Update& update,
                const call_memory& calls)
      : space_(space), source_(source), n_(n), outcomes_(outcomes), update_(update), calls_(calls) {}

  // Throws out_of_memory.
  void make_bits() {
    if (pending_ != nullptr) return;
    if (n_ > call_memory::few_items) bits_ = buffer<u32, Space>(space_, words());
    pending_ = n_ > call_memory::few_items ? bits_.data() : calls_.few_bits();
  }
  // The same, and the items with these bits, words() words of them, are pending, no other. Does not wait.
  void begin_with(const u32* bits) {
    make_bits();
    space_.copy(pending_, bits, words() * sizeof(u32));
    bits_known_ = n_;
  }
  u64 words() const { return divide_up(n_, window_step) * count_pending::words_each; }
  const u32* pending() const { return pending_; }
  void moved_to(const call_memory& calls) {  // the table has other memory now
    if (pending_ == calls_.few_bits()) pending_ = calls.few_bits();
    calls_ = calls;
  }

  // Items whose bits are known, as far as they are pending, and all others. Those whose keys are there are
  // done, their values changed. Does not wait.
  void look(const Design& d, u64 first) { visit_open(d, first, n_, false); }
  // ... and new keys are put in.
  void place(const Design& d, u64 first, u64 end) {
    visit_open(d, first, end, true);
    change_values(d, first, end);
  }
  // Throws out_of_memory (of a CPU's scratch): what waits goes on waiting, and the phase before was the last.
  void move(const Design& d, u64 first, u64 end) {
    ++phase_;
    try {
      displace(space_, d, source_, first, end, updates, recorder(), calls_.given_up());
    } catch (const out_of_memory&) {
      --phase_;
      throw;
    }
    change_values(d, first, end);
  }
  // Of keys that were met while others came.
  void change_values(const Design& d, u64 first, u64 end) {
    if constexpr (updates) {
      ++phase_;
      visit(d, first, end, true, false);
    }
  }
  u32 phase() const { return phase_; }
  // Waits. What was counted since the last time.
  call_counts collect() {
    finish_call(space_, calls_.waited(n_, phase_));
    const call_counts counts = calls_.counted(space_);
    left_ = counts.left(phase_);
    phase_ = 0;
    return counts;
  }
  u64 left() const { return left_; }  // pending after the last phase that was collected

 private:
  void visit_open(const Design& d, u64 first, u64 end, bool inserts) {
    const u64 known = std::min(bits_known_, end);
    if (first < known) visit(d, first, known, true, inserts);
    if (known < end) visit(d, std::max(first, known), end, false, inserts);
    bits_known_ = std::max(bits_known_, end);
  }
  void visit(const Design& d, u64 first, u64 end, bool pending_only, bool inserts) {
    upsert<Design>(space_, work{d, {}, source_, first, end, pending_only, inserts, update_, recorder()});
  }
  outcome_recorder recorder() const { return {calls_.counters(), pending_, outcomes_, phase_}; }

  Space& space_;
  Source source_;
  u64 n_;
  outcome* outcomes_;
  Update update_;
  call_memory calls_;
  buffer<u32, Space> bits_;
  u32* pending_ = nullptr;
  u64 bits_known_ = 0;  // bits of items before mean something
  u32 phase_ = 0;
  u64 left_ = 0;
};

}  // namespace tilehash::inline TILEHASH_ABI::detail
