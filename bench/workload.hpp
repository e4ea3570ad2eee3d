// SPDX-License-Identifier: Apache-2.0
// Measures one table, ours or a peer's: builds, inserts, looks up, erases, and checks every answer where it
// is.
//
// A subject has key_type, value_type, and
//
//   reset()                       empty, with no memory; not timed
//   build(keys, values)           -> insert_report
//   insert(keys, values)          -> insert_report; where there is inserts(), if that says so
//   clear()                       empty, with its memory; not timed; where there is insert
//   reserve(items)                empty, with memory for so many; where it can be filled in parts
//   find(keys, answers, missing)
//   probe_counts(keys, buckets)   how many of them each lookup reads; where that is known
//   erase(keys)                   -> how many, if erases()
//   one_writer()                  do builds, inserts and erases go on one thread?
//   size(), bytes(), load_factor()              the last two 0 when not known
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/space/buffer.hpp>

#include <algorithm>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "measure.hpp"
#include "numbered.hpp"
#include "sort_keys.hpp"
#include "yardstick.hpp"

namespace tilehash::bench {

template <class Key, class Value>
struct make_items {
  Key* keys;
  Value* values;
  TILEHASH_FN void operator()(u64 i) const {
    keys[i] = key_of<Key>(i);
    values[i] = value_of<Value>(keys[i]);
  }
};

template <class Key>
struct make_questions {
  shuffled number;
  Key* keys;
  u64 n = ~u64(0);  // different ones, after which they come again
  TILEHASH_FN void operator()(u64 i) const { keys[i] = key_of<Key>(number(i < n ? i : i % n)); }
};

// Counts the wrong answers. The table holds the numbers below n, less those asked for by the first `erased`
// questions.
template <class Key, class Value>
struct check_answers {
  const Key* questions;
  u64 n, erased;
  const Value* answers;
  Value missing;
  u64* wrong;

  TILEHASH_FN void operator()(u64 i) const {
    const Key asked = questions[i];
    const bool present = number_of(asked) < n && i >= erased;
    const Value right = present ? value_of<Value>(asked) : missing;
    if (answers[i] != right) detail::fetch_add(wrong, u64(1));
  }
};

// The same where each question comes with the answer to whether its key is present.
template <class Key, class Value>
struct check_given {
  const Key* questions;
  const u8* there;
  const Value* answers;
  Value missing;
  u64* wrong;

  TILEHASH_FN void operator()(u64 i) const {
    const Value right = there[i] != 0 ? value_of<Value>(questions[i]) : missing;
    if (answers[i] != right) detail::fetch_add(wrong, u64(1));
  }
};

// Adds up numbers, a stretch at a time: one addition to a sum that all share for each number takes long.
struct add_up {
  static constexpr u64 stretch = 1024;

  const u32* numbers;
  u64 n;
  u64* sum;

  TILEHASH_FN void operator()(u64 part) const {
    const u64 end = (part + 1) * stretch < n ? (part + 1) * stretch : n;
    u64 its = 0;
    for (u64 i = part * stretch; i < end; ++i) its += numbers[i];
    detail::fetch_add(sum, its);
  }
};

template <class Key, class Value>
struct make_values {
  const Key* keys;
  Value* values;
  TILEHASH_FN void operator()(u64 i) const { values[i] = value_of<Value>(keys[i]); }
};

template <class Subject, class Space>
class workload {
  using key_type = typename Subject::key_type;
  using value_type = typename Subject::value_type;
  template <class T>
  using memory = buffer<T, Space>;

 public:
  workload(Space& space, Subject subject, const yardstick_case& the_case, measurement blank, const emit& tell)
      : space_(space),
        subject_(std::move(subject)),
        case_(the_case),
        blank_(std::move(blank)),
        tell_(tell),
        keys_(space, case_.n),
        values_(space, case_.n),
        answers_(space, case_.given != nullptr ? case_.given->questions.size()
                                               : std::max(case_.n, case_.least_lookups)),
        missing_(value_of<value_type>(key_of<key_type>(2 * case_.n))) {
    if (case_.given == nullptr) {
      space_.for_each(case_.n, make_items<key_type, value_type>{keys_.data(), values_.data()});
    } else {
      keys_.copy_from(as_keys(case_.given->keys));
      space_.for_each(case_.n, make_values<key_type, value_type>{keys_.data(), values_.data()});
    }
    blank_.n = case_.n;
    blank_.key_bytes = sizeof(key_type);
    blank_.value_bytes = sizeof(value_type);
  }

  // `limit` is a function of the table's bytes.
  template <class Limit>
  void run(Limit limit) {
    if (case_.fill_steps != 0) return measure_filling();
    measure_building(
        "build", case_.n, [&] { subject_.reset(); },
        [&] { return subject_.build(all_keys(), all_values()); });
    const bool has_limits = case_.queries.empty() && case_.given == nullptr;
    if (has_limits) limits_ = limit(subject_.bytes());
    finish(std::move(pending_), limits_.updates);
    if (case_.given != nullptr) return measure_given();
    if (!has_limits) return measure_queries();
    if constexpr (requires { subject_.inserts(); }) {
      if (subject_.inserts()) measure_insert();
    }
    measure_find("find_hit", shuffled(0, case_.n));
    measure_find("find_miss", shuffled(case_.n, case_.n));
    measure_find("find_mix", shuffled(0, 2 * case_.n));  // half of it is in the table
    if (subject_.erases()) measure_erase();
  }

 private:
  std::span<const key_type> all_keys() const { return keys_.span(); }
  std::span<const value_type> all_values() const { return values_.span(); }

  measurement start(std::string_view op, u64 items) const {
    measurement m = blank_;
    m.op = op;
    m.items = items;
    if constexpr (requires { space_.threads(); }) m.threads = space_.threads();
    if (subject_.one_writer() && !op.starts_with("find")) m.threads = 1;
    return m;
  }
  void finish(measurement m, double ceiling) {
    m.ceiling = ceiling;
    m.load_factor = load_factor_;
    m.bytes_per_pair = bytes_per_pair_;
    tell_(m);
  }

  template <class Setup, class Build>
  void measure_building(std::string_view op, u64 items, Setup setup, Build build) {
    measurement m = start(op, items);
    insert_report report;
    m.seconds = measure(space_, case_.repeat, setup, [&] { report = build(); });
    m.failed = report.refused;
    m.wrong = report.present + (subject_.size() != case_.n - report.refused);
    load_factor_ = subject_.load_factor();
    bytes_per_pair_ = static_cast<double>(subject_.bytes()) / static_cast<double>(case_.n);
    pending_ = std::move(m);
  }

  // Into a table that exists and holds a few items; how is up to the table.
  void measure_insert() {
    const u64 there = case_.n / 64;
    measure_building(
        "insert", case_.n - there,
        [&] {
          subject_.clear();
          std::ignore = subject_.insert(keys_.first(there), values_.first(there));  // the sizes are compared
        },
        [&] { return subject_.insert(all_keys().subspan(there), all_values().subspan(there)); });
    finish(std::move(pending_), limits_.updates);
  }

  // Equal parts, one after the other, into a table with capacity for all: what an insert costs at each fill.
  void measure_filling() {
    if constexpr (requires { subject_.reserve(case_.n); }) {
      if (!subject_.inserts()) return;
      const unsigned steps = case_.fill_steps;
      std::vector<measurement> parts(steps);
      std::vector<std::vector<double>> seconds(steps);
      for (unsigned round = 0; round <= case_.repeat; ++round) {
        if (round > 1 && app::asked_to_stop()) break;
        subject_.reserve(case_.n);
        for (unsigned step = 0; step < steps; ++step) {
          const u64 from = case_.n * step / steps, to = case_.n * (step + 1) / steps;
          measurement& m = parts[step] = start("insert", to - from);
          insert_report report;
          const double s = space_.time([&] {
            report =
                subject_.insert(all_keys().subspan(from, to - from), all_values().subspan(from, to - from));
          });
          if (round != 0) seconds[step].push_back(s);
          m.failed = report.refused;
          m.wrong = report.present + (subject_.size() != to - report.refused);
          m.load_factor = subject_.load_factor();
        }
      }
      const auto questions = ask(shuffled(0, case_.n), case_.n);
      subject_.find(questions.span(), answers_.span(), missing_);
      parts.back().wrong += wrong_answers(questions, 0);
      bytes_per_pair_ = static_cast<double>(subject_.bytes()) / static_cast<double>(case_.n);
      for (unsigned step = 0; step < steps; ++step) {
        parts[step].seconds = spread(std::move(seconds[step]));
        load_factor_ = parts[step].load_factor;
        finish(std::move(parts[step]), 0);
      }
    }
  }

  memory<key_type> ask(const shuffled& number, u64 count) {
    memory<key_type> questions(space_, count);
    space_.for_each(count, make_questions<key_type>{number, questions.data(), case_.n});
    return questions;
  }
  u64 wrong_answers(const memory<key_type>& questions, u64 erased) {
    return counted(questions.size(), [&](u64* wrong) {
      return check_answers<key_type, value_type>{questions.data(), case_.n,  erased,
                                                 answers_.data(),  missing_, wrong};
    });
  }
  // The sum over the first n numbers by the function that check() makes of a place for the sum.
  template <class Check>
  u64 counted(u64 n, Check check) {
    memory<u64> sum(space_, 1);
    space_.fill(sum.data(), 1, u64(0));
    space_.for_each(n, check(sum.data()));
    return read_one(space_, sum.data());
  }

  void measure_find(std::string_view op, const shuffled& number) {
    find(start(op, case_.n), ask(number, case_.n));
  }
  static decltype(auto) as_keys(const std::vector<u32>& given) {
    if constexpr (std::is_same_v<key_type, u32>)
      return (given);
    else
      return std::vector<key_type>(given.begin(), given.end());
  }
  void measure_given() {
    const given_keys& given = *case_.given;
    const memory<key_type> questions(space_, as_keys(given.questions));
    find(start("find", questions.size()), questions);
  }
  u64 wrong_answers(const memory<key_type>& questions) {
    if (case_.given == nullptr) return wrong_answers(questions, 0);
    const memory<u8> there(space_, case_.given->there);
    return counted(questions.size(), [&](u64* wrong) {
      return check_given<key_type, value_type>{questions.data(), there.data(), answers_.data(), missing_,
                                               wrong};
    });
  }
  void find(measurement m, const memory<key_type>& questions) {
    const auto answers = answers_.first(questions.size());
    m.seconds = measure(
        space_, case_.repeat, [] {}, [&] { subject_.find(questions.span(), answers, missing_); });
    m.wrong = wrong_answers(questions);
    if (case_.count_buckets) m.buckets = buckets_read(questions);
    finish(std::move(m), limits_.reads);
  }
  // By a lookup, on average; of the first millions.
  double buckets_read(const memory<key_type>& questions) {
    if constexpr (requires { subject_.probe_counts(questions.span(), std::span<u32>()); }) {
      memory<u32> counts(space_, std::min(questions.size(), u64(1) << 24));
      subject_.probe_counts(questions.first(counts.size()), counts.span());
      const u64 sum = counted((counts.size() + add_up::stretch - 1) / add_up::stretch, [&](u64* to) {
        return add_up{counts.data(), counts.size(), to};
      });
      return static_cast<double>(sum) / static_cast<double>(counts.size());
    }
    return 0;
  }

  void measure_queries() {
    for (const query_mix& mix : case_.queries) {
      measurement m = start("find", std::max(case_.n, case_.least_lookups));
      m.queries = mix;
      auto questions = ask(shuffled(0, case_.n, case_.n * mix.failed_percent / 100), m.items);
      if (mix.sorted) {
        auto keys = questions.to_host();
        sort_keys(keys);
        questions.copy_from(keys);
      }
      find(std::move(m), questions);
    }
  }

  void measure_erase() {
    const shuffled number(0, case_.n);
    const u64 half = case_.n / 2;
    measurement m = start("erase", half);
    const auto questions = ask(number, case_.n);
    u64 erased = 0;
    m.seconds = measure(
        space_, case_.repeat,
        [&] {
          subject_.reset();
          std::ignore = subject_.build(all_keys(), all_values());  // what is erased is counted
        },
        [&] { erased = subject_.erase(questions.first(half)); });
    subject_.find(questions.span(), answers_.span(), missing_);
    m.wrong = wrong_answers(questions, half) + (erased != half) + (subject_.size() != case_.n - half);
    finish(std::move(m), limits_.updates);
  }

  Space& space_;
  Subject subject_;
  const yardstick_case& case_;
  measurement blank_, pending_;
  const emit& tell_;
  memory<key_type> keys_;
  memory<value_type> values_;
  memory<value_type> answers_;
  value_type missing_;
  limits limits_;
  double load_factor_ = 0, bytes_per_pair_ = 0;
};

}  // namespace tilehash::bench
