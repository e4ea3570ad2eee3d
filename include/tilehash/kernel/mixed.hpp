// SPDX-License-Identifier: Apache-2.0
// A mixed batch, sorted by operation: the operations of each kind form a separate call.
//
//   ops    | find  insert  erase  find ... |      list  | 0 3 ... | 2 ... | 1 ... |     positions, in any
//                                                     finds     erases  inserts     order within a kind
#pragma once

#include <span>

#include <tilehash/algorithm/compact.hpp>
#include <tilehash/core/error.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/kernel/entries.hpp>
#include <tilehash/space/buffer.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

inline constexpr u32 operations = 4;

struct operation_selection {
  const operation* ops;
  operation what;
  u64* list;
  TILEHASH_FN bool selects(u64 i) const { return ops[i] == what; }
  TILEHASH_FN void use(u64 i, u64 number) const { list[number] = i; }
};

// to[j] = from[list[j]]
template <class T>
struct gather_body {
  const u64* list;
  const T* from;
  T* to;
  TILEHASH_FN void operator()(u64 j) const { to[j] = from[list[j]]; }
};
// Writes the results of finds to the positions of their keys, and adds the number of found keys to *count.
template <class Value>
struct scatter_answers {
  const u64* list;
  const Value* answers;
  const bool* flags;
  Value* out;
  bool* found;
  u64 n;
  u64* count;

  template <class Lane>
  TILEHASH_FN void operator()(Lane lane) const {
    const u64 j = lane.index();
    lane.tally(count, j < n && flags[j]);
    if (j < n) put(j);
  }
  void operator()(u64 from, u64 to) const {
    u64 there = 0;
    for (u64 j = from; j < to; ++j) there += flags[j], put(j);
    fetch_add(count, there);
  }

 private:
  TILEHASH_FN void put(u64 j) const {
    out[list[j]] = answers[j];
    found[list[j]] = flags[j];
  }
};
template <class Space, class Value>
void scatter(Space& space, const scatter_answers<Value>& work) {
  if constexpr (Space::has_lanes)
    space.for_each_lane(work.n, work);
  else
    space.for_each_share(work.n, work);
}

// The batch's positions by operation: those of operation k are list[begins[k]] ... list[begins[k + 1] - 1].
template <class Space>
struct sorted_operations {
  buffer<u64, Space> list;
  u64 begins[operations + 1] = {};

  // Synchronizes with the host. A value of ops that is no operation is not listed.
  sorted_operations(Space& space, const operation* ops, u64 n) : list(space, n) {
    buffer<u64, Space> ends(space, operations + 1);
    space.fill(ends.data(), ends.size(), u64(0));
    for (u32 k = 0; k < operations; ++k) {
      u64* const count = ends.data() + k + 1;
      space.copy(count, ends.data() + k, sizeof *count);
      compact(space, n, operation_selection{ops, static_cast<operation>(k), list.data()}, count);
    }
    space.copy_to_host(begins, ends.data(), sizeof begins);
  }
  u64 count(operation what) const {
    const auto k = static_cast<u32>(what);
    return begins[k + 1] - begins[k];
  }
  const u64* positions(operation what) const { return list.data() + begins[static_cast<u32>(what)]; }
};

// One call of a mixed batch: allocates its memory, runs the finds, then changes the table. `LookUp` looks up
// keys for a sink.
template <class Table, class Space, class Key, class Value, class LookUp>
class mixed_call {
 public:
  // Copies the keys and values of each kind: all memory that this class allocates for inserts, assigns and
  // erases.
  mixed_call(Table& table, Space& space, const sorted_operations<Space>& parts, std::span<const Key> keys,
             std::span<const Value> values, const LookUp& look_up)
      : table_(table),
        space_(space),
        parts_(parts),
        look_up_(look_up),
        erases_(part_of(operation::erase, keys)),
        inserts_(part_of(operation::insert, keys)),
        assigns_(part_of(operation::insert_or_assign, keys)),
        inserted_(values_of(operation::insert, values)),
        assigned_(values_of(operation::insert_or_assign, values)),
        finds_(keys) {}

  apply_report run(std::span<Value> out, std::span<bool> found) {
    apply_report report;
    if (parts_.count(operation::find) != 0) report.found = answer(out, found);
    missing_ = buffer<u64, Space>(space_, inserts_.size() != 0);
    if (erases_.size() != 0) report.erased = table_.erase(space_, erases_.span());
    changed_ = report.erased != 0;
    if (inserts_.size() != 0)
      report.inserted =
          change(inserts_, true, [&] { return table_.insert(space_, inserts_.span(), inserted_.span()); });
    if (assigns_.size() != 0)
      report.assigned = change(assigns_, false, [&] {
        return table_.insert_or_assign(space_, assigns_.span(), assigned_.span());
      });
    return report;
  }

 private:
  template <class T>
  buffer<T, Space> part_of(operation what, std::span<const T> all) const {
    buffer<T, Space> own(space_, parts_.count(what));
    space_.for_each(own.size(), gather_body<T>{parts_.positions(what), all.data(), own.data()});
    return own;
  }
  buffer<Value, Space> values_of(operation what, std::span<const Value> values) const {
    require(parts_.count(what) == 0 || !values.empty(), "apply: inserts need an array of values");
    return part_of(what, values);
  }
  // Returns the number of keys found.
  u64 answer(std::span<Value> out, std::span<bool> found) {
    require(!found.empty(), "apply: finds need arrays for their results");
    const u64 n = parts_.count(operation::find);
    const auto wanted = part_of(operation::find, finds_);
    const buffer<Value, Space> answers(space_, n);
    const buffer<bool, Space> flags(space_, n);
    const buffer<u64, Space> count(space_, 1);
    space_.fill(count.data(), 1, u64(0));
    table_.find_async(space_, wanted.span(), answers.span(), flags.span());
    scatter(space_, scatter_answers<Value>{parts_.positions(operation::find), answers.data(), flags.data(),
                                           out.data(), found.data(), n, count.data()});
    return read_one(space_, count.data());
  }
  // Out of memory after the table has changed: the operations of this kind are refused. Keeping a present key
  // needs no memory; assigning it a value may need some.
  template <class Verb>
  insert_report change(const buffer<Key, Space>& keys, bool keeps, const Verb& verb) {
    try {
      const insert_report r = verb();
      changed_ = changed_ || r.inserted + r.present != 0;
      return r;
    } catch (const out_of_memory&) {
      if (!changed_) throw;
      insert_report r{.refused = keys.size()};
      if (!keeps) return r;
      space_.fill(missing_.data(), 1, u64(0));
      look_up_(keys.span(), missing_sink{missing_.data()});
      r.refused = read_one(space_, missing_.data());
      r.present = keys.size() - r.refused;
      return r;
    }
  }

  Table& table_;
  Space& space_;
  const sorted_operations<Space>& parts_;
  const LookUp& look_up_;
  const buffer<Key, Space> erases_, inserts_, assigns_;
  const buffer<Value, Space> inserted_, assigned_;
  const std::span<const Key> finds_;  // the keys of all operations
  buffer<u64, Space> missing_;        // a counter
  bool changed_ = false;
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
