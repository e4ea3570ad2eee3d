// SPDX-License-Identifier: Apache-2.0
// The view of an indexed table, and the function objects that the table passes to its table of ids and to its
// space.
#pragma once

#include <tilehash/algorithm/compact.hpp>
#include <tilehash/core/op.hpp>
#include <tilehash/designs/indexed.hpp>
#include <tilehash/table_view.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

/// The view of a table that stores keys and values in records.
template <class Key, class Value, class Hash, class Ids>
struct table_view<indexed<Key, Value, Hash, Ids>> {
  using design_type = indexed<Key, Value, Hash, Ids>;
  using key_type = Key;
  using mapped_type = Value;
  using record = typename design_type::record;
  using id_view = table_view<typename design_type::ids>;

  design_type design;     ///< from a key to its fingerprint
  id_view ids;            ///< from a fingerprint to its id
  const record* records;  ///< keys and values, by id
  const u32* taken;       ///< a bit a record
  u64 limit;              ///< all ids are below

  /// The result of find().
  struct hit {
    const record* at;  ///< the key's, if it is present
    u32 number;        ///< its id, if it is present
    u32 steps;         ///< buckets and records read
    bool there;        ///< (`at` is never null: CONTRIBUTING.md, "Compilers")

    TILEHASH_FN bool found() const { return there; }                           ///< is the key present?
    TILEHASH_FN u32 id() const { return there ? number : design_type::none; }  ///< its id, or none
    /// Its value, if it was found.
    TILEHASH_FN auto value() const
      requires(!design_type::is_set)
    {
      return at->value;
    }
    TILEHASH_FN u32 count() const { return found(); }  ///< 1 or 0
    TILEHASH_FN u32 probes() const { return steps; }   ///< buckets and records read
  };
  /// One thread, one key: found(), id(), value() of the hit. O(1) expected. Not while the table changes.
  TILEHASH_FN hit find(const Key& key) const { return judge(key, ids.find(design.fingerprint_of(key))); }
  /// Is the key in the table? As find().
  TILEHASH_FN bool contains(const Key& key) const { return find(key).found(); }
  /// The number of items with this key: 1 or 0. As find().
  TILEHASH_FN u32 count(const Key& key) const { return find(key).count(); }

  /// The hit of a key, from its fingerprint's result in the table of ids.
  template <class IdHit>
  TILEHASH_FN hit judge(const Key& key, const IdHit& met) const {
    if (!met.found()) return {records, 0, met.probes(), false};
    const record* const at = records + met.value();
    const bool same = design_type::is_exact || detail::same_key(at->key, key);
    return {at, met.value(), met.probes() + 1, same};
  }

  /// Is this the id of a key in the table?
  TILEHASH_FN bool is_taken(u64 id) const { return id < limit && (taken[id / 32] >> id % 32 & 1) != 0; }
  TILEHASH_FN const Key& key(u64 id) const { return records[id].key; }  ///< of an id that is taken

  /// Entries hold an item or nothing: the records.
  u64 entries() const { return limit; }
  /// use(key, value), in a set use(key), if there is an item at entry i. Returns whether there is.
  template <class Use>
  TILEHASH_FN bool use_entry(u64 i, const Use& use) const {
    if (!is_taken(i)) return false;
    if constexpr (design_type::is_set)
      use(records[i].key);
    else
      use(records[i].key, records[i].value);
    return true;
  }
};

namespace detail {

// The fingerprints of keys, or of listed ones.
template <class Design, class Keys = const typename Design::key_type*>
struct fingerprints {
  Design design;
  Keys keys;  // keys[i]
  const u32* list = nullptr;
  TILEHASH_FN auto operator[](u64 i) const {
    return design.fingerprint_of(keys[list != nullptr ? list[i] : i]);
  }
};

// An item of a table of ids: a fingerprint, and the number at *number.
template <class Slot>
TILEHASH_FN item<Slot> numbered_item(const typename Slot::key_type& fingerprint, const u32* number) {
  item<Slot> x{query<Slot>(fingerprint), 0, true};
  if constexpr (std::is_pointer_v<typename Slot::value_bits>)
    x.value = number;  // values are stored apart: core/apart_slot.hpp
  else
    x.value = *number;
  return x;
}
// Fingerprints of listed keys, with the numbers at the keys' own positions.
template <class Design>
struct fingerprint_source {
  fingerprints<Design> keys;
  const u32* numbers;
  TILEHASH_FN auto operator()(u64 i) const {
    return numbered_item<typename Design::ids::slot_type>(keys[i], numbers + keys.list[i]);
  }
};
// Fingerprints of listed keys with the numbers 0, 1, 2, ... A table of Slots finds the equal ones.
template <class Design, class Slot>
struct meeting_source {
  fingerprints<Design> keys;
  TILEHASH_FN auto operator()(u64 i) const {
    return item<Slot>{query<Slot>(keys[i]), static_cast<u32>(i), true};
  }
};
// Listed records, with their ids.
template <class Design>
struct record_source {
  Design design;
  const typename Design::record* records;
  const u32* list;
  TILEHASH_FN auto operator()(u64 i) const {
    return numbered_item<typename Design::ids::slot_type>(design.fingerprint_of(records[list[i]].key),
                                                          list + i);
  }
};

// Passes a lookup of fingerprints on as one of keys.
template <class View, class Keys, class Sink>
struct through_records {
  View view;
  Keys keys;
  Sink sink;
  template <class IdHit>
  TILEHASH_FN void operator()(u64 i, const IdHit& met) const {
    sink(i, view.judge(keys[i], met));
  }
};
// The outcomes of items after memory ran out. Items with present keys need no memory, unless they change
// values.
struct refused_sink {
  u32* ids;  // this and outcomes may be null
  outcome* outcomes;
  u64* refused;
  bool keeps;
  template <class Hit>
  TILEHASH_FN void operator()(u64 i, const Hit& hit) const {
    const bool present = keeps && hit.found();
    if (ids != nullptr) ids[i] = hit.id();
    if (outcomes != nullptr) outcomes[i] = present ? outcome::present : outcome::refused;
    if (!present) fetch_add(refused, u64(1));
  }
};
// A key's id; counts the keys that found the fingerprint of another.
template <class View>
struct id_and_clash_sink {
  View view;
  const typename View::key_type* keys;
  u32* ids;
  u64* clashes;
  template <class IdHit>
  TILEHASH_FN void operator()(u64 i, const IdHit& met) const {
    const auto hit = view.judge(keys[i], met);
    ids[i] = hit.id();
    if (met.found() && !hit.found() && is_legal(keys[i])) fetch_add(clashes, u64(1));
  }
};
// A key's id, if all keys with fingerprints of the table are present.
template <class Design>
struct known_id_sink {
  const typename Design::key_type* keys;
  u32* ids;
  template <class IdHit>
  TILEHASH_FN void operator()(u64 i, const IdHit& met) const {
    ids[i] = met.found() && is_legal(keys[i]) ? u32(met.value()) : Design::none;
  }
};
// The leader of a new item: the item of its key that the meeting table kept. An illegal key has none.
template <class Design>
struct leader_sink {
  const typename Design::key_type* keys;
  const u32* fresh;
  u32* leaders;
  u64* clashes;
  template <class IdHit>
  TILEHASH_FN void operator()(u64 j, const IdHit& met) const {
    const u32 leader = met.found() && is_legal(keys[fresh[j]]) ? met.value() : Design::none;
    leaders[j] = leader;
    if constexpr (!Design::is_exact) {
      if (leader != Design::none && !same_key(keys[fresh[j]], keys[fresh[leader]]))
        fetch_add(clashes, u64(1));
    }
  }
};

// Each new item leads its key, where no two keys are equal.
struct own_leaders {
  u32* leaders;
  TILEHASH_FN void operator()(u64 j) const { leaders[j] = static_cast<u32>(j); }
};
// Hashes keys so that those with different fingerprints have different hashes. Combining stops at a clash, so
// that the table takes another hash function.
template <class Design>
struct fingerprint_hash {
  static constexpr bool stops_at_clash = !Design::is_exact;
  Design design;
  u64 operator()(const typename Design::key_type& key) const {
    if constexpr (Design::is_exact)
      return hash_key(murmur(), key);
    else
      return mix64(design.fingerprint_of(key));
  }
};

struct fresh_selection {  // items whose keys have no id
  const u32* ids;
  u32 none;
  u32* fresh;
  TILEHASH_FN bool selects(u64 i) const { return ids[i] == none; }
  TILEHASH_FN void use(u64 i, u64 number) const { fresh[number] = static_cast<u32>(i); }
};
struct winner_selection {  // leaders among the new items get an id: a free one, or the next
  const u32 *fresh, *leaders;
  const u32* free;
  u64 free_count, limit;
  u32 *winners, *ids;
  TILEHASH_FN bool selects(u64 j) const { return leaders[j] == j; }
  TILEHASH_FN void use(u64 j, u64 number) const {
    winners[number] = fresh[j];
    ids[fresh[j]] =
        number < free_count ? free[free_count - 1 - number] : static_cast<u32>(limit + number - free_count);
  }
};
struct taken_selection {  // all ids in use
  const u32* taken;
  u32* list;
  TILEHASH_FN bool selects(u64 id) const { return (taken[id / 32] >> id % 32 & 1) != 0; }
  TILEHASH_FN void use(u64 id, u64 number) const { list[number] = static_cast<u32>(id); }
};
template <class Design>
struct gone_selection {  // fingerprints of the keys to erase that are present
  fingerprints<Design> keys;
  const u32* ids;
  typename Design::fingerprint* gone;
  TILEHASH_FN bool selects(u64 i) const { return ids[i] != Design::none; }
  TILEHASH_FN void use(u64 i, u64 number) const { gone[number] = keys[i]; }
};

template <class Design, class Element>
struct record_writer {
  const typename Design::key_type* keys;
  const Element* values;
  const u32 *winners, *ids;
  typename Design::record* records;
  TILEHASH_FN void operator()(u64 r) const {
    const u32 i = winners[r];
    auto& record = records[ids[i]];
    record.key = canonical(keys[i]);
    if constexpr (!Design::is_set) record.value = values[i];
  }
};
struct record_taker {
  const u32 *winners, *ids;
  u32* taken;
  TILEHASH_FN void operator()(u64 r) const {
    const u32 id = ids[winners[r]];
    set_bits(taken + id / 32, 1U << id % 32);
  }
};
// ... where the table of ids may have refused some.
struct kept_record_sink {
  const u32* winners;
  u32 none;
  u32 *ids, *taken, *free;
  u64* freed;  // the length of `free`
  template <class IdHit>
  TILEHASH_FN void operator()(u64 r, const IdHit& met) const {
    u32& id = ids[winners[r]];
    if (met.found()) {
      set_bits(taken + id / 32, 1U << id % 32);
    } else {
      free[fetch_add(freed, u64(1))] = id;
      id = none;
    }
  }
};
struct outcome_writer {
  const u32 *fresh, *leaders;
  u32 none;
  u32* ids;
  outcome* became;
  u64* refused;
  TILEHASH_FN void operator()(u64 j) const {
    const u32 leader = leaders[j], i = fresh[j];
    const u32 id = leader != none ? ids[fresh[leader]] : none;
    if (leader != j) ids[i] = id;
    if (became != nullptr)
      became[i] = id == none ? outcome::refused : leader == j ? outcome::inserted : outcome::present;
    if (id == none) fetch_add(refused, u64(1));
  }
};
// Values of one word change by its atomic operations, others under their record's lock.
template <class Design, class Op>
struct value_changer {
  using value = typename Design::mapped_type;
  static constexpr u32 size = sizeof(value), alignment = alignof(value);
  static constexpr bool is_word = (size == 4 || size == 8) && alignment == size;
  static constexpr bool in_place = is_word && combines_in_place<Op, value>;

  const value* values;
  const u32* ids;
  const outcome* became;
  typename Design::record* records;
  u32* locks;
  Op op;
  TILEHASH_FN void operator()(u64 i) const {
    if (became[i] == outcome::present) change(ids[i], values[i]);
  }
  TILEHASH_FN void change(u32 id, const value& given) const {
    if constexpr (is_word && std::is_same_v<Op, op::assign>) {
      using bits = bits_t<sizeof(value)>;
      store_relaxed(reinterpret_cast<bits*>(&records[id].value), to_bits<bits>(given));
    } else if constexpr (is_word) {
      combine_at(reinterpret_cast<combinable<Op, value>*>(&records[id].value), given, op);
    } else {
      while (!change_if_free(id, given)) {  // a lock is held for one change
      }
    }
  }
  // The same by one try: false if another thread changes the record.
  TILEHASH_FN bool change_if_free(u32 id, const value& given) const {
    if constexpr (is_word) {
      using bits = bits_t<sizeof(value)>;
      bits* const at = reinterpret_cast<bits*>(&records[id].value);
      const bits old = load_relaxed(at);
      return compare_and_swap(at, old, to_bits<bits>(value(op(from_bits<value>(old), given)))) == old;
    } else {
      if (!take_if_free(id)) return false;
      const unlock_at_end held{locks, id};
      records[id].value = op(records[id].value, given);
      return true;
    }
  }
  TILEHASH_FN bool take_if_free(u32 id) const {
    return (load_relaxed(locks + id / 32) >> id % 32 & 1) == 0 && try_lock(locks, id);
  }
};
struct record_freer {
  const u32* ids;
  u32 none;
  u32 *taken, *free;
  u64* freed;
  TILEHASH_FN void operator()(u64 i) const {
    const u32 id = ids[i];
    if (id == none || !clear_bit(taken, id)) return;  // of equal keys one frees the record
    free[fetch_add(freed, u64(1))] = id;
  }
};
template <class View>
struct key_reader {
  View view;
  const u32* ids;
  typename View::key_type* out;
  u8* found;  // 1 or 0 each; may be null
  TILEHASH_FN void operator()(u64 i) const {
    const bool is = view.is_taken(ids[i]);
    if (is) out[i] = view.key(ids[i]);
    if (found != nullptr) found[i] = is;
  }
};

}  // namespace detail

TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
