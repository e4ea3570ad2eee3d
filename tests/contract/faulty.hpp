// A space that can be told to run out of memory, and that hands out memory full of rubbish.
#pragma once

#include <string>

#include <tilehash/core/config.hpp>
#include <tilehash/core/error.hpp>

namespace tilehash::contract {

template <class Space>
class faulty : public Space {
 public:
  using Space::Space;
  static constexpr u64 never = ~u64(0);

  void* allocate(u64 bytes) {
    if (armed_ && left_-- == 0) {
      left_ = 0;
      refused_ = true;
      throw out_of_memory("a test refuses " + std::to_string(bytes) + " bytes");
    }
    void* p = Space::allocate(bytes);
    Space::fill(static_cast<char*>(p), bytes, char(0xa5));
    allocated_ += bytes;
    return p;
  }
  void deallocate(void* p, u64 bytes) noexcept {
    allocated_ -= bytes;
    Space::deallocate(p, bytes);
  }

  // The call f() gets `after` allocations and no more. (The arrays that the tests themselves need come before
  // it.)
  template <class F>
  decltype(auto) guarded(F f) {
    struct guard {
      faulty& space;
      ~guard() { space.armed_ = false; }
    } const guard{*this};
    refused_ = false;
    armed_ = left_ != never;
    return f();
  }
  void refuse_after(u64 allocations) { left_ = allocations; }
  bool refused() const { return refused_; }
  u64 allocated() const { return allocated_; }

 private:
  u64 left_ = never, allocated_ = 0;
  bool armed_ = false, refused_ = false;
};

}  // namespace tilehash::contract
