// expect (g++): tilehash: for_each calls f(key, value), in a set f(key)
// expect (clang): tilehash: for_each calls f(key, value), in a set f(key)
// expect (nvcc): the_first_argument_must_be_the_space
// expect (nvcc): arrays_must_have_exactly_the_key_and_value_types
// expect (nvcc): braces_are_no_arrays
// expect (nvcc): this_table_is_const
// expect (nvcc): a_map_takes_values
// expect (nvcc): there_is_no_subscript
// expect (nvcc): there_are_no_iterators
// expect (nvcc): there_is_no_emplace
// expect (nvcc): the_op_does_not_fit_the_values
// expect (nvcc): at_takes_a_key
// expect (nvcc): a_set_takes_no_values
// expect (nvcc): a_set_takes_no_keep
// expect (nvcc): a_set_has_no_values
// expect (nvcc): this_design_does_not_insert
// expect (nvcc): this_design_does_not_erase
// SPDX-License-Identifier: Apache-2.0
// errors: 44
// errors (clang): 51
// The compiler's first message about a usual mistake says what to write instead.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <tilehash/papers/papers.hpp>
#include <tilehash/tilehash.hpp>

using std::vector;
using tilehash::cpu, tilehash::outcome;
using map = tilehash::map<unsigned, double, cpu>;
using set = tilehash::set<unsigned, cpu>;
using graph = tilehash::table<tilehash::hash_graph<unsigned, double>, cpu>;
using pushing = tilehash::table<tilehash::papers::mega_kv<unsigned, double>, cpu>;

// A mistake and its message are on one line.
// clang-format off
void of_a_map(cpu& space, map& m, const map& fixed, const vector<unsigned>& keys, const vector<double>& values, vector<double>& out) {
  auto r = m.insert(keys, values);  // says: must be the space, a variable: insert(space, keys, values)
  r = m.insert(keys, values, space);  // says: must be the space, a variable: insert(space, keys, values)
  r = m.insert(3U, 0.5);  // says: must be the space
  r = m.insert(std::pair(3U, 0.5));  // says: must be the space
  r = m.insert(space, std::pair(3U, 0.5));  // says: arrays must be contiguous and of exactly the key and value types: insert(space, keys, values)
  r = m.insert(space, keys);  // says: a map takes a value for each key: insert(space, keys, values)
  r = m.insert(space, keys, 0.5);  // says: arrays must be contiguous and of exactly the key and value types
  r = m.insert(space, vector<int>{3}, values);  // says: arrays must be contiguous and of exactly the key and value types
  r = m.insert(space, keys, vector<float>{0.5F});  // says: arrays must be contiguous and of exactly the key and value types
  r = m.insert(space, std::array{std::string("three")}, values);  // says: arrays must be contiguous and of exactly the key and value types
  r = m.insert(space, {3, 4}, {0.5, 0.25});  // says: braces are no array; name one: std::vector<key_type> keys{...}; insert(space, keys, values)
  r = m.insert(space, {3, 4}, values);  // says: braces are no array; name one: std::vector<key_type> keys{...}; insert(space, keys, values)
  r = m.insert(space, keys, values, vector<bool>(keys.size()));  // says: an array of tilehash::outcome may follow
  r = m.insert(cpu(), keys, values);  // says: must be the space, a variable: insert(space, keys, values)
  r = fixed.insert(space, keys, values);  // says: the table is const, and insert changes it
  r = m.build(keys, values);  // says: must be the space, a variable: build(space, keys, values)
  r = m.build(space, keys);  // says: a map takes a value for each key: build(space, keys, values)
  m[3] = 0.5;  // says: there is no operator[]: find(key) and at(key) read one key on a CPU
  for (auto item : m) static_cast<void>(item);  // says: there are no iterators: for_each(space, f), or retrieve_all(space, keys, values)
  m.emplace(3, 0.5);  // says: there is no emplace: insert(space, keys, values), or insert(space, key, value) on a CPU
  m.find(space, keys, out, vector<bool>(keys.size()));  // says: found of bools or bytes (std::vector<bool> has neither)
  m.find(space, 3U);  // says: find(key) is for tables on a CPU
  m.find(keys, out);  // says: must be the space, a variable: find(space, keys, out, found)
  m.contains(space, keys, vector<bool>(keys.size()));  // says: found of bools or bytes (std::vector<bool> has neither)
  r = m.insert_or_apply(space, keys, values, tilehash::op::mean{});  // says: op::mean is for values of mean_of<T>
  r = m.insert_or_apply(space, keys, values, [](double x) { return x; });  // says: the op does not fit the values: it takes two of them and gives one
  r = m.insert_or_assign(keys, values);  // says: must be the space, a variable: insert_or_assign(space, keys, values)
  m.erase(keys);  // says: must be the space, a variable: erase(space, keys)
  m.erase(space, 3U);  // says: arrays must be contiguous and of exactly the key and value types: erase(space, keys)
  m.clear();  // says: must be the space, a variable: clear(space)
  m.reserve(100);  // says: must be the space, a variable: reserve(space, items)
  m.for_each([](unsigned, double) {});  // says: must be the space, a variable: for_each(space, f)
  m.for_each(space, [](unsigned) {});
  m.retrieve_all(out);  // says: must be the space, a variable: retrieve_all(space, keys, values)
  m.at(std::string("three"));  // says: at(key) takes one key, of the key type
}
void of_a_set(cpu& space, set& s, const vector<unsigned>& keys, const vector<double>& values, vector<double>& out) {
  auto r = s.insert(space, keys, values);  // says: a set takes no values: insert(space, keys)
  r = s.build(space, keys, values);  // says: a set takes no values: build(space, keys)
  r = s.insert(space, keys, tilehash::keep::first);  // says: a set takes no keep, as only values distinguish equal keys: insert(space, keys)
  s.find(space, keys, out);  // says: a set has no values: contains(space, keys, found), or contains(key) on a CPU
  s.at(3U);  // says: a set has no values: contains(space, keys, found), or contains(key) on a CPU
}
void of_other_designs(cpu& space, graph& g, pushing& p, tilehash::insert_report* report, const vector<unsigned>& keys, const vector<double>& values) {
  auto r = g.insert(space, keys, values);  // says: this design is built at once: build() again, or take one that has insert() (docs/reference/verbs.md)
  g.erase(space, keys);  // says: this design is built at once: build() again, or take one that has erase() (docs/reference/verbs.md)
  p.insert_async(space, keys, values, report);  // says: an insert of this design may need a new table, so the host waits: insert()
}
// clang-format on
