// SPDX-License-Identifier: Apache-2.0
// One case of one table, as the program's list of designs has it.
#pragma once

#include <optional>
#include <tuple>

#include "ours/tail.hpp"
#include "table_subject.hpp"

namespace tilehash::bench {

template <class Key>
struct make_skewed_questions {
  u64 n;
  Key* keys;
  TILEHASH_FN void operator()(u64 i) const { keys[i] = key_of<Key>(zipf_number(i, n)); }
};

template <class Key, class Value, class Space>
class tail_workload {
  template <class T>
  using memory = buffer<T, Space>;

 public:
  tail_workload(Space& space, const tail_case& the_case, unsigned repeat,
                app::table_maker<Key, Value, Space> make)
      : space_(space),
        case_(the_case),
        repeat_(repeat),
        subject_(space, make, the_case.load_factor),
        keys_(space, case_.n),
        values_(space, case_.n),
        answers_(space, case_.n) {
    space_.for_each(case_.n, make_items<Key, Value>{keys_.data(), values_.data()});
  }

  bool can() const {
    return case_.op == tail_op::find ||
           (case_.op == tail_op::insert ? subject_.inserts() : subject_.erases());
  }

  tail_row run(known_limits& known) {
    tail_row row;
    row.what = case_;
    switch (case_.op) {
      case tail_op::insert:
        measure_insert(row);
        break;
      case tail_op::erase:
        measure_erase(row);
        break;
      case tail_op::find:
        measure_find(row);
        break;
    }
    row.ceilings = known.at(space_, subject_.bytes(), repeat_);
    return row;
  }

 private:
  void measure_insert(tail_row& row) {
    const u64 there = case_.n - case_.items;
    insert_report report;
    time(
        row,
        [&] {
          subject_.reserve(case_.n);
          report = subject_.insert(keys_.first(there), values_.first(there));
        },
        [&] { report = subject_.insert(keys_.span().subspan(there), values_.span().subspan(there)); });
    row.load_factor = subject_.load_factor();
    row.failed = report.refused;
    row.wrong += report.present + (subject_.size() != case_.n - report.refused);
    subject_.find(keys_.span(), answers_.span(), missing());
    check(row, keys_, 0);
  }
  void measure_erase(tail_row& row) {
    const memory<Key> questions(space_, case_.n);
    space_.for_each(case_.n, make_questions<Key>{shuffled(0, case_.n), questions.data()});
    u64 erased = 0;
    time(
        row, [&] { fill(row); }, [&] { erased = subject_.erase(questions.first(case_.items)); });
    row.wrong += (erased != case_.items) + (subject_.size() != case_.n - case_.items);
    subject_.find(questions.span(), answers_.span(), missing());
    check(row, questions, case_.items);
  }
  void measure_find(tail_row& row) {
    fill(row);
    const memory<Key> questions(space_, case_.n);
    space_.for_each(case_.n, make_skewed_questions<Key>{case_.n, questions.data()});
    time(
        row, [] {}, [&] { subject_.find(questions.span(), answers_.span(), missing()); });
    check(row, questions, 0);
  }

  void fill(tail_row& row) {
    subject_.reset();
    row.failed = subject_.build(keys_.span(), values_.span()).refused;
    row.load_factor = subject_.load_factor();
  }
  template <class Setup, class Run>
  void time(tail_row& row, Setup setup, Run run) {
    row.seconds = measure(space_, repeat_, setup, run);
  }
  Value missing() const { return value_of<Value>(key_of<Key>(2 * case_.n)); }
  void check(tail_row& row, const memory<Key>& questions, u64 erased) {
    memory<u64> wrong(space_, 1);
    space_.fill(wrong.data(), 1, u64(0));
    space_.for_each(case_.n, check_answers<Key, Value>{questions.data(), case_.n, erased, answers_.data(),
                                                       missing(), wrong.data()});
    row.wrong += read_one(space_, wrong.data());
  }

  Space& space_;
  const tail_case& case_;
  unsigned repeat_;
  table_subject<Key, Value, Space> subject_;
  memory<Key> keys_;
  memory<Value> values_, answers_;
};

template <class Space>
std::optional<tail_row> measure_tail(Space& space, const app::table_makers<Space>& tables,
                                     const tail_case& the_case, known_limits& known, unsigned repeat) {
  const auto run = [&]<class Key, class Value>() -> std::optional<tail_row> {
    const auto make = std::get<app::table_maker<Key, Value, Space>>(tables);
    if (make == nullptr) return {};  // not in this build
    tail_workload<Key, Value, Space> work(space, the_case, repeat, make);
    if (!work.can()) return {};
    return work.run(known);
  };
  return the_case.bits == 64 ? run.template operator()<u64, u64>() : run.template operator()<u32, u32>();
}

}  // namespace tilehash::bench
