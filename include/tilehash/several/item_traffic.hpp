// SPDX-License-Identifier: Apache-2.0
// One call's items on their way to their owners, and the answers on their way back.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include <tilehash/several/route.hpp>
#include <tilehash/several/traffic.hpp>
#include <tilehash/several/window_traffic.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// The items that a rank received, and what it needs to take answers.
template <class Key, class Value, class Space>
struct arrived_items {
  item_counts counts;
  std::span<const Key> keys;
  std::span<const Value> values;      // empty without values
  buffer<u32, Space> positions;       // where each item is in the order of owners; empty without answers
  columns answers_here{nullptr, 0};   // to write
  columns answers_there{nullptr, 0};  // as they come back
};

struct number_own_rows {
  u32* rows;
  TILEHASH_FN void operator()(u64 i) const { rows[i] = static_cast<u32>(i); }
};

template <class Space, class Exchange>
class item_traffic {
 public:
  explicit item_traffic(Exchange& exchange)
      : exchange_(&exchange),
        rank_(static_cast<u32>(exchange.rank())),
        ranks_(static_cast<u32>(exchange.size())),
        words_(ranks_),
        windows_(exchange) {
    require(ranks_ != 0 && rank_ < ranks_ && ranks_ <= several::shards,
            "several: an exchange has 1 to 4096 ranks, numbered from 0");
  }
  u32 rank() const { return rank_; }
  u32 ranks() const { return ranks_; }
  Exchange& exchange() const { return *exchange_; }
  agreement& words() { return words_; }
  void agree() { words_.agree(*exchange_); }
  // The number of a word that is not one of the counts.
  u32 extra(u32 number) const { return ranks_ + number; }
  void release() {
    outgoing_.release();
    incoming_.release();
    windows_.release();
  }
  u64 bytes() const { return outgoing_.bytes() + incoming_.bytes() + windows_.bytes_kept(); }

  // Whether a call's items go through windows: the same on all ranks.
  template <class Key, class Value>
  bool has_windows() const {
    using tile = route_by_blocks<Key, Value, true, true, window_places<Key, Value>>;
    if constexpr (windowed<Exchange> && tile::item_bytes <= tile::most_bytes)
      return ranks_ != 1 && ranks_ <= window_places<Key, Value>::most_ranks && exchange_->has_windows();
    else
      return false;
  }
  window_traffic<Space, Exchange>& windows() { return windows_; }

  // A call goes through windows, and looks for frequent keys, as the calls before it suggest. All ranks come to the
  // same conclusion.
  void next_call() {
    constexpr u32 calls_of_caution = 8;
    if (caution_ == none || ++careful_calls_ < calls_of_caution) return;
    caution_ = static_cast<caution>(caution_ - 1);
    careful_calls_ = 0;
  }
  template <class Key, class Value>
  bool pushes() const {
    return caution_ != copies && has_windows<Key, Value>();
  }
  template <class Key, class Value>
  bool samples() const {
    return caution_ != none || !has_windows<Key, Value>();
  }
  // A rank has too many items for windows.
  void avoid_windows() {
    caution_ = copies;
    careful_calls_ = 0;
  }
  // Items did not fit the windows.
  void overflowed() {
    if (caution_ != copies) caution_ = static_cast<caution>(caution_ + 1);
    careful_calls_ = 0;
  }

  // Brings the items to their owners, those with a frequent key once. Each item has an answer column of each
  // of these sizes. Collective, between words().begin() and further steps. The extra words from 1 on are the
  // caller's. The result is valid until the next call.
  template <class Key, class Value>
  arrived_items<Key, Value, Space> send(Space& space, std::span<const Key> keys, const Value* values,
                                        const frequent_items<Key, Value, Space>& often = {},
                                        std::span<const u32> answers = {}) {
    if (ranks_ == 1) return keep(space, keys, values, answers);
    if (answers.empty()) {
      next_call();
      arrived_items<Key, Value, Space> in;
      if (pushes<Key, Value>() && push(space, keys, values, often, in)) return in;
    }
    return copy(space, keys, values, often, answers);
  }
  // The same by copies, which always fit.
  template <class Key, class Value>
  arrived_items<Key, Value, Space> copy(Space& space, std::span<const Key> keys, const Value* values,
                                        const frequent_items<Key, Value, Space>& often,
                                        std::span<const u32> answers) {
    if (ranks_ == 1) return keep(space, keys, values, answers);
    auto& memory = memory_of(*exchange_, space);
    std::vector<u32> sizes{u32(sizeof(Key))};
    if (takes_values_) sizes.push_back(u32(sizeof(Value)));
    sizes.insert(sizes.end(), answers.begin(), answers.end());
    arrived_items<Key, Value, Space> in;
    std::vector<u64> sent(ranks_, 0);
    columns out(nullptr, 0);
    const Key* keys_out = nullptr;
    const Value* values_out = nullptr;
    words_.attempt([&] {
      using routes = routing<Key, Value, Space>;
      require(keys.size() <= routes::most_items,
              "several: a rank brings fewer than 2^32 items to a call; split it");
      routes route(space, keys.data(), values, keys.size(), ranks_, often);
      outgoing_.reserve(memory, columns::bytes_for(route.size(), sizes));
      out = columns(outgoing_.data(), route.size());
      routed_arrays<Key, Value> to;
      keys_out = to.keys = out.next<Key>();
      if (takes_values_) values_out = to.values = out.next<Value>();
      if (!answers.empty()) {
        in.positions = buffer<u32, Space>(space, route.size());
        to.positions = in.positions.data();
      }
      route.send(space, to);
      sent = route.counts();
    });
    share_counts(memory, sent, sizes, in.counts);
    columns here(incoming_.data(), in.counts.all_received);
    Key* const keys_in = here.next<Key>();
    exchange_column(*exchange_, in.counts, keys_out, keys_in);
    in.keys = {keys_in, in.counts.all_received};
    if (takes_values_) {
      Value* const values_in = here.next<Value>();
      exchange_column(*exchange_, in.counts, values_out, values_in);
      in.values = {values_in, in.counts.all_received};
    }
    in.answers_here = here;
    in.answers_there = out;
    return in;
  }
  // Through windows. Returns false on all ranks if the items of one of them did not fit.
  template <class Key, class Value>
  bool push(Space& space, std::span<const Key> keys, const Value* values,
            const frequent_items<Key, Value, Space>& often, arrived_items<Key, Value, Space>& in) {
    if constexpr (windowed<Exchange>) {
      const u32 sizes[] = {u32(sizeof(Key)), u32(sizeof(Value))};
      if (!windows_.open(space, words_, keys.size() + often.size(), std::span(sizes, takes_values_ ? 2 : 1),
                         {})) {
        avoid_windows();
        return false;
      }
      std::vector<u64> sent(ranks_, 0);
      words_.attempt([&] {
        windows_.push(space, keys, values, takes_values_, often, false);
        sent = windows_.counts(space);
      });
      for (u32 r = 0; r < ranks_; ++r) words_.mine(r) = sent[r];
      agree();
      if (!windows_.all_fit(words_)) {
        overflowed();
        return false;
      }
      std::vector<u64> received(ranks_), firsts(ranks_);
      for (u32 r = 0; r < ranks_; ++r) {
        received[r] = words_.of(r, rank_);
        firsts[r] = windows_.parts().first_item(r, rank_);
      }
      in.counts = {sent, received};
      columns here = windows_.items_of(rank_);
      Key* const keys_in = here.next<Key>();
      Value* const values_in = takes_values_ ? here.next<Value>() : nullptr;
      words_.attempt([&] {
        const item_holes holes(firsts, received, in.counts.all_received);
        space.for_each(holes.items, close_holes<Key, Value>{holes, keys_in, values_in});
      });
      in.keys = {keys_in, in.counts.all_received};
      if (takes_values_) in.values = {values_in, in.counts.all_received};
      return true;
    } else {
      return false;
    }
  }
  // Whether send() moves values. Not seen from a pointer, which is null for an empty array.
  void takes_values(bool yes) { takes_values_ = yes; }

  // Sends a column of answers back. Returns them in the order of the owners.
  template <class T, class Items>
  const T* send_back(Items& in) {
    const T* const from = in.answers_here.template next<T>();
    if (ranks_ == 1) return from;
    T* const to = in.answers_there.template next<T>();
    exchange_column(*exchange_, in.counts, from, to, true);
    return to;
  }

 private:
  // A world of one rank: the items stay in place.
  template <class Key, class Value>
  arrived_items<Key, Value, Space> keep(Space& space, std::span<const Key> keys, const Value* values,
                                        std::span<const u32> answers) {
    const u64 n = keys.size();
    arrived_items<Key, Value, Space> in;
    words_.attempt([&] {
      require(n <= routing<Key, Value, Space>::most_items,
              "several: a rank brings fewer than 2^32 items to a call; split it");
      if (answers.empty()) return;
      outgoing_.reserve(space, columns::bytes_for(n, answers));
      in.positions = buffer<u32, Space>(space, n);
      space.for_each(n, number_own_rows{in.positions.data()});
    });
    words_.mine(0) = n;
    agree();
    in.counts = {{n}, {n}};
    in.keys = keys;
    if (takes_values_) in.values = {values, n};
    in.answers_here = columns(outgoing_.data(), n);
    return in;
  }
  template <class Memory>
  void share_counts(Memory& memory, const std::vector<u64>& sent, std::span<const u32> sizes,
                    item_counts& counts) {
    for (u32 r = 0; r < ranks_; ++r) words_.mine(r) = sent[r];
    words_.mine(extra(0)) = incoming_.bytes();
    agree();
    std::vector<u64> received(ranks_);
    for (u32 r = 0; r < ranks_; ++r) received[r] = words_.of(r, rank_);
    counts = {sent, received};
    bool all_have_memory = true;
    for (u32 r = 0; r < ranks_; ++r)
      all_have_memory = all_have_memory && columns::bytes_for(words_.sum(r), sizes) <= words_.of(r, extra(0));
    if (all_have_memory) return;
    words_.attempt([&] { incoming_.reserve(memory, columns::bytes_for(counts.all_received, sizes)); });
    agree();
  }

  enum caution : u8 { none, samples_keys, copies };

  Exchange* exchange_;
  u32 rank_, ranks_;
  agreement words_;
  bool takes_values_ = false;
  caution caution_ = none;
  u32 careful_calls_ = 0;
  kept_memory<Space> outgoing_, incoming_;
  window_traffic<Space, Exchange> windows_;
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
