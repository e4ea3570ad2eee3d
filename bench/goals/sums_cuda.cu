// SPDX-License-Identifier: Apache-2.0
// Sums of groups, compared with a sort and a reduction by CUB; and an op that is not associative.
#include <tilehash/core/op.hpp>
#include <tilehash/map.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/cuda.cuh>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>

#include <algorithm>

#include "goal.hpp"
#include "numbered.hpp"

namespace tilehash::bench {
namespace {

enum class group_law { uniform, zipf, half_one_key };

struct group_case {
  u64 items, groups;
  group_law law = group_law::uniform;

  TILEHASH_FN u64 operator()(u64 i) const {
    if (law == group_law::half_one_key) return i % 2 == 0 ? 0 : 1 + i / 2;
    return law == group_law::zipf ? zipf_number(i, groups) : uniform_number(i, groups);
  }
};

template <class Key, class Value>
struct make_group_items {
  group_case what;
  Key* keys;
  Value *values, *sums;
  TILEHASH_FN void operator()(u64 i) const {
    const u64 group = what(i);
    keys[i] = key_of<Key>(group);
    values[i] = static_cast<Value>(1 + mix64(i) % 1000);
    atomicAdd(sums + group, values[i]);
  }
};
template <class Key>
struct make_group_keys {
  Key* keys;
  TILEHASH_FN void operator()(u64 i) const { keys[i] = key_of<Key>(i); }
};
template <class Value>
struct compare_group_sums {
  const Value *sums, *found;
  u64* wrong;
  TILEHASH_FN void operator()(u64 i) const {
    if (sums[i] != found[i]) detail::fetch_add(wrong, u64(1));
  }
};
// As op::sum, but nothing says that it is associative.
struct plain_sum {
  template <class Value>
  TILEHASH_FN Value operator()(Value held, Value given) const {
    return held + given;
  }
};

template <class Key, class Value>
class sums_workload {
  using device_value =
      std::conditional_t<sizeof(Value) == 8 && std::is_integral_v<Value>, unsigned long long, Value>;
  using map_type = map<Key, Value, cuda>;

 public:
  sums_workload(cuda& space, const group_case& what)
      : space_(space),
        what_(what),
        keys_(space, what.items),
        values_(space, what.items),
        sums_(space, what.groups) {
    space.fill(sums_.data(), what.groups, device_value(0));
    space.for_each(what.items,
                   make_group_items<Key, device_value>{
                       what, keys_.data(), reinterpret_cast<device_value*>(values_.data()), sums_.data()});
    space.synchronize();
  }

  template <class Op>
  goal_row by_table(std::string call, double asked, Op op, bool is_async, bool is_presized = true,
                    unsigned repeat = 5) {
    goal_row row{
        .call = std::move(call), .unit = goal_unit::milliseconds, .asked = asked, .items = what_.items};
    map_type t(space_, is_presized ? what_.groups : 0, {.grow = !is_async});
    insert_report report;
    buffer<insert_report, cuda> later(space_, 1);
    later.copy_from(std::vector<insert_report>(1));
    row.seconds = measure(
        space_, repeat,
        [&] {
          if (is_presized)
            t.clear(space_);
          else
            t = map_type(space_);
        },
        [&] {
          if (is_async)
            t.insert_or_apply_async(space_, keys_.span(), values_.span(), op, later.data());
          else
            report = t.insert_or_apply(space_, keys_.span(), values_.span(), op);
        });
    if (is_async) report = read_one(space_, later.data());
    row.refused = report.refused;
    row.wrong = wrong_sums(t);
    return row;
  }

  // With its memory made beforehand.
  rival_time by_sort() {
    buffer<Key, cuda> sorted(space_, what_.items), groups(space_, what_.items);
    buffer<Value, cuda> values(space_, what_.items), sums(space_, what_.items);
    buffer<u64, cuda> number(space_, 1);
    const auto items = static_cast<int>(what_.items);
    const auto run = [&](void* scratch, std::size_t& to_sort, std::size_t& to_reduce) {
      detail::check_cuda(
          cub::DeviceRadixSort::SortPairs(scratch, to_sort, keys_.data(), sorted.data(), values_.data(),
                                          values.data(), items, 0, 8 * sizeof(Key), space_.stream()),
          "CUB's sort");
      detail::check_cuda(cub::DeviceReduce::ReduceByKey(scratch, to_reduce, sorted.data(), groups.data(),
                                                        values.data(), sums.data(), number.data(),
                                                        ::cuda::std::plus<>{}, items, space_.stream()),
                         "CUB's reduction");
    };
    std::size_t to_sort = 0, to_reduce = 0;
    run(nullptr, to_sort, to_reduce);
    const buffer<char, cuda> scratch(space_, std::max(to_sort, to_reduce));
    return {"CUB's sort", measure(
                              space_, 3, [] {}, [&] { run(scratch.data(), to_sort, to_reduce); })
                              .median};
  }

 private:
  u64 wrong_sums(const map_type& t) {
    buffer<Key, cuda> groups(space_, what_.groups);
    buffer<Value, cuda> found(space_, what_.groups);
    buffer<u64, cuda> wrong(space_, 1);
    space_.fill(wrong.data(), 1, u64(0));
    space_.for_each(what_.groups, make_group_keys<Key>{groups.data()});
    t.find_or(space_, groups.span(), found.span(), Value(0));
    space_.for_each(what_.groups,
                    compare_group_sums<device_value>{
                        sums_.data(), reinterpret_cast<const device_value*>(found.data()), wrong.data()});
    return read_one(space_, wrong.data());
  }

  cuda& space_;
  const group_case what_;
  buffer<Key, cuda> keys_;
  buffer<Value, cuda> values_;
  buffer<device_value, cuda> sums_;
};

constexpr u64 rows = 100'000'000;

}  // namespace

void sums_goals(const tell_goal& tell) {
  cuda space;
  const auto with_rival = [&](goal_row row, const rival_time& rival) {
    row.rival = rival;
    tell(row);
  };
  {
    sums_workload<u64, u64> work(space, {rows, 1000});
    const rival_time rival = work.by_sort();
    with_rival(work.by_table("sums of 10^8 rows, 8 + 8 bytes, 1 000 groups", 1.1, op::sum{}, false), rival);
  }
  {
    sums_workload<u64, u64> work(space, {rows, 1'000'000, group_law::zipf});
    const rival_time rival = work.by_sort();
    with_rival(work.by_table("sums of 10^8 rows, 8 + 8 bytes, Zipf of 10^6 groups", 6, op::sum{}, false),
               rival);
  }
  {
    sums_workload<u32, u32> work(space, {rows, 43'000'000});
    const rival_time rival = work.by_sort();
    with_rival(work.by_table("sums of 10^8 rows, 4 + 4 bytes, 4.3 * 10^7 groups", 3.8, op::sum{}, false),
               rival);
    with_rival(work.by_table("... into a table that grows", 3.8, op::sum{}, false, false), rival);
  }
  {
    sums_workload<u32, u32> work(space, {rows, 10});
    const rival_time rival = work.by_sort();
    with_rival(work.by_table("sums of 10^8 rows, 4 + 4 bytes, 10 groups", 0.5, op::sum{}, false), rival);
    with_rival(work.by_table("... asynchronous", 0.6, op::sum{}, true), rival);
  }
  {
    sums_workload<u32, u32> work(space, {rows, 1000});
    with_rival(
        work.by_table("sums of 10^8 rows, 4 + 4 bytes, 1 000 groups, asynchronous", 1.2, op::sum{}, true),
        work.by_sort());
  }
  sums_workload<u64, u64> one_key(space, {u64(1) << 24, 1});
  tell(one_key.by_table("sum of 2^24 items of one key, 8 + 8 bytes", 0.6, op::sum{}, false));
  tell(one_key.by_table("... asynchronous", 0.6, op::sum{}, true));
  constexpr u64 few = u64(1) << 22;
  sums_workload<u64, double> doubles(space, {few, 1 + few / 2, group_law::half_one_key});
  tell(doubles.by_table("an op that is not associative, doubles, 2^22 items, half of one key", 20,
                        plain_sum{}, false));
}

}  // namespace tilehash::bench
