// SPDX-License-Identifier: Apache-2.0
// Traffic: the memory from which and to which ranks exchange items, and the exchange of one column of items.
//
// The memory stays between calls, so that a call of a usual size allocates nothing and needs one agreement
// less: the words of the first agreement say how much each rank has.
#pragma once

#include <span>
#include <vector>

#include <tilehash/several/agreement.hpp>
#include <tilehash/space/buffer.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// The space whose memory the exchange reads and writes, if it is not the caller's.
template <class Exchange, class Space>
Space& memory_of(Exchange& exchange, Space& space) {
  if constexpr (requires { exchange.memory(space); })
    return exchange.memory(space);
  else
    return space;
}

// Memory that grows and is kept.
template <class Space>
class kept_memory {
 public:
  u64 bytes() const { return memory_.bytes(); }
  void reserve(Space& space, u64 bytes) {
    if (bytes <= memory_.bytes()) return;
    memory_ = {};
    memory_ = buffer<char, Space>(space, bytes);
  }
  char* data() const { return memory_.data(); }
  void release() { memory_ = {}; }

 private:
  buffer<char, Space> memory_;
};

// Columns of n elements in one memory, each at an aligned address.
class columns {
 public:
  static constexpr u64 alignment = 256;
  // The bytes for columns of n elements of these sizes.
  static u64 bytes_for(u64 n, std::span<const u32> sizes) {
    u64 all = 0;
    for (const u32 size : sizes) all += (n * size + alignment - 1) / alignment * alignment;
    return all;
  }
  columns(char* data, u64 n) : at_(data), n_(n) {}
  // The next column.
  template <class T>
  T* next() {
    T* const column = reinterpret_cast<T*>(at_);
    at_ += (n_ * sizeof(T) + alignment - 1) / alignment * alignment;
    return column;
  }

 private:
  char* at_;
  u64 n_;
};

// The number of items that go to each rank and come from each, and where they begin.
struct item_counts {
  std::vector<u64> sent, received;
  u64 all_sent = 0, all_received = 0;

  item_counts() = default;
  item_counts(std::vector<u64> to, std::vector<u64> from) : sent(std::move(to)), received(std::move(from)) {
    for (const u64 n : sent) all_sent += n;
    for (const u64 n : received) all_received += n;
  }
};

// Offsets and sizes of parts in bytes.
struct part_bytes {
  std::vector<u64> offsets, bytes;
  part_bytes(const std::vector<u64>& counts, u64 item) {
    u64 at = 0;
    for (const u64 n : counts) {
      offsets.push_back(at);
      bytes.push_back(n * item);
      at += n * item;
    }
  }
};

// Sends a column to the owners, or with `back` the answers from the owners.
template <class T, class Exchange>
void exchange_column(Exchange& exchange, const item_counts& counts, const T* from, T* to, bool back = false) {
  const part_bytes out(back ? counts.received : counts.sent, sizeof(T));
  const part_bytes in(back ? counts.sent : counts.received, sizeof(T));
  exchange.all_to_all(several::sent_parts{from, out.offsets, out.bytes},
                      several::received_parts{to, in.offsets, in.bytes});
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
