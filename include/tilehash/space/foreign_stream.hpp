// SPDX-License-Identifier: Apache-2.0
// A call through one space object on memory that another one allocated.
//
// Memory belongs to the space that allocated it, its home, and returns to it. Two space objects of one GPU
// may work on two streams. So a call through the other one, on a foreign stream, is ordered: home's earlier
// work runs before the call's work, and home's later work after it. That costs two events; a call through
// home costs nothing. Two objects of `cpu` need no order, as their calls return after their work is done.
#pragma once

#include <string>
#include <utility>

#include <tilehash/core/config.hpp>
#include <tilehash/core/error.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Throws invalid_argument unless `user` can work on the memory of `home` (null: no memory yet).
template <class Space>
void require_same_device(const Space* home, const Space& user, const char* call) {
  if (home == nullptr || home == &user || home->same_memory(user)) return;
  refuse(std::string(call) + ": the table is in the memory of " + home->where() +
         ", and the space given works on " + user.where() +
         "; give one of the same device, or build a table there");
}

// A call that reads. Such calls may run concurrently, each through its own space.
template <class Space>
class foreign_read {
 public:
  foreign_read(const Space* home, Space& user, const char* call) { require_same_device(home, user, call); }
};
// A call that changes the table; it runs alone. Home allocates and frees on the foreign stream meanwhile.
template <class Space>
class foreign_change {
 public:
  foreign_change(Space* home, Space& user, const char* call) { require_same_device(home, user, call); }
};

template <class Space>
concept has_streams = requires(Space& s) { s.exchange_stream(s.stream()); };

template <has_streams Space>
class foreign_read<Space> {
 public:
  foreign_read(const Space* home, Space& user, const char* call) : home_(home), user_(user) {
    require_same_device(home, user, call);
    if (visits()) user_.wait_for(*home_);
  }
  foreign_read(const foreign_read&) = delete;
  foreign_read& operator=(const foreign_read&) = delete;
  ~foreign_read() {
    if (visits()) user_.hold_back(*home_);
  }

 private:
  bool visits() const { return home_ != nullptr && home_->stream() != user_.stream(); }

  const Space* home_;
  Space& user_;
};

template <has_streams Space>
class foreign_change<Space> {
 public:
  foreign_change(Space* home, Space& user, const char* call)
      : order_(home, user, call),
        home_(home == nullptr ? user : *home),
        own_(home_.exchange_stream(user.stream())) {}
  foreign_change(const foreign_change&) = delete;
  foreign_change& operator=(const foreign_change&) = delete;
  ~foreign_change() { home_.exchange_stream(own_); }

 private:
  foreign_read<Space> order_;
  Space& home_;
  decltype(std::declval<Space&>().stream()) own_;
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
