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
#include <tilehash/engine/call_memory.hpp>
#include <tilehash/kernel/entries.hpp>
#include <tilehash/kernel/lookup.hpp>
#include <tilehash/kernel/subtables.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/table_view.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace engine {

template <class Design, class Space>
class subtable_slots {
 protected:
  static constexpr u32 parts = Design::subtables;
  using slot_type = typename Design::slot_type;
  using part = typename Design::part;
  using shape_type = typename Design::shape_type;

 public:
  using key_type = typename Design::key_type;
  using mapped_type = typename Design::mapped_type;
  using view_type = table_view<Design>;

  // Throws invalid_argument (options), out_of_memory.
  subtable_slots(Space& space, u64 items, const table_options& options) : options_(permitted(options)) {
    if (!options_.seed) options_.seed = detail::drawn_seed();
    shape_ = Design::shape_for(items, options_.load_factor);
    reserved_ = items;
    design_ = Design(detail::seed_of(options_), shape_.base);
    const u64 aside = (part::bytes(1) + 63) / 64 * 64;
    fixed_ = buffer<char, Space>(space, aside + detail::call_memory::bytes);
    space.fill(fixed_.data(), fixed_.bytes(), char(0));
    design_.put_aside(fixed_.data());
    calls_ = detail::call_memory(fixed_.data() + aside);
    for (u32 t = 0; t < parts; ++t) adopt(t, memory_for(space, shape_.buckets_of(t)));
    clear(space);
  }

  // A moved-from table has no memory, and behaves as an empty table.
  subtable_slots(subtable_slots&& other) noexcept : options_(other.options_) { swap(other); }
  subtable_slots& operator=(subtable_slots&& other) noexcept {
    subtable_slots(std::move(other)).swap(*this);
    return *this;
  }
  void swap(subtable_slots& other) noexcept {
    std::swap(options_, other.options_);
    std::swap(shape_, other.shape_);
    std::swap(design_, other.design_);
    fixed_.swap(other.fixed_);
    for (u32 t = 0; t < parts; ++t) memory_[t].swap(other.memory_[t]);
    doubled_.swap(other.doubled_);
    std::swap(before_, other.before_);
    std::swap(doubles_, other.doubles_);
    std::swap(calls_, other.calls_);
    std::swap(reserved_, other.reserved_);
    std::swap(size_, other.size_);
    std::swap(weighed_, other.weighed_);
    std::swap(weights_, other.weights_);
    std::swap(unsettled_, other.unsettled_);
  }
  bool has_memory() const { return fixed_.data() != nullptr; }
  Space* home() const { return fixed_.space(); }

  // As in engine::slots: without the changes of asynchronous calls; with them; and settled.
  u64 size() const { return size_; }
  u64 live_size() const { return unsettled_ ? size_ + calls_.size_change(*home()) : size_; }
  void settle(Space& space) {
    if (!unsettled_) return;
    size_ += calls_.size_change(space);
    calls_.start_size(space);
    unsettled_ = false;
  }
  u64 capacity() const { return has_memory() ? design_.capacity() : 0; }
  u64 bytes() const {
    u64 all = fixed_.bytes() + doubled_.bytes();
    for (const auto& m : memory_) all += m.bytes();
    return all;
  }
  view_type view() const { return {design_}; }
  const table_options& options() const { return options_; }

  template <class Keys, class Sink>
  void look_up(Space& space, Keys keys, u64 n, Sink sink) const {
    if (has_memory())
      detail::look_up(space, design_, {}, keys, n, sink);
    else
      detail::look_up_nothing<typename view_type::hit>(space, n, sink);
  }

  void clear(Space& space) {
    doubled_ = {};
    doubles_ = false;
    design_.freeze(~0U);
    for (u32 t = 0; t < parts; ++t) wipe(space, design_.at(t));
    wipe(space, design_.at(parts));
    space.fill(fixed_.data() + (part::bytes(1) + 63) / 64 * 64, detail::call_memory::bytes, char(0));
    size_ = 0;
    unsettled_ = false;
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
    before_ = design_;
    design_.freeze(t);
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
  void end_doubling(Space& /*space*/) {
    const u32 t = shape_.smallest();
    design_.freeze(~0U);
    doubles_ = false;
    ++shape_.level[t];
    adopt(t, std::move(doubled_));
    weights_[t] *= 2;  // n doubles, m stays
    design_.weigh(scaled(weights_).of);
  }
  // Throws invalid_argument.
  void require_no_doubling() const {
    detail::require(!doubles_, "a subtable is being doubled: end_doubling() comes first");
  }

 protected:
  // A copy. Changes of the size that are not settled are copied with the memory.
  subtable_slots(const subtable_slots& other, Space& space)
      : options_(other.options_),
        shape_(other.shape_),
        design_(other.design_),
        fixed_(detail::copy_of(other.fixed_, space)),
        reserved_(other.reserved_),
        size_(other.size_),
        weighed_(other.weighed_),
        unsettled_(other.unsettled_) {
    std::copy(other.weights_, other.weights_ + parts, weights_);
    const u64 aside = (part::bytes(1) + 63) / 64 * 64;
    design_.put_aside(fixed_.data());
    calls_ = detail::call_memory(fixed_.data() + aside);
    for (u32 t = 0; t < parts; ++t) adopt(t, detail::copy_of(other.memory_[t], space));
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
    memory_[t] = std::move(memory);
    design_.put(t, part(memory_[t].data(), shape_.buckets_of(t), shape_.base));
  }
  static void wipe_locks(Space& space, const part& p) {
    space.fill(p.locks, part::lock_bytes(p.buckets) / sizeof(u32), 0U);
  }
  static void wipe(Space& space, const part& p) {
    space.fill(p.keys, p.slots(), slot_type::empty_word);
    wipe_locks(space, p);
  }

  // The number of items at which subtables are doubled.
  u64 limit() const {
    const double most =
        std::min(std::max<double>(options_.beta, options_.load_factor), Design::max_load_factor);
    return static_cast<u64>(std::ceil(most * static_cast<double>(capacity())));
  }

  // After an interrupted call (a user's op threw): counts the items of the table for its size.
  void recount(Space& space) {
    calls_.clear(space);
    size_ = detail::count_entries(space, view());
    unsettled_ = false;
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
    design_.weigh(scaled(weights_).of);
    weighed_ = 0;
  }
  // Sets the weights by theorem 1, if the size has changed by an eighth since they were set. Estimates each
  // subtable's items from a sample of its buckets. Synchronizes with the host.
  void weigh(Space& space) {
    const u64 change = size_ > weighed_ ? size_ - weighed_ : weighed_ - size_;
    if (change <= weighed_ / 8) return;
    constexpr u32 samples = 1024;
    u64* const counts = calls_.sums();
    space.fill(counts, parts, u64(0));
    space.for_each(u64(samples) * parts, detail::sample_subtables<Design>{design_, samples, counts});
    const auto counted = calls_.counted(space);
    for (u32 t = 0; t < parts; ++t) {
      const double slots = static_cast<double>(design_.at(t).slots());
      const double items = static_cast<double>(counted.of[t]) * slots / (samples * Design::bucket_slots);
      weights_[t] = slots / std::max(1.0, items * (items - 1) / 2);
    }
    design_.weigh(scaled(weights_).of);
    weighed_ = size_;
  }

  table_options options_;
  shape_type shape_;
  Design design_;
  buffer<char, Space> fixed_;  // the sentinel bucket, and the memory of running calls
  buffer<char, Space> memory_[parts];
  buffer<char, Space> doubled_;  // of the smallest subtable, while it is doubled
  Design before_;                // ... and concurrent inserts do not change this one
  bool doubles_ = false;
  detail::call_memory calls_;
  u64 reserved_ = 0;  // items that halving keeps capacity for
  u64 size_ = 0;
  u64 weighed_ = 0;             // the size for which the weights were set
  double weights_[parts] = {};  // by theorem 1, up to a factor
  bool unsettled_ = false;      // asynchronous calls may have changed the size
};

}  // namespace engine
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
