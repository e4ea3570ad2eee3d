// SPDX-License-Identifier: Apache-2.0
// The scratch memory of an emulated block. It records the threads that accessed each byte since the last
// barrier, or sync() of a tile, which orders the accesses of a warp. So it finds a missing barrier in any order of
// the threads, also in one that gives the right answer.
#pragma once

#include <concepts>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tilehash/core/config.hpp>
#include <tilehash/core/error.hpp>

namespace tilehash::emulation {

// Two threads accessed a word, one of them wrote, and no barrier was between.
class race_error : public error {
 public:
  using error::error;
};

enum class access : u32 { read, write, peek, update };  // peek and update are atomic

class scratch_memory {
 public:
  explicit scratch_memory(u64 bytes);

  // The accessing thread and the time: `phase` counts the barriers, from 1; `turn` is the warp's at its last sync().
  struct mark {
    u32 phase = 0, thread = 0, warp = 0, turn = 0;
  };

  // Records an access, or throws race_error.
  void note(u64 at, u64 bytes, access how, const mark& by);
  std::byte* data() { return data_.data(); }

 private:
  struct marks {
    mark by[4];  // the last access of each kind
  };

  static void note(marks& before, u64 at, access how, const mark& by);
  void split(u64 word);

  u64 bytes_;
  std::vector<std::byte> data_;
  // Nearly all accesses are of whole words of 4 bytes, whose bytes have the same marks.
  std::vector<marks> words_;
  std::vector<bool> is_split_;   // ... but not those of this word
  std::vector<marks> of_bytes_;  // of split words; empty if there are none
};

// One element. Only a temporary can be read or assigned to. `auto x = s[i]` would read too late, so such an
// `x` cannot be used; write `const u32 x = s[i]`.
template <class T, class Thread>
class scratch_word {
 public:
  scratch_word(Thread& me, u64 at) : me_(&me), at_(at) {}
  scratch_word(const scratch_word&) = delete;

  operator T() && { return me_->template load_scratch<T>(at_, access::read); }
  T operator=(T x) && { return me_->store_scratch(at_, x, access::write), x; }
  T operator=(scratch_word&& other) && {  // NOLINT(performance-noexcept-move-constructor): it may find a race
    return std::move(*this) = T(std::move(other));
  }
  T operator+=(T x) && {
    return change([x](T old) { return old + x; });
  }
  T operator-=(T x) && {
    return change([x](T old) { return old - x; });
  }
  T operator|=(T x) && {
    return change([x](T old) { return old | x; });
  }
  T operator&=(T x) && {
    return change([x](T old) { return old & x; });
  }
  T operator++() && { return std::move(*this) += T(1); }

 private:
  template <class F>
  T change(F f) {
    return scratch_word(*me_, at_) = static_cast<T>(f(T(scratch_word(*me_, at_))));
  }

  Thread* me_;
  u64 at_;
};

// The result of block.scratch<T>(), for which `cuda` returns a T*. Atomics are found by argument-dependent
// lookup: write `using detail::fetch_add; fetch_add(s + i, T(1));`.
template <class T, class Thread>
class scratch_pointer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  scratch_pointer(Thread& me, u64 at_byte) : me_(&me), at_(at_byte) {
    if (at_byte % alignof(T) != 0)
      throw invalid_argument("tilehash: scratch at a byte where such words cannot stand");
  }
  scratch_word<T, Thread> operator[](u64 i) const { return {*me_, at_ + i * sizeof(T)}; }
  scratch_word<T, Thread> operator*() const { return (*this)[0]; }
  scratch_pointer operator+(u64 i) const { return {*me_, at_ + i * sizeof(T)}; }

  friend T fetch_add(scratch_pointer p, T by) {
    return p.update([by](T old) {  // wraps around, as on a GPU
      if constexpr (std::signed_integral<T>)
        return static_cast<T>(static_cast<u64>(old) + static_cast<u64>(by));
      else
        return static_cast<T>(old + by);
    });
  }
  friend scratch_pointer<u32, Thread> halves_of(scratch_pointer p)
    requires(sizeof(T) == 8)
  {
    return {*p.me_, p.at_};
  }
  friend void fetch_min(scratch_pointer p, T x) {
    p.update([x](T old) { return x < old ? x : old; });
  }
  friend void fetch_max(scratch_pointer p, T x) {
    p.update([x](T old) { return old < x ? x : old; });
  }
  friend T fetch_or(scratch_pointer p, T bits) {
    return p.update([bits](T old) { return static_cast<T>(old | bits); });
  }
  friend void set_bits(scratch_pointer p, T bits) {
    p.update([bits](T old) { return static_cast<T>(old | bits); });
  }
  friend T compare_and_swap(scratch_pointer p, T expected, T desired) {
    return p.update([=](T old) { return old == expected ? desired : old; });
  }
  friend T exchange(scratch_pointer p, T x) {
    return p.update([x](T /*old*/) { return x; });
  }
  friend T load_relaxed(scratch_pointer p) {
    p.me_->may_pause();
    return p.me_->template load_scratch<T>(p.at_, access::peek);
  }
  friend void store_relaxed(scratch_pointer p, T x) {
    p.update([x](T /*old*/) { return x; });
  }

 private:
  template <class F>
  T update(F f) const {
    me_->may_pause();
    const T old = me_->template load_scratch<T>(at_, access::update);
    me_->store_scratch(at_, f(old), access::update);
    me_->may_lag();
    return old;
  }

  Thread* me_;
  u64 at_;
};

}  // namespace tilehash::emulation
