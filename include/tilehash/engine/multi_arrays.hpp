// SPDX-License-Identifier: Apache-2.0
// The memory of a multimap: the table of ids and the arrays behind it; and the steps that give keys their
// ids, shared by all its builds (engine/multi.hpp).
#pragma once

#include <span>
#include <tuple>
#include <utility>

#include <tilehash/algorithm/compact.hpp>
#include <tilehash/algorithm/segments.hpp>
#include <tilehash/core/error.hpp>
#include <tilehash/core/moved.hpp>
#include <tilehash/core/options.hpp>
#include <tilehash/engine/insertion.hpp>
#include <tilehash/engine/multi_view.hpp>
#include <tilehash/engine/records.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/tuning.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace engine {

template <class Design, class Space>
class multi_arrays {
 public:  // for the class that derives from it privately (nvcc 13 lets no constrained function be protected)
  using design = Design;
  using Key = typename Design::key_type;
  using Value = typename Design::mapped_type;
  using Ids = typename Design::ids_design;
  using Offset = typename Design::offset;
  using word = typename design::word;
  using ids_engine = typename Ids::template engine<Space>;
  using keys_in = std::span<const Key>;
  using view_type = table_view<design>;

  multi_arrays(Space& space, const table_options& options)
      : options_(growing(options)), ids_(space, 0, options_) {}
  multi_arrays(const table_options& options, ids_engine&& ids) : options_(options), ids_(std::move(ids)) {}

  // Sets numbers[i] to the id of keys[i], or to none if that is NaN.
  insert_report give_ids(Space& space, keys_in keys, u32* numbers) {
    const u64 n = keys.size();
    if constexpr (design::in_records) {
      const u64 refused =
          ids_.insert_arrays(space, keys.data(), nullptr, n, numbers, nullptr, detail::keep_stored{}, true)
              .refused;
      if (refused != 0 && refused != count_illegal(space, keys)) not_placed();
      distinct_ = ids_.size();
      // The table grew in this call, and may be larger than the options require.
      return {.restarts = ids_.rehash(space, distinct_)};
    } else {
      u64 left = n;
      buffer<u64, Space> list;
      if (distinct_ != 0) {  // keys of a sample; nearly all items have one of them
        const insert_report report = number_keys(space);
        left = find_ids(space, {keys.data()}, n, numbers);
        if (left == 0) return report;
        list = buffer<u64, Space>(space, left);
        buffer<u64, Space> count(space, 1);
        space.fill(count.data(), 1, u64(0));
        detail::compact(space, n,
                        detail::missing_selection<Key>{keys.data(), numbers, design::none, list.data()},
                        count.data());
      }
      const detail::some_keys<Key> rest{keys.data(), list.data()};
      add_keys(space, rest, left);
      const insert_report report = number_keys(space);
      if (find_ids(space, rest, left, numbers) != 0) not_placed();
      return report;
    }
  }
  // Lists the keys of a sample, if each occurs twice or more in it, on average.
  bool list_frequent(Space& space, keys_in keys)
    requires(!design::in_records)
  {
    const u64 n = keys.size() / sample_every;
    add_keys(space, {keys.data(), nullptr, keys.size()}, n);
    if (n != 0 && distinct_ <= n / 2) return true;
    keys_ = {};
    distinct_ = 0;
    return false;
  }
  // Gives each key, which is unique, its position as its id.
  insert_report number_keys(Space& space)
    requires(!design::in_records)
  {
    using slot = typename Ids::slot_type;
    detail::require(distinct_ < design::none, "a multimap has at most 2^32 - 2 different keys");
    return all_put(ids_.build(space, detail::numbered_keys<slot>{{keys_.data()}}, distinct_));
  }
  insert_report all_put(const insert_report& put) const {
    if (put.inserted != distinct_) not_placed();
    return {.restarts = put.restarts};
  }

  // The values of each key.
  detail::segments<Offset> groups() const { return {starts_.data(), distinct_}; }

  table_options options_;
  ids_engine ids_;
  buffer<Key, Space> keys_;
  buffer<Offset, Space> starts_;
  buffer<Value, Space> values_;
  detail::zero_when_moved<> items_, distinct_;

 private:
  static constexpr u64 sample_every = detail::tuning::of<Space>::sampled_one_in;

  static u64 count_illegal(Space& space, keys_in keys) {
    if constexpr (!detail::has_nan<Key>) return 0;
    buffer<u64, Space> count(space, 1);
    space.fill(count.data(), 1, u64(0));
    space.for_each(keys.size(), detail::illegal_counter<Key>{keys.data(), count.data()});
    return read_one(space, count.data());
  }
  // Finds the ids of some keys. Returns how many of these keys have none.
  u64 find_ids(Space& space, const detail::some_keys<Key>& keys, u64 n, u32* numbers) const {
    buffer<u64, Space> missing(space, 1);
    space.fill(missing.data(), 1, u64(0));
    ids_.look_up(space, keys, n, detail::number_sink<view_type>{keys, numbers, missing.data()});
    return read_one(space, missing.data());
  }
  // Adds the different ones of some keys to the list of keys. A table of their own finds them.
  void add_keys(Space& space, const detail::some_keys<Key>& keys, u64 n)
    requires(!design::in_records)
  {
    using slot = typename Ids::slot_type;
    ids_engine meeting(space, 0, options_);
    std::ignore = meeting.build(space, detail::numbered_keys<slot>{keys}, n);  // (find_ids() counts missing)
    buffer<Key, Space> all(space, distinct_ + meeting.size());
    buffer<u64, Space> count(space, 1);
    if (distinct_ != 0) space.copy(all.data(), keys_.data(), distinct_ * sizeof(Key));
    space.fill(count.data(), 1, u64(distinct_));
    const auto met = meeting.view();
    detail::compact(space, met.entries(), detail::key_selection<table_view<Ids>>{met, all.data()},
                    count.data());
    keys_ = std::move(all);
    distinct_ = keys_.size();
  }
  // (When memory runs out, the table of ids throws.)
  [[noreturn]] static void not_placed() {
    throw error(
        "tilehash: no hash function placed the keys of a multimap in its table of ids; take another hash");
  }
  static table_options growing(table_options options) {
    options.grow = true;
    return detail::with_seed(options);
  }
};

}  // namespace engine
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
