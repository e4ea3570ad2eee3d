// SPDX-License-Identifier: Apache-2.0
// One case of updates, measured; where the keys are is checked after each.
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/rows.hpp>
#include <tilehash/space/algorithms.hpp>
#include <tilehash/table.hpp>

#include <span>
#include <tuple>
#include <utility>

#include "kolushev/hashgraph_updates.hpp"
#include "numbered.hpp"

namespace tilehash::bench {

struct make_numbered_items {
  u32 *keys, *values;
  TILEHASH_FN void operator()(u64 i) const {
    keys[i] = key_of<u32>(i);
    values[i] = value_of<u32>(keys[i]);
  }
};
struct count_other_than {
  const u32* counts;
  u32 should_be;
  u64* wrong;
  TILEHASH_FN void operator()(u64 i) const {
    if (counts[i] != should_be) detail::fetch_add(wrong, u64(1));
  }
};

template <class Space>
class updates_workload {
  using graph = table<hash_graph<u32, u32>, Space>;
  using changing_graph = table<dynamic_hash_graph<u32, u32>, Space>;

 public:
  updates_workload(Space& space, const updates_case& what, unsigned repeat)
      : space_(space),
        what_(what),
        repeat_(repeat),
        keys_(space, 2 * what.items + what.given()),
        values_(space, keys_.size()),
        answers_(space, what.items + what.given()) {
    space_.for_each(keys_.size(), make_numbered_items{keys_.data(), values_.data()});
  }

  void run(updates_row& row) {
    const u64 n = what_.items, come = what_.given(), all = n + come;
    const table_options options{.load_factor = what_.load_factor, .slack = what_.slack};
    {
      changing_graph t(space_, 0, options);
      const auto begin = [&] { std::ignore = t.build(space_, keys_.first(n), values_.first(n)); };
      const void* before = nullptr;
      const auto insert = [&] {
        before = t.view().design.heads();
        std::ignore = t.insert(space_, keys_.span().subspan(n, come), values_.span().subspan(n, come));
      };
      row.insert = measure(space_, repeat_, begin, insert);
      row.built_anew = t.view().design.heads() != before;
      row.bytes = t.bytes();
      row.wrong += wrong_in(t, 0, all, 1) + (t.size() != all);
      row.found = look_up(t, keys_.first(n));
      row.not_found = look_up(t, keys_.span().subspan(all, n));
      u64 gone = 0;  // of those that were present before and of those that came
      const u64 from = n - come / 2;
      row.erase = measure(
          space_, repeat_, [&] { begin(), insert(); },
          [&] { gone = t.erase(space_, keys_.span().subspan(from, come)); });
      row.wrong += (gone != come) + wrong_in(t, 0, from, 1) + wrong_in(t, from, come, 0);
      row.wrong += wrong_in(t, from + come, all - from - come, 1);
    }
    graph t(space_, 0, options);
    row.build = measure(
        space_, repeat_, [] {}, [&] { std::ignore = t.build(space_, keys_.first(all), values_.first(all)); });
    row.built_bytes = t.bytes();
    row.built_found = look_up(t, keys_.first(n));
    row.built_not_found = look_up(t, keys_.span().subspan(all, n));
  }

 private:
  template <class Table>
  spread look_up(const Table& t, std::span<const u32> keys) {
    return measure(
        space_, repeat_, [] {}, [&] { t.find_async(space_, keys, answers_.first(keys.size())); });
  }
  template <class Table>
  u64 wrong_in(const Table& t, u64 from, u64 count, u32 should_be) {
    buffer<u64, Space> wrong(space_, 1);
    space_.fill(wrong.data(), 1, u64(0));
    t.count(space_, keys_.span().subspan(from, count), answers_.first(count));
    space_.for_each(count, count_other_than{answers_.data(), should_be, wrong.data()});
    return read_one(space_, wrong.data());
  }

  Space& space_;
  updates_case what_;
  unsigned repeat_;
  buffer<u32, Space> keys_, values_, answers_;
};

template <class Space>
void measure_updates(Space& space, const std::string& space_name, const std::vector<updates_case>& cases,
                     unsigned repeat, const tell_updates& tell) {
  for (const updates_case& what : cases) {
    updates_row row{.space = space_name, .what = what};
    try {
      updates_workload<Space>(space, what, repeat).run(row);
    } catch (const out_of_memory& e) {
      row.obstacle = e.what();
    }
    tell(row);
  }
}

}  // namespace tilehash::bench
