// SPDX-License-Identifier: Apache-2.0
// Prints docs/reference/verbs.md: which verbs tables of each design offer, asked of the tables themselves.
// scripts/verbs.sh compiles it, with a list of the designs that the program knows: once to print the table,
// and once more with VERBS_ARE_CALLED, which compiles every call that the table lists.
#include <concepts>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include <tilehash/tilehash.hpp>

#include "verbs_designs.hpp"  // generated: VERBS_OF_ALL(X) is X(tiled) X(cuckoo) ... of the designs included there

namespace {

using namespace tilehash;

struct verb {
  std::string call;
  bool offered;
};

// What a verb may be given.
template <class Table>
struct arguments {
  std::span<const typename Table::key_type> keys;
  std::span<typename Table::key_type> keys_out;
  std::span<const typename Table::value_element> values;
  std::span<typename Table::value_element> out;
  typename Table::value_element missing;
  std::span<outcome> outcomes;
  std::span<bool> found;
  std::span<const operation> operations;
  std::span<u32> counts, ids;
  std::span<const u32> ids_in;
  std::span<u64> offsets;
  insert_report* report;
  u64 *erased, items;
};

// Is there such a call with arguments of these types? With VERBS_ARE_CALLED its body and all that it calls
// must compile, too.
template <class... Given, class Call>
bool offered(Call /*call*/) {
  if constexpr (std::invocable<Call, Given&...>) {
#if defined(VERBS_ARE_CALLED)
    static_cast<void>(+[](Given*... given) { Call{}(*given...); });
#endif
    return true;
  } else {
    return false;
  }
}
#define CALL(...)                                                                        \
  []([[maybe_unused]] auto& t, [[maybe_unused]] const auto& c, [[maybe_unused]] auto& s, \
     [[maybe_unused]] const auto& a) -> void                                             \
    requires requires { __VA_ARGS__; }                                                   \
  {                                                                                      \
    static_cast<void>((__VA_ARGS__));                                                    \
  }

template <class T, class S = typename T::space_type, class A = arguments<T>>
std::vector<verb> verbs() {
#define OFFERS(...) offered<T, T, S, A>(CALL(__VA_ARGS__))
  std::vector<verb> all{
      {"build(keys)", OFFERS(t.build(s, a.keys))},
      {"build(keys, values)", OFFERS(t.build(s, a.keys, a.values))},
      {"build(keys, values, keep), insert(keys, values, keep)",
       OFFERS(t.build(s, a.keys, a.values, keep::first), t.insert(s, a.keys, a.values, keep::first))},
      {"build(keys, values, how)", OFFERS(t.build(s, a.keys, a.values, grouping::automatic))},
      {"insert(keys)", OFFERS(t.insert(s, a.keys))},
      {"insert(keys, values)", OFFERS(t.insert(s, a.keys, a.values))},
      {"insert(keys, outcomes)", OFFERS(t.insert(s, a.keys, a.outcomes))},
      {"insert(keys, values, outcomes)", OFFERS(t.insert(s, a.keys, a.values, a.outcomes))},
      {"insert_async(keys, report)", OFFERS(t.insert_async(s, a.keys, a.report))},
      {"insert_async(keys, values, report)", OFFERS(t.insert_async(s, a.keys, a.values, a.report))},
      {"insert_or_assign(keys, values)", OFFERS(t.insert_or_assign(s, a.keys, a.values))},
      {"insert_or_assign_async(keys, values, report)",
       OFFERS(t.insert_or_assign_async(s, a.keys, a.values, a.report))},
      {"insert_or_apply(keys, values, op)", OFFERS(t.insert_or_apply(s, a.keys, a.values, op::sum{}))},
      {"insert_or_apply(keys, op::count)", OFFERS(t.insert_or_apply(s, a.keys, op::count{}))},
      {"insert_or_apply_async(keys, values, op, report)",
       OFFERS(t.insert_or_apply_async(s, a.keys, a.values, op::sum{}, a.report))},
      {"insert_and_find(keys, ids)", OFFERS(t.insert_and_find(s, a.keys, a.ids))},
      {"insert_and_find(keys, values, ids)", OFFERS(t.insert_and_find(s, a.keys, a.values, a.ids))},
      {"on a CPU: insert(key, value)", OFFERS(t.insert(s, *a.keys.data(), *a.values.data()))},
      {"on a CPU: insert(key)", OFFERS(t.insert(s, *a.keys.data()))},
      {"on a CPU: find(key), at(key)", OFFERS(c.find(*a.keys.data()), c.at(*a.keys.data()))},
      {"on a CPU: contains(key)", OFFERS(c.contains(*a.keys.data()))},
      {"clone()", OFFERS(c.clone(s))},
      {"erase(keys)", OFFERS(t.erase(s, a.keys))},
      {"erase_async(keys, erased)", OFFERS(t.erase_async(s, a.keys, a.erased))},
      {"apply(operations, keys, values, out, found)",
       OFFERS(t.apply(s, a.operations, a.keys, a.values, a.out, a.found))},
      {"find(keys, out), find_async",
       OFFERS(c.find(s, a.keys, a.out, a.found), c.find_async(s, a.keys, a.out))},
      {"find_or(keys, out, missing), find_or_async",
       OFFERS(c.find_or(s, a.keys, a.out, a.missing), c.find_or_async(s, a.keys, a.out, a.missing))},
      {"contains(keys, out), contains_async",
       OFFERS(c.contains(s, a.keys, a.found), c.contains_async(s, a.keys, a.found))},
      {"count(keys, out), count_async",
       OFFERS(c.count(s, a.keys, a.counts), c.count_async(s, a.keys, a.counts))},
      {"probe_counts(keys, out)", OFFERS(c.probe_counts(s, a.keys, a.counts))},
      {"retrieve(keys)", OFFERS(c.retrieve(s, a.keys))},
      {"retrieve(keys, offsets, values)", OFFERS(c.retrieve(s, a.keys, a.offsets, a.out))},
      {"retrieve_all(keys)", OFFERS(c.retrieve_all(s, a.keys_out))},
      {"retrieve_all(keys, values)", OFFERS(c.retrieve_all(s, a.keys_out, a.out))},
      {"retrieve_keys(keys), key_count()", OFFERS(c.retrieve_keys(s, a.keys_out), c.key_count())},
      {"for_each(f)", OFFERS(c.for_each(s, [](auto...) {}))},
      {"find_ids(keys, ids)", OFFERS(c.find_ids(s, a.keys, a.ids))},
      {"keys_of(ids, keys)", OFFERS(c.keys_of(s, a.ids_in, a.keys_out))},
      {"id_limit()", OFFERS(c.id_limit())},
      {"clear()", OFFERS(t.clear(s))},
      {"reserve(items), rehash(items), shrink_to_fit()",
       OFFERS(t.reserve(s, a.items), t.rehash(s, a.items), t.shrink_to_fit(s))},
      {"double_subtable(), halve_subtable()", OFFERS(t.double_subtable(s), t.halve_subtable(s))},
      {"size(), capacity(), load_factor(), bytes()",
       OFFERS(c.size(), c.capacity(), c.load_factor(), c.bytes())},
  };
  all.push_back({"view().find(key), contains, count",
                 OFFERS(c.view().find(*a.keys.data()), c.view().contains(*a.keys.data()),
                        c.view().count(*a.keys.data()))});
  all.push_back({"view().find(tile, key), contains", OFFERS(c.view().find(solo_tile{}, *a.keys.data()),
                                                            c.view().contains(solo_tile{}, *a.keys.data()))});
  all.push_back({"view().values_of(key)", OFFERS(c.view().values_of(*a.keys.data()))});
  all.push_back({"view().key(id)", OFFERS(c.view().key(a.ids[0]))});
  all.push_back({"mutable_view().insert(key)", OFFERS(t.mutable_view(s).insert(*a.keys.data()))});
  all.push_back({"mutable_view().insert(key, value)",
                 OFFERS(t.mutable_view(s).insert(*a.keys.data(), *a.values.data()))});
  all.push_back({"mutable_view().insert_or_assign(key, value), insert_or_apply(key, value, op)",
                 OFFERS(t.mutable_view(s).insert_or_assign(*a.keys.data(), *a.values.data()),
                        t.mutable_view(s).insert_or_apply(*a.keys.data(), *a.values.data(), op::sum{}))});
  all.push_back({"mutable_view().erase(key)", OFFERS(t.mutable_view(s).erase(*a.keys.data()))});
  all.push_back({"the same of mutable_view() with a tile before the key",
                 OFFERS(t.mutable_view(s).erase(solo_tile{}, *a.keys.data()),
                        t.mutable_view(s).find(solo_tile{}, *a.keys.data()))});
#undef OFFERS
#undef CALL
  return all;
}

// Designs that offer the same share a column.
struct column {
  std::string names;
  std::vector<verb> verbs;
};
void add(std::vector<column>& columns, const std::string& name, const std::vector<verb>& verbs) {
  for (column& c : columns) {
    bool same = true;
    for (std::size_t i = 0; i < verbs.size(); ++i) same = same && verbs[i].offered == c.verbs[i].offered;
    if (!same) continue;
    c.names += ", `" + name + "`";
    return;
  }
  columns.push_back({"`" + name + "`", verbs});
}
template <class Design>
void add(std::vector<column>& columns, const std::string& name) {
  add(columns, name, verbs<table<Design, cpu>>());
}

void print(const char* title, const std::vector<column>& columns) {
  std::printf("\n## %s\n\n", title);
  char letter = 'A';
  for (const column& c : columns) std::printf("* **%c**: %s\n", letter++, c.names.c_str());
  std::printf("\n| verb |");
  for (std::size_t c = 0; c < columns.size(); ++c) std::printf(" %c |", static_cast<char>('A' + c));
  std::printf("\n|---|");
  for (std::size_t c = 0; c < columns.size(); ++c) std::printf("---|");
  std::printf("\n");
  for (std::size_t i = 0; i < columns[0].verbs.size(); ++i) {
    bool any = false;
    for (const column& c : columns) any = any || c.verbs[i].offered;
    if (!any) continue;
    std::printf("| `%s` |", columns[0].verbs[i].call.c_str());
    for (const column& c : columns) std::printf(c.verbs[i].offered ? " x |" : "  |");
    std::printf("\n");
  }
}

template <class Registered>
concept holds_sets = !requires { requires Registered::needs_values; };

}  // namespace

#if defined(VERBS_ARE_CALLED)  // a user may instantiate a table whole
#define WHOLE(family, name) \
  template class tilehash::family<app::designs::name::design<tilehash::u32, tilehash::u32>, tilehash::cpu>;
#define ADD(name)              \
  WHOLE(table, name)           \
  WHOLE(verbs::owner, name)    \
  WHOLE(verbs::contents, name) \
  WHOLE(verbs::lookups, name)  \
  WHOLE(verbs::inserts, name)  \
  WHOLE(verbs::updates, name)
VERBS_OF_ALL(ADD)
#undef ADD
#undef WHOLE
#endif

int main() {
  std::vector<column> maps, sets;
#define ADD(name) add<app::designs::name::design<u32, u32>>(maps, #name);
  VERBS_OF_ALL(ADD)
#undef ADD
#define ADD(name)                               \
  if constexpr (holds_sets<app::designs::name>) \
    add<typename app::designs::name::design<u32, void>>(sets, #name);
  VERBS_OF_ALL(ADD)
#undef ADD
  std::printf(
      "# Verbs by design\n\n"
      "Each column is a set of designs that offer the same verbs; `x` marks a verb. Every verb takes the "
      "space "
      "first, which is\nleft out here. [Reference of verbs](verbs/README.md) describes each verb. A design "
      "offers "
      "the verbs that its\nconcepts allow ([concepts.hpp](../../include/tilehash/designs/concepts.hpp)). "
      "`scripts/verbs.sh --fix` writes this page.\n");
  print("Maps", maps);
  print("Sets", sets);
}
