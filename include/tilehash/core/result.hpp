// Every outcome has a name, and a bulk call adds them up: nothing is lost in silence.
#pragma once

#include <tilehash/core/config.hpp>

namespace tilehash {

/// What became of one item given to insert().
enum class outcome : std::uint8_t {
  inserted,  ///< the key was new and is in the table now
  present,   ///< the key was in the table (or came twice in this call) and kept the value it had
  refused,   ///< the table is full, or the key is not legal (a NaN compared by value); the table is unchanged
};

/// What became of all items of one bulk insert or build: inserted + present + refused = items given. Who drops
/// it does not learn of refused items, so the compiler warns.
struct [[nodiscard]] insert_report {
  std::uint64_t inserted = 0;  ///< items whose keys were new
  std::uint64_t present = 0;   ///< items whose keys were there, or came twice
  std::uint64_t refused = 0;   ///< items that found no room, or whose keys are not legal
  std::uint64_t restarts =
      0;  ///< how often the table was rebuilt, larger or with another hash function, to fit all

  friend bool operator==(const insert_report&, const insert_report&) = default;
};

/// What a mixed batch is to do with a key.
enum class operation : std::uint8_t {
  find,              ///< say whether it is there, and its value
  erase,             ///< take it out
  insert,            ///< put it in, unless it is there
  insert_or_assign,  ///< put it in, or give it another value
};

/// What became of a mixed batch: the sums of its parts.
struct [[nodiscard]] apply_report {
  std::uint64_t found = 0;   ///< of the finds, how many keys were there
  std::uint64_t erased = 0;  ///< keys that were there and are gone
  insert_report inserted;    ///< of the inserts
  insert_report assigned;    ///< of the insert_or_assigns

  friend bool operator==(const apply_report&, const apply_report&) = default;
};

TILEHASH_BEGIN_ABI_NAMESPACE

/// What became of a bulk build that may have to start anew, with another hash function.
struct [[nodiscard]] build_result {
  insert_report report;   ///< means nothing unless it is complete
  bool complete = false;  ///< all items that are legal are in the table
};

/// What examining one bucket says of a key.
enum class lookup_state : u32 {
  absent,  ///< the key is not in the table
  found,   ///< it is here
  go_on,   ///< not here, but perhaps in the next bucket of its probe sequence
};

/// What examining a bucket of a key's sequence tells an insert: found, and `slot` is the key's own; else
/// whether a slot is `free` that the key may take by swapping `old` for itself, and whether the key may stand
/// further on (go_on) or is in none of the buckets to come (absent).
template <class Word>
struct insert_position {
  lookup_state what = lookup_state::go_on;  ///< found here, in no bucket at all, or perhaps further on
  bool free = false;                        ///< `slot` is one that the key may take
  u32 slot = 0;                             ///< of the bucket
  Word old = 0;                             ///< what stands there
};

/// What examining a bucket of a key's sequence tells an erase. A design's own may derive from it, to tell
/// advance(), vacated() and erased() more.
template <class Word>
struct erase_position {
  lookup_state what = lookup_state::absent;  ///< found here, in no bucket at all, or perhaps further on
  u32 slot = 0;                              ///< of the bucket, where the key stands
  Word old = 0;                              ///< what stands there
};

/// What became of one try of a design that inserts by rules of its own.
enum class insert_state : u32 {
  inserted,
  present,
  full,      ///< no room, until others move or the table grows
  again,     ///< something was in use (a lock, say): try once more
  replaced,  ///< it took the place of another key, which is in hand now and must go on
};
/// The same with the key that is in hand afterwards.
template <class KeyBits, class ValueBits>
struct insert_result {
  insert_state what = insert_state::full;  ///< what became of the try
  KeyBits key = 0;                         ///< in hand now, where `replaced`
  ValueBits value = 0;                     ///< ... and its value
};

/// A lookup's answer, or one of a design's own that derives from it and tells advance() more. `value` holds
/// the bits of the mapped value when found (always 0 for a set).
template <class Bits>
struct lookup_answer {
  lookup_state what = lookup_state::absent;  ///< found, not in the table, or perhaps further on
  Bits value = 0;                            ///< of the key, where it was found
  /// Is this the key's bucket?
  TILEHASH_FN bool found() const { return what == lookup_state::found; }
};

TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
