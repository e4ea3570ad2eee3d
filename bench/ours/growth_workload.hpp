// SPDX-License-Identifier: Apache-2.0
// One table that grows, on one space.
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/designs/tiled.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/table.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "numbered.hpp"
#include "ours/growth.hpp"

namespace tilehash::bench {

// A space that counts the bytes that are out.
template <class Space>
class metered : public Space {
 public:
  using Space::Space;
  void* allocate(u64 bytes) { return add(Space::allocate(bytes), bytes); }
  void* allocate_resizable(u64 bytes) {
    if constexpr (requires(Space s) { s.allocate_resizable(bytes); })
      return add(Space::allocate_resizable(bytes), bytes);
    else
      return allocate(bytes);
  }
  void* resize(void* p, u64 bytes, u64 new_bytes) {
    void* const q = Space::resize(p, bytes, new_bytes);
    now_ -= bytes;
    return add(q, new_bytes);
  }
  void deallocate(void* p, u64 bytes) noexcept {
    now_ -= bytes;
    Space::deallocate(p, bytes);
  }
  void forget() { most_ = now_; }
  u64 now() const { return now_; }
  u64 most() const { return most_; }

 private:
  void* add(void* p, u64 bytes) {
    most_ = std::max(most_, now_ += bytes);
    return p;
  }
  u64 now_ = 0, most_ = 0;
};

struct make_numbered_pairs {
  u32 *keys, *values;
  TILEHASH_FN void operator()(u64 i) const {
    keys[i] = key_of<u32>(i);
    values[i] = value_of<u32>(keys[i]);
  }
};
struct count_wrong {
  const u32 *keys, *found;
  u64* wrong;
  TILEHASH_FN void operator()(u64 i) const {
    if (found[i] != value_of<u32>(keys[i])) detail::fetch_add(wrong, u64(1));
  }
};

// The pairs, and what is asked of a table of them, on one space.
template <class Space>
class growth_workload {
 public:
  using table_type = table<tiled<u32, u32>, Space>;

  growth_workload(Space& space, u64 n)
      : space_(space), n_(n), keys(space, n), values(space, n), found_(space, n), wrong_(space, 1) {
    space.for_each(n, make_numbered_pairs{keys.data(), values.data()});
    space.fill(wrong_.data(), 1, u64(0));
    space.fill(found_.data(), n, u32(0));
    space.synchronize();
    apart_ = space.now();
  }
  // The host's time until the answers are complete.
  template <class Work>
  double seconds(const Work& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    space_.synchronize();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  // Seconds of the lookups.
  double check(const table_type& t) {
    const double s = seconds([&] { t.find_or(space_, keys.span(), found_.span(), 0); });
    space_.for_each(n_, count_wrong{keys.data(), found_.data(), wrong_.data()});
    failed_ += t.size() != n_;
    return s;
  }
  u64 peak() const { return space_.most() - apart_; }
  u64 wrong() { return failed_ + read_one(space_, wrong_.data()); }

 private:
  Space& space_;
  u64 n_, apart_ = 0, failed_ = 0;

 public:
  buffer<u32, Space> keys, values;

 private:
  buffer<u32, Space> found_;
  buffer<u64, Space> wrong_;
};

// `make_space` gives a new one, as a pointer: to it, all memory is new.
template <class Space, class MakeSpace>
growth_row measure_growth(growth_row row, const MakeSpace& make_space) {
  using work_type = growth_workload<Space>;
  using table_type = typename work_type::table_type;
  const growth_case& what = row.what;
  const u64 n = what.items;
  std::vector<double> first, build, doubling, find, shrinking, batches;
  insert_report report;
  for (unsigned i = 0; i < what.repeat; ++i) {
    const std::unique_ptr<Space> made = make_space();
    Space& space = *made;
    work_type work(space, n);
    table_type t(space, 0, {.load_factor = what.load});
    for (int times = 0; times < 3; ++times) {  // the third goes where the first was
      const double s = work.seconds([&] { report = t.build(space, work.keys.span(), work.values.span()); });
      row.wrong += n - report.inserted;
      if (times == 0) first.push_back(s);
      if (times == 2) build.push_back(s);
    }
    row.old_bytes = t.bytes();
    space.forget();
    doubling.push_back(work.seconds([&] { t.reserve(space, 2 * n); }));
    row.doubling_peak = work.peak();
    row.new_bytes = t.bytes();
    work.check(t);
    find.push_back(work.check(t));
    space.forget();
    shrinking.push_back(work.seconds([&] { t.shrink_to_fit(space); }));
    row.shrinking_peak = work.peak();
    work.check(t);
    row.wrong += work.wrong();
  }
  for (unsigned i = 0; i < what.repeat; ++i) {
    const std::unique_ptr<Space> made = make_space();
    Space& space = *made;
    work_type work(space, n);
    table_type t(space, what.from, {.load_factor = what.load});
    space.forget();
    u64 inserted = 0;
    batches.push_back(work.seconds([&] {
      for (u64 at = 0; at < n; at += what.batch) {
        const u64 some = std::min(what.batch, n - at);
        report = t.insert(space, work.keys.span().subspan(at, some), work.values.span().subspan(at, some));
        inserted += report.inserted;
      }
    }));
    row.wrong += n - inserted;
    row.batches_bytes = t.bytes();
    row.batches_peak = work.peak();
    work.check(t);
    row.wrong += work.wrong();
  }
  row.build_first = spread(first), row.build = spread(build), row.doubling = spread(doubling);
  row.find = spread(find), row.shrinking = spread(shrinking), row.batches = spread(batches);
  return row;
}

}  // namespace tilehash::bench
