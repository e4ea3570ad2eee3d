// SPDX-License-Identifier: Apache-2.0
// engine::built_once: tables that are built from all items at once and not changed afterwards. If a hash
// function does not suit the keys, the build is retried with the next one: the first few times in memory of
// the same size.
#pragma once

#include <tuple>
#include <utility>

#include <tilehash/core/capacity.hpp>
#include <tilehash/core/options.hpp>
#include <tilehash/engine/storage.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/table_view.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace engine {

template <class Design, class Space>
class built_once : public storage<Design, Space> {
  using base = storage<Design, Space>;
  using base::options_, base::memory_, base::view_, base::size_;

 public:
  using base::capacity;
  using typename base::key_type;
  using typename base::value_element;
  using typename base::view_type;

  TILEHASH_COLD built_once(Space& space, u64 items, const table_options& options) : base(options) {
    adopt(empty(space, capacity_for(items)));
  }
  built_once clone(Space& space) const { return built_once(*this, space); }

  void clear(Space& space) { adopt(empty(space, capacity())); }

  // For designs that store keys in rows.
  insert_report build_arrays(Space& space, const key_type* keys, const value_element* values, u64 n)
    requires rowed<Design>
  {
    made m = make(space, capacity_for(n), n, detail::seed_of(options_));
    const insert_report report = reported(m.view.design.build(space, keys, values, n), n);
    adopt(std::move(m));
    size_ = report.inserted;
    return report;
  }
  // For designs that store keys in buckets.
  template <class Source>
  insert_report build(Space& space, const Source& source, u64 n)
    requires bucketed<Design>
  {
    constexpr u64 most = 16, of_same_size = 4;
    u64 planned = n;
    for (u64 restarts = 0; restarts < most; ++restarts) {
      made m = make(space, capacity_for(planned), planned, detail::seed_of(options_) + restarts);
      build_result built = m.view.design.build(space, source, n, m.view.sentinels);
      if (built.complete) {
        adopt(std::move(m));
        options_.seed = detail::seed_of(options_) + restarts;
        size_ = built.report.inserted;
        built.report.restarts = restarts;
        return built.report;
      }
      if (restarts + 1 >= of_same_size) planned += planned / 8 + 1;
    }
    base::refuse_items(most);
  }

 private:
  TILEHASH_COLD built_once(const built_once& other, Space& space) : base(other, space) {
    if constexpr (rowed<Design>)
      view_.design = other.view_.design.moved_to(memory_.data());
    else
      view_ = view_type(memory_.data(), other.capacity(), detail::seed_of(options_), options_.load_factor);
  }

  struct made {
    buffer<char, Space> memory;
    view_type view;
  };
  u64 capacity_for(u64 items) const {
    if constexpr (rowed<Design>)
      return Design::rows_for(items, options_.load_factor);
    else
      return Design::capacity_for(items, options_.load_factor);
  }
  // Allocates memory. A build fills its slots or entries.
  made make(Space& space, u64 new_capacity, u64 items, u64 seed) const {
    made m;
    if constexpr (rowed<Design>) {
      m.memory = buffer<char, Space>(space, Design::bytes(new_capacity, items));
      m.view.design = Design(m.memory.data(), new_capacity, items, seed);
    } else {
      m.memory = buffer<char, Space>(
          space, view_type::sentinels_at(new_capacity) + view_type::sentinels_type::bytes);
      m.view = view_type(m.memory.data(), new_capacity, seed, options_.load_factor);
      const u64 slots = new_capacity * sizeof(typename Design::word);
      if (m.memory.bytes() != slots) space.fill(m.memory.data() + slots, m.memory.bytes() - slots, char(0));
    }
    return m;
  }
  made empty(Space& space, u64 new_capacity) const {
    made m = make(space, new_capacity, 0, detail::seed_of(options_));
    if constexpr (rowed<Design>)
      std::ignore = m.view.design.build(space, static_cast<const key_type*>(nullptr),
                                        static_cast<const value_element*>(nullptr), 0);
    else
      space.fill(m.view.design.slots(), new_capacity, Design::slot_type::empty_word);
    return m;
  }
  void adopt(made m) {
    memory_ = std::move(m.memory);
    view_ = m.view;
    size_ = 0;
  }
  // The result of a design's build of n items: a report, or only the number of legal items.
  static insert_report reported(const insert_report& report, u64 /*n*/) { return report; }
  static insert_report reported(u64 legal, u64 n) { return {.inserted = legal, .refused = n - legal}; }
};

}  // namespace engine
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
