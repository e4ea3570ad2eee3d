// SPDX-License-Identifier: Apache-2.0
// A table that is larger than the memory of its space. Its shards are in files, of which one part at a time is a table.
//
//   append    items -> the bin of each part, in host memory, then in a file
//   merge     for each part: read the part | a table of it | change it by the bin's items | write the part
//   lookup    for each part with queries: read the part | a table of it | look the queries up
//
// The files are those of a table over several ranks (several/files.hpp): it loads them, and its saves can be changed here.
#pragma once

#include <cstdio>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tilehash/core/op.hpp>
#include <tilehash/core/options.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/several/saving.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// The items of one part that wait for a merge: those in the file came first.
template <class Key, class Value>
class item_bin {
 public:
  void add(const Key& key, const Value& value) {
    keys_.push_back(key);
    values_.push_back(value);
  }
  u64 size() const { return written_ + keys_.size(); }
  u64 bytes() const { return keys_.size() * (sizeof(Key) + sizeof(Value)); }
  // Moves the items in memory to the file.
  void write(const std::string& path) {
    if (!file_) file_ = std::make_unique<shard_file>(shard_file::scratch(path));
    write_array(keys_);
    write_array(values_);
    blocks_.push_back(keys_.size());
    written_ += keys_.size();
    keys_ = {};
    values_ = {};
  }
  // Adds all items to arrays.
  void read(std::vector<Key>& keys, std::vector<Value>& values) const {
    u64 at = 0;
    const auto read_array = [&](auto& to, u64 n) {
      to.resize(to.size() + n);
      file_->read(at, to.data() + to.size() - n, n * sizeof to[0]);
      at += n * sizeof to[0];
    };
    for (const u64 n : blocks_) {
      read_array(keys, n);
      read_array(values, n);
    }
    keys.insert(keys.end(), keys_.begin(), keys_.end());
    values.insert(values.end(), values_.begin(), values_.end());
  }

 private:
  template <class T>
  void write_array(const std::vector<T>& from) {
    file_->write(end_, from.data(), from.size() * sizeof(T));
    end_ += from.size() * sizeof(T);
  }

  std::vector<Key> keys_;
  std::vector<Value> values_;
  std::unique_ptr<shard_file> file_;
  std::vector<u64> blocks_;  // items of each block of the file
  u64 written_ = 0, end_ = 0;
};

}  // namespace detail

namespace several {

/// A map in files, one part of which is in memory at a time. For tables that fit neither the memory of a GPU nor
/// that of the host.
///
/// Use it for few calls of many items: each merge and each lookup reads all parts that its items reach.
///
/// Arrays are in host memory. Verbs are not thread safe.
template <class Table>
  requires(!Table::is_set)
class out_of_core {
 public:
  using Space = typename Table::space_type;
  using key_type = typename Table::key_type;
  using mapped_type = typename Table::value_element;
  /// Is called after each part of a pass, with the number of parts done and of all parts.
  using progress = std::function<void(u32 done, u32 all)>;

  /// Opens the table of a folder, or makes an empty one.
  ///
  /// \param space that has the table of one part; it must outlive the object.
  /// \param folder of this table alone. It may have a save of several::distributed.
  /// \param parts of a new table, at most `shards`. A part has about size() / parts items. Not used if the folder has
  /// a table.
  /// \param bin_bytes of host memory for items that wait for a merge, before they go to files.
  /// \param options of the table of a part.
  /// \throws invalid_argument for no or too many parts, or a saved table of other sizes; error where the system cannot
  /// read or write.
  out_of_core(Space& space, std::string folder, u32 parts, u64 bin_bytes = u64(1) << 30,
              const table_options& options = {})
      : space_(&space), folder_(std::move(folder)), bin_bytes_(bin_bytes), options_(options) {
    detail::require(parts != 0 && parts <= shards, "out_of_core: a table has 1 to 4096 parts");
    detail::make_folder(folder_);
    if (detail::has_file(detail::save_record::path(folder_)))
      record_ = detail::save_record::read(folder_);
    else
      record_ = {shape, 0, std::vector<u64>(parts, 0)};
    detail::require(record_.shape == shape,
                    "out_of_core: the saved table has keys or values of another size");
    bins_.resize(record_.parts());
  }

  u64 size() const { return record_.items; }      ///< items in the files, without those that wait
  u32 parts() const { return record_.parts(); }   ///< parts
  u64 waiting() const { return waiting_; }        ///< items that wait for a merge
  u64 bytes_read() const { return read_; }        ///< of parts, since the object was made
  u64 bytes_written() const { return written_; }  ///< of parts, since the object was made
  void report_to(progress to) { after_part_ = std::move(to); }  ///< sets the function to call after each part

  /// Adds items to those that wait for a merge. A merge that throws leaves them waiting. They are lost with the object.
  ///
  /// \throws invalid_argument for arrays of different lengths; error where the system cannot write. Some of the
  /// items may then wait.
  void append(std::span<const key_type> keys, std::span<const mapped_type> values) {
    detail::require(keys.size() == values.size(), "append: keys and values differ in length");
    for (u64 i = 0; i < keys.size(); ++i) {
      bins_[part_of(keys[i])].add(keys[i], values[i]);
      ++waiting_;
      in_memory_ += item_bytes;
      if (in_memory_ >= bin_bytes_) write_bins();
    }
  }
  /// Inserts the waiting items whose keys are absent. Any one of equal keys wins.
  ///
  /// \throws out_of_memory, error; the table and the waiting items are then unchanged (strong).
  insert_report insert() {
    return merge([](Space& s, Table& t, auto keys, auto values) { return t.insert(s, keys, values); });
  }
  /// Inserts the waiting items; the value of a present key becomes the given one. Any one of equal keys wins. As
  /// insert().
  insert_report insert_or_assign() {
    return merge(
        [](Space& s, Table& t, auto keys, auto values) { return t.insert_or_assign(s, keys, values); });
  }
  /// Inserts the waiting items; the value of a present key becomes op(stored, given). As insert().
  template <class Op>
  insert_report insert_or_apply(Op op) {
    return merge(
        [&](Space& s, Table& t, auto keys, auto values) { return t.insert_or_apply(s, keys, values, op); });
  }
  /// Finds the values of keys, with `missing` for absent keys. Items that wait are absent.
  ///
  /// \throws invalid_argument for arrays of different lengths; out_of_memory, error (strong).
  void find_or(std::span<const key_type> keys, std::span<mapped_type> out, mapped_type missing) {
    detail::require(keys.size() == out.size(), "find_or: keys and values differ in length");
    std::vector<std::vector<u64>> rows(parts());
    for (u64 i = 0; i < keys.size(); ++i) rows[part_of(keys[i])].push_back(i);
    for (u32 p = 0; p < parts(); ++p) {
      if (!rows[p].empty()) find_in_part(p, rows[p], keys, out, missing);
      if (after_part_) after_part_(p + 1, parts());
    }
  }
  /// Calls f(table) with the table of each part, which it may change and move from: to copy all items, or to join.
  ///
  /// \throws out_of_memory, error, and what f throws.
  template <class F>
  void for_each_part(F f) {
    for (u32 p = 0; p < parts(); ++p) {
      Table table = part(p);
      f(table);
      if (after_part_) after_part_(p + 1, parts());
    }
  }

 private:
  static constexpr u64 item_bytes = sizeof(key_type) + sizeof(mapped_type);
  static constexpr u64 shape = detail::shape_of<key_type, mapped_type>;
  using stored = detail::in_file<mapped_type>;

  u32 part_of(const key_type& key) const { return rank_of(shard_of(key), parts()); }
  void write_bins() {
    for (u32 p = 0; p < parts(); ++p)
      if (bins_[p].bytes() != 0) bins_[p].write(folder_ + "/waiting." + std::to_string(p));
    in_memory_ = 0;
  }
  Table part(u32 p) {
    std::vector<key_type> keys;
    std::vector<stored> values;
    detail::read_part(folder_, record_, p, first_shard_of(p, parts()), first_shard_of(p + 1, parts()), false,
                      keys, values);
    read_ += keys.size() * item_bytes;
    Table table(*space_, keys.size(), options_);
    const buffer<key_type, Space> its_keys(*space_, std::span<const key_type>(keys));
    const buffer<mapped_type, Space> its_values(*space_, as_values(values));
    const auto report = table.build(*space_, its_keys.span(), its_values.span());
    if (report.refused != 0)
      throw error("tilehash: out_of_core: the table of a part has no capacity for its items; let it grow");
    return table;
  }
  static std::span<const mapped_type> as_values(const std::vector<stored>& from) {
    return {reinterpret_cast<const mapped_type*>(from.data()), from.size()};
  }
  void find_in_part(u32 p, const std::vector<u64>& rows, std::span<const key_type> keys,
                    std::span<mapped_type> out, mapped_type missing) {
    std::vector<key_type> asked;
    for (const u64 i : rows) asked.push_back(keys[i]);
    const Table table = part(p);
    const buffer<key_type, Space> queries(*space_, std::span<const key_type>(asked));
    const buffer<mapped_type, Space> answers(*space_, asked.size());
    table.find_or(*space_, queries.span(), answers.span(), missing);
    const auto found = answers.to_host();
    for (u64 k = 0; k < rows.size(); ++k) out[rows[k]] = found[k];
  }

  // Writes new files of the parts that have waiting items, and makes them the table's at the end.
  template <class Apply>
  insert_report merge(const Apply& apply) {
    insert_report all;
    detail::save_record next = record_;
    const u64 save = detail::drawn_seed() | 1;
    std::vector<std::string> old_files, new_files;
    try {
      for (u32 p = 0; p < parts(); ++p) {
        if (bins_[p].size() == 0) continue;
        if (record_.saves[p] != 0) old_files.push_back(record_.part_path(folder_, p));
        next.saves[p] = save;
        new_files.push_back(next.part_path(folder_, p));
        merge_part(p, save, new_files.back(), apply, all);
        if (after_part_) after_part_(p + 1, parts());
      }
      next.items += all.inserted;
      next.publish(folder_);
    } catch (...) {
      for (const std::string& path : new_files) std::remove(path.c_str());
      throw;
    }
    record_ = std::move(next);
    for (const std::string& path : old_files) std::remove(path.c_str());
    bins_.clear();
    bins_.resize(record_.parts());
    waiting_ = in_memory_ = 0;
    return all;
  }
  template <class Apply>
  void merge_part(u32 p, u64 save, const std::string& path, const Apply& apply, insert_report& all) {
    Table table = part(p);
    {
      std::vector<key_type> keys;
      std::vector<stored> values;
      bins_[p].read(keys, values);
      const buffer<key_type, Space> its_keys(*space_, std::span<const key_type>(keys));
      const buffer<mapped_type, Space> its_values(*space_, as_values(values));
      const insert_report report = apply(*space_, table, std::span<const key_type>(its_keys.span()),
                                         std::span<const mapped_type>(its_values.span()));
      all.inserted += report.inserted;
      all.present += report.present;
      all.refused += report.refused;
      all.restarts += report.restarts;
    }
    detail::write_part(path, save, p, detail::items_by_shards(*space_, table, p, parts()));
    written_ += table.size() * item_bytes;
  }

  Space* space_;
  std::string folder_;
  u64 bin_bytes_;
  table_options options_;
  detail::save_record record_;
  std::vector<detail::item_bin<key_type, stored>> bins_;
  u64 waiting_ = 0, in_memory_ = 0, read_ = 0, written_ = 0;
  progress after_part_;
};

}  // namespace several
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(several);
}  // namespace tilehash
