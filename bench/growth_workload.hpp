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

#include "growth.hpp"
#include "numbered.hpp"

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

struct make_pairs {
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

// `make_space` gives a new one, as a pointer.
template <class Space, class MakeSpace>
growth_row measure_growth(growth_row row, const MakeSpace& make_space) {
  using table_type = table<tiled<u32, u32>, Space>;
  const growth_case& what = row.what;
  const u64 n = what.items;
  std::vector<double> first, build, doubling, find, shrinking, batches;
  for (unsigned i = 0; i < what.repeat; ++i) {
    const std::unique_ptr<Space> made = make_space();
    Space& space = *made;
    const buffer<u32, Space> keys(space, n), values(space, n), found(space, n);
    const buffer<u64, Space> wrong(space, 1);
    space.for_each(n, make_pairs{keys.data(), values.data()});
    space.fill(wrong.data(), 1, u64(0));
    space.fill(found.data(), n, u32(0));
    space.synchronize();
    const u64 apart = space.now();
    const auto seconds = [&](const auto& work) {
      const auto start = std::chrono::steady_clock::now();
      work();
      space.synchronize();
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    const auto check = [&](const table_type& t) {
      const double s = seconds([&] { t.find_or(space, keys.span(), found.span(), 0); });
      space.for_each(n, count_wrong{keys.data(), found.data(), wrong.data()});
      row.wrong += t.size() != n;
      return s;
    };
    insert_report report;
    const auto tally = [&] { row.wrong += n - report.inserted; };
    {
      table_type t(space, 0, {.load_factor = what.load});
      for (int times = 0; times < 3; ++times) {  // the third goes where the first was
        const double s = seconds([&] { report = t.build(space, keys.span(), values.span()); });
        tally();
        if (times == 0) first.push_back(s);
        if (times == 2) build.push_back(s);
      }
      row.old_bytes = t.bytes();
      space.forget();
      doubling.push_back(seconds([&] { t.reserve(space, 2 * n); }));
      row.doubling_peak = space.most() - apart;
      row.new_bytes = t.bytes();
      check(t);
      find.push_back(check(t));
      space.forget();
      shrinking.push_back(seconds([&] { t.shrink_to_fit(space); }));
      row.shrinking_peak = space.most() - apart;
      check(t);
    }
    {
      table_type t(space, what.from, {.load_factor = what.load});
      space.forget();
      report = {};
      batches.push_back(seconds([&] {
        for (u64 at = 0; at < n; at += what.batch) {
          const u64 some = std::min(what.batch, n - at);
          const insert_report of_batch =
              t.insert(space, keys.span().subspan(at, some), values.span().subspan(at, some));
          report.inserted += of_batch.inserted;
        }
      }));
      tally();
      row.batches_bytes = t.bytes();
      row.batches_peak = space.most() - apart;
      check(t);
    }
    row.wrong += read_one(space, wrong.data());
  }
  row.build_first = spread(first), row.build = spread(build), row.doubling = spread(doubling);
  row.find = spread(find), row.shrinking = spread(shrinking), row.batches = spread(batches);
  return row;
}

}  // namespace tilehash::bench
