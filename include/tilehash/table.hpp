// SPDX-License-Identifier: Apache-2.0
// table<Design, Space>: every verb, once for all designs.
//
//   user -> table (checks, and one call) -> engine (how tables of this design own memory and change)
//                                             -> kernel (what runs for each item) -> design (where to look)
//
// The verbs are in table/, a file and a class for each family, each of which derives from the one before:
//
//   owner      the engine; types, size, views     inserts   build, insert
//   contents   all items, memory                  updates   insert_or_apply, erase, apply
//   lookups    find, contains, count ...          the verbs of one engine (engine/NAME_verbs.hpp)
#pragma once

#include <type_traits>
#include <utility>

#include <tilehash/core/options.hpp>
#include <tilehash/engine/insertion.hpp>
#include <tilehash/table/updates.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

namespace detail {

// The verbs of all engines, and those that this design's engine adds.
template <class Design, class Space>
struct verbs_of {
  using common = verbs::updates<Design, Space>;
  using engine = typename Design::template engine<Space>;
  static auto choose() {
    if constexpr (requires { typename engine::template verbs<common>; })
      return std::type_identity<typename engine::template verbs<common>>{};
    else
      return std::type_identity<common>{};
  }
  using type = typename decltype(choose())::type;
};

}  // namespace detail

/// A hash table of one design in the memory of one space.
///
/// A table offers the verbs that its design supports (docs/reference/verbs.md). These rules hold for all verbs.
///
/// Space. The first argument is any space object of the table's device, not only the table's own. The call
/// then runs after the work already started through the table's own space.
///
/// Arrays. They are in the memory of that space. Arrays that are only read may overlap. An array that is
/// written must not overlap any other, unless the verb says so; else the verb throws invalid_argument.
///
/// Synchronization. A verb returns when its results are written, unless its name ends in `_async` or it says
/// otherwise.
///
/// Concurrency. "With const verbs": the verb may run concurrently with other const verbs, by any threads.
/// "Exclusive": no other call and no lookup may run. All items of one call run concurrently.
///
/// Memory. It comes from the space that the table was made with. "Temporary memory" is what a verb allocates
/// in addition to the table's own and frees before it returns. A moved-from table is empty.
///
/// Errors. invalid_argument: arrays of different lengths, or memory of another space. out_of_memory and
/// cuda_error: the space failed. error: no hash function places the items.
///
/// Guarantee. Strong, for out_of_memory, error and invalid_argument: the table is unchanged. An insert that
/// has changed the table does not throw out_of_memory: it refuses the items that need more memory. Its report
/// counts them, and `outcomes` names them. No key that was in the table before a call is ever lost. After a
/// cuda_error the table is lost.
///
/// Callables. An op, or the function given to for_each, may throw on a CPU. The first exception of any thread
/// reaches the caller. The guarantee is then basic: the table is valid and keeps all its keys, and size() is
/// exact. Each value has some of the items applied. A hasher must not throw: its operator() is noexcept
/// (docs/adr/0026).
template <class Design, class Space>
class table : public detail::verbs_of<Design, Space>::type {
  using base = typename detail::verbs_of<Design, Space>::type;

 public:
  /// Makes an empty table with capacity for `items` at the options' load factor.
  ///
  /// \param space whose memory the table takes; it must outlive the table.
  /// \param items to size the table for.
  /// \param options of the table.
  /// \throws invalid_argument for a load factor that the design does not take, or for more items than it can
  /// hold; out_of_memory (strong).
  /// \complexity O(capacity).
  /// \memory none.
  /// \synchronizes no.
  /// \concurrency as the space allows; `cpu`: any threads, `cuda`: one thread at a time.
  explicit table(Space& space, u64 items = 0, table_options options = {})
      : base(typename base::engine_type(space, items, detail::completed<Design>(options))) {}

  /// Copies the table, with the same seed.
  ///
  /// \param space whose memory the copy takes, of the same device as the table.
  /// \return an equal table.
  /// \throws invalid_argument, out_of_memory (strong).
  /// \complexity O(bytes()).
  /// \memory none.
  /// \synchronizes after `_async` verbs and changes by views; else no.
  /// \concurrency with const verbs.
  [[nodiscard]] table clone(Space& space) const
    requires requires(const typename base::engine_type e) { e.clone(space); }
  {
    [[maybe_unused]] const auto call = this->reading(space, "clone");
    return this->engine_.has_memory() ? table(this->engine_.clone(space)) : table(space, 0, this->options());
  }

 private:
  explicit table(typename base::engine_type&& engine) : base(std::move(engine)) {}
};

TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC(table);
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
