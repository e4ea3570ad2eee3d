// SPDX-License-Identifier: Apache-2.0
// Outcomes of items and reports of calls. A report counts every item, so no item is lost silently.
#pragma once

#include <tilehash/core/config.hpp>

namespace tilehash {

/// The outcome of one item of insert().
enum class outcome : std::uint8_t {
  inserted,  ///< the key was new and is in the table now
  present,   ///< the key was in the table (or came twice in this call) and kept its value
  refused,   ///< the table is full, or the key is not legal (a NaN compared by value); the table is unchanged
};

/// The outcomes of all items of one bulk insert or build: inserted + present + refused = items given. A
/// caller that drops it does not learn of refused items, so the compiler warns.
struct [[nodiscard]] insert_report {
  std::uint64_t inserted = 0;  ///< items whose keys were new
  std::uint64_t present = 0;   ///< items whose keys were present, or came twice
  std::uint64_t refused = 0;   ///< items that found no free slot, or whose keys are not legal
  std::uint64_t restarts = 0;  ///< rebuilds of the table, larger or with another hash function, to fit all

  friend bool operator==(const insert_report&, const insert_report&) = default;
};

/// An operation of a mixed batch on a key.
enum class operation : std::uint8_t {
  find,              ///< report whether it is present, and its value
  erase,             ///< remove it
  insert,            ///< insert it, unless it is present
  insert_or_assign,  ///< insert it, or replace its value
};

/// The report of a mixed batch: the sums for each operation.
struct [[nodiscard]] apply_report {
  std::uint64_t found = 0;   ///< finds whose keys were present
  std::uint64_t erased = 0;  ///< keys that were present and are erased
  insert_report inserted;    ///< of the inserts
  insert_report assigned;    ///< of the insert_or_assigns

  friend bool operator==(const apply_report&, const apply_report&) = default;
};

TILEHASH_BEGIN_ABI_NAMESPACE

/// The result of a bulk build, which may need a retry with another hash function.
struct [[nodiscard]] build_result {
  insert_report report;   ///< meaningless unless `complete`
  bool complete = false;  ///< all items that are legal are in the table
};

/// The result of examining one bucket for a key.
enum class lookup_state : u32 {
  absent,  ///< the key is not in the table
  found,   ///< the key is in this bucket
  go_on,   ///< the key is not in this bucket, but perhaps in the next one of its probe sequence
};

/// The result of examining a bucket of a key's sequence for an insert. If found, `slot` is the key's own.
/// Otherwise `free` says whether the key may take `slot` by swapping `old` for itself. `what` says whether
/// the key may be stored in a later bucket (go_on) or is in none of them (absent).
template <class Word>
struct insert_position {
  lookup_state what = lookup_state::go_on;  ///< found here, in no bucket, or perhaps in a later one
  bool free = false;                        ///< the key may take `slot`
  u32 slot = 0;                             ///< of the bucket
  Word old = 0;                             ///< the word in that slot
};

/// The result of examining a bucket of a key's sequence for an erase. A design may derive from it, to pass
/// more to advance(), vacated() and erased().
template <class Word>
struct erase_position {
  lookup_state what = lookup_state::absent;  ///< found here, in no bucket, or perhaps in a later one
  u32 slot = 0;                              ///< of the bucket, the slot of the key
  Word old = 0;                              ///< the word in that slot
};

/// The result of one try of a design with its own rules for inserts.
enum class insert_state : u32 {
  inserted,
  present,
  full,      ///< no free slot, until other keys move or the table grows
  again,     ///< something was in use (for example a lock): retry
  replaced,  ///< it took the slot of another key, which is displaced and must be inserted
};
/// The same with the displaced key.
template <class KeyBits, class ValueBits>
struct insert_result {
  insert_state what = insert_state::full;  ///< the result of the try
  KeyBits key = 0;                         ///< the displaced key, if `replaced`
  ValueBits value = 0;                     ///< the value of that key
};

/// The result of examining a bucket for a lookup. A design may derive from it, to pass more to advance().
/// `value` holds the bits of the mapped value when found (always 0 for a set).
template <class Bits>
struct lookup_answer {
  lookup_state what = lookup_state::absent;  ///< found, not in the table, or perhaps in a later bucket
  Bits value = 0;                            ///< of the key, if it was found
  /// Is this the key's bucket?
  TILEHASH_FN bool found() const { return what == lookup_state::found; }
};

TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
