// engine::built_once: tables that are built from all items at once and not changed afterwards. If a hash
// function does not suit the keys, the build is retried with the next one: the first few times in memory of
// the same size.
#pragma once

#include <string>
#include <tuple>
#include <utility>

#include <tilehash/core/capacity.hpp>
#include <tilehash/core/options.hpp>
#include <tilehash/kernel/lookup.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/table_view.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace engine {

template <class Design, class Space>
class built_once {
 public:
  using key_type = typename Design::key_type;
  using mapped_type = typename Design::mapped_type;
  using view_type = table_view<Design>;
  using value_element = std::conditional_t<std::is_void_v<mapped_type>, char, mapped_type>;

  built_once(Space& space, u64 items, const table_options& options) : options_(options) {
    if (!options_.seed) options_.seed = detail::drawn_seed();
    adopt(empty(space, capacity_for(items)));
  }

  built_once clone(Space& space) const {
    built_once copy(options_);
    copy.memory_ = detail::copy_of(memory_, space);
    copy.size_ = size_;
    if constexpr (rowed<Design>)
      copy.view_.design = view_.design.moved_to(copy.memory_.data());
    else
      copy.view_ =
          view_type(copy.memory_.data(), capacity(), detail::seed_of(options_), options_.load_factor);
    return copy;
  }

  // A moved-from table has no memory, and behaves as an empty table.
  built_once(built_once&& other) noexcept : options_(other.options_) { swap(other); }
  built_once& operator=(built_once&& other) noexcept {
    built_once(std::move(other)).swap(*this);
    return *this;
  }
  void swap(built_once& other) noexcept {
    std::swap(options_, other.options_);
    memory_.swap(other.memory_);
    std::swap(view_, other.view_);
    std::swap(size_, other.size_);
  }
  bool has_memory() const { return memory_.data() != nullptr; }
  Space* home() const { return memory_.space(); }

  u64 size() const { return size_; }
  u64 capacity() const { return has_memory() ? view_.design.capacity() : 0; }
  u64 bytes() const { return memory_.bytes(); }
  const view_type& view() const { return view_; }
  const table_options& options() const { return options_; }

  template <class Keys, class Sink>
  void look_up(Space& space, Keys keys, u64 n, Sink sink) const {
    if (!has_memory())
      detail::look_up_nothing<typename view_type::hit>(space, n, sink);
    else if constexpr (rowed<Design>)
      detail::look_up(space, view_.design, keys, n, sink);
    else
      detail::look_up(space, view_.design, view_.sentinels, keys, n, sink);
  }
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
    u64 room = n;
    for (u64 restarts = 0; restarts < most; ++restarts) {
      made m = make(space, capacity_for(room), room, detail::seed_of(options_) + restarts);
      build_result built = m.view.design.build(space, source, n, m.view.sentinels);
      if (built.complete) {
        adopt(std::move(m));
        options_.seed = detail::seed_of(options_) + restarts;
        size_ = built.report.inserted;
        built.report.restarts = restarts;
        return built.report;
      }
      if (restarts + 1 >= of_same_size) room += room / 8 + 1;
    }
    throw error("tilehash: the items could not be placed with " + std::to_string(most) +
                " hash functions; ask for a lower load factor, or take another hash");
  }

 private:
  explicit built_once(const table_options& options) : options_(options) {}

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
  made make(Space& space, u64 capacity, u64 items, u64 seed) const {
    made m;
    if constexpr (rowed<Design>) {
      m.memory = buffer<char, Space>(space, Design::bytes(capacity, items));
      m.view.design = Design(m.memory.data(), capacity, items, seed);
    } else {
      m.memory =
          buffer<char, Space>(space, view_type::sentinels_at(capacity) + view_type::sentinels_type::bytes);
      m.view = view_type(m.memory.data(), capacity, seed, options_.load_factor);
      const u64 slots = capacity * sizeof(typename Design::word);
      if (m.memory.bytes() != slots) space.fill(m.memory.data() + slots, m.memory.bytes() - slots, char(0));
    }
    return m;
  }
  made empty(Space& space, u64 capacity) const {
    made m = make(space, capacity, 0, detail::seed_of(options_));
    if constexpr (rowed<Design>)
      std::ignore = m.view.design.build(space, static_cast<const key_type*>(nullptr),
                                        static_cast<const value_element*>(nullptr), 0);
    else
      space.fill(m.view.design.slots(), capacity, Design::slot_type::empty_word);
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

  table_options options_;
  buffer<char, Space> memory_;
  view_type view_;
  u64 size_ = 0;
};

}  // namespace engine
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
