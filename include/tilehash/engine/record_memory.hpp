// SPDX-License-Identifier: Apache-2.0
// The memory of records (designs/indexed.hpp), by id.
#pragma once

#include <tilehash/core/capacity.hpp>
#include <tilehash/space/buffer.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

template <class Record, class Space>
struct record_memory {
  buffer<Record, Space> records;
  buffer<u32, Space> taken, locks;  // a bit a record
  buffer<u32, Space> free;          // ids of erased keys

  u64 bytes() const { return records.bytes() + taken.bytes() + locks.bytes() + free.bytes(); }
  record_memory clone(Space& space) const {
    return {copy_of(records, space), copy_of(taken, space), copy_of(locks, space), copy_of(free, space)};
  }
  // Memory for ids below `limit`, with the first `used` records and the first `freed` free ids of this one.
  record_memory moved(Space& space, u64 limit, u64 used, u64 freed) const {
    const u64 words = divide_up(limit, 32);
    record_memory to{buffer<Record, Space>(space, limit), buffer<u32, Space>(space, words),
                     buffer<u32, Space>(space, words), buffer<u32, Space>(space, limit)};
    space.fill(reinterpret_cast<char*>(to.records.data()), to.records.bytes(),
               char(0));  // gaps between members are copied too
    space.fill(to.locks.data(), words, 0U);
    space.fill(to.taken.data(), words, 0U);
    if (used != 0) {
      space.copy(to.records.data(), records.data(), used * sizeof(Record));
      space.copy(to.taken.data(), taken.data(), divide_up(used, 32) * sizeof(u32));
      space.copy(to.free.data(), free.data(), freed * sizeof(u32));
    }
    return to;
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
