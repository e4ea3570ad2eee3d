// SPDX-License-Identifier: Apache-2.0
#include "garcia/coherent_ages.hpp"

#include <tilehash/designs/robin_hood.hpp>
#include <tilehash/papers/robin_hood_ages.hpp>
#include <tilehash/papers/robin_hood_random.hpp>
#include <tilehash/space/cpu.hpp>
#include <tilehash/table.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <utility>

#include "garcia/coherent_data.hpp"
#include "numbered.hpp"

namespace tilehash::bench {
namespace {

using keys_type = std::vector<u32>;
using lines = robin_hood<u32, u32>;
using random_lines = papers::robin_hood_random<u32, u32>;
using slots = robin_hood<u32, u32, 1>;  // the paper's shape

// Different keys of 32 bits, from a number on.
keys_type random_keys(u64 first, u64 n) {
  keys_type keys(n);
  for (u64 i = 0; i < n; ++i) keys[i] = key_of<u32>(first + i);
  return keys;
}
// Different keys below `universe`, a power of two, from a number on.
keys_type random_keys_below(u64 universe, u64 first, u64 n) {
  const permutation order(static_cast<u32>(std::bit_width(universe) - 1), 0x6669'6733);
  keys_type keys(n);
  for (u64 i = 0; i < n; ++i) keys[i] = static_cast<u32>(order(first + i));
  return keys;
}

// Keys go where their own sequence leads: into the first free slot, or with Robin Hood's rule into the first
// one of a younger key too, which then goes on.
std::vector<u64> model_ages(const keys_type& keys, u64 capacity, bool robin_hood) {
  std::vector<u32> key_in(capacity), age_in(capacity);
  for (u32 key : keys) {
    for (u32 age = 1; age != 0; ++age) {
      const u64 at = fast_range(mix64(u64(age) << 32 | key), capacity);
      if (age_in[at] != 0 && !(robin_hood && age_in[at] < age)) continue;
      std::swap(key, key_in[at]);
      std::swap(age, age_in[at]);
      if (age == 0) break;
    }
  }
  std::vector<u64> ages(*std::ranges::max_element(age_in) + 1);
  for (const u32 age : age_in) ++ages[age];
  return ages;
}

// The average reads of lookups of these keys, and the number of wrong answers: each key is its own value.
struct lookups {
  double buckets = 0;
  u64 wrong = 0;
};
template <class Design>
lookups look_up(cpu& space, const table<Design, cpu>& t, const keys_type& keys, bool there) {
  const auto view = t.view();
  u64 buckets = 0, wrong = 0;
  space.for_each_share(keys.size(), [&](u64 from, u64 to) {
    u64 read = 0, bad = 0;
    for (u64 i = from; i < to; ++i) {
      const auto hit = view.find(keys[i]);
      read += hit.probes();
      bad += there ? !hit.found() || hit.value() != keys[i] : hit.found();
    }
    detail::fetch_add(&buckets, read);
    detail::fetch_add(&wrong, bad);
  });
  return {static_cast<double>(buckets) / static_cast<double>(keys.size()), wrong};
}

template <class Design>
insert_report fill(cpu& space, table<Design, cpu>& t, const keys_type& keys) {
  return t.insert(space, std::span<const u32>(keys), std::span<const u32>(keys));
}

template <class Design>
age_row ages_of(cpu& space, const char* name, const char* data, const keys_type& keys,
                const keys_type& others, double load) {
  table<Design, cpu> t(space, keys.size(), {.load_factor = load, .seed = 3, .grow = false});
  age_row row{name, data, keys.size(), load, {}, 0, 0, 0, 0};
  const insert_report report = fill(space, t, keys);
  row.refused = report.refused;
  row.ages = papers::age_histogram(space, t);
  const lookups hits = look_up(space, t, keys, true), misses = look_up(space, t, others, false);
  row.found = hits.buckets;
  row.not_found = misses.buckets;
  row.wrong = hits.wrong + misses.wrong;
  return row;
}

constexpr const char* lines_name = "robin_hood";
constexpr const char* random_lines_name = "robin_hood_random";
constexpr const char* slots_name = "robin_hood, one slot a bucket";

template <class Design>
failure_row failures_of(cpu& space, const char* name, u64 tables, u64 n, double load) {
  failure_row row{name, load, tables, 0, 0, 0, 0, 0};
  for (u64 i = 0; i < tables; ++i) {
    table<Design, cpu> t(space, n, {.load_factor = load, .seed = i, .grow = false});
    const keys_type keys = random_keys(i * n % (u64(1) << 31), n);
    const insert_report report = fill(space, t, keys);
    row.failed += report.inserted != n;
    row.wrong += look_up(space, t, keys, true).wrong;
    row.restarts += report.restarts;
    row.restarted += report.restarts != 0;
    row.oldest = std::max<u64>(row.oldest, papers::widest_age(space, t));
  }
  return row;
}

}  // namespace

void count_ages(u64 n, const std::vector<double>& loads, const std::function<void(const age_row&)>& tell) {
  cpu space;
  const keys_type paper = random_keys_below(16 * n, 0, n), others = random_keys(n, n);
  const u64 capacity = n * 10 / 8;
  tell({"model, open addressing", "figure 3", n, 0.8, model_ages(paper, capacity, false), 0, 0, 0, 0});
  tell({"model, Robin Hood", "figure 3", n, 0.8, model_ages(paper, capacity, true), 0, 0, 0, 0});
  const auto add_tables = [&](const char* data, const keys_type& keys, const keys_type& absent, double load) {
    tell(ages_of<slots>(space, slots_name, data, keys, absent, load));
    tell(ages_of<lines>(space, lines_name, data, keys, absent, load));
    tell(ages_of<random_lines>(space, random_lines_name, data, keys, absent, load));
  };
  add_tables("figure 3", paper, random_keys_below(16 * n, n, n), 0.8);

  // A picture of about n defined pixels, whose other pixels are asked for too.
  const double share = 0.3055;
  const auto side = static_cast<u32>(std::sqrt(static_cast<double>(n) / share));
  const given_keys picture = make_given({"structured", "row_major", std::max(side, 8U), share});
  keys_type background;
  for (u64 i = 0; i < picture.questions.size(); ++i) {
    if (picture.there[i] == 0) background.push_back(picture.questions[i]);
  }
  for (const double load : loads) {
    add_tables("random", random_keys(0, n), others, load);
    add_tables("structured", picture.keys, background, load);
  }
}

void count_failures(u64 tables, u64 n, const std::vector<double>& loads,
                    const std::function<void(const failure_row&)>& tell) {
  cpu space(1);  // tables are small: one thread builds one faster than two do
  for (const double load : loads) {
    tell(failures_of<slots>(space, slots_name, tables, n, load));
    tell(failures_of<lines>(space, lines_name, tables, n, load));
    tell(failures_of<random_lines>(space, random_lines_name, tables, n, load));
  }
}

}  // namespace tilehash::bench
