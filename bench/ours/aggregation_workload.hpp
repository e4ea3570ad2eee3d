// SPDX-License-Identifier: Apache-2.0
// The items of an aggregation, what their sums must be, and our own table's part.
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/instances/map.hpp>
#include <tilehash/space/buffer.hpp>

#include "measure.hpp"
#include "numbered.hpp"
#include "ours/aggregation.hpp"

namespace tilehash::bench {

struct make_grouped_items {
  aggregation_case what;
  u32 *keys, *values, *sums;  // one sum for each group

  TILEHASH_FN void operator()(u64 i) const {
    const u64 group = what.skewed ? zipf_number(i, what.groups) : uniform_number(i, what.groups);
    keys[i] = key_of<u32>(group);
    values[i] = 1 + static_cast<u32>(mix64(i + what.items) % 1000);
    detail::fetch_add(sums + group, values[i]);
  }
};
struct make_group_keys {
  u32* keys;
  TILEHASH_FN void operator()(u64 i) const { keys[i] = key_of<u32>(i); }
};
// A group that never came has sum 0, as what a table says of keys that it has not got.
struct compare_sums {
  const u32 *sums, *found;
  u64 *wrong, *seen;  // seen: groups that came
  TILEHASH_FN void operator()(u64 i) const {
    if (found[i] != sums[i]) detail::fetch_add(wrong, u64(1));
    if (sums[i] != 0) detail::fetch_add(seen, u64(1));
  }
};

template <class Space>
class aggregation_workload {
 public:
  aggregation_workload(Space& space, const aggregation_case& the_case, unsigned repeat)
      : space_(space),
        case_(the_case),
        repeat_(repeat),
        keys(space, the_case.items),
        values(space, the_case.items),
        sums_(space, the_case.groups) {
    space.fill(sums_.data(), the_case.groups, u32(0));
    space.for_each(the_case.items, make_grouped_items{the_case, keys.data(), values.data(), sums_.data()});
  }

  aggregation measure_table(const std::string& space_name) {
    using table_type = map<u32, u32, Space>;
    table_type t(space_, case_.groups);
    aggregation row{"tiled", space_name, case_};
    insert_report report;
    row.seconds = measure(
        space_, repeat_, [&] { t.clear(space_); },
        [&] { report = t.insert_or_apply(space_, keys.span(), values.span(), op::sum{}); });
    buffer<u32, Space> groups(space_, case_.groups), found(space_, case_.groups);
    space_.for_each(case_.groups, make_group_keys{groups.data()});
    t.find(space_, groups.span(), found.span());
    buffer<u64, Space> counts(space_, 2);
    space_.fill(counts.data(), 2, u64(0));
    space_.for_each(case_.groups, compare_sums{sums_.data(), found.data(), counts.data(), counts.data() + 1});
    const auto counted = counts.to_host();
    row.wrong = counted[0] + (t.size() != counted[1]) + report.refused;
    groups_seen = counted[1];
    return row;
  }

 private:
  Space& space_;
  const aggregation_case case_;
  unsigned repeat_;

 public:
  buffer<u32, Space> keys, values;
  u64 groups_seen = 0;  // known when the table has been measured

 private:
  buffer<u32, Space> sums_;
};

}  // namespace tilehash::bench
