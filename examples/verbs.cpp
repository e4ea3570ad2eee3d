// SPDX-License-Identifier: Apache-2.0
// The examples of docs/reference/verbs/, one for each verb and each checked.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <vector>

#include <tilehash/analysis/factorize.hpp>
#include <tilehash/analysis/group_by.hpp>
#include <tilehash/dynamic_map.hpp>
#include <tilehash/index.hpp>
#include <tilehash/join.hpp>
#include <tilehash/map.hpp>
#include <tilehash/multimap.hpp>
#include <tilehash/set.hpp>
#include <tilehash/space/cpu.hpp>

namespace {

using std::uint32_t;
using std::uint64_t;
using map = tilehash::map<uint32_t, uint32_t, tilehash::cpu>;
using set = tilehash::set<uint32_t, tilehash::cpu>;
using multimap = tilehash::multimap<uint32_t, uint32_t, tilehash::cpu>;
using index = tilehash::index<uint64_t, tilehash::cpu>;
using numbers = std::vector<uint32_t>;

int wrong = 0;
void expect(bool holds, const char* verb) {
  if (holds) return;
  std::printf("wrong: %s\n", verb);
  ++wrong;
}

void makes(tilehash::cpu& space) {
  {
    // [table-begin]
    tilehash::map<uint32_t, uint32_t, tilehash::cpu> map(space, 1000, {.load_factor = 0.9, .seed = 7});
    // [table-end]
    expect(map.capacity() >= 1000 && map.options().seed == 7U, "table");
  }
  {
    // [build-begin]
    map map(space);
    const auto report = map.build(space, numbers{17, 4, 17}, numbers{1, 2, 3}, tilehash::keep::first);
    // report.inserted == 2, report.present == 1, and the value of 17 is 1
    // [build-end]
    expect(report.inserted == 2 && report.present == 1 && map.at(17) == 1, "build");
  }
  map map(space);
  expect(map.insert(space, numbers{17}, numbers{1}).inserted == 1, "insert");
  // [clone-begin]
  const auto copy = map.clone(space);  // the same items and the same seed
  map.clear(space);
  // [clone-end]
  expect(copy.at(17) == 1 && map.empty(), "clone");
}

void inserts(tilehash::cpu& space) {
  {
    // [insert-begin]
    map map(space);
    const numbers keys{17, 4, 17}, values{1, 2, 3};
    std::vector<tilehash::outcome> outcomes(keys.size());
    const auto report = map.insert(space, keys, values, outcomes);  // inserted 2, present 1, refused 0
    // [insert-end]
    expect(report.inserted == 2 && report.present == 1 && outcomes[1] == tilehash::outcome::inserted,
           "insert");
  }
  {
    // [insert_or_assign-begin]
    map map(space);
    auto report = map.insert_or_assign(space, numbers{17, 4}, numbers{1, 2});  // inserts both
    report = map.insert_or_assign(space, numbers{4, 23}, numbers{5, 6});       // the value of 4 becomes 5
    // [insert_or_assign-end]
    expect(report.inserted == 1 && report.present == 1 && map.at(4) == 5, "insert_or_assign");
  }
  {
    // [insert_or_apply-begin]
    map total(space), times(space);
    const numbers shops{1, 2, 1}, amounts{10, 20, 30};
    auto report = total.insert_or_apply(space, shops, amounts, tilehash::op::sum{});  // 1: 40, 2: 20
    report = times.insert_or_apply(space, shops, tilehash::op::count{});              // 1: 2, 2: 1
    // [insert_or_apply-end]
    expect(report.inserted == 2 && total.at(1) == 40 && times.at(1) == 2, "insert_or_apply");
  }
  {
    // [apply-begin]
    map map(space);
    const numbers keys{17, 4, 17}, values{1, 2, 0};
    const std::vector<tilehash::operation> todo{tilehash::operation::insert, tilehash::operation::insert,
                                                tilehash::operation::find};
    numbers out(keys.size());
    tilehash::buffer<bool, tilehash::cpu> found(space, keys.size());
    const auto report = map.apply(space, todo, keys, values, out, found.span());
    // finds come first: report.found == 0, report.inserted.inserted == 2
    // [apply-end]
    expect(report.found == 0 && report.inserted.inserted == 2 && !found.span()[2], "apply");
  }
}

void erases(tilehash::cpu& space) {
  map map(space);
  expect(map.insert(space, numbers{17, 4, 23}, numbers{1, 2, 3}).inserted == 3, "insert");
  {
    // [erase-begin]
    const uint64_t erased = map.erase(space, numbers{4, 99});  // 1: 99 is absent
    // [erase-end]
    expect(erased == 1 && !map.contains(4), "erase");
  }
  {
    // [clear-begin]
    map.clear(space);  // no items; the capacity is as before
    // [clear-end]
    expect(map.empty(), "clear");
  }
}

void finds(tilehash::cpu& space) {
  map map(space);
  expect(map.insert(space, numbers{17, 4}, numbers{1, 2}).inserted == 2, "insert");
  const numbers wanted{4, 99};
  numbers out(2);
  {
    // [find-begin]
    std::vector<std::uint8_t> found(wanted.size());
    map.find(space, wanted, out, found);  // out = {2, 0}, found = {1, 0}
    const auto one = map.find(17);        // std::optional; of one key, on a CPU
    // [find-end]
    expect(out == numbers{2, 0} && found[0] == 1 && found[1] == 0 && one == 1U, "find");
  }
  {
    // [find_or-begin]
    map.find_or(space, wanted, out, /*missing=*/7);  // out = {2, 7}
    // [find_or-end]
    expect(out == numbers{2, 7}, "find_or");
  }
  {
    // [contains-begin]
    std::vector<std::uint8_t> present(wanted.size());
    map.contains(space, wanted, present);  // present = {1, 0}
    // [contains-end]
    expect(present[0] == 1 && present[1] == 0, "contains");
  }
  {
    // [probe_counts-begin]
    map.probe_counts(space, wanted, out);  // out[i]: the buckets that a lookup of wanted[i] reads
    // [probe_counts-end]
    expect(out[0] >= 1 && out[1] >= 1, "probe_counts");
  }
}

void contents(tilehash::cpu& space) {
  map map(space);
  expect(map.insert(space, numbers{17, 4}, numbers{1, 2}).inserted == 2, "insert");
  {
    // [retrieve_all-begin]
    numbers keys(map.size()), values(map.size());
    map.retrieve_all(space, keys, values);  // values[i] is the value of keys[i], in no given order
    // [retrieve_all-end]
    expect(keys[0] + keys[1] == 21 && values[keys[0] == 17 ? 0 : 1] == 1, "retrieve_all");
  }
  {
    // [for_each-begin]
    std::atomic<uint64_t> sum = 0;
    map.for_each(space, [&](uint32_t key, uint32_t value) { sum += key * value; });  // by several threads
    // [for_each-end]
    expect(sum == 25, "for_each");
  }
  {
    // [size-begin]
    const uint64_t items = map.size(), slots = map.capacity(), bytes = map.bytes();
    const double load = map.load_factor();  // items / slots
    // [size-end]
    expect(items == 2 && load == 2.0 / double(slots) && bytes >= slots * 8, "size");
  }
  {
    // [reserve-begin]
    map.reserve(space, 100000);  // up to this size, inserts do not grow the table
    // [reserve-end]
    expect(map.capacity() >= 100000, "reserve");
  }
  {
    // [shrink_to_fit-begin]
    const uint64_t before = map.bytes();
    map.shrink_to_fit(space);
    const uint64_t freed = before - map.bytes();
    // [shrink_to_fit-end]
    expect(freed > 0, "shrink_to_fit");
  }
  // [rehash-begin]
  map.rehash(space, 1000);  // another hash function, and memory for 1000 items
  // [rehash-end]
  expect(map.capacity() >= 1000 && map.at(17) == 1, "rehash");
}

void many_values(tilehash::cpu& space) {
  multimap map(space);
  expect(map.build(space, numbers{17, 4, 17}, numbers{1, 2, 3}).inserted == 3, "build");
  const numbers wanted{17, 99, 4};
  {
    // [count-begin]
    numbers times(wanted.size());
    map.count(space, wanted, times);  // in this multimap {2, 0, 1}
    // [count-end]
    expect(times == numbers{2, 0, 1}, "count");
  }
  {
    // [retrieve-begin]
    const auto all = map.retrieve(space, wanted);
    const auto offsets = all.offsets.to_host();  // {0, 2, 2, 3}: 17 has two values and 99 has none
    const auto values = all.values.to_host();    // {1, 3, 2}; the values of one key are in no given order
    // [retrieve-end]
    expect(offsets == std::vector<uint64_t>{0, 2, 2, 3} && values.size() == 3 && values[2] == 2, "retrieve");
  }
  // [retrieve_keys-begin]
  numbers keys(map.key_count());
  map.retrieve_keys(space, keys);  // each key once: 17 and 4, in no given order
  // [retrieve_keys-end]
  expect(keys[0] + keys[1] == 21, "retrieve_keys");
}

void ids_of_keys(tilehash::cpu& space) {
  // [insert_and_find-begin]
  index index(space);
  const std::vector<uint64_t> keys{170, 40, 170};
  numbers ids(keys.size());
  const auto report = index.insert_and_find(space, keys, ids);  // equal keys have equal ids, below id_limit()
  // [insert_and_find-end]
  expect(report.inserted == 2 && ids[0] == ids[2] && ids[0] != ids[1], "insert_and_find");
  numbers found(2);
  // [find_ids-begin]
  index.find_ids(space, std::vector<uint64_t>{40, 99}, found);  // found[1] == index.no_id
  // [find_ids-end]
  expect(found[0] == ids[1] && found[1] == index.no_id, "find_ids");
  // [keys_of-begin]
  std::vector<uint64_t> again(ids.size());
  index.keys_of(space, ids, again);  // again == keys
  // [keys_of-end]
  expect(again == keys, "keys_of");
}

void subtables(tilehash::cpu& space) {
  // [double_subtable-begin]
  tilehash::dynamic_map<uint32_t, uint32_t, tilehash::cpu> map(space, 10000);
  const uint64_t before = map.capacity();
  map.double_subtable(space);                     // the smallest one
  const bool halved = map.halve_subtable(space);  // the largest one
  // [double_subtable-end]
  expect(halved && map.capacity() == before, "double_subtable");
}

void views(tilehash::cpu& space) {
  map map(space, 100);
  // [mutable_view-begin]
  const auto changing = map.mutable_view(space);
  changing.insert(17, 1);  // from any thread, concurrently with other inserts
  changing.insert(4, 2);
  // [mutable_view-end]
  expect(map.size() == 2, "mutable_view");
  // [view-begin]
  const auto view = map.view();
  const auto hit = view.find(17);
  const uint32_t value = hit.found() ? hit.value() : 0;
  // [view-end]
  expect(value == 1 && !view.contains(99), "view");
}

void joins(tilehash::cpu& space) {
  const numbers left{5, 8, 5, 1}, right{8, 5, 7, 8};
  {
    // [join-begin]
    const auto rows = tilehash::join(space, left, right, {.kind = tilehash::join_kind::left});
    // row i: left[rows.left.span()[i]], and right[rows.right.span()[i]] or no_match
    // [join-end]
    expect(rows.size() == 5, "join");
  }
  // [join_size-begin]
  const uint64_t rows = tilehash::join_size(space, left, right);  // 4: 5 twice, 8 with two right rows
  // [join_size-end]
  expect(rows == 4, "join_size");
}

void analysis(tilehash::cpu& space) {
  const numbers keys{8, 5, 8, 7};
  {
    // [factorize-begin]
    const auto made = tilehash::analysis::factorize(space, keys);
    // codes {0, 1, 0, 2}, first_rows {0, 1, 3}
    // [factorize-end]
    expect(made.codes.to_host() == numbers{0, 1, 0, 2} && made.first_rows.to_host() == numbers{0, 1, 3},
           "factorize");
  }
  {
    // [unique-begin]
    const auto made = tilehash::analysis::unique(space, keys);  // values {8, 5, 7}, counts {2, 1, 1}
    // [unique-end]
    expect(made.values.to_host() == numbers{8, 5, 7} && made.counts.to_host() == numbers{2, 1, 1}, "unique");
  }
  {
    // [value_counts-begin]
    const auto made = tilehash::analysis::value_counts(space, keys);  // values {8, 5, 7}, counts {2, 1, 1}
    // [value_counts-end]
    expect(made.counts.to_host() == numbers{2, 1, 1}, "value_counts");
  }
  {
    // [isin-begin]
    std::vector<std::uint8_t> present(keys.size());
    tilehash::analysis::isin(space, keys, numbers{5, 7}, present);  // {0, 1, 0, 1}
    // [isin-end]
    expect(present == std::vector<std::uint8_t>{0, 1, 0, 1}, "isin");
  }
  // [group_by-begin]
  const auto groups = tilehash::analysis::group_by(space, keys);
  const auto sums = groups.reduce(space, numbers{1, 2, 3, 4}, std::plus<>{}, 0);  // {4, 2, 4}
  const auto rows = groups.counts(space);                                         // {2, 1, 1}
  // [group_by-end]
  expect(sums.to_host() == numbers{4, 2, 4} && rows.to_host() == numbers{2, 1, 1}, "group_by");
}

}  // namespace

int main() {
  tilehash::cpu space;
  makes(space);
  inserts(space);
  erases(space);
  finds(space);
  contents(space);
  many_values(space);
  ids_of_keys(space);
  subtables(space);
  views(space);
  joins(space);
  analysis(space);
  if (wrong == 0) std::puts("all verbs as documented");
  return wrong;
}
