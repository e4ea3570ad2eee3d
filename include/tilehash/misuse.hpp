// SPDX-License-Identifier: Apache-2.0
// misuse<Design, Space>: compiler messages for common mistakes in calls of a table's verbs.
//
// Each verb has deleted overloads here. They are worse matches than those of `table`: a C ellipsis takes
// anything and is the last choice. A call that no verb takes therefore ends with one error, whose first line
// names the correct call. A concept that tests for the call is still false. Nothing here is ever defined; one
// table's declarations cost less than a millisecond of compile time.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>

#include <tilehash/core/config.hpp>
#include <tilehash/core/op.hpp>
#include <tilehash/core/options.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/space/forward.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// A message that can be a template argument.
template <std::size_t N>
struct message {
  char text[N];
  consteval message(const char (&from)[N]) {  // NOLINT(google-explicit-constructor): a literal becomes one
    for (std::size_t i = 0; i < N; ++i) text[i] = from[i];
  }
};
template <message Text>
struct says;  // never defined

// TILEHASH_SAYS(name, "the message") verb(...) TILEHASH_REFUSED; Compilers show a message in different places:
// clang shows an attribute, g++ a deleted function's return type, nvcc an incomplete return type's name.
#if defined(__CUDACC__)
#define TILEHASH_SAYS(name, text) struct name
#define TILEHASH_REFUSED = delete
#elif defined(__clang__)
#define TILEHASH_SAYS(name, text) __attribute__((unavailable("tilehash: " text))) int
#define TILEHASH_REFUSED
#else
#define TILEHASH_SAYS(name, text) says<"tilehash: " text>
#define TILEHASH_REFUSED = delete
#endif

// An array of values: neither outcomes nor `keep`, which a set's verbs also take.
template <class Values>
concept values_given = !std::convertible_to<Values, std::span<outcome>> &&
                       !std::same_as<std::remove_cvref_t<Values>, tilehash::keep>;

// A message and its declaration have one line each.
// clang-format off
// Mistakes with any verb: no space in front, other types than the verb's, or braces instead of arrays.
#define TILEHASH_MISUSES(verb, usage, constness) \
  TILEHASH_SAYS(the_first_argument_must_be_the_space, "the first argument must be the space, a variable: " usage) \
  verb(...) constness TILEHASH_REFUSED; \
  TILEHASH_SAYS(arrays_must_have_exactly_the_key_and_value_types, "arrays must be contiguous and of exactly the key and value types: " usage) \
  verb(Space&, ...) constness TILEHASH_REFUSED; \
  template <std::size_t N> \
  TILEHASH_SAYS(braces_are_no_arrays, "braces are no array; name one: std::vector<key_type> keys{...}; " usage) \
  verb(Space&, const a_key (&&)[N], ...) constness TILEHASH_REFUSED; \
  template <std::size_t N, std::size_t M> \
  TILEHASH_SAYS(braces_are_no_arrays, "braces are no array; name one: std::vector<key_type> keys{...}; " usage) \
  verb(Space&, const a_key (&&)[N], const a_value (&&)[M]) constness TILEHASH_REFUSED
// The same for a verb that changes the table.
#define TILEHASH_MISUSES_OF_CHANGE(verb, usage) \
  TILEHASH_MISUSES(verb, usage, ); \
  TILEHASH_SAYS(this_table_is_const, "the table is const, and " #verb " changes it") \
  verb(...) const TILEHASH_REFUSED

template <class Design, class Space>
class misuse {
 protected:
  // Inserts never rebuild the table, so they need no synchronization with the host.
  static constexpr bool never_rebuilds = changed_in_place<Design> && !replacing<Design>;

 private:
  static_assert(!std::same_as<Space, no_space>,
                "tilehash: name the space, as in map<Key, Value, tilehash::cpu>; on a GPU it is tilehash::cuda");

  using a_key = typename Design::key_type;
  static constexpr bool is_set = std::is_void_v<typename Design::mapped_type>, on_host = !Space::has_lanes;
  static constexpr bool may_insert =
      !std::same_as<typename Design::template engine<Space>, engine::built_once<Design, Space>>;
  using a_value = std::conditional_t<is_set, char, typename Design::mapped_type>;
  using key_array = std::span<const a_key>;
  using value_array = std::span<const a_value>;

 public:
  // ---- names of the standard library's maps ----
  template <class Key>
  TILEHASH_SAYS(there_is_no_subscript, "there is no operator[]: find(key) and at(key) read one key on a CPU, find(space, keys, out) many; insert_or_assign(space, keys, values) writes")
  operator[](const Key&) const TILEHASH_REFUSED;
  TILEHASH_SAYS(there_are_no_iterators, "there are no iterators: for_each(space, f), or retrieve_all(space, keys, values)")
  begin() const TILEHASH_REFUSED;
  TILEHASH_SAYS(there_are_no_iterators, "there are no iterators: for_each(space, f), or retrieve_all(space, keys, values)")
  end() const TILEHASH_REFUSED;
  TILEHASH_SAYS(there_is_no_emplace, "there is no emplace: insert(space, keys, values), or insert(space, key, value) on a CPU")
  emplace(...) TILEHASH_REFUSED;
  TILEHASH_SAYS(there_is_no_emplace, "there is no try_emplace: insert(space, keys, values), or insert(space, key, value) on a CPU")
  try_emplace(...) TILEHASH_REFUSED;

  // ---- build and insert ----
  TILEHASH_MISUSES_OF_CHANGE(build, "build(space, keys, values), for a set build(space, keys)");
  TILEHASH_MISUSES_OF_CHANGE(insert, "insert(space, keys, values), for a set insert(space, keys); an array of tilehash::outcome may follow");
  TILEHASH_SAYS(a_map_takes_values, "a map takes a value for each key: build(space, keys, values)")
  build(Space&, key_array) requires(!is_set) TILEHASH_REFUSED;
  TILEHASH_SAYS(a_map_takes_values, "a map takes a value for each key: insert(space, keys, values)")
  insert(Space&, key_array) requires(!is_set && may_insert) TILEHASH_REFUSED;
  template <values_given Values>
  TILEHASH_SAYS(a_set_takes_no_values, "a set takes no values: build(space, keys)")
  build(Space&, key_array, Values&&) requires is_set TILEHASH_REFUSED;
  template <values_given Values>
  TILEHASH_SAYS(a_set_takes_no_values, "a set takes no values: insert(space, keys)")
  insert(Space&, key_array, Values&&) requires(is_set && may_insert) TILEHASH_REFUSED;
  TILEHASH_SAYS(a_set_takes_no_keep, "a set takes no keep, as only values distinguish equal keys: build(space, keys)")
  build(Space&, key_array, tilehash::keep) requires is_set TILEHASH_REFUSED;
  TILEHASH_SAYS(a_set_takes_no_keep, "a set takes no keep, as only values distinguish equal keys: insert(space, keys)")
  insert(Space&, key_array, tilehash::keep) requires is_set TILEHASH_REFUSED;
  template <class... Given>
  TILEHASH_SAYS(this_design_does_not_insert, "this design is built at once: build() again, or take one that has insert() (docs/reference/verbs.md)")
  insert(Space&, Given&&...) requires(!may_insert) TILEHASH_REFUSED;
  TILEHASH_MISUSES_OF_CHANGE(insert_async, "insert_async(space, keys, values, report), with a pointer to an insert_report");
  template <class... Given>
  TILEHASH_SAYS(this_design_does_not_insert_async, "an insert of this design may need a new table, so the host waits: insert()")
  insert_async(Space&, Given&&...) requires(!never_rebuilds) TILEHASH_REFUSED;

  // ---- update and erase ----
  TILEHASH_MISUSES_OF_CHANGE(insert_or_assign, "insert_or_assign(space, keys, values)");
  TILEHASH_MISUSES_OF_CHANGE(insert_or_apply, "insert_or_apply(space, keys, values, op), with op::count (space, keys, op)");
  template <class Op>
  TILEHASH_SAYS(the_op_does_not_fit_the_values, "the op does not fit the values: it takes two of them and gives one; op::mean is for values of mean_of<T>")
  insert_or_apply(Space&, key_array, value_array, Op, std::span<outcome> = {}) requires(!is_set && !combines<Op, a_value>) TILEHASH_REFUSED;
  TILEHASH_MISUSES_OF_CHANGE(erase, "erase(space, keys)");
  template <class... Given>
  TILEHASH_SAYS(this_design_does_not_erase, "this design is built at once: build() again, or take one that has erase() (docs/reference/verbs.md)")
  erase(Space&, Given&&...) requires(!erasable<Design>) TILEHASH_REFUSED;
  TILEHASH_SAYS(the_first_argument_must_be_the_space, "the first argument must be the space, a variable: clear(space)")
  clear(...) TILEHASH_REFUSED;  // (Space&, ...) would be as good a match as (Space&)
  TILEHASH_SAYS(this_table_is_const, "the table is const, and clear changes it")
  clear(...) const TILEHASH_REFUSED;
  TILEHASH_MISUSES_OF_CHANGE(reserve, "reserve(space, items)");

  // ---- lookups ----
  TILEHASH_MISUSES(find, "find(space, keys, out, found), found of bools or bytes (std::vector<bool> has neither); find(key) is for tables on a CPU, view().find(key) for kernels", const requires(!is_set));
  TILEHASH_SAYS(a_set_has_no_values, "a set has no values: contains(space, keys, found), or contains(key) on a CPU")
  find(...) const requires is_set TILEHASH_REFUSED;
  TILEHASH_MISUSES(contains, "contains(space, keys, found), found of bools or bytes (std::vector<bool> has neither); contains(key) is for tables on a CPU, view().contains(key) for kernels", const);
  TILEHASH_MISUSES(count, "count(space, keys, counts), with counts of 32 bits", const);
  TILEHASH_SAYS(at_takes_a_key, "at(key) takes one key, of the key type")
  at(...) const requires(!is_set && on_host) TILEHASH_REFUSED;
  TILEHASH_SAYS(at_is_for_cpus, "at(key) is for tables on a CPU: find(space, keys, out, found), or view().find(key) in a kernel")
  at(...) const requires(!is_set && !on_host) TILEHASH_REFUSED;
  TILEHASH_SAYS(a_set_has_no_values, "a set has no values: contains(space, keys, found), or contains(key) on a CPU")
  at(...) const requires is_set TILEHASH_REFUSED;
  TILEHASH_MISUSES(retrieve_all, "retrieve_all(space, keys, values), for a set retrieve_all(space, keys)", const);
  TILEHASH_SAYS(the_first_argument_must_be_the_space, "the first argument must be the space, a variable: for_each(space, f)")
  for_each(...) const TILEHASH_REFUSED;
};
// clang-format on
#undef TILEHASH_MISUSES_OF_CHANGE
#undef TILEHASH_MISUSES
#undef TILEHASH_REFUSED
#undef TILEHASH_SAYS

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
