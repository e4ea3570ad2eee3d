// SPDX-License-Identifier: Apache-2.0
// One call's items on their way through windows (several/windows.hpp), and the answers on their way back.
//
//   open      all ranks agree on the windows' sizes, and learn their addresses
//   push      a rank routes its items to the windows of their owners
//   counts    how many items went to each owner, or would have gone
#pragma once

#include <span>
#include <utility>
#include <vector>

#include <tilehash/several/frequent.hpp>
#include <tilehash/several/windows.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// The counters become 0, for the next call.
struct take_counts {
  u32* counters;
  u64* to;
  TILEHASH_FN void operator()(u64 i) const {
    to[i] = counters[i];
    counters[i] = 0;
  }
};

template <class Space, class Exchange>
class window_traffic {
 public:
  static constexpr u64 most_items = u64(1) << 31;  // of a rank: positions have 32 bits
  enum word : u32 { bytes = 0, items = 6, address = 7 };

  explicit window_traffic(Exchange& exchange) : exchange_(&exchange), windows_(ranks()) {}
  u64 bytes_kept() const { return window_.bytes() + positions_.bytes(); }
  void release() {
    window_.release();
    positions_.release();
  }

  // Collective. False on all ranks if a rank has too many items.
  bool open(Space& space, agreement& words, u64 own_items, std::span<const u32> item_columns,
            std::span<const u32> answer_columns) {
    item_columns_ = item_columns;
    own_items_ = own_items;
    auto& memory = memory_of(*exchange_, space);
    share(words);
    std::vector<u64> all(ranks());
    for (u32 r = 0; r < ranks(); ++r) {
      all[r] = words.of(r, extra(items));
      if (all[r] > most_items) return false;
    }
    parts_ = window_parts(std::move(all));
    const auto needed = [&](u32 r) {
      return columns::bytes_for(parts_.all_items(r), item_columns) +
             columns::bytes_for(parts_.all_answers(r), answer_columns);
    };
    bool all_fit = true;
    for (u32 r = 0; r < ranks(); ++r) all_fit = all_fit && needed(r) <= words.of(r, extra(bytes));
    if (all_fit) return true;
    words.attempt([&] { window_.reserve(memory, needed(rank())); });
    share(words);
    return true;
  }
  // Does not synchronize. Throws out_of_memory. With `answered`, notes where each item's answer will be.
  template <class Key, class Value>
  void push(Space& space, std::span<const Key> keys, const Value* values, bool with_values,
            const frequent_items<Key, Value, Space>& often, bool answered) {
    if (counters_.size() != ranks()) counters_ = buffer<u32, Space>(space, ranks());
    if (!counters_are_0_) space.fill(counters_.data(), ranks(), u32(0));
    counters_are_0_ = own_items_ == 0;
    if (own_items_ == 0) return;
    window_places<Key, Value> places;
    places.counters = counters_.data();
    if (answered) {
      positions_.reserve(space, own_items_ * sizeof(u32));
      places.answers_at = positions();
    }
    for (u32 r = 0; r < ranks(); ++r) {
      columns to = items_of(r);
      const u64 first = parts_.first_item(rank(), r);
      auto& there = places.to[r];
      there.keys = to.next<Key>() + first;
      if (with_values) there.values = to.next<Value>() + first;
      there.capacity = static_cast<u32>(parts_.capacity(rank(), r));
      there.first_answer = static_cast<u32>(parts_.first_answer(r, rank()));
    }
    const route_of<Key, Value> all{
        keys.data(), values,  keys.size(), often.keys.data(), often.values.data(), often.size(), ranks(), 0,
        0,           nullptr, {}};
    if (often.size() == 0)
      with_values ? run<true, false>(space, all, places) : run<false, false>(space, all, places);
    else
      with_values ? run<true, true>(space, all, places) : run<false, true>(space, all, places);
  }
  // Synchronizes. Throws out_of_memory.
  std::vector<u64> counts(Space& space) {
    std::vector<u64> all(ranks(), 0);
    u64* words = nullptr;  // host memory to which kernels write: 32 words
    if constexpr (requires { space.host_words(); }) words = space.host_words();
    if (words != nullptr) {
      space.for_each(ranks(), take_counts{counters_.data(), words});
      space.synchronize();
      for (u32 r = 0; r < ranks(); ++r) all[r] = std::exchange(words[r], 0);
    } else {
      const buffer<u64, Space> taken(space, ranks());
      space.for_each(ranks(), take_counts{counters_.data(), taken.data()});
      space.copy_to_host(all.data(), taken.data(), taken.bytes());
    }
    counters_are_0_ = true;
    return all;
  }
  // After the counts were agreed on: whether all items fit, of all ranks.
  bool all_fit(const agreement& words) const {
    for (u32 from = 0; from < ranks(); ++from)
      for (u32 owner = 0; owner < ranks(); ++owner)
        if (words.of(from, owner) > parts_.capacity(from, owner)) return false;
    return true;
  }

  const window_parts& parts() const { return parts_; }
  u32* positions() const { return reinterpret_cast<u32*>(positions_.data()); }
  // The columns of a rank's window: items that it received, and answers to its own.
  columns items_of(u32 r) const { return {windows_[r], parts_.all_items(r)}; }
  columns answers_of(u32 r) const {
    return {windows_[r] + columns::bytes_for(parts_.all_items(r), item_columns_), parts_.all_answers(r)};
  }

 private:
  u32 rank() const { return static_cast<u32>(exchange_->rank()); }
  u32 ranks() const { return static_cast<u32>(exchange_->size()); }
  u32 extra(word w) const { return ranks() + w; }
  void share(agreement& words) {
    words.mine(extra(items)) = own_items_;
    words.mine(extra(bytes)) = window_.bytes();
    words.mine(extra(address)) = reinterpret_cast<u64>(window_.data());
    words.agree(*exchange_);
    for (u32 r = 0; r < ranks(); ++r) windows_[r] = reinterpret_cast<char*>(words.of(r, extra(address)));
  }
  template <bool WithValues, bool Frequent, class Key, class Value>
  static void run(Space& space, const route_of<Key, Value>& all, const window_places<Key, Value>& places) {
    if constexpr (Space::has_lanes) {
      using body = route_by_blocks<Key, Value, WithValues, Frequent, window_places<Key, Value>>;
      space.for_each_block(divide_up(all.size(), body::tile_items), body::block_size, body::scratch_bytes,
                           body{all, places});
    } else {
      space.for_each_share(all.size(), push_by_threads<Key, Value>{all, places});
    }
  }

  Exchange* exchange_;
  std::vector<char*> windows_;  // of all ranks
  kept_memory<Space> window_, positions_;
  buffer<u32, Space> counters_;
  window_parts parts_;
  u64 own_items_ = 0;
  bool counters_are_0_ = false;
  std::span<const u32> item_columns_;
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
