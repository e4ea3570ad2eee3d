// What is read from a table: lookups and retrieval, the same for every table.
//
// A table derives from this and gives view(), size() and look_up_each(space, keys, n, sink), which calls
// sink(i, hit) for the i-th of n keys and does not wait.
#pragma once

#include <span>
#include <type_traits>

#include <tilehash/core/error.hpp>
#include <tilehash/kernel/entries.hpp>
#include <tilehash/space/buffer.hpp>

namespace tilehash::detail {

// An empty span may have an address, and still asks for nothing.
template <class T>
T* data_or_null(std::span<T> s) {
  return s.empty() ? nullptr : s.data();
}

template <class Table, class Space, class Key, class Mapped>
class table_reads {
  static constexpr bool is_set = std::is_void_v<Mapped>;

 public:
  // The element type of value arrays; in a set no verb takes one.
  using value_element = std::conditional_t<is_set, char, Mapped>;
  using keys_in = std::span<const Key>;
  using values_in = std::span<const value_element>;

  // ---- lookups: O(1) expected per key ----
  // Those that end in _async do not wait: the answers are there when the space's earlier work is done, and
  // until then the table and the arrays must stay as they are.

  // found[i] says whether keys[i] is in the table and out[i] is its value (Value{} when absent). `found` may
  // be empty when the caller knows.
  void find(Space& space, keys_in keys, std::span<value_element> out, std::span<bool> found = {}) const
    requires(!is_set)
  {
    find_async(space, keys, out, found);
    space.synchronize();
  }
  void find_async(Space& space, keys_in keys, std::span<value_element> out, std::span<bool> found = {}) const
    requires(!is_set)
  {
    require(out.size() == keys.size() && (found.empty() || found.size() == keys.size()),
            "find: keys, values and flags differ in length");
    space.check_pointer(data_or_null(found), "find: the flags");
    look_up(space, keys, out.data(), value_sink<Mapped>{out.data(), data_or_null(found), value_element{}});
  }
  // The same, with `missing` for the values of absent keys.
  void find_or(Space& space, keys_in keys, std::span<value_element> out, value_element missing) const
    requires(!is_set)
  {
    find_or_async(space, keys, out, missing);
    space.synchronize();
  }
  void find_or_async(Space& space, keys_in keys, std::span<value_element> out, value_element missing) const
    requires(!is_set)
  {
    require(out.size() == keys.size(), "find_or: keys and values differ in length");
    look_up(space, keys, out.data(), value_sink<Mapped>{out.data(), nullptr, missing});
  }
  void contains(Space& space, keys_in keys, std::span<bool> out) const {
    contains_async(space, keys, out);
    space.synchronize();
  }
  void contains_async(Space& space, keys_in keys, std::span<bool> out) const {
    require(out.size() == keys.size(), "contains: keys and flags differ in length");
    look_up(space, keys, out.data(), notes_sink{.found = out.data()});
  }
  // How many items have this key.
  void count(Space& space, keys_in keys, std::span<u32> out) const {
    count_async(space, keys, out);
    space.synchronize();
  }
  void count_async(Space& space, keys_in keys, std::span<u32> out) const {
    require(out.size() == keys.size(), "count: keys and counts differ in length");
    look_up(space, keys, out.data(), notes_sink{.counts = out.data()});
  }
  // How many buckets (open addressing: slots; hash_graph: bounds and entries; perfect_spatial:
  // offset and slot) the lookup of each key reads.
  void probe_counts(Space& space, keys_in keys, std::span<u32> out) const {
    require(out.size() == keys.size(), "probe_counts: keys and counts differ in length");
    look_up(space, keys, out.data(), notes_sink{.probes = out.data()});
    space.synchronize();
  }

  // ---- all items, in no given order ----
  // Writes size() keys (and values) and gives how many.
  u64 retrieve_all(Space& space, std::span<Key> keys, std::span<value_element> values) const
    requires(!is_set)
  {
    require(values.size() >= self().size(), "retrieve_all: the values' array is smaller than size()");
    return retrieve(space, keys, values.data());
  }
  u64 retrieve_all(Space& space, std::span<Key> keys) const
    requires is_set
  {
    return retrieve(space, keys, nullptr);
  }
  // f(key, value), in a set f(key), for every item, in parallel. On a GPU f is a __device__ functor.
  template <class F>
  void for_each(Space& space, F f) const {
    for_each_entry(space, self().view(), f);
    space.synchronize();
  }

 private:
  const Table& self() const { return static_cast<const Table&>(*this); }

  template <class Sink>
  void look_up(Space& space, keys_in keys, const void* out, Sink sink) const {
    space.check_pointer(keys.data(), "the keys");
    space.check_pointer(out, "the results");
    self().look_up_each(space, keys.data(), keys.size(), sink);
  }

  template <class Pointer>
  u64 retrieve(Space& space, std::span<Key> keys, Pointer values) const {
    require(keys.size() >= self().size(), "retrieve_all: the keys' array is smaller than size()");
    space.check_pointer(keys.data(), "retrieve_all: the keys");
    space.check_pointer(values, "retrieve_all: the values");
    buffer<u64, Space> count(space, 1);
    space.fill(count.data(), 1, u64(0));
    collect_entries(space, self().view(), keys.data(), static_cast<value_element*>(values), count.data());
    return read_one(space, count.data());
  }
};

}  // namespace tilehash::detail
