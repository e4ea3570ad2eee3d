// How a table is to be made.
#pragma once

#include <ctime>
#include <optional>

#include <tilehash/core/config.hpp>
#include <tilehash/core/hash.hpp>

namespace tilehash {

/// A load factor, or none: then a table takes what is usual for its design.
class asked_load_factor {
 public:
  constexpr asked_load_factor() = default;                                                  ///< none
  constexpr asked_load_factor(double items_a_slot) : value_(items_a_slot), given_(true) {}  ///< this one
  constexpr operator double() const { return value_; }  ///< the one that was asked for, or 0.8
  /// The one that was asked for, or else `usual`.
  constexpr double or_else(double usual) const { return given_ ? value_ : usual; }

 private:
  double value_ = 0.8;
  bool given_ = false;
};

/// What a table is made with, and keeps when it grows. Members have names: {.load_factor = 0.9, .seed = 7}.
struct table_options {
  asked_load_factor load_factor =
      {};  ///< items per slot that the table is sized for, above 0 and at most 0.98
           ///< (`robin_hood`: 1); not given: 0.8. Of `chained` and `hash_graph`
           ///< items a row, at most 10; not given: 1. Where a design for inserts
           ///< takes less, a table that may grow is made for that; any other
           ///< refuses more.
  std::optional<std::uint64_t> seed =
      {};  ///< of the hash function; a rebuild takes the next one. Not given: drawn for
           ///< each table, so that nobody can make up keys that meet in it
  bool grow =
      true;  ///< make room for all items; false: keep the capacity, wait for nothing before the end of
             ///< a call, and report what does not fit as refused. (Inserts of `robin_hood` and
             ///< `mega_kv` may need another hash function all the same, which the report counts as a
             ///< restart; only if 32 of them fail does such a table grow, as keys would be lost.)
  double shrink_below = 0;  ///< an erase that leaves a load factor under this gives memory back; at most half
                            ///< of load_factor. 0: none does. (In subtables alpha says when.)
  /// Tables in subtables (`dynamic_cuckoo`) that may grow: the share of their slots that items fill is kept
  /// between these two. 0 < alpha < beta * d / (d + 1) for d subtables, beta < 1.
  double alpha = 0.4;     // an erase that leaves less halves subtables
  double beta = 0.9;      ///< before an insert would leave more, subtables are doubled
  bool reuse_ids = true;  ///< `indexed`: new keys get the ids of erased ones
  double slack = 0.25;  ///< `dynamic_hash_graph`: free entries for each item, of a table that was just built
};

/// Which of the items with equal keys that one call brings is kept.
enum class keep {
  any,    ///< one of them, which may be another in the next run
  first,  ///< the one that comes first in the arrays, as dictionaries and drop_duplicates do
};

}  // namespace tilehash

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// A seed that neither another table of this process nor another process has.
inline u64 drawn_seed() {
  // (<chrono> and <atomic> would be a third of what map.hpp takes to compile.)
  static const u64 of_process = [] {
    std::timespec now{};
    if (std::timespec_get(&now, TIME_UTC) == 0) now.tv_sec = std::time(nullptr);
    return mix64(static_cast<u64>(now.tv_sec) * 1000000000 + static_cast<u64>(now.tv_nsec));
  }() ^ reinterpret_cast<u64>(&of_process);  // where the system has loaded it
  static u64 tables = 0;
  return mix64(of_process + 0x9e3779b97f4a7c15ULL * __atomic_add_fetch(&tables, 1, __ATOMIC_RELAXED));
}

// What is asked for, and the design's usual load factor where none is.
template <class Design>
table_options completed(table_options options) {
  if constexpr (requires { Design::usual_load_factor; })
    options.load_factor = options.load_factor.or_else(Design::usual_load_factor);
  return options;
}

// The seed of a table that is made, which always has one.
inline u64 seed_of(const table_options& made) { return made.seed.value_or(0); }

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
