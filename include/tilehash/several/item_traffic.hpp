// SPDX-License-Identifier: Apache-2.0
// One call's items on their way to their owners, and the answers on their way back.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include <tilehash/several/route.hpp>
#include <tilehash/several/traffic.hpp>

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
        words_(ranks_) {
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
  }
  u64 bytes() const { return outgoing_.bytes() + incoming_.bytes(); }

  // Brings the items to their owners, those with a frequent key once. Each item has an answer column of each
  // of these sizes. Collective, between words().begin() and further steps. The extra words from 1 on are the
  // caller's. The result is valid until the next call.
  template <class Key, class Value>
  arrived_items<Key, Value, Space> send(Space& space, std::span<const Key> keys, const Value* values,
                                        const frequent_items<Key, Value, Space>& often = {},
                                        std::span<const u32> answers = {}) {
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

  Exchange* exchange_;
  u32 rank_, ranks_;
  agreement words_;
  bool takes_values_ = false;
  kept_memory<Space> outgoing_, incoming_;
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
