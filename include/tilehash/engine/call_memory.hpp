// What calls under way keep in the memory of a table: counters, their sums, how the size has changed, and the
// pending bits of few items.
//
// They are zero between calls, but for the size: a call that nobody waits for, and a view, leave there how
// they changed it. The size is the host's number plus their sum. Only a verb that changes the table moves the
// sum to the host's number, as it runs alone; a const verb reads both and writes neither.
#pragma once

#include <tilehash/kernel/call.hpp>
#include <tilehash/kernel/pending.hpp>
#include <tilehash/table_view.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

class call_memory {
 public:
  static constexpr u64 few_items = u64(1) << 14;  // whose pending bits find room here
  static constexpr u64 bytes = call_counters::bytes +
                               (call_counters::kinds + size_stripes + 2) * sizeof(u64) + few_items / 8 +
                               few_items / window_step * sizeof(u32);

  call_memory() = default;
  explicit call_memory(char* at) : at_(reinterpret_cast<u64*>(at)) {}

  call_counters counters() const { return {at_}; }
  u64* sums() const { return at_ + call_counters::words; }
  u64* live_size() const { return sums() + call_counters::kinds; }
  u64* given_up() const { return live_size() + size_stripes; }
  u32* blocks_done() const { return reinterpret_cast<u32*>(given_up() + 1); }
  u32* few_bits() const { return reinterpret_cast<u32*>(given_up() + 2); }
  u32* few_counts() const { return few_bits() + few_items / bits_a_word; }  // of such in each 256

  // How a call of n items ends whose last kernel counted as this phase.
  call_end waited(u64 n, u32 last_phase) const {
    return {.counters = counters(), .sums = sums(), .given_up = given_up(), .n = n, .last_phase = last_phase};
  }
  // ... without the host, which then finds the size here.
  call_end unwaited(u64 n, u32 last_phase) const {
    call_end end = waited(n, last_phase);
    end.size = live_size();
    return end;
  }
  // Forgets what a call counted that did not come to its end, and what calls that nobody waited for did.
  template <class Space>
  void clear(Space& space) const {
    space.fill(reinterpret_cast<char*>(at_), bytes, char(0));
  }
  // What the call counted that has ended. Waits.
  template <class Space>
  call_counts counted(Space& space) const {
    call_counts counts;
    space.copy_to_host(counts.of, sums(), sizeof counts.of);
    return counts;
  }
  // By how much calls that nobody waited for, and views, have changed the size since start_size(). Changes
  // nothing, so const verbs may ask at the same time. Synchronizes.
  template <class Space>
  u64 size_change(Space& space) const {
    u64 changes[size_stripes], sum = 0;
    if constexpr (requires { space.read_beside(changes, live_size(), sizeof changes); })
      space.read_beside(changes, live_size(), sizeof changes);
    else
      space.copy_to_host(changes, live_size(), sizeof changes);
    for (const u64 change : changes) sum += change;
    return sum;
  }
  // The host has added the change to its own number. Does not wait.
  template <class Space>
  void start_size(Space& space) const {
    space.fill(live_size(), size_stripes, u64(0));
  }

 private:
  u64* at_ = nullptr;
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
