// SPDX-License-Identifier: Apache-2.0
// The state of running calls in the memory of a table: counters, their sums, changes of the size, and the
// pending bits of a small call.
//
// It is zero between calls, except for the size: asynchronous calls and views store their changes here. The
// size is the host's number plus the sum of these changes. A verb that changes the table is exclusive, so it
// alone moves the sum to the host's number. A const verb reads both and writes neither.
#pragma once

#include <algorithm>
#include <utility>

#include <tilehash/kernel/call.hpp>
#include <tilehash/kernel/pending.hpp>
#include <tilehash/space/tuning.hpp>
#include <tilehash/table_view.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Host memory that kernels write to, so that nothing needs to be copied; null if there is none.
template <class Space>
u64* host_words_of(Space& space) {
  if constexpr (requires { space.host_words(); })
    return space.host_words();
  else
    return nullptr;
}

class call_memory {
 public:
  static constexpr u64 few_items = tuning::table::few_items;  // their pending bits fit here
  static constexpr u64 region_words = 4;  // counters of a fill by regions (engine/region_fill.hpp)
  static constexpr u64 bins =
      tuning::table::few_regions;  // of a fill by regions: the number of each bin's items
  static constexpr u64 bytes = call_counters::bytes +
                               (call_counters::kinds + size_words + 2 + region_words) * sizeof(u64) +
                               few_items / 8 + (few_items / window_step + bins) * sizeof(u32);

  call_memory() = default;
  explicit call_memory(char* at) : at_(reinterpret_cast<u64*>(at)) {}

  call_counters counters() const { return {at_}; }
  u64* sums() const { return at_ + call_counters::words; }
  u64* live_size() const { return sums() + call_counters::kinds; }
  u64* given_up() const { return live_size() + size_words; }
  u32* blocks_done() const { return reinterpret_cast<u32*>(packed()); }
  u64* packed() const { return given_up() + 1; }         // a call needs one of the two
  u64* region_counts() const { return given_up() + 2; }  // and the few bits, as a list of items left over
  u64* opened() const { return region_counts() + region_words - 1; }  // (kernel/left_at_once.hpp)
  u32* few_bits() const { return reinterpret_cast<u32*>(region_counts() + region_words); }
  static constexpr u64 region_bytes = region_words * sizeof(u64) + few_items / 8;
  u32* few_counts() const { return few_bits() + few_items / bits_a_word; }  // pending bits in each 256
  u32* bin_numbers() const { return few_counts() + few_items / window_step; }

  // The end of a call of n items, for which the host waits: counted() has its counts. Its last kernel counted
  // as this phase.
  template <class Space>
  call_end waited(Space& space, u64 n, u32 last_phase) const {
    return {.counters = counters(),
            .sums = host_words_of(space) != nullptr ? host_words_of(space) : sums(),
            .given_up = given_up(),
            .n = n,
            .last_phase = last_phase,
            .packed = packed(),
            .host = host_words_of(space) != nullptr ? host_words_of(space) + call_counters::kinds : nullptr};
  }
  // ... without the host, which later reads the size here.
  call_end unwaited(u64 n, u32 last_phase) const {
    return {.counters = counters(),
            .sums = sums(),
            .size = live_size(),
            .given_up = given_up(),
            .n = n,
            .last_phase = last_phase};
  }
  // Drops the counts of an interrupted call, and the changes of asynchronous calls.
  template <class Space>
  void clear(Space& space) const {
    space.fill(reinterpret_cast<char*>(at_), bytes, char(0));
  }
  // Waits until a kernel has written to a word of the host, and takes it. 0: no kernel did.
  template <class Space>
  static u64 take_word(Space& space, u64& word) {
    if constexpr (requires { space.wait_for_word(&word); })
      space.wait_for_word(&word);
    else
      space.synchronize();
    return std::exchange(word, u64(0));
  }
  // The counts of the call that has ended, `packed` or in its sums. Synchronizes with the host.
  template <class Space>
  call_counts counted(Space& space, bool packed = false) const {
    call_counts counts;
    if (u64* const host = host_words_of(space); host != nullptr) {
      if (packed) {
        const packed_counts all{take_word(space, host[call_counters::kinds])};
        for (u32 kind = 0; kind < packed_counts::kinds; ++kind)
          counts.of[kind] = all[static_cast<counter>(kind)];
        if (all.word != 0) return counts;
      }
      space.synchronize();
      std::copy_n(host, call_counters::kinds, counts.of);
    } else {
      space.copy_to_host(counts.of, sums(), sizeof counts.of);
    }
    return counts;
  }
  // The change by asynchronous calls and views since start_size(). Writes nothing, so const verbs
  // may call it concurrently. Synchronizes with the host.
  template <class Space>
  table_change change(Space& space) const {
    u64 changes[size_words];
    if constexpr (requires { space.read_concurrently(changes, live_size(), sizeof changes); })
      space.read_concurrently(changes, live_size(), sizeof changes);
    else
      space.copy_to_host(changes, live_size(), sizeof changes);
    table_change all;
    for (u32 s = 0; s < size_stripes; ++s) all.add(changes[u64(s) * size_stride]);
    return all;
  }
  // Resets the change, once the host has added it to its own number. Does not synchronize.
  template <class Space>
  void start_size(Space& space) const {
    space.fill(live_size(), size_words, u64(0));
  }

 private:
  u64* at_ = nullptr;
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
