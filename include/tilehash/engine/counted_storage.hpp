// engine::counted_storage: storage of a table whose size asynchronous calls and views may change in the
// memory of the space.
//
// Invariant: the number of items is the host's size() plus that change. A verb that changes the table begins
// with settle(), so size() is the number of all items until the verb ends; const verbs use live_size().
#pragma once

#include <tilehash/engine/call_memory.hpp>
#include <tilehash/engine/storage.hpp>
#include <tilehash/kernel/call.hpp>
#include <tilehash/kernel/entries.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace engine {

template <class Design, class Space>
class counted_storage : public storage<Design, Space> {
  using base = storage<Design, Space>;

 public:
  using base::home;

  // The number of all items. Writes nothing. Synchronizes if there were asynchronous calls, or a view exists.
  u64 live_size() const { return unsettled_ || viewed_ ? size_ + calls_.size_change(*home()) : u64(size_); }
  // Makes size() the number of all items; for verbs that change the table. Synchronizes as live_size().
  void settle(Space& space) {
    if (unsettled_ || viewed_) fetch_size(space);
  }

 protected:
  using base::base, base::size_;

  // Changes that are not settled are copied with the memory. The copy has no view yet.
  counted_storage(const counted_storage& other, Space& space) : base(other, space) {
    unsettled_ = other.unsettled_ || other.viewed_;
  }

  // The end of an asynchronous call: its change of the size stays in the memory of the space.
  detail::call_end unwaited(u64 n, u32 last_phase) {
    unsettled_ = true;
    return calls_.unwaited(n, last_phase);
  }
  // After an interrupted call (a user's op threw): counts the items of the table for its size. On a CPU.
  void recount(Space& space) {
    calls_.clear(space);
    size_ = detail::count_entries(space, this->view_);
    unsettled_ = false;
  }

  detail::call_memory calls_;                // in the memory of the table
  detail::zero_when_moved<bool> unsettled_;  // asynchronous calls may have changed the size
  detail::zero_when_moved<bool> viewed_;  // a mutable view exists: its users may change the size at any time

 private:
  __attribute__((noinline)) void fetch_size(Space& space) {
    const u64 change = calls_.size_change(space);
    unsettled_ = false;
    if (change == 0) return;
    size_ += change;
    calls_.start_size(space);
  }
};

}  // namespace engine
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
