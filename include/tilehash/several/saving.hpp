// SPDX-License-Identifier: Apache-2.0
// The steps of save() and load() of a table over several ranks.
//
//   save   agree on a number | each rank writes its file | rank 0 replaces FOLDER/table | remove the old files
//   load   each rank reads its shards, and makes a table of them | exchange the tables
#pragma once

#include <cstdio>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <tilehash/core/options.hpp>
#include <tilehash/several/files.hpp>
#include <tilehash/several/item_traffic.hpp>
#include <tilehash/space/buffer.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// (A std::vector<bool> is no array.)
template <class T>
using in_file = std::conditional_t<std::is_same_v<T, bool>, u8, T>;

template <class Table>
auto items_by_shards(typename Table::space_type& space, const Table& table, u32 rank, u32 ranks) {
  using key = typename Table::key_type;
  using value = typename Table::value_element;
  using Space = typename Table::space_type;
  const u64 n = table.size();
  buffer<key, Space> keys(space, n);
  std::vector<in_file<value>> host_values;
  if constexpr (Table::is_set) {
    table.retrieve_all(space, keys.span());
  } else {
    buffer<value, Space> values(space, n);
    table.retrieve_all(space, keys.span(), values.span());
    host_values = values.to_host();
  }
  const std::vector<key> host_keys = keys.to_host();
  keys = {};
  return by_shards(std::span<const key>(host_keys), std::span<const in_file<value>>(host_values),
                   several::first_shard_of(rank, ranks), several::first_shard_of(rank + 1, ranks));
}

// Files of the current save, if there is one: those of each `every`th part from `first` on.
inline std::vector<std::string> parts_of_save(const std::string& folder, u32 first, u32 every) {
  std::vector<std::string> paths;
  if (!has_file(save_record::path(folder))) return paths;
  const save_record record = save_record::read(folder);
  for (u32 p = first; p < record.parts(); p += every)
    if (record.saves[p] != 0) paths.push_back(record.part_path(folder, p));
  return paths;
}

template <class Space, class Exchange, class Table>
void save_table(Space& space, item_traffic<Space, Exchange>& traffic, const Table& table, u64 shape,
                const std::string& folder) {
  auto& words = traffic.words();
  const u32 rank = traffic.rank(), ranks = traffic.ranks();
  save_record now{shape};
  u64 save = 0;
  words.begin(shared_verb::save, shape);
  words.attempt([&] {
    if (rank != 0) return;
    make_folder(folder);
    save = drawn_seed() | 1;
  });
  words.mine(traffic.extra(0)) = save;
  traffic.agree();
  now.saves.assign(ranks, words.of(0, traffic.extra(0)));
  const std::string part = now.part_path(folder, rank);
  std::vector<std::string> old_parts;
  try {
    words.attempt([&] {
      old_parts = parts_of_save(folder, rank, ranks);
      write_part(part, now.saves[rank], rank, items_by_shards(space, table, rank, ranks));
    });
    words.mine(traffic.extra(0)) = table.size();
    traffic.agree();
    now.items = words.sum(traffic.extra(0));
    words.attempt([&] {
      if (rank == 0) now.publish(folder);
    });
    traffic.agree();
  } catch (...) {
    if (words.failed_together()) std::remove(part.c_str());
    throw;
  }
  for (const std::string& path : old_parts) std::remove(path.c_str());
}

// A rank's items of the current save.
template <class Key, class Value>
struct loaded_items {
  std::vector<Key> keys;
  std::vector<in_file<Value>> values;

  loaded_items(const std::string& folder, u64 shape, u32 rank, u32 ranks, bool is_set) {
    const save_record of = save_record::read(folder);
    require(of.shape == shape,
            "load: the saved table has keys or values of another size, or is no map as this");
    const u32 first = several::first_shard_of(rank, ranks), last = several::first_shard_of(rank + 1, ranks);
    for (u32 r = several::rank_of(first, of.parts()); r <= several::rank_of(last - 1, of.parts()); ++r)
      read_part(folder, of, r, first, last, is_set, keys, values);
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
