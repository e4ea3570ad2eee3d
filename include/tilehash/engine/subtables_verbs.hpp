// SPDX-License-Identifier: Apache-2.0
// The verbs of tables in subtables: one subtable is resized at a time.
#pragma once

#include <utility>

#include <tilehash/core/error.hpp>
#include <tilehash/space/foreign_stream.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace verbs {

/// double_subtable, begin_doubling, run_doubling, end_doubling, halve_subtable.
template <class Base>
class of_subtables : public Base {
 public:
  using Space = typename Base::space_type;

  /// Doubles the smallest subtable.
  ///
  /// \param space of the table's device.
  /// \throws invalid_argument, out_of_memory (strong).
  /// \complexity O(slots of the subtable).
  /// \memory the new subtable.
  /// \synchronizes no.
  /// \concurrency exclusive.
  void double_subtable(Space& space) {
    [[maybe_unused]] const auto call = changing(space, "double_subtable");
    with_memory(space).double_one(home(space));
  }
  /// Begins double_subtable() in three steps: takes the memory.
  ///
  /// The second step, run_doubling(), may run concurrently with lookups and insert(): by another thread, or
  /// in the stream of another space object. Until end_doubling(), inserts go to the other subtables and are
  /// refused where these are full. Verbs that would change an item of that subtable, or resize another, throw
  /// invalid_argument.
  /// \param space of the table's device.
  /// \throws invalid_argument, out_of_memory (strong).
  /// \complexity O(1).
  /// \memory the new subtable, which the table keeps.
  /// \synchronizes yes.
  /// \concurrency exclusive.
  void begin_doubling(Space& space) {
    [[maybe_unused]] const auto call = changing(space, "begin_doubling");
    with_memory(space).begin_doubling(home(space));
    home(space).synchronize();
  }
  /// Moves the items to the new subtable.
  ///
  /// \param concurrent the space in whose stream the work runs.
  /// \throws invalid_argument unless begin_doubling() came first (strong).
  /// \complexity O(slots of the subtable).
  /// \memory none.
  /// \synchronizes no.
  /// \concurrency with lookups and insert().
  void run_doubling(Space& concurrent) const {
    detail::require(engine_.doubles(), "run_doubling: begin_doubling() comes first");
    detail::require_same_device(engine_.home(), concurrent, "run_doubling");
    engine_.run_doubling(concurrent);
  }
  /// Replaces the old subtable by the new one, once the work of run_doubling() is done.
  ///
  /// \param space of the table's device.
  /// \param concurrent the space given to run_doubling().
  /// \throws invalid_argument unless begin_doubling() came first (strong).
  /// \complexity O(1).
  /// \memory none.
  /// \synchronizes yes.
  /// \concurrency exclusive.
  void end_doubling(Space& space, Space& concurrent) {
    detail::require(engine_.doubles(), "end_doubling: begin_doubling() comes first");
    concurrent.synchronize();
    [[maybe_unused]] const auto call = changing(space, "end_doubling");
    awake(space).end_doubling(home(space));
  }
  /// Halves the largest subtable.
  ///
  /// \param space of the table's device.
  /// \return whether the subtable was halved. If not, the table is unchanged: the subtable has the least
  /// size, memory is missing, or the other subtables have too few free slots.
  /// \throws invalid_argument (strong).
  /// \complexity O(slots of the subtable).
  /// \memory the new subtable, and 1/2 byte a slot.
  /// \synchronizes yes.
  /// \concurrency exclusive.
  bool halve_subtable(Space& space) {
    [[maybe_unused]] const auto call = changing(space, "halve_subtable");
    return awake(space).halve_one(home(space));
  }

 protected:
  /// \cond
  explicit of_subtables(typename Base::engine_type&& engine) : Base(std::move(engine)) {}
  using Base::awake, Base::changing, Base::engine_, Base::home, Base::with_memory;
  /// \endcond
};

}  // namespace verbs
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(verbs);
}  // namespace tilehash
