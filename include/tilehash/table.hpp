// table<Design, Space>: every verb, once for all designs.
//
//   user -> table (checks, and one call) -> engine (how tables of this design own memory and change)
//                                             -> kernel (what runs for each item) -> design (where to look)
//
// A table offers the verbs its design has the concepts for (designs/concepts.hpp); docs/verbs.md lists them.
// What holds for all verbs:
//
//   space    comes first. Any space object of the device that the table was made on will do; a call through
//            another one than the table's own is put in order with what that one was given (space/foreign_stream.hpp).
//   arrays   are memory of that space, of as many elements as there are keys. In a set no verb takes values.
//            Arrays that are only read may overlap. An array that is written must not overlap any other, or
//            the verb throws invalid_argument, unless its words here say that it works in place.
//   waiting  A verb waits until its answers are there, unless its name ends in _async or it says so.
//   beside   Lookups and other const verbs may run side by side. A verb that changes the table runs alone:
//            no other call of any thread, no lookup under way. Within a call all items run side by side.
//   memory   comes from the space that the table was made with (of a build: that it is given). What a verb
//            takes while it runs, beside what the table has, is said with it. What was moved from is an
//            empty table.
//   errors   invalid_argument: arrays of different lengths or of other memory. out_of_memory, cuda_error: of
//            the space. error: items that no hash function places.
//   guarantee  Strong, for out_of_memory, error and invalid_argument: when a call throws one of them, the
//            table is as it was before. An insert that has changed the table does not throw out_of_memory:
//            it refuses the items that need more memory, counts them in the report and names them in
//            `outcomes`; a key that is present is never refused by insert(). No key that was in the table
//            before a call is lost, whatever the call finds. After a cuda_error the table is lost.
//   functions  A function that you pass (an op, or what for_each calls) may throw on a CPU. The first
//            exception reaches the caller, from whichever thread it comes. An op leaves the basic guarantee:
//            the table is valid and keeps all its keys, size() is exact, and each value has some of the items
//            applied. A hasher must not throw: its operator() is noexcept. docs/adr/0026.
// length: the docstrings of all verbs.
#pragma once

#include <concepts>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <tilehash/core/error.hpp>
#include <tilehash/core/flags.hpp>
#include <tilehash/core/key.hpp>
#include <tilehash/core/op.hpp>
#include <tilehash/core/options.hpp>
#include <tilehash/core/overlap.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/engine/built_once.hpp>
#include <tilehash/engine/insertion.hpp>
#include <tilehash/engine/rows.hpp>
#include <tilehash/kernel/entries.hpp>
#include <tilehash/kernel/lift.hpp>
#include <tilehash/kernel/mixed.hpp>
#include <tilehash/misuse.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/foreign_stream.hpp>
#include <tilehash/table_view.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

// Can inserts keep the first of equal keys?
template <class Engine>
concept keeps_first = requires { &Engine::insert_first; };

template <class Design, class Space>
class table : public detail::misuse<Design, Space> {
  using misuse = detail::misuse<Design, Space>;

 public:
  // What a call that no verb takes is told (misuse.hpp).
  using misuse::at, misuse::begin, misuse::build, misuse::clear, misuse::contains, misuse::count;
  using misuse::emplace, misuse::end, misuse::erase, misuse::find, misuse::for_each, misuse::insert;
  using misuse::insert_async, misuse::insert_or_apply, misuse::insert_or_assign, misuse::reserve;
  using misuse::retrieve_all, misuse::try_emplace, misuse::operator[];

  using design_type = Design;
  using space_type = Space;
  using engine_type = typename Design::template engine<Space>;
  using key_type = typename Design::key_type;
  using mapped_type = typename Design::mapped_type;
  using hasher = typename Design::hasher;
  using size_type = u64;
  static_assert(detail::hashes_without_throwing<hasher, key_type>(),
                "tilehash: a hasher must not throw; declare its operator() noexcept");
  using view_type = table_view<Design>;
  static constexpr bool is_set = std::is_void_v<mapped_type>;  // keys without values

  // The element type of value arrays; in a set no verb takes one.
  using value_element = std::conditional_t<is_set, char, mapped_type>;
  // insert() puts items beside those that are there, whatever their keys.
  static constexpr bool adds_items =
      !insertable<Design> && requires(engine_type e, Space s, const key_type* k, const value_element* v) {
        e.insert_arrays(s, k, v, u64(0));
      };

  using keys_in = std::span<const key_type>;
  using values_in = std::span<const value_element>;
  // Can a thread of the host work on it by itself?
  static constexpr bool one_by_one =
      !Space::has_lanes && requires(const view_type v, const key_type k) { v.find(k); };

  // An empty table with room for `items` at the options' load factor. O(capacity). Throws invalid_argument
  // (a load factor that the design does not take, more items than it can hold), out_of_memory. Does not wait.
  explicit table(Space& space, u64 items = 0, table_options options = {})
      : engine_(space, items, detail::completed<Design>(options)) {}

  // An equal table, with the same seed, in memory of `space`, which is any of the same device. O(bytes()).
  // Throws out_of_memory; this table stays as it is in any case. Waits only for calls that did not. Beside
  // lookups.
  [[nodiscard]] table clone(Space& space) const
    requires requires(const engine_type e) { e.clone(space); }
  {
    [[maybe_unused]] const auto call = reading(space, "clone");
    return engine_.has_memory() ? table(engine_.clone(space)) : table(space, 0, options());
  }

  // ---- what it is: O(1) ----
  // Items. Also those that views and calls that did not wait have put in: then it reads 256 bytes of the
  // table's memory and waits for the work of the table's own space. Beside other const verbs.
  u64 size() const {
    if constexpr (requires { engine_.live_size(); })
      return engine_.live_size();
    else
      return engine_.size();
  }
  u64 capacity() const { return engine_.capacity(); }  // slots; of a table of rows, rows
  // size() over capacity(): items a slot, or a row.
  double load_factor() const {
    return capacity() == 0 ? 0 : static_cast<double>(size()) / static_cast<double>(capacity());
  }
  u64 bytes() const { return engine_.bytes(); }  // all memory the table holds
  bool empty() const { return size() == 0; }     // waits as size() does
  // What it was made with; the seed is the one in use.
  const table_options& options() const { return engine_.options(); }

  // What kernels and threads of the user's own look keys up in, passed to them by value: valid until the
  // table changes its memory (build, rehash, reserve, an insert that grows), is moved or ends. That of a
  // moved-from table answers as an empty one's. Does not wait.
  view_type view() const { return engine_.view(); }
  // The same for those who also insert, update and erase, each thread by itself or in a tile (table_view.hpp
  // says what may run beside what). A view may be kept and used any number of times while it is valid: size()
  // counts all that was changed through it, once the kernel or the threads that changed it are done. From
  // then on size(), and each verb that changes the table and waits, reads that count first, and waits for it
  // in the stream of the table's own space: after a kernel in another stream, synchronize that one first.
  // Throws invalid_argument for a space of another device. Does not wait.
  auto mutable_view(Space& space)
    requires view_changeable<Design>
  {
    detail::require_same_device(engine_.home(), space, "mutable_view");
    return with_memory(space).mutable_view();
  }

  // ---- build: replaces the contents by these items, in memory sized for them ----
  // O(n). Of equal keys any one wins and the others count as present, unless the design keeps duplicates. A
  // NaN is refused. Memory while it runs: the new table beside the old, and what the design says of its
  // build. Throws error where a design that is built at once finds no hash function for the keys. Waits.
  // Alone.
  insert_report build(Space& space, keys_in keys, values_in values)
    requires(!is_set)
  {
    check_items(space, keys, values, "build: keys and values differ in length");
    [[maybe_unused]] const auto call = changing(space, "build");
    return build_from(home(space), keys, values.data());
  }
  insert_report build(Space& space, keys_in keys)
    requires is_set
  {
    check(space, keys, "build: the keys");
    [[maybe_unused]] const auto call = changing(space, "build");
    return build_from(home(space), keys, nullptr);
  }
  // ... with keep::first: of equal keys the first in the arrays wins. Values are what tells equal keys apart,
  // so sets have no need of it; keys and values of up to 8 bytes each. Memory while it runs: five times the
  // items' bytes (up to 32 million items at once) beside what the build takes; of an empty `tiled`, where
  // keys come a few times each, no more than any build. docs/adr/0016.
  insert_report build(Space& space, keys_in keys, values_in values, keep which)
    requires(!is_set && keeps_first<engine_type>)
  {
    if (which == keep::any) return build(space, keys, values);
    check_items(space, keys, values, "build: keys and values differ in length");
    [[maybe_unused]] const auto call = changing(space, "build");
    return awake(space).build_first(home(space), items(keys, values.data()), keys.size());
  }
  // ... by a way of the caller's choice (designs/multi.hpp).
  template <class How>
  insert_report build(Space& space, keys_in keys, values_in values, How how)
    requires requires(engine_type e) { e.build_arrays(space, keys.data(), values.data(), keys.size(), how); }
  {
    check_items(space, keys, values, "build: keys and values differ in length");
    [[maybe_unused]] const auto call = changing(space, "build");
    return awake(space).build_arrays(home(space), keys.data(), values.data(), keys.size(), how);
  }

  // ---- insert: a key that is in the table keeps its value; of equal keys in one call any one wins ----
  // O(n) expected. `outcomes`, when not empty, receives what became of each item; many items are then put in
  // one by one and not region by region, at about 0.4 of the rate. Memory while it runs: an eighth of a byte
  // an item; by regions up to the items' bytes; where the table grows, the new one beside the old. Waits once
  // where the table does not grow, and once more where it refuses items. Alone.
  insert_report insert(Space& space, keys_in keys, values_in values, std::span<outcome> outcomes = {})
    requires(insertable<Design> && !is_set)
  {
    check_items(space, keys, values, "insert: keys and values differ in length");
    return insert_checked(space, keys, values.data(), outcomes, detail::keep{});
  }
  insert_report insert(Space& space, keys_in keys, std::span<outcome> outcomes = {})
    requires(insertable<Design> && is_set)
  {
    return insert_checked(space, keys, nullptr, outcomes, detail::keep{});
  }
  // ... with keep::first: of equal keys in this call the first in the arrays wins. What is in the table
  // stays, as ever. Memory while it runs, and which tables: as for build.
  insert_report insert(Space& space, keys_in keys, values_in values, keep which)
    requires(!is_set && keeps_first<engine_type>)
  {
    if (which == keep::any) return insert(space, keys, values);
    check_items(space, keys, values, "insert: keys and values differ in length");
    [[maybe_unused]] const auto call = changing(space, "insert");
    return awake(space).insert_first(home(space), items(keys, values.data()), keys.size());
  }
  // The same without waiting, into a table made with grow = false (throws invalid_argument elsewhere), of a
  // design whose inserts never build a new table. `report`, of one element in the memory of the space, is
  // written when the work is done; until then the table, the arrays and the space must stay. Calls on one
  // space follow each other in order. Memory while it runs: an eighth of a byte an item.
  void insert_async(Space& space, keys_in keys, values_in values, insert_report* report)
    requires(inserts_at_once<Design> && !is_set)
  {
    check_items(space, keys, values, "insert_async: keys and values differ in length");
    insert_checked_async(space, keys, values.data(), report, detail::keep{});
  }
  void insert_async(Space& space, keys_in keys, insert_report* report)
    requires(inserts_at_once<Design> && is_set)
  {
    insert_checked_async(space, keys, nullptr, report, detail::keep{});
  }
  // A multimap's: adds these items to those that are there by building anew from both. O(size() + n). Memory
  // while it runs: all items' bytes once more than a build takes. Waits. Alone.
  template <class How>
  insert_report insert(Space& space, keys_in keys, values_in values, How how)
    requires requires(engine_type e) { e.insert_arrays(space, keys.data(), values.data(), keys.size(), how); }
  {
    check_items(space, keys, values, "insert: keys and values differ in length");
    [[maybe_unused]] const auto call = changing(space, "insert");
    return awake(space).insert_arrays(home(space), keys.data(), values.data(), keys.size(), how);
  }
  // ... in the way that suits them. A dynamic_hash_graph's: puts these items beside those that are there, and
  // takes O(n) expected and the bytes of a hash_graph of them, while there is room for all of them; else it
  // builds anew from both, as a multimap does. All items are added but those with a NaN, which are refused;
  // none is where memory ends: out_of_memory. Waits. Alone.
  insert_report insert(Space& space, keys_in keys, values_in values)
    requires(adds_items && !is_set)
  {
    check_items(space, keys, values, "insert: keys and values differ in length");
    [[maybe_unused]] const auto call = changing(space, "insert");
    return awake(space).insert_arrays(home(space), keys.data(), values.data(), keys.size());
  }
  insert_report insert(Space& space, keys_in keys)
    requires(adds_items && is_set)
  {
    check(space, keys, "insert: the keys");
    [[maybe_unused]] const auto call = changing(space, "insert");
    return awake(space).insert_arrays(home(space), keys.data(), nullptr, keys.size());
  }

  // ---- insert, or change the value of a key that is in the table ----
  // A key that is there counts as present, as do all but one of equal keys in one call. Costs as for insert.

  // The value given takes the place of the one there; of equal keys in one call any one wins. O(n) expected.
  // Memory and waits: as insert_or_apply. Alone.
  insert_report insert_or_assign(Space& space, keys_in keys, values_in values,
                                 std::span<outcome> outcomes = {})
    requires(insertable<Design> && !is_set)
  {
    return insert_or_apply(space, keys, values, op::assign{}, outcomes);
  }
  // The value becomes op(stored, given): op::sum, op::minimum, op::maximum, op::count, op::mean (core/op.hpp)
  // or a function of your own, on a GPU a __device__ functor. Every item that is not refused counts exactly
  // once, in no given order. Where many items come and op is associative, those of equal keys are combined
  // first, in memory of 2.6 times the items' bytes while the call runs; where that is not to be had, each
  // item meets the table. Throws as insert does, and what op throws (on a CPU): each item then counts once or
  // not at all, and `outcomes` holds no answer. Waits. Alone.
  template <combines<value_element> Op>
  insert_report insert_or_apply(Space& space, keys_in keys, values_in values, Op op,
                                std::span<outcome> outcomes = {})
    requires(insertable<Design> && !is_set && !lifts<Op, value_element>)
  {
    check_items(space, keys, values, "insert_or_apply: keys and values differ in length");
    return combine(space, keys, values.data(), outcomes, op);
  }
  // ... of `mean` numbers, in a table of mean_of<T>. (Ops like it take memory for n values while they run.)
  template <lifts<value_element> Op>
  insert_report insert_or_apply(Space& space, keys_in keys,
                                std::span<const given_to<Op, value_element>> given, Op op,
                                std::span<outcome> outcomes = {})
    requires(insertable<Design> && !is_set)
  {
    detail::require(keys.size() == given.size(), "insert_or_apply: keys and values differ in length");
    check(space, given, "insert_or_apply: the values");
    return combine(space, keys, detail::lift<value_element, Op>(space, given.data(), given.size()).data(),
                   outcomes, op);
  }
  // ... of `count` keys alone.
  template <lifts_nothing<value_element> Op>
  insert_report insert_or_apply(Space& space, keys_in keys, Op op, std::span<outcome> outcomes = {})
    requires(insertable<Design> && !is_set)
  {
    const nothing* const none = nullptr;
    return combine(space, keys, detail::lift<value_element, Op>(space, none, keys.size()).data(), outcomes,
                   op);
  }
  // insert_or_assign without waiting, on the terms of insert_async. Items of equal keys are not combined
  // first.
  void insert_or_assign_async(Space& space, keys_in keys, values_in values, insert_report* report)
    requires(inserts_at_once<Design> && !is_set)
  {
    insert_or_apply_async(space, keys, values, op::assign{}, report);
  }
  // insert_or_apply without waiting, on the same terms. What op throws (on a CPU) comes out of this call, as
  // from insert_or_apply, and *report is not written.
  template <combines<value_element> Op>
  void insert_or_apply_async(Space& space, keys_in keys, values_in values, Op op, insert_report* report)
    requires(inserts_at_once<Design> && !is_set && !lifts<Op, value_element>)
  {
    check_items(space, keys, values, "insert_or_apply_async: keys and values differ in length");
    insert_checked_async(space, keys, values.data(), report, detail::apply<Op>{op});
  }

  // ---- erase: how many items of these keys were in the table and are gone ----
  // O(n) expected; of equal keys one counts. No memory (`indexed`: up to 12 bytes a key; dynamic_hash_graph,
  // which drops all items of a key: a bit for each entry and row; `horton`, of many keys, which it takes
  // region by region: a quarter of the table's at most, where there is that much). Waits once (`horton`, of
  // many: once more for each such piece of them). Alone.
  u64 erase(Space& space, keys_in keys)
    requires erasable<Design>
  {
    check(space, keys, "erase: the keys");
    [[maybe_unused]] const auto call = changing(space, "erase");
    return awake(space).erase(home(space), keys.data(), keys.size());
  }
  // The same without waiting: *erased, in the memory of the space, is written when the work is done; until
  // then the table, the keys and the space must stay.
  void erase_async(Space& space, keys_in keys, u64* erased)
    requires erases_in_place<Design>
  {
    check(space, keys, "erase_async: the keys");
    check(space, std::span(erased, 1), "erase_async: the result");
    detail::require_apart(std::span(erased, 1), keys, "erase_async", "the result", "the keys");
    [[maybe_unused]] const auto call = changing(space, "erase_async");
    with_memory(space).erase_async(home(space), keys.data(), keys.size(), erased);
  }

  // ---- mixed batches ----
  // Does ops[i] with keys[i]. values[i] is what an insert or insert_or_assign gives; out[i] and found[i] are
  // a find's answer (Value{} and false where the key is absent), and nothing else is written to them. They
  // may be empty when ops has no finds; values, when it has nothing else.
  //
  // Operations of different keys do not see each other. Of one key in one batch, whatever their places: finds
  // answer as before the batch; then the key is taken out if any operation erases it; then it is put in if
  // any inserts it, and of several any one wins; then it is assigned if any assigns it, any one of them.
  //
  // In place: `out` and `found` may overlap operations, keys and values, all of which are copied before. They
  // must not overlap each other.
  //
  // O(n) expected. Memory while it runs: 8 bytes for each operation and a copy of the keys and values of its
  // part, beside what the part's own verb takes. A value that is no operation is left out. When it throws,
  // the table is as it was; once something has changed, memory that ends shows as refused items. Waits.
  // Alone.
  apply_report apply(Space& space, std::span<const operation> ops, keys_in keys, values_in values,
                     std::span<value_element> out, std::span<bool> found)
    requires(insertable<Design> && erasable<Design> && !is_set)
  {
    detail::require(ops.size() == keys.size() && (values.empty() || values.size() == ops.size()) &&
                        (out.empty() || out.size() == ops.size()) && out.size() == found.size(),
                    "apply: operations, keys, values and results differ in length");
    check(space, ops, "apply: the operations");
    check_items(space, values.empty() ? keys_in{} : keys, values, "apply: keys and values differ in length");
    check(space, keys, "apply: the keys");
    check(space, out, "apply: the results");
    check(space, found, "apply: the flags");
    detail::require_apart(found, out, "apply", "the flags", "the results");
    const detail::sorted_operations<Space> parts(space, ops.data(), ops.size());
    const auto look_up_all = [&](keys_in wanted, auto sink) { look_up(space, wanted, sink); };
    return detail::mixed_call(*this, space, parts, keys, values, look_up_all).run(out, found);
  }

  // ---- lookups: O(1) expected a key, no memory, beside other lookups ----
  // Those that end in _async do not wait: the answers are there when the space's earlier work is done, and
  // until then the table and the arrays must stay as they are.
  //
  // In place: the array of answers may be that of the keys where an answer has as many bytes as a key. Each
  // lookup reads its own key and no other, before it writes there. Values and flags are apart.

  // found[i] says whether keys[i] is in the table and out[i] is its value (Value{} when absent). `found` may
  // be empty when the caller knows; flags are bools or bytes. O(1) expected a key; no memory. Waits.
  void find(Space& space, keys_in keys, std::span<value_element> out, flags found = {}) const
    requires(!is_set)
  {
    find_async(space, keys, out, found);
    space.synchronize();
  }
  void find_async(Space& space, keys_in keys, std::span<value_element> out, flags found = {}) const
    requires(!is_set)
  {
    detail::require(out.size() == keys.size() && (found.empty() || found.size() == keys.size()),
                    "find: keys, values and flags differ in length");
    check(space, found, "find: the flags");
    check(space, out, "find: the results");
    detail::require_apart_or_in_place(out, keys, "find", "the results", "the keys");
    detail::require_apart_or_in_place(found, keys, "find", "the flags", "the keys");
    detail::require_apart(found, out, "find", "the flags", "the results");
    look_up(space, keys,
            detail::value_sink<mapped_type>{out.data(), found.empty() ? nullptr : found.data(), {}});
  }
  // The same, with `missing` for the values of absent keys. O(1) expected a key; no memory. Waits.
  void find_or(Space& space, keys_in keys, std::span<value_element> out, value_element missing) const
    requires(!is_set)
  {
    find_or_async(space, keys, out, missing);
    space.synchronize();
  }
  void find_or_async(Space& space, keys_in keys, std::span<value_element> out, value_element missing) const
    requires(!is_set)
  {
    detail::require(out.size() == keys.size(), "find_or: keys and values differ in length");
    check(space, out, "find_or: the results");
    detail::require_apart_or_in_place(out, keys, "find_or", "the results", "the keys");
    look_up(space, keys, detail::value_sink<mapped_type>{out.data(), nullptr, missing});
  }
  // out[i]: is keys[i] in the table? O(1) expected a key; no memory. Waits.
  void contains(Space& space, keys_in keys, flags out) const {
    contains_async(space, keys, out);
    space.synchronize();
  }
  void contains_async(Space& space, keys_in keys, flags out) const {
    detail::require(out.size() == keys.size(), "contains: keys and flags differ in length");
    check(space, out, "contains: the results");
    detail::require_apart_or_in_place(out, keys, "contains", "the results", "the keys");
    look_up(space, keys, detail::lookup_sink{.found = out.data()});
  }
  // out[i]: how many items have keys[i]; 0 or 1 unless the design keeps duplicates. O(1) expected a key, in a
  // table of rows the row's length; no memory. Waits.
  void count(Space& space, keys_in keys, std::span<u32> out) const {
    count_async(space, keys, out);
    space.synchronize();
  }
  void count_async(Space& space, keys_in keys, std::span<u32> out) const {
    detail::require(out.size() == keys.size(), "count: keys and counts differ in length");
    check(space, out, "count: the results");
    detail::require_apart_or_in_place(out, keys, "count", "the results", "the keys");
    look_up(space, keys, detail::lookup_sink{.counts = out.data()});
  }
  // out[i]: how many buckets (open addressing: slots; hash_graph and chained: bounds and entries;
  // perfect_spatial: offset and slot; indexed: buckets and records) the lookup of keys[i] reads. O(that); no
  // memory. Waits.
  void probe_counts(Space& space, keys_in keys, std::span<u32> out) const {
    detail::require(out.size() == keys.size(), "probe_counts: keys and counts differ in length");
    check(space, out, "probe_counts: the results");
    detail::require_apart_or_in_place(out, keys, "probe_counts", "the results", "the keys");
    look_up(space, keys, detail::lookup_sink{.probes = out.data()});
    space.synchronize();
  }

  // ---- one key, of a table in the memory of the host, by the caller's own thread ----
  // O(1) expected; no memory. Beside other lookups. Many keys at once are found several times as fast.
  // (Inlined, as a call would cost half of what it does.)
  // Its value; nothing where it is not there.
  __attribute__((TILEHASH_INLINED)) inline std::optional<mapped_type> find(const key_type& key) const
    requires(one_by_one && !is_set)
  {
    const auto hit = engine_.view().find(key);
    return hit.found() ? std::optional<mapped_type>(hit.value()) : std::nullopt;
  }
  // Its value; throws invalid_argument where it is not there.
  mapped_type at(const key_type& key) const
    requires(one_by_one && !is_set)
  {
    const auto value = find(key);
    detail::require(value.has_value(), "at: the key is not in the table");
    return *value;
  }
  // Is it there?
  bool contains(const key_type& key) const
    requires one_by_one
  {
    return engine_.view().contains(key);
  }
  // inserted, or present, and then the key keeps its value; or refused. As the insert of many it may make
  // other keys move and the table grow. O(1) expected over many calls. Throws out_of_memory. Alone.
  outcome insert(Space& space, const key_type& key, const value_element& value)
    requires(one_by_one && insertable<Design> && !is_set)
  {
    return insert_one(space, key, &value);
  }
  outcome insert(Space& space, const key_type& key)
    requires(one_by_one && insertable<Design> && is_set)
  {
    return insert_one(space, key, nullptr);
  }

  // ---- all items, in no given order (a multimap's: those of a key side by side) ----
  // Writes size() keys (and values) and gives how many. O(capacity()). Throws invalid_argument where an array
  // is smaller. Memory while it runs: one counter. Waits. Beside lookups.
  u64 retrieve_all(Space& space, std::span<key_type> keys, std::span<value_element> values) const
    requires(!is_set)
  {
    check(space, values, "retrieve_all: the values");
    detail::require_apart(values, keys, "retrieve_all", "the values", "the keys");
    return retrieve_entries(space, keys, values.data(), values.size());
  }
  u64 retrieve_all(Space& space, std::span<key_type> keys) const
    requires is_set
  {
    return retrieve_entries(space, keys, nullptr, ~u64(0));
  }
  // f(key, value), in a set f(key), for every item, in parallel. On a GPU f is a __device__ functor.
  // O(capacity()); no memory. Throws what f throws (on a CPU); some items are then not visited. Waits. Beside
  // lookups.
  template <class F>
  void for_each(Space& space, F f) const {
    if constexpr (is_set && !Space::has_lanes)
      static_assert(std::invocable<F&, const key_type&>, "tilehash: for_each calls f(key) in a set");
    else if constexpr (!Space::has_lanes)
      static_assert(std::invocable<F&, const key_type&, const value_element&>,
                    "tilehash: for_each calls f(key, value), in a set f(key)");
    if (empty()) return;
    [[maybe_unused]] const auto call = reading(space, "for_each");
    if constexpr (requires { engine_.for_each(space, f); })
      engine_.for_each(space, f);
    else
      detail::for_each_entry(space, view(), f);
    space.synchronize();
  }

  // ---- memory ----
  // Removes all items and keeps the capacity. O(capacity()). No memory, but for designs that are built at
  // once: theirs is taken anew beside the old. Does not wait (hash_graph and the like: as build). Alone.
  void clear(Space& space) {
    [[maybe_unused]] const auto call = changing(space, "clear");
    with_memory(space).clear(home(space));
  }
  // Makes room for `items` in all at the options' load factor; never shrinks. Costs nothing where there is
  // the room. Where the design's regions can be split and the memory can be made larger (`tiled`, from 64 MiB
  // on or in a resource that says so: docs/designs/tiled.md), it is: O(new capacity), memory while it runs a
  // 32nd of the old table and up to a 16th of the items' bytes, room for an eighth more at least. Elsewhere
  // as for rehash. Gives how often it started anew. Throws out_of_memory, and error as rehash (strong).
  // Waits. Alone.
  u64 reserve(Space& space, u64 items)
    requires(insertable<Design> || row_changing<Design>)
  {
    [[maybe_unused]] const auto call = changing(space, "reserve");
    return awake(space).reserve(home(space), items);
  }
  // Moves the contents to memory sized for max(items, size()), with the next hash function, and so gets rid
  // of what erased keys left behind. O(old + new capacity). Memory while it runs: the new table beside the
  // old, and an eighth of a byte a slot. Gives how often it started anew. Throws out_of_memory, and error
  // where items find no place (strong). Waits. Alone.
  u64 rehash(Space& space, u64 items)
    requires(insertable<Design> || row_changing<Design>)
  {
    [[maybe_unused]] const auto call = changing(space, "rehash");
    return awake(space).rehash(home(space), items);
  }
  // Gives back what memory the items do not need at the options' load factor (`indexed`: and of the records
  // what was never an id's; a `dynamic_hash_graph` is built anew). Costs as for reserve, with the old
  // capacity; nothing where there is none to give back, or in its own memory less than a ninth. Gives how
  // often it started anew. Throws as reserve (strong). Waits. Alone.
  u64 shrink_to_fit(Space& space)
    requires(insertable<Design> || row_changing<Design>)
  {
    [[maybe_unused]] const auto call = changing(space, "shrink_to_fit");
    return awake(space).shrink_to_fit(home(space));
  }

  // ---- one part at a time, of a table in subtables (engine/subtables.hpp) ----
  // Doubles the smallest subtable. O(its slots). Memory while it runs: the new subtable beside the table.
  // Throws out_of_memory; then the table is as it was. Does not wait. Alone.
  void double_subtable(Space& space)
    requires requires(engine_type e, Space& s) { e.double_one(s); }
  {
    [[maybe_unused]] const auto call = changing(space, "double_subtable");
    with_memory(space).double_one(home(space));
  }
  // The same in three steps, of which the second, the work, may run beside lookups and insert(): by another
  // thread, or in the stream of another space object of the device. What is new then goes to the other
  // subtables; an insert does not grow the table meanwhile, but refuses what finds no room. All that would
  // change a key or value of that subtable, or another resize, throws invalid_argument until the end.
  // begin: takes the memory; throws out_of_memory. end: after run, waits for its space. Both alone.
  void begin_doubling(Space& space)
    requires requires(engine_type e, Space& s) { e.double_one(s); }
  {
    [[maybe_unused]] const auto call = changing(space, "begin_doubling");
    with_memory(space).begin_doubling(home(space));
    home(space).synchronize();
  }
  // The work: moves the pairs to the new subtable, in the stream of `beside`. Does not wait; see above.
  void run_doubling(Space& beside) const
    requires requires(engine_type e, Space& s) { e.double_one(s); }
  {
    detail::require(engine_.doubles(), "run_doubling: begin_doubling() comes first");
    detail::require_same_device(engine_.home(), beside, "run_doubling");
    engine_.run_doubling(beside);
  }
  // Puts the new subtable in the old one's place, once what runs in `beside` is done. Waits. Alone.
  void end_doubling(Space& space, Space& beside)
    requires requires(engine_type e, Space& s) { e.double_one(s); }
  {
    detail::require(engine_.doubles(), "end_doubling: begin_doubling() comes first");
    beside.synchronize();
    [[maybe_unused]] const auto call = changing(space, "end_doubling");
    awake(space).end_doubling(home(space));
  }
  // Halves the largest subtable. False, and the table is as it was, where it has only the least that it can
  // have, or there is no memory, or no room in the others for what is left over. O(its slots). Memory while
  // it runs: as above, and half a byte a slot. Waits. Alone.
  bool halve_subtable(Space& space)
    requires requires(engine_type e, Space& s) { e.double_one(s); }
  {
    [[maybe_unused]] const auto call = changing(space, "halve_subtable");
    return awake(space).halve_one(home(space));
  }

  // ---- ids of keys, of a table `indexed` (designs/indexed.hpp) ----
  static constexpr u32 no_id = ~0U;  // the id of a key that is not there
  // All ids are below; without erases it is size().
  u64 id_limit() const
    requires record_keeping<Design>
  {
    return engine_.id_limit();
  }
  // Inserts, and ids[i] is the id of keys[i], or no_id where it was refused. In place: `ids` may overlap keys
  // and values (to relabel a list of keys, give it as both); then 4 bytes more for each item while it runs.
  // O(n) expected. Memory while it runs: 12 bytes for each item and 30 more for each whose key is new. Waits.
  // Alone.
  insert_report insert_and_find(Space& space, keys_in keys, values_in values, std::span<u32> ids)
    requires(record_keeping<Design> && !is_set)
  {
    check_items(space, keys, values, "insert_and_find: keys and values differ in length");
    return insert_with_ids(space, keys, values.data(), ids);
  }
  insert_report insert_and_find(Space& space, keys_in keys, std::span<u32> ids)
    requires(record_keeping<Design> && is_set)
  {
    return insert_with_ids(space, keys, nullptr, ids);
  }
  // ids[i] is the id of keys[i], or no_id. In place: over keys of 4 bytes. O(1) expected a key; no memory.
  // Waits. Beside lookups.
  void find_ids(Space& space, keys_in keys, std::span<u32> ids) const
    requires record_keeping<Design>
  {
    detail::require(ids.size() == keys.size(), "find_ids: keys and ids differ in length");
    check(space, ids, "find_ids: the ids");
    detail::require_apart_or_in_place(ids, keys, "find_ids", "the ids", "the keys");
    look_up(space, keys, detail::lookup_sink{.ids = ids.data()});
    space.synchronize();
  }
  // keys[i] is the key whose id is ids[i], where found[i]; `found` may be empty when the caller knows. In
  // place: keys of 4 bytes over ids, which stay where they are nobody's. O(1) an id; no memory. Waits. Beside
  // lookups.
  void keys_of(Space& space, std::span<const u32> ids, std::span<key_type> keys, flags found = {}) const
    requires record_keeping<Design>
  {
    detail::require(ids.size() == keys.size() && (found.empty() || found.size() == ids.size()),
                    "keys_of: ids, keys and flags differ in length");
    check(space, ids, "keys_of: the ids");
    check(space, keys, "keys_of: the keys");
    check(space, found, "keys_of: the flags");
    detail::require_apart_or_in_place(keys, ids, "keys_of", "the keys", "the ids");
    detail::require_apart(found, ids, "keys_of", "the flags", "the ids");
    detail::require_apart(found, keys, "keys_of", "the flags", "the keys");
    [[maybe_unused]] const auto call = reading(space, "keys_of");
    engine_.keys_of(space, ids, keys.data(), found.empty() ? nullptr : found.data());
    space.synchronize();
  }

  // ---- all values of keys, of a multimap (designs/multi.hpp) ----
  // How many different keys there are. O(1).
  u64 key_count() const
    requires requires(const engine_type e) { e.key_count(); }
  {
    return engine_.key_count();
  }
  // The values of keys[i] are values[offsets[i]] ... values[offsets[i + 1] - 1].
  struct retrieved {
    buffer<u64, Space> offsets;           // one more than there are keys; the last is the number of values
    buffer<value_element, Space> values;  // those of the first key, of the second, and so on
  };
  // O(keys + values), however the values are shared out among the keys. Memory while it runs: an offset a key
  // beside the result. Waits. Beside lookups.
  [[nodiscard]] retrieved retrieve(Space& space, keys_in keys) const
    requires requires(const engine_type e) { e.key_count(); }
  {
    check(space, keys, "retrieve: the keys");
    [[maybe_unused]] const auto call = reading(space, "retrieve");
    retrieved all{buffer<u64, Space>(space, keys.size() + 1), {}};
    const auto begins = engine_.find_ranges(space, keys.data(), keys.size(), all.offsets.data());
    all.values = buffer<value_element, Space>(space, read_one(space, all.offsets.data() + keys.size()));
    engine_.copy_values(space, all.offsets.span(), begins, all.values.data(), all.values.size());
    return all;
  }
  // The same into arrays of the caller's, `offsets` of one element more than there are keys; returns how many
  // values there are. Where `values` is too small it throws invalid_argument, and the offsets say what is
  // needed.
  u64 retrieve(Space& space, keys_in keys, std::span<u64> offsets, std::span<value_element> values) const
    requires requires(const engine_type e) { e.key_count(); }
  {
    detail::require(offsets.size() == keys.size() + 1, "retrieve: there must be one offset more than keys");
    check(space, keys, "retrieve: the keys");
    check(space, offsets, "retrieve: the offsets");
    check(space, values, "retrieve: the values");
    detail::require_apart(offsets, keys, "retrieve", "the offsets", "the keys");
    detail::require_apart(values, keys, "retrieve", "the values", "the keys");
    detail::require_apart(values, offsets, "retrieve", "the values", "the offsets");
    [[maybe_unused]] const auto call = reading(space, "retrieve");
    const auto begins = engine_.find_ranges(space, keys.data(), keys.size(), offsets.data());
    const u64 n = read_one(space, offsets.data() + keys.size());
    detail::require(n <= values.size(),
                    "retrieve: the values' array is too small; the last offset says how "
                    "many there are");
    engine_.copy_values(space, offsets, begins, values.data(), n);
    return n;
  }
  // Every key once: keys[id] is the one whose values are view().values(id). Writes and returns key_count().
  // O(key_count()); no memory. Throws invalid_argument where the array is smaller. Waits. Beside lookups.
  u64 retrieve_keys(Space& space, std::span<key_type> keys) const
    requires requires(const engine_type e) { e.key_count(); }
  {
    detail::require(keys.size() >= key_count(), "retrieve_keys: the array is smaller than key_count()");
    check(space, keys, "retrieve_keys: the keys");
    [[maybe_unused]] const auto call = reading(space, "retrieve_keys");
    engine_.copy_keys(space, keys.data());
    space.synchronize();
    return key_count();
  }

 private:
  explicit table(engine_type&& engine) : engine_(std::move(engine)) {}

  static constexpr bool takes_arrays =  // and not a source of items
      requires(engine_type e, Space s, const key_type* k, const value_element* v) {
        e.build_arrays(s, k, v, u64(0));
      };

  // A call through another space of the same device is put in order with the table's own (space/foreign_stream.hpp),
  // whose memory and scratch come from the space that it was made with.
  detail::foreign_change<Space> changing(Space& space, const char* call) {
    return {engine_.home(), space, call};
  }
  detail::foreign_read<Space> reading(Space& space, const char* call) const {
    return {engine_.home(), space, call};
  }
  Space& home(Space& space) const { return engine_.home() != nullptr ? *engine_.home() : space; }
  // A moved-from table gets memory. Verbs that must not wait begin so; the engine may not know its size.
  engine_type& with_memory(Space& space) {
    if (!engine_.has_memory()) engine_ = engine_type(space, 0, engine_.options());
    return engine_;
  }
  // ... and so do all other verbs that change the table. They know the size: what views and calls that did
  // not wait have changed is counted here, once, by a call that runs alone. Const verbs only read it
  // (size()).
  engine_type& awake(Space& space) {
    engine_type& engine = with_memory(space);
    if constexpr (requires { engine.settle(space); }) engine.settle(home(space));
    return engine;
  }

  template <class T>
  static void check(const Space& space, std::span<T> array, const char* what) {
    space.check_pointer(array, what);
  }
  static void check(const Space& space, flags array, const char* what) {
    space.check_pointer(std::span(array.data(), array.size()), what);
  }
  static void check_items(const Space& space, keys_in keys, values_in values, const char* lengths) {
    detail::require(keys.size() == values.size(), lengths);
    check(space, keys, "the keys");
    check(space, values, "the values");
  }
  // The array of the values that come with these keys; in a set none.
  template <class Pointer>
  static values_in values_at(keys_in keys, Pointer values) {
    if constexpr (is_set)
      return {};
    else
      return {static_cast<const value_element*>(values), keys.size()};
  }
  template <class Pointer>
  static auto items(keys_in keys, Pointer values) {
    return detail::array_source<typename Design::slot_type>{keys.data(),
                                                            static_cast<const mapped_type*>(values)};
  }

  template <class Pointer>
  insert_report build_from(Space& space, keys_in keys, Pointer values) {
    if constexpr (takes_arrays)
      return awake(space).build_arrays(space, keys.data(), static_cast<const value_element*>(values),
                                       keys.size());
    else
      return awake(space).build(space, items(keys, values), keys.size());
  }
  template <class Pointer, class Update>
  insert_report insert_checked(Space& space, keys_in keys, Pointer values, std::span<outcome> outcomes,
                               const Update& update) {
    detail::require(outcomes.empty() || outcomes.size() == keys.size(),
                    "insert: keys and outcomes differ in length");
    check(space, keys, "insert: the keys");
    check(space, outcomes, "insert: the outcomes");
    detail::require_apart(outcomes, keys, "insert", "the outcomes", "the keys");
    detail::require_apart(outcomes, values_at(keys, values), "insert", "the outcomes", "the values");
    outcome* const named = outcomes.empty() ? nullptr : outcomes.data();
    [[maybe_unused]] const auto call = changing(space, "insert");
    if constexpr (record_keeping<Design>)
      return awake(space).insert_arrays(home(space), keys.data(), static_cast<const value_element*>(values),
                                        keys.size(), nullptr, named, update);
    else
      return awake(space).insert(home(space), items(keys, values), keys.size(), named, update);
  }
  outcome insert_one(Space& space, const key_type& key, const value_element* value)
    requires(one_by_one && insertable<Design>)
  {
    const auto* const given = static_cast<const mapped_type*>(static_cast<const void*>(value));
    if constexpr (requires(engine_type e) { e.insert_one(space, key, given); }) {
      [[maybe_unused]] const auto call = changing(space, "insert");
      return awake(space).insert_one(home(space), key, given);
    } else {
      outcome became = outcome::refused;
      [[maybe_unused]] const insert_report report =
          insert_checked(space, {&key, 1}, value, {&became, 1}, detail::keep{});
      return became;
    }
  }
  template <class Op>
  insert_report combine(Space& space, keys_in keys, const value_element* values, std::span<outcome> outcomes,
                        const Op& op) {
    return detail::unmark_user_exceptions([&] {
      if constexpr (changed_in_place<Design> && associative<Op>) {
        if (outcomes.empty()) {
          check(space, keys, "insert: the keys");
          [[maybe_unused]] const auto call = changing(space, "insert_or_apply");
          return awake(space).insert_combined(home(space), items(keys, values), keys.size(), op);
        }
      }
      return insert_checked(space, keys, values, outcomes, detail::apply<Op>{op});
    });
  }
  template <class Pointer, class Update>
  void insert_checked_async(Space& space, keys_in keys, Pointer values, insert_report* report,
                            const Update& update) {
    check(space, keys, "insert: the keys");
    check(space, std::span(report, 1), "insert: the report");
    detail::require_apart(std::span(report, 1), keys, "insert_async", "the report", "the keys");
    detail::require_apart(std::span(report, 1), values_at(keys, values), "insert_async", "the report",
                          "the values");
    [[maybe_unused]] const auto call = changing(space, "insert_async");
    detail::unmark_user_exceptions([&] {
      with_memory(space).insert_async(home(space), items(keys, values), keys.size(), report, update);
    });
  }
  template <class Pointer>
  insert_report insert_with_ids(Space& space, keys_in keys, Pointer values, std::span<u32> ids) {
    detail::require(ids.size() == keys.size(), "insert_and_find: keys and ids differ in length");
    check(space, keys, "insert_and_find: the keys");
    check(space, ids, "insert_and_find: the ids");
    [[maybe_unused]] const auto call = changing(space, "insert_and_find");
    const auto insert_to = [&](u32* to) {
      return awake(space).insert_arrays(home(space), keys.data(), static_cast<const value_element*>(values),
                                        keys.size(), to, nullptr, detail::keep{});
    };
    const detail::bytes_of_array written(ids);
    if (!written.overlaps(keys) && !written.overlaps(values_at(keys, values))) return insert_to(ids.data());
    // The items are read again after the first ids are known.
    const buffer<u32, Space> own(home(space), ids.size());
    const insert_report report = insert_to(own.data());
    home(space).copy(ids.data(), own.data(), own.bytes());
    home(space).synchronize();
    return report;
  }
  template <class Sink>
  void look_up(Space& space, keys_in keys, Sink sink) const {
    check(space, keys, "the keys");
    [[maybe_unused]] const auto call = reading(space, "a lookup");
    engine_.look_up(space, keys.data(), keys.size(), sink);
  }
  // `value_room`: elements at `values`.
  template <class Pointer>
  u64 retrieve_entries(Space& space, std::span<key_type> keys, Pointer values, u64 value_room) const {
    const u64 items = size();
    detail::require(keys.size() >= items, "retrieve_all: the keys' array is smaller than size()");
    detail::require(value_room >= items, "retrieve_all: the values' array is smaller than size()");
    check(space, keys, "retrieve_all: the keys");
    if (items == 0) return 0;
    [[maybe_unused]] const auto call = reading(space, "retrieve_all");
    if constexpr (requires { engine_.copy_entries(space, keys.data(), values); }) {
      engine_.copy_entries(space, keys.data(), values);
      space.synchronize();
      return items;
    } else {
      buffer<u64, Space> n(space, 1);
      space.fill(n.data(), 1, u64(0));
      // A view may put more in since size() was read: the arrays' room bounds what is written.
      const u64 room = keys.size() < value_room ? keys.size() : value_room;
      detail::collect_entries(space, view(), keys.data(), static_cast<value_element*>(values), room,
                              n.data());
      const u64 found = read_one(space, n.data());
      detail::require(found <= room, "retrieve_all: a view put items in during the call; call it alone");
      return found;
    }
  }

  engine_type engine_;
};

TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
