// SPDX-License-Identifier: Apache-2.0
// A memory resource that can be made to run out, counts the allocated bytes, and returns memory full of
// rubbish. A space that is made with it allocates everything from it.
#pragma once

#include <cstring>
#include <new>

#include <tilehash/core/config.hpp>

namespace tilehash::contract {

class faulty {
 public:
  static constexpr u64 never = ~u64(0);

  // The call f() gets at most `after` allocations. (Allocate the test's own arrays before it.)
  template <class F>
  decltype(auto) guarded(F f) {
    struct guard {
      faulty& memory;
      ~guard() { memory.armed_ = false; }
    } const guard{*this};
    armed_ = left_ != never;
    return f();
  }
  // So many allocations succeed, and the next ones, or one alone, do not: a call may have a way that needs less.
  void refuse_after(u64 allocations, u64 refusals = never) {
    left_ = allocations;
    refusals_ = refusals;
    if (allocations != never) refused_ = false;
  }
  void refuse_larger_than(u64 bytes) { largest_ = bytes; }
  bool refused() const { return refused_; }  // since the last refuse_after()
  u64 allocated() const { return allocated_; }

 protected:
  static constexpr char rubbish = char(0xa5);

  // Every allocation calls this first, and every deallocation reports here.
  void take(u64 bytes) {
    if (bytes > largest_) throw std::bad_alloc();
    if (armed_ && left_-- == 0) {
      left_ = --refusals_ == 0 ? never - 1 : 0;
      refused_ = true;
      throw std::bad_alloc();
    }
    allocated_ += bytes;
  }
  void give(u64 bytes) { allocated_ -= bytes; }

 private:
  u64 left_ = never, refusals_ = never, largest_ = never, allocated_ = 0;
  bool armed_ = false, refused_ = false;
};

// Host memory, with the interface of std::pmr::memory_resource.
class faulty_host : public faulty {
 public:
  void* allocate(std::size_t bytes, std::size_t alignment) {
    take(bytes);
    return std::memset(::operator new(bytes, std::align_val_t(alignment)), rubbish, bytes);
  }
  void deallocate(void* p, std::size_t bytes, std::size_t alignment) {
    give(bytes);
    ::operator delete(p, std::align_val_t(alignment));  // clang 16 has no sized form
  }
};

// A space and its memory resource.
template <class Space, class Memory>
struct ground {
  template <class... Arguments>
  explicit ground(Arguments... arguments) : space(arguments..., memory) {}
  Memory memory;
  Space space;
};

}  // namespace tilehash::contract
