// SPDX-License-Identifier: Apache-2.0
// The options of a table.
#pragma once

#include <ctime>
#include <optional>

#include <tilehash/core/capacity.hpp>
#include <tilehash/core/config.hpp>
#include <tilehash/core/hash.hpp>

namespace tilehash {

/// The options of a table, which it keeps when it grows. Use designated initializers:
/// {.load_factor = 0.9, .seed = 7}.
struct table_options {
  /// A load factor, or none: then a table takes the usual one of its design.
  class asked_load_factor {
   public:
    constexpr asked_load_factor() : value_(0.8), given_(false) {}                             ///< none
    constexpr asked_load_factor(double items_a_slot) : value_(items_a_slot), given_(true) {}  ///< this one
    constexpr operator double() const { return value_; }  ///< the requested one, or 0.8
    /// The requested one, or else `usual`.
    constexpr double or_else(double usual) const { return given_ ? value_ : usual; }

   private:
    double value_;
    bool given_;
  };

  /// Items per slot that the table is sized for, above 0 and at most 0.98 (`robin_hood`: 1); default: 0.8.
  /// For `chained` and `hash_graph`: items per row, at most 10; default: 1. If a design for inserts supports
  /// less, a table that may grow is made for that maximum. Any other table refuses more; its default is the
  /// maximum.
  asked_load_factor load_factor = {};
  /// The seed of the hash function; a rebuild takes the next one. Default: each table draws a random seed,
  /// which prevents hash flooding.
  std::optional<std::uint64_t> seed = {};
  /// Grow to fit all items. False: keep the capacity, do not synchronize before the end of a call, and report
  /// items that do not fit as refused. (Inserts of `robin_hood` and `mega_kv` may still need another hash
  /// function, which the report counts as a restart. If 32 of them fail, such a table grows all the same,
  /// because keys would be lost.)
  bool grow = true;
  /// An erase that leaves a load factor below this gives memory back. At most half of load_factor. 0: no
  /// erase does. (Subtables use alpha instead.)
  double shrink_below = 0;
  /// For tables in subtables (`dynamic_cuckoo`) that may grow: the load factor stays between alpha and beta.
  /// 0 < alpha < beta * d / (d + 1) for d subtables, beta < 1. An erase that leaves less halves subtables.
  double alpha = 0.4;
  double beta = 0.9;      ///< an insert that would leave more doubles subtables first
  bool reuse_ids = true;  ///< `indexed`: new keys get the ids of erased ones
  double slack = 0.25;    ///< `dynamic_hash_graph`: free entries per item of a newly built table
};

/// The item that is kept if one call has several items with equal keys.
enum class keep {
  any,    ///< any one of them; the next run may keep another
  first,  ///< the one that comes first in the arrays, as pandas' drop_duplicates does
};

}  // namespace tilehash

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// A seed that no other table has, in this process or in another.
inline u64 drawn_seed() {
  // (<chrono> and <atomic> would be a third of the compile time of map.hpp.)
  static const u64 of_process = [] {
    std::timespec now{};
    if (std::timespec_get(&now, TIME_UTC) == 0) now.tv_sec = std::time(nullptr);
    return mix64(static_cast<u64>(now.tv_sec) * 1000000000 + static_cast<u64>(now.tv_nsec));
  }() ^ reinterpret_cast<u64>(&of_process);  // the address at which the system has loaded it
  static u64 tables = 0;
  return mix64(of_process + 0x9e3779b97f4a7c15ULL * __atomic_add_fetch(&tables, 1, __ATOMIC_RELAXED));
}

// The requested options, with the design's usual load factor if none is requested. A table that may not grow
// is made for the design's highest one, if that is lower.
template <class Design>
table_options completed(table_options options) {
  constexpr double highest = highest_load_factor<Design>();
  if constexpr (requires { Design::usual_load_factor; }) {
    static_assert(Design::usual_load_factor <= highest,
                  "a design's usual_load_factor is at most its max_load_factor");
    options.load_factor = options.load_factor.or_else(Design::usual_load_factor);
  } else if constexpr (highest < table_options::asked_load_factor()) {
    if (!options.grow) options.load_factor = options.load_factor.or_else(highest);
  }
  return options;
}

// The options of a constructed table, which always has a seed.
inline table_options with_seed(table_options options) {
  if (!options.seed) options.seed = drawn_seed();
  return options;
}
inline u64 seed_of(const table_options& made) { return made.seed.value_or(0); }

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
