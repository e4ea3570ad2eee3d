// SPDX-License-Identifier: Apache-2.0
// A table of any design, called with arrays of its space. Code that uses it (runner.hpp, the benchmark's
// workload) is compiled once for each pair of types and space; only the tables are compiled for each design.
#pragma once

#include <tilehash/core/config.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/space/forward.hpp>

#include <memory>
#include <span>
#include <tuple>
#include <type_traits>

namespace tilehash {
struct table_options;
}  // namespace tilehash

namespace tilehash::app {

template <class Key, class Value, class Space>
class any_table {
 public:
  static constexpr bool is_set = std::is_void_v<Value>;  // then values are neither read nor written
  using key_type = Key;
  using value_type = std::conditional_t<is_set, char, Value>;
  using keys_in = std::span<const key_type>;
  using values_in = std::span<const value_type>;

  virtual ~any_table() = default;

  // The abilities of the design. A verb that it lacks does nothing.
  virtual bool inserts() const = 0;
  virtual bool erases() const = 0;
  virtual bool keeps_duplicates() const = 0;
  virtual bool tallies() const { return false; }
  // Do builds, inserts and erases go on one thread, however many the space has? (Other libraries' maps.)
  virtual bool one_writer() const { return false; }
  virtual bool counts_probes() const { return true; }

  virtual insert_report build(Space&, keys_in, values_in) = 0;
  virtual insert_report insert(Space&, keys_in, values_in) = 0;
  virtual insert_report tally(Space&, keys_in) {
    return {};
  }  // how often each key comes: insert_or_apply with op::count
  virtual u64 erase(Space&, keys_in) = 0;
  virtual void clear(Space&) = 0;

  virtual void find(Space&, keys_in, std::span<value_type> out, std::span<bool> found) const = 0;
  virtual void find_or(Space&, keys_in, std::span<value_type> out, value_type missing) const = 0;
  virtual void contains(Space&, keys_in, std::span<bool> out) const = 0;
  virtual void count(Space&, keys_in, std::span<u32> out) const = 0;
  virtual void probe_counts(Space&, keys_in, std::span<u32> out) const = 0;
  virtual u64 retrieve_all(Space&, std::span<key_type> keys, std::span<value_type> values) const = 0;

  virtual u64 size() const = 0;
  virtual u64 bytes() const = 0;
  virtual double load_factor() const = 0;
};

// Makes an empty table with capacity for so many items.
template <class Key, class Value, class Space>
using table_maker = std::unique_ptr<any_table<Key, Value, Space>> (*)(Space&, u64 items,
                                                                      const table_options&);

// A design in a space: its tables of all pairs of types that the program offers.
template <class Space>
using table_makers =
    std::tuple<table_maker<u32, void, Space>, table_maker<u32, u32, Space>, table_maker<u32, u64, Space>,
               table_maker<u64, void, Space>, table_maker<u64, u32, Space>, table_maker<u64, u64, Space>>;

}  // namespace tilehash::app
