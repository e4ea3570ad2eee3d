// SPDX-License-Identifier: Apache-2.0
// The records of the store, and the right answers.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>

#include <tilehash/core/config.hpp>

#include "ycsb.hpp"

namespace kv_store {

// "user" and the record's number. Aligned, so that a GPU reads it as words.
struct alignas(8) key {
  std::array<char, 16> text;
};
inline key key_of(count record) {
  key k{{'u', 's', 'e', 'r'}};
  for (std::size_t i = k.text.size(); i-- > 4; record /= 10) k.text[i] = static_cast<char>('0' + record % 10);
  return k;
}

// Says which write it comes from, and whether all its parts are of that write.
struct value {
  std::uint32_t record, version;  // every write has a version of its own, later ones a larger
  std::uint32_t changes;          // read-modify-writes since the record was last written as a whole
  std::array<std::uint32_t, 22> field;
};
static_assert(sizeof(key) == 16 && sizeof(value) == 100);

inline value value_of(count record, std::uint32_t version) {
  value v{static_cast<std::uint32_t>(record), version, 0, {}};
  auto word = static_cast<std::uint32_t>(fnv(record << 32 | version));
  for (auto& part : v.field) part = word++;
  return v;
}

// A read-modify-write: counts on from what is stored, and takes the rest from what is given.
struct modify {
  TILEHASH_FN value operator()(const value& stored, const value& given) const {
    value next = given;
    next.changes = stored.changes + 1;
    return next;
  }
};

// The versions that reads must find, in a std::unordered_map: of every record, or of a sample if there are many.
//
// Any of several writes of one record in one call may be the last, so a record has all versions that it may have.
// A read finds one of them, which is the only one from then on. Read-modify-writes count once each.
class model {
 public:
  explicit model(count records) : every_(1 + records / sample) {}

  // One call that writes. O(1) a record.
  void write(std::span<const count> records, std::span<const value> values, write_kind how) {
    for (std::size_t i = 0; i < records.size(); ++i) {
      end_ = std::max(end_, records[i] + 1);
      if (!follows(records[i])) continue;
      state& s = states_[records[i]];
      if (s.first < values[0].version) s.first = values[i].version;  // written by an earlier call
      s.last = values[i].version;
      s.changes = how == write_kind::read_modify_write ? s.changes + 1 : 0;
    }
  }
  // How many of these answers cannot be.
  count mistakes(std::span<const count> records, std::span<const std::uint8_t> found,
                 std::span<const value> values) {
    count wrong = 0;
    for (std::size_t i = 0; i < records.size(); ++i) {
      const bool is_there = records[i] < end_;
      wrong += is_there ? found[i] == 0 || !fits(records[i], values[i]) : found[i] != 0;
    }
    return wrong;
  }

 private:
  static constexpr count sample = 200'000;
  struct state {
    std::uint32_t first = 0, last = 0;  // versions that it may have
    std::uint32_t changes = 0;
  };

  bool follows(count record) const { return fnv(record) % every_ == 0; }
  bool fits(count record, const value& v) {
    if (v.record != record || v.field != value_of(record, v.version).field) return false;
    if (!follows(record)) return true;
    const auto known = states_.find(record);
    if (known == states_.end()) return false;
    state& s = known->second;
    if (v.version < s.first || v.version > s.last || v.changes != s.changes) return false;
    s.first = s.last = v.version;
    return true;
  }

  count every_, end_ = 0;  // all records that were inserted lie below
  std::unordered_map<count, state> states_;
};

}  // namespace kv_store
