// SPDX-License-Identifier: Apache-2.0
// engine::subtable_slots: the memory of a table in several subtables, and the steps that need no insert. One
// subtable is doubled at a time. (engine/subtables.hpp has the verbs.)
//
//   | the bucket of sentinel keys | running calls |        | subtable 0 |  | subtable 1 |  ...
//
// Keys are assigned to subtables by weights, which follow from their fill (theorem 1 of the paper).
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include <tilehash/core/capacity.hpp>
#include <tilehash/core/error.hpp>
#include <tilehash/core/options.hpp>
#include <tilehash/engine/counted_storage.hpp>
#include <tilehash/kernel/subtables.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/tuning.hpp>
#include <tilehash/table_view.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace engine {

template <class Design, class Space>
class subtable_slots : public counted_storage<Design, Space> {
  using base = counted_storage<Design, Space>;

 protected:
  static constexpr u32 parts = Design::subtables;
  using slot_type = typename Design::slot_type;
  using part = typename Design::part;
  using shape_type = typename Design::shape_type;
  using base::calls_, base::memory_, base::options_, base::size_, base::unsettled_, base::view_;

 public:
  using base::capacity;

  // Throws invalid_argument (options), out_of_memory. `unwiped`: the slots have any content; the caller must write
  // all of them.
  TILEHASH_COLD subtable_slots(Space& space, u64 items, const table_options& options, bool unwiped = false)
      : base(permitted(options)) {
    shape_ = Design::shape_for(items, options_.load_factor);
    reserved_ = items;
    view_.design = Design(detail::seed_of(options_), shape_.base);
    adopt_shared(buffer<char, Space>(space, calls_at + detail::call_memory::bytes));
    space.fill(memory_.data(), memory_.bytes(), char(0));
    for (u32 t = 0; t < parts; ++t) adopt(t, memory_for(space, shape_.buckets_of(t)));
    if (!unwiped) wipe_slots(space);
    wipe_rest(space);
    weigh_evenly();
  }

  u64 bytes() const {
    u64 all = memory_.bytes() + doubled_.bytes();
    for (const auto& m : part_memory_) all += m.bytes();
    return all;
  }

  void clear(Space& space) {
    doubled_ = {};
    doubles_ = false;
    view_.design.freeze(~0U);
    wipe_slots(space);
    wipe_rest(space);
    calls_.clear(space);
    size_ = 0;
    unsettled_ = 0;
    weigh_evenly();
  }

  // ---- doubling ----
  // Doubles the smallest subtable. Throws out_of_memory; then the table is unchanged. O(its slots).
  void double_one(Space& space) {
    begin_doubling(space);
    run_doubling(space);
    end_doubling(space);
  }
  // The same in three steps; the second may run concurrently with lookups and inserts. The first allocates
  // the memory and freezes the subtable. Throws out_of_memory.
  void begin_doubling(Space& space) {
    require_no_doubling();
    const u32 t = shape_.smallest();
    doubled_ = memory_for(space, 2 * shape_.buckets_of(t));
    before_ = view_.design;
    view_.design.freeze(t);
    doubles_ = true;
  }
  // Reads only memory that nothing changes before end_doubling(). O(the subtable's slots).
  void run_doubling(Space& space) const {
    const u32 t = shape_.smallest();
    const part from = before_.at(t), to(doubled_.data(), 2 * from.buckets, shape_.base);
    wipe_locks(space, to);
    space.for_each(from.slots(), detail::double_subtable<Design>{before_, t, from, to});
  }
  bool doubles() const { return doubles_; }
  // The number of items at which subtables are doubled.
  u64 limit() const {
    const double most =
        std::min(std::max<double>(options_.beta, options_.load_factor), Design::max_load_factor);
    return static_cast<u64>(std::ceil(most * static_cast<double>(capacity())));
  }
  void end_doubling(Space& /*space*/) {
    const u32 t = shape_.smallest();
    view_.design.freeze(~0U);
    doubles_ = false;
    ++shape_.level[t];
    adopt(t, std::move(doubled_));
    weights_[t] *= 2;  // n doubles, m stays
    view_.design.weigh(scaled(weights_).of);
  }
  // Throws invalid_argument.
  void require_no_doubling() const {
    detail::require(!doubles_, "a subtable is being doubled: end_doubling() comes first");
  }

 protected:
  // The same table in memory of `space`.
  subtable_slots(const subtable_slots& other, Space& space) : base(other, space), shape_(other.shape_) {
    view_ = other.view_;
    adopt_shared(std::move(memory_));
    for (u32 t = 0; t < parts; ++t) adopt(t, detail::copy_of(other.part_memory_[t], space));
    reserved_ = u64(other.reserved_);
    weighed_ = other.weighed_;
    std::copy(other.weights_, other.weights_ + parts, weights_);
  }

  static table_options permitted(table_options options) {
    constexpr double highest = Design::max_load_factor, d = parts;
    detail::require(options.beta > 0 && options.beta < 1, "beta must be above 0 and below 1");
    detail::require(options.alpha > 0 && options.alpha < 1, "alpha must be above 0 and below 1");
    detail::require(options.alpha < options.beta * d / (d + 1),
                    "alpha must be below beta * d / (d + 1) for d subtables, as doubling one of them leaves "
                    "no more than that filled");
    const bool legal = options.load_factor <= detail::max_load_factor;
    if (options.grow && legal && options.load_factor > highest) options.load_factor = highest;
    return options;
  }

  buffer<char, Space> memory_for(Space& space, u64 buckets) const {
    return buffer<char, Space>(space, part::bytes(buckets));
  }
  void adopt(u32 t, buffer<char, Space> memory) {
    part_memory_[t] = std::move(memory);
    view_.design.put(t, part(part_memory_[t].data(), shape_.buckets_of(t), shape_.base));
  }
  // The memory that all subtables share.
  void adopt_shared(buffer<char, Space> memory) {
    memory_ = std::move(memory);
    view_.design.put_sentinel_cell(memory_.data());
    calls_ = detail::call_memory(memory_.data() + calls_at);
  }
  static void wipe_locks(Space& space, const part& p) { space.fill(p.locks, lock_words(p), 0U); }
  static u64 lock_words(const part& p) { return part::lock_bytes(p.buckets) / sizeof(u32); }
  void wipe_slots(Space& space) const {
    for (u32 t = 0; t < parts; ++t)
      space.fill(view_.design.at(t).keys, view_.design.at(t).slots(), slot_type::empty_word);
  }
  // All locks, and the bucket of sentinel keys.
  void wipe_rest(Space& space) const {
    u64 words = Design::bucket_slots;
    for (u32 t = 0; t < parts; ++t) words = std::max(words, lock_words(view_.design.at(t)));
    space.for_each(words, detail::wipe_locks_of_all<Design>{view_.design});
  }

  // ---- the draw ----
  struct draw {
    u32 of[parts];
  };
  // Weights in the design's form: whole numbers up to 2^16.
  static draw scaled(const double (&weights)[parts]) {
    const double most = *std::max_element(weights, weights + parts);
    draw all;
    for (u32 t = 0; t < parts; ++t) all.of[t] = std::max(1U, static_cast<u32>(weights[t] / most * 0xffff));
    return all;
  }
  void weigh_evenly() {
    for (u32 t = 0; t < parts; ++t) weights_[t] = static_cast<double>(shape_.buckets_of(t));
    view_.design.weigh(scaled(weights_).of);
    weighed_ = 0;
  }
  // Sets the weights by theorem 1, if the size has changed by an eighth since they were set. Estimates each
  // subtable's items from a sample of its buckets. Synchronizes with the host.
  void weigh(Space& space) {
    const u64 change = size_ > weighed_ ? size_ - weighed_ : weighed_ - size_;
    if (change <= weighed_ / 8) return;
    constexpr u32 samples = detail::tuning::of<Space>::sampled_buckets;
    u64* const counts = calls_.sums();
    space.fill(counts, parts, u64(0));
    space.for_each(u64(samples) * parts, detail::sample_subtables<Design>{view_.design, samples, counts});
    u64 counted[parts];  // no call has counted them, so call_memory::counted() does not know them
    space.copy_to_host(counted, counts, sizeof counted);
    for (u32 t = 0; t < parts; ++t) {
      const double slots = static_cast<double>(view_.design.at(t).slots());
      const double items = static_cast<double>(counted[t]) * slots / (samples * Design::bucket_slots);
      weights_[t] = slots / std::max(1.0, items * (items - 1) / 2);
    }
    view_.design.weigh(scaled(weights_).of);
    weighed_ = size_;
  }

  shape_type shape_;
  buffer<char, Space> part_memory_[parts];
  buffer<char, Space> doubled_;  // of the smallest subtable, while it is doubled
  Design before_;                // ... and concurrent inserts do not change this one
  detail::zero_when_moved<bool> doubles_;
  detail::zero_when_moved<> reserved_;  // items that halving keeps capacity for
  u64 weighed_ = 0;                     // the size for which the weights were set
  double weights_[parts] = {};          // by theorem 1, up to a factor

 private:
  static constexpr u64 calls_at = (part::bytes(1) + 63) / 64 * 64;  // in the shared memory
};

}  // namespace engine
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
