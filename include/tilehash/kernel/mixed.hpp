// A mixed batch, sorted by what is to be done: then each part is a call of its own.
//
//   ops    | find  insert  erase  find ... |      list  | 0 3 ... | 2 ... | 1 ... |     places, in no given
//                                                     finds     erases  inserts     order within a part
#pragma once

#include <tilehash/algorithm/compact.hpp>
#include <tilehash/core/result.hpp>
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
// The answers of finds go back to the places of their keys; how many were found is added to *count.
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
    space.for_each_chunk(work.n, work);
}

// The batch's places by operation: those of operation k are list[begins[k]] ... list[begins[k + 1] - 1].
template <class Space>
struct sorted_operations {
  buffer<u64, Space> list;
  u64 begins[operations + 1] = {};

  // Waits. What is no operation is in no part.
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
  const u64* places(operation what) const { return list.data() + begins[static_cast<u32>(what)]; }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
