// SPDX-License-Identifier: Apache-2.0
// The experiments of dynamic.hpp on either space, compiled once for all designs (dynamic_table.hpp).
// length: one class, whose members are the steps of the experiments.
#pragma once

#include <tilehash/space/buffer.hpp>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <span>
#include <string>
#include <vector>

#include "li/dynamic.hpp"
#include "li/dynamic_conflicts.hpp"
#include "li/dynamic_table.hpp"
#include "measure.hpp"
#include "numbered.hpp"

namespace tilehash::bench {

struct make_numbered {
  u32* keys;
  TILEHASH_FN void operator()(u64 i) const { keys[i] = key_of<u32>(i); }
};
struct make_values {
  const u32* keys;
  u32* values;
  TILEHASH_FN void operator()(u64 i) const { values[i] = value_of<u32>(keys[i]); }
};
struct check_numbered {
  const u32 *keys, *values;
  const bool* found;
  bool there;  // else none may be
  u64* wrong;
  TILEHASH_FN void operator()(u64 i) const {
    if (found[i] != there || (there && values[i] != value_of<u32>(keys[i]))) detail::fetch_add(wrong, u64(1));
  }
};

// A table that lost pairs: are the values of those that it has right, and how many has it?
struct check_kept {
  const u32 *keys, *values;
  const bool* found;
  u64 *wrong, *kept;
  TILEHASH_FN void operator()(u64 i) const {
    if (!found[i]) return;
    detail::fetch_add(kept, u64(1));
    if (values[i] != value_of<u32>(keys[i])) detail::fetch_add(wrong, u64(1));
  }
};

template <class Space>
class dynamic_bench {
  using table_type = dynamic_table<Space>;
  using keys_in = std::span<const u32>;

 public:
  dynamic_bench(Space& space, const char* space_name, const dynamic_design<Space>& design,
                const dynamic_case& the_case, const tell_dynamic& tell)
      : space_(space),
        space_name_(space_name),
        design_(design),
        case_(the_case),
        tell_(tell),
        wrong_(space, 2) {}

  void by_load() {
    const u64 n = case_.items;
    make(2 * n);
    const buffer<u32, Space> out(space_, n);
    const buffer<bool, Space> found(space_, n);
    for (const double load : case_.loads) {
      if (load > design_.highest_load) continue;
      dynamic_row row = blank("");
      const auto made = design_.make(space_, stored(), {.load_factor = load, .seed = 1, .grow = false});
      table_type& t = *made;
      insert_report report;
      const spread inserts = measure(
          *this, case_.repeat, [&] { t.clear(space_); },
          [&] { report = t.insert(space_, keys(0, n), values(0, n)); });
      const double refused = static_cast<double>(report.refused);
      const auto finds = [&](u64 first) {
        return measure(
            *this, case_.repeat, [] {},
            [&] { t.find_async(space_, keys(first, n), out.span(), found.span()); });
      };
      const spread hits = finds(0);
      if (design_.is_published) {
        check_lossy(n, report, out, found, row);
      } else if (report.refused == 0) {
        row.wrong += report.inserted != different();
        check(0, n, out, found, true, row);
      }
      const spread misses = finds(n);
      check(n, n, out, found, false, row);
      row.numbers = {{"items", double(n)},
                     {"different", double(different())},
                     {"load_asked", load},
                     {"load", double(report.inserted) / double(t.capacity())},
                     {"bytes", double(t.bytes())},
                     {"refused_percent", 100 * refused / double(n)},
                     {"restarts", double(report.restarts)},
                     {"insert", rate(n, inserts)},
                     {"find_hit", rate(n, hits)},
                     {"find_miss", rate(n, misses)}};
      if (design_.counts_waits)
        row.numbers.emplace_back("waits", double(t.count_waits(space_, keys(0, n), values(0, n))));
      tell_(row);
    }
  }

  // One subtable doubled at beta, one halved at alpha; next to taking its items out and inserting them again, and
  // moving all items to a table of that size.
  void resize() {
    if (design_.in_subtables) {
      make(case_.items);
      for (const bool doubles : {true, false}) {
        const double load = doubles ? case_.beta : case_.alpha;
        std::vector<double> one, again, all;
        dynamic_row row = blank("subtables");
        double moved = 0, inserted = 0, before = 0, after = 0;
        for (unsigned i = 0; i <= case_.repeat; ++i) {
          const auto made =
              design_.make(space_, different(), {.load_factor = load, .seed = 1, .grow = false});
          table_type& t = *made;
          row.wrong += t.insert(space_, all_keys(), all_values()).refused;
          before = double(t.bytes());
          const u64 slots = t.capacity();
          const auto sizes = t.buckets();
          bool halved = true;
          const double s = seconds([&] {
            if (doubles)
              t.double_subtable(space_);
            else
              halved = t.halve_subtable(space_);
          });
          row.wrong += !halved;
          after = double(t.bytes());
          moved = double(different()) / double(slots) *
                  double(doubles ? t.capacity() - slots : 2 * (slots - t.capacity()));
          const u32 changed = static_cast<u32>(std::ranges::mismatch(sizes, t.buckets()).in1 - sizes.begin());
          const buffer<u32, Space> its = keys_in_part(t, changed), its_values(space_, its.size());
          space_.for_each(its.size(), make_values{its.data(), its_values.data()});
          t.erase(space_, its.span());
          insert_report back;
          const double a = seconds([&] { back = t.insert(space_, its.span(), its_values.span()); });
          row.wrong += its.size() - back.inserted;
          inserted = double(its.size());
          const double r = seconds([&] { t.rehash(space_, u64(load * double(t.capacity()))); });
          if (i == 0) continue;
          one.push_back(s);
          again.push_back(a);
          all.push_back(r);
        }
        row.numbers = {{"doubles", double(doubles)},
                       {"load", load},
                       {"items", double(different())},
                       {"bytes_before", before},
                       {"bytes_after", after},
                       {"items_of_the_subtable", moved},
                       {"ms", 1e3 * spread(one).median},
                       {"subtable_items_per_second", moved / spread(one).median},
                       {"insert_ms", 1e3 * spread(again).median},
                       {"insert_items_per_second", inserted / spread(again).median},
                       {"rehash_ms", 1e3 * spread(all).median},
                       {"rehash_items_per_second", double(different()) / spread(all).median}};
        tell_(row);
      }
    }
  }

  // How items are spread over the subtables after each batch of inserts, next to theorem 1 of Li et al.:
  // C(m, 2) / n is to be equal for the m items and n buckets of all subtables.
  void distribution() {
    if (design_.in_subtables) {
      make(case_.items);
      const auto made = design_.make(space_, 0, {.seed = 1, .alpha = case_.alpha, .beta = case_.beta});
      table_type& t = *made;
      for (u64 first = 0; first + case_.batch <= case_.items; first += case_.batch) {
        dynamic_row row = blank("automatic");
        row.wrong += t.insert(space_, keys(first, case_.batch), values(first, case_.batch)).refused;
        row.numbers = {{"items", double(t.size())}, {"load", t.load_factor()}};
        double least = 0, most = 0;
        u64 all = 0;
        const auto sizes = t.buckets();
        for (u32 part = 0; part < sizes.size(); ++part) {
          const u64 m = count_part(t, part, nullptr);
          const double conflicts = double(m) * (double(m) - 1) / 2 / double(sizes[part]);
          least = part == 0 ? conflicts : std::min(least, conflicts);
          most = std::max(most, conflicts);
          all += m;
          const std::string number = std::to_string(part);
          row.numbers.emplace_back("buckets_" + number, double(sizes[part]));
          row.numbers.emplace_back("items_" + number, double(m));
          row.numbers.emplace_back("conflicts_" + number, conflicts);
        }
        row.wrong += all > t.size() || all + 1 < t.size();  // the sentinel cell has at most one
        row.numbers.emplace_back("most_over_least", most / least);
        tell_(row);
      }
    }
  }

  // Batches of inserts and then of erases, one subtable resized at a time: the pairs of resized subtables,
  // against all inserts and erases. Li et al. bound them by 2 m for m updates (section 5.3).
  void rehashes() {
    if (design_.in_subtables) {
      make(case_.items);
      const auto made = design_.make(space_, 0, {.load_factor = 0.8, .seed = 1, .grow = false});
      table_type& t = *made;
      double updates = 0, moved = 0;
      u64 resizes = 0;
      const auto resize = [&](bool doubles) {
        const auto before = t.buckets();
        const auto held = counts_of(t);
        if (doubles)
          t.double_subtable(space_);
        else if (!t.halve_subtable(space_))
          return false;
        const u64 changed = std::ranges::mismatch(before, t.buckets()).in1 - before.begin();
        moved += double(held[changed]);
        return ++resizes != 0;
      };
      for (const bool erases : {false, true}) {
        for (u64 first = 0; first + case_.batch <= case_.items; first += case_.batch) {
          dynamic_row row = blank("subtables");
          const keys_in batch = keys(first, case_.batch);
          const u64 before = t.size();
          if (erases) {
            row.wrong += t.erase(space_, batch) != before - t.size();
            while (double(t.size()) < case_.alpha * double(t.capacity()) && resize(false)) {
            }
          } else {
            while (double(before + case_.batch) > case_.beta * double(t.capacity())) resize(true);
            row.wrong += t.insert(space_, batch, values(first, case_.batch)).refused;
          }
          updates += double(case_.batch);
          row.numbers = {{"erases", double(erases)},
                         {"items", double(t.size())},
                         {"load", t.load_factor()},
                         {"resizes", double(resizes)},
                         {"updates", updates},
                         {"rehashed", moved},
                         {"rehashed_over_updates", moved / updates}};
          tell_(row);
        }
      }
    }
  }

  // Batches of inserts, finds of what was inserted, and deletes of a share of it; then the same batches with
  // inserts and deletes exchanged.
  void workload() {
    make(case_.items);
    for (const std::string& policy : case_.policies) {
      if (policy == "subtables" && !design_.in_subtables) continue;
      std::vector<dynamic_row> rows;
      for (unsigned i = 0; i <= case_.repeat; ++i) rows.push_back(run(policy));
      rows.erase(rows.begin());
      std::ranges::sort(rows, {}, [](const dynamic_row& r) { return r.numbers[0].second; });
      tell_(rows[rows.size() / 2]);
    }
  }

  // Seconds that run() took, by the clock asked for.
  template <class Run>
  double time(Run run) {
    return case_.clock == measured_clock::wall ? space_.time(run) : processor_seconds(run);
  }

 private:
  dynamic_row run(const std::string& policy) {
    dynamic_row row = blank(policy);
    const bool by_itself = policy == "automatic";
    table_options options{.load_factor = by_itself ? 0.8 : highest(), .seed = 1, .grow = by_itself};
    if (design_.in_subtables) {
      options.alpha = case_.alpha, options.beta = case_.beta;
    } else if (by_itself) {
      options.load_factor = std::min(case_.beta, design_.highest_load);
      options.shrink_below = std::min(case_.alpha, options.load_factor / 2);
    }
    const auto made = design_.make(space_, 0, options);
    table_type& t = *made;
    const buffer<u32, Space> out(space_, case_.batch);
    const buffer<bool, Space> found(space_, case_.batch);
    double insert = 0, find = 0, erase = 0, resize = 0, restarts = 0, filled = 0, most_bytes = 0;
    u64 resizes = 0, refused = 0;
    const u64 few = u64(case_.erased * double(case_.batch)), batches = case_.items / case_.batch;
    const auto resized = [&](auto step) {
      const u64 before = t.capacity();
      resize += seconds(step);
      resizes += t.capacity() != before;
      return t.capacity() != before;
    };
    for (u32 half = 0; half < 2; ++half) {
      for (u64 b = 0; b < batches; ++b) {
        const double before = insert + find + erase + resize;
        const u64 first = b * case_.batch, in = half == 0 ? case_.batch : few;
        while (!by_itself && double(t.size() + in) > case_.beta * double(t.capacity())) {
          if (!resized([&] { grow(t, policy); })) break;
        }
        for (u32 tries = 0;; ++tries) {
          insert_report r;
          insert += seconds([&] { r = t.insert(space_, keys(first, in), values(first, in)); });
          restarts += double(r.restarts);
          refused += r.refused;
          if (r.refused == 0 || by_itself || tries == 8) break;
          resized([&] { grow(t, policy); });  // as in the paper, where an insert fails
        }
        find +=
            seconds([&] { t.find(space_, keys(first, in), out.span().first(in), found.span().first(in)); });
        check(first, in, out, found, true, row);
        const u64 gone = half == 0 ? few : case_.batch;
        erase += seconds([&] { t.erase(space_, keys(first, gone)); });
        while (!by_itself && double(t.size()) < case_.alpha * double(t.capacity())) {
          if (!resized([&] { shrink(t, policy); })) break;
        }
        row.batches.push_back(insert + find + erase + resize - before);
        row.bytes.push_back(t.bytes());
        filled += t.load_factor();
        most_bytes = std::max(most_bytes, double(t.bytes()));
      }
    }
    const spread each(row.batches);
    row.wrong += t.size() != 0;
    row.numbers = {{"total", insert + find + erase + resize},
                   {"insert", insert},
                   {"find", find},
                   {"erase", erase},
                   {"resize", resize},
                   {"resizes", double(resizes)},
                   {"restarts", restarts},
                   {"refused", double(refused)},
                   {"mean_load", filled / double(row.batches.size())},
                   {"most_bytes", most_bytes},
                   {"batch_median_ms", 1e3 * each.median},
                   {"batch_max_ms", 1e3 * each.max},
                   {"alpha", case_.alpha},
                   {"beta", case_.beta},
                   {"erased", case_.erased},
                   {"batch", double(case_.batch)},
                   {"items", double(case_.items)}};
    return row;
  }
  // Tables that are rehashed are sized for this load: rehash() gets this share of their slots.
  double highest() const { return std::min(0.9, design_.highest_load); }
  void grow(table_type& t, const std::string& policy) {
    if (policy == "subtables") return t.double_subtable(space_);
    t.rehash(space_, u64(2 * highest() * double(t.capacity())));
  }
  void shrink(table_type& t, const std::string& policy) {
    if (policy == "subtables") {
      t.halve_subtable(space_);
      return;
    }
    t.rehash(space_, std::max(t.size(), u64(0.5 * highest() * double(t.capacity()))));
  }

  // The keys of a subtable, written to `out` unless that is null.
  u64 count_part(const table_type& t, u32 number, u32* out) {
    space_.fill(wrong_.data(), 1, u64(0));
    t.take_keys(space_, number, out, wrong_.data());
    return read_one(space_, wrong_.data());
  }
  // Items of each subtable.
  std::vector<u64> counts_of(const table_type& t) {
    std::vector<u64> counts;
    for (u32 part = 0; part < t.buckets().size(); ++part) counts.push_back(count_part(t, part, nullptr));
    return counts;
  }
  buffer<u32, Space> keys_in_part(const table_type& t, u32 part) {
    buffer<u32, Space> all(space_, count_part(t, part, nullptr));
    count_part(t, part, all.data());
    return all;
  }

  u64 different() const { return case_.keys != nullptr ? case_.keys->different : case_.items; }
  // Pairs that a table of this design has in the end.
  u64 stored() const { return design_.stores_copies ? case_.items : different(); }
  // The first n keys, then such as are not among them; and their values.
  void make(u64 n) {
    keys_ = buffer<u32, Space>(space_, n);
    values_ = buffer<u32, Space>(space_, n);
    if (case_.keys != nullptr) {
      const u64 pairs = case_.items * sizeof(u32);
      space_.copy_from_host(keys_.data(), case_.keys->pairs.data(), pairs);
      if (n > case_.items)
        space_.copy_from_host(keys_.data() + case_.items, case_.keys->others.data(), pairs);
    } else {
      space_.for_each(n, make_numbered{keys_.data()});
    }
    space_.for_each(n, make_values{keys_.data(), values_.data()});
    space_.fill(wrong_.data(), 1, u64(0));
  }
  keys_in keys(u64 first, u64 n) const { return keys_.span().subspan(first, n); }
  keys_in values(u64 first, u64 n) const { return values_.span().subspan(first, n); }
  keys_in all_keys() const { return keys_.span(); }
  keys_in all_values() const { return values_.span(); }
  void check(u64 first, u64 n, const buffer<u32, Space>& out, const buffer<bool, Space>& found, bool there,
             dynamic_row& row) {
    space_.fill(wrong_.data(), 1, u64(0));
    space_.for_each(n, check_numbered{keys_.data() + first, out.data(), found.data(), there, wrong_.data()});
    row.wrong += read_one(space_, wrong_.data());
  }
  // Keys that come once are all found but for the lost ones. A lost pair of others may be all their copies.
  void check_lossy(u64 n, const insert_report& report, const buffer<u32, Space>& out,
                   const buffer<bool, Space>& found, dynamic_row& row) {
    space_.fill(wrong_.data(), 2, u64(0));
    space_.for_each(n, check_kept{keys_.data(), out.data(), found.data(), wrong_.data(), wrong_.data() + 1});
    row.wrong += read_one(space_, wrong_.data());
    if (different() == n) row.wrong += read_one(space_, wrong_.data() + 1) != n - report.refused;
  }
  dynamic_row blank(const std::string& policy) const {
    return {.design = case_.design,
            .policy = policy,
            .space = space_name_,
            .numbers = {},
            .input = case_.keys != nullptr ? case_.keys->input : ""};
  }
  static double rate(u64 n, const spread& s) { return double(n) / s.median / 1e9; }
  template <class Step>
  static double processor_seconds(Step step) {
    const std::clock_t start = std::clock();
    step();
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  }
  template <class Step>
  double seconds(Step step) {
    if (case_.clock == measured_clock::processor) return processor_seconds(step);
    space_.synchronize();
    const auto start = std::chrono::steady_clock::now();
    step();
    space_.synchronize();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  Space& space_;
  const char* space_name_;
  const dynamic_design<Space>& design_;
  const dynamic_case& case_;
  const tell_dynamic& tell_;
  buffer<u32, Space> keys_, values_;
  buffer<u64, Space> wrong_;
};

template <class Space>
void run_dynamic(Space& space, const char* name, dynamic_experiment what, const dynamic_case& the_case,
                 const tell_dynamic& tell) {
  if (what == dynamic_experiment::conflicts)
    return run_conflicts(space, name, the_case, tell);  // of no design
  const dynamic_design<Space> design = dynamic_design_of<Space>(the_case.design);
  if (design.make == nullptr || (design.is_published && what != dynamic_experiment::by_load)) return;
  dynamic_bench<Space> bench(space, name, design, the_case, tell);
  switch (what) {
    case dynamic_experiment::by_load:
      return bench.by_load();
    case dynamic_experiment::resize:
      return bench.resize();
    case dynamic_experiment::workload:
      return bench.workload();
    case dynamic_experiment::distribution:
      return bench.distribution();
    case dynamic_experiment::rehashes:
      return bench.rehashes();
    case dynamic_experiment::conflicts:
      return;
  }
}

}  // namespace tilehash::bench
