// SPDX-License-Identifier: Apache-2.0
// Atomic operations on words of 4, 8 and 16 bytes, the same on CPU and GPU.
// On a CPU 4 and 8 bytes use the compiler's builtins, which ThreadSanitizer knows and which need no header.
// On a GPU the common ones use CUDA's functions: the compiler makes them shared memory's atomics where it
// sees a block's scratch. The others use libcu++'s atomic_ref, which is made for any address: with it alone a
// bulk build of `tiled` took a fifth longer. For 16 bytes one instruction does it: cmpxchg16b on x86-64,
// atom.cas.b128 on sm_90 and newer. (The compilers' own 16-byte atomics call a library that takes locks.)
// Orders are relaxed unless the name says otherwise: the bulk verbs order their phases by joining threads or
// by the stream.
#pragma once

#include <tilehash/core/config.hpp>

#include <bit>
#include <concepts>

#if defined(__CUDACC__)
#include <cuda/atomic>
#endif

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Runs before each atomic operation on a CPU. It is empty except in tests that choose how threads interleave
// (tests/emulated/points.hpp).
#if !defined(TILEHASH_BEFORE_ATOMIC) || defined(__CUDA_ARCH__)
#undef TILEHASH_BEFORE_ATOMIC
#define TILEHASH_BEFORE_ATOMIC() static_cast<void>(0)
#endif

// Is a target GPU of this unit older than sm_90? (The list begins with the oldest target.)
#define TILEHASH_FIRST(first, ...) first
#define TILEHASH_OLDEST(...) TILEHASH_FIRST(__VA_ARGS__, 0)
#if defined(__CUDA_ARCH_LIST__)
#define TILEHASH_NARROW_GPUS (TILEHASH_OLDEST(__CUDA_ARCH_LIST__) < 900)
#else
#define TILEHASH_NARROW_GPUS 0
#endif

// The widest word, in bytes, that all target GPUs of this unit can change atomically: 8 before sm_90. Host
// code may read it too, because nvcc lists all its targets.
inline constexpr u32 widest_device_atomic = TILEHASH_NARROW_GPUS ? 8 : 16;

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
// Not defined: the assembler's error is its name, and is given only for code that a GPU would run. (A
// static_assert would refuse the CPU's tables too, because nvcc checks all code that could run on either.)
extern "C" __device__ void tilehash_slots_of_16_bytes_need_sm_90_or_newer__use_map_or_smaller_keys();
#endif

// A move of 16 bytes in the encoding of the unit's other vector instructions. An SSE move between AVX ones
// waits for the registers' upper halves. On an Intel Xeon an insert of 64 + 64 bits into `linear_probing`
// then takes 440 ns, not 32.
#if defined(__AVX__)
#define TILEHASH_MOVE_16 "vmovdqa"
#else
#define TILEHASH_MOVE_16 "movdqa"
#endif

// Replaces *at by `desired` if it holds `expected`; returns what it held. Lock-free.
template <std::same_as<u128> Word>
TILEHASH_FN Word compare_and_swap(Word* at, Word expected, Word desired) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  tilehash_slots_of_16_bytes_need_sm_90_or_newer__use_map_or_smaller_keys();
  return expected;
#elif defined(__CUDA_ARCH__)
  u64 lo, hi;
  asm volatile(
      "{ .reg .b128 e, d, o;\n\t"
      "mov.b128 e, {%3, %4};\n\t"
      "mov.b128 d, {%5, %6};\n\t"
      "atom.relaxed.gpu.cas.b128 o, [%2], e, d;\n\t"
      "mov.b128 {%0, %1}, o; }"
      : "=l"(lo), "=l"(hi)
      : "l"(at), "l"(static_cast<u64>(expected)), "l"(static_cast<u64>(expected >> 64)),
        "l"(static_cast<u64>(desired)), "l"(static_cast<u64>(desired >> 64))
      : "memory");
  return static_cast<u128>(hi) << 64 | lo;
#elif defined(__x86_64__)
  TILEHASH_BEFORE_ATOMIC();
  u64 lo = static_cast<u64>(expected), hi = static_cast<u64>(expected >> 64);
  asm volatile("lock cmpxchg16b %0"
               : "+m"(*at), "+a"(lo), "+d"(hi)
               : "b"(static_cast<u64>(desired)), "c"(static_cast<u64>(desired >> 64))
               : "cc", "memory");
  return static_cast<u128>(hi) << 64 | lo;
#else
  TILEHASH_BEFORE_ATOMIC();
  __atomic_compare_exchange_n(at, &expected, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
#endif
}

// Reads a word that other threads may change, and writes one that other threads may read, in one access.
//
// PTX guarantees that for scalars only (PTX ISA 9.0, chapter 8, Memory Consistency Model). A vector is "a set
// of equivalent memory operations with a scalar data type, executed in an unspecified order" (8.2.4). So
// ld.v2.u64 of a 16-byte word could return halves of two words: a key with the value of another. The type
// b128 is a scalar (ld and st: PTX ISA 8.3, sm_70). ptxas makes the same instruction of ld.cg.v2.u64,
// ld.cg.b128 and ld.relaxed.gpu.b128. Only around the last one it no longer turns branches into predicates.
#if defined(__CUDA_ARCH__)
__device__ __forceinline__ u128 load_whole(const u128* at) {
  u64 low, high;
  asm volatile(
      "{ .reg .b128 x;\n\t"
      "ld.global.cg.b128 x, [%2];\n\t"
      "mov.b128 {%0, %1}, x; }"
      : "=l"(low), "=l"(high)
      : "l"(at));
  return static_cast<u128>(high) << 64 | low;
}
__device__ __forceinline__ void store_whole(u128* at, u128 x) {
  asm volatile(
      "{ .reg .b128 x;\n\t"
      "mov.b128 x, {%1, %2};\n\t"
      "st.global.cg.b128 [%0], x; }"
      :
      : "l"(at), "l"(static_cast<u64>(x)), "l"(static_cast<u64>(x >> 64))
      : "memory");
}
#endif

#if defined(__CUDA_ARCH__)
template <class T>
using shared_ref = ::cuda::atomic_ref<T, ::cuda::thread_scope_device>;

inline constexpr auto relaxed = ::cuda::std::memory_order_relaxed;
inline constexpr auto acquire = ::cuda::std::memory_order_acquire;
inline constexpr auto release = ::cuda::std::memory_order_release;
#else
inline constexpr int relaxed = __ATOMIC_RELAXED, acquire = __ATOMIC_ACQUIRE, release = __ATOMIC_RELEASE;

// The members of an atomic_ref that this library uses.
template <class T>
class shared_ref {
 public:
  TILEHASH_FN explicit shared_ref(T& x) : at_(&x) {}
  TILEHASH_FN T load(int order) const { return TILEHASH_BEFORE_ATOMIC(), __atomic_load_n(at_, order); }
  TILEHASH_FN void store(T x, int order) const { TILEHASH_BEFORE_ATOMIC(), __atomic_store_n(at_, x, order); }
  TILEHASH_FN bool compare_exchange_strong(T& expected, T desired, int success, int failure) const {
    return TILEHASH_BEFORE_ATOMIC(),
           __atomic_compare_exchange_n(at_, &expected, desired, false, success, failure);
  }
  TILEHASH_FN T exchange(T x, int order) const {
    return TILEHASH_BEFORE_ATOMIC(), __atomic_exchange_n(at_, x, order);
  }
  TILEHASH_FN T fetch_add(T by, int order) const {
    return TILEHASH_BEFORE_ATOMIC(), apart(__atomic_fetch_add(at_, by, order));
  }
  TILEHASH_FN T fetch_or(T bits, int order) const {
    return TILEHASH_BEFORE_ATOMIC(), apart(__atomic_fetch_or(at_, bits, order));
  }
  TILEHASH_FN T fetch_and(T bits, int order) const {
    return TILEHASH_BEFORE_ATOMIC(), apart(__atomic_fetch_and(at_, bits, order));
  }
  TILEHASH_FN T fetch_xor(T bits, int order) const {
    return TILEHASH_BEFORE_ATOMIC(), apart(__atomic_fetch_xor(at_, bits, order));
  }
  // These two retry at most once for each change of the word by another thread.
  TILEHASH_FN void fetch_min(T x, int order) const {
    T old = load(order);
    while (x < old && !compare_exchange_strong(old, x, order, order)) {
    }
  }
  TILEHASH_FN void fetch_max(T x, int order) const {
    T old = load(order);
    while (old < x && !compare_exchange_strong(old, x, order, order)) {
    }
  }

 private:
  // g++ 12 makes one operation of `x = fetch_add(at, x) + x`, and then adds the old word to itself.
  TILEHASH_FN static T apart(T old) {
#if defined(__GNUC__) && !defined(__clang__)
    asm("" : "+r"(old));
#endif
    return old;
  }

  T* at_;
};
#endif

template <class T>
concept atomic_integer = std::integral<T> && (sizeof(T) == 4 || sizeof(T) == 8);  // which a GPU adds in place
#if defined(__CUDA_ARCH__)
template <atomic_integer Word>
__device__ __forceinline__ auto for_cuda(Word* at) {
  if constexpr (sizeof(Word) == 4)
    return reinterpret_cast<unsigned int*>(at);
  else
    return reinterpret_cast<unsigned long long*>(at);
}
template <atomic_integer Word>
__device__ __forceinline__ auto for_cuda_ordered(Word* at) {  // for operations that depend on the sign
  if constexpr (std::unsigned_integral<Word>)
    return for_cuda(at);
  else if constexpr (sizeof(Word) == 4)
    return reinterpret_cast<int*>(at);
  else
    return reinterpret_cast<long long*>(at);
}
template <atomic_integer Word>
__device__ __forceinline__ Word compare_and_swap(Word* at, Word expected, Word desired) {
  return static_cast<Word>(atomicCAS(for_cuda(at), expected, desired));
}
template <atomic_integer Word>
__device__ __forceinline__ Word exchange(Word* at, Word x) {
  return static_cast<Word>(
      atomicExch(for_cuda(at), static_cast<std::remove_pointer_t<decltype(for_cuda(at))>>(x)));
}
template <atomic_integer Word>
__device__ __forceinline__ Word fetch_add(Word* at, Word by) {
  return static_cast<Word>(atomicAdd(for_cuda(at), by));
}
template <atomic_integer Word>
__device__ __forceinline__ void fetch_min(Word* at, Word x) {
  atomicMin(for_cuda_ordered(at), x);
}
template <atomic_integer Word>
__device__ __forceinline__ void fetch_max(Word* at, Word x) {
  atomicMax(for_cuda_ordered(at), x);
}
template <atomic_integer Word>
__device__ __forceinline__ Word load_relaxed(const Word* at) {
  return *static_cast<const volatile Word*>(at);
}
template <atomic_integer Word>
__device__ __forceinline__ void store_relaxed(Word* at, Word x) {
  *static_cast<volatile Word*>(at) = x;
}
template <atomic_integer Word>
__device__ __forceinline__ void set_bits(Word* at, Word bits) {
  atomicOr(for_cuda(at), bits);
}
template <atomic_integer Word>
__device__ __forceinline__ Word fetch_or(Word* at, Word bits) {
  return static_cast<Word>(atomicOr(for_cuda(at), bits));
}
template <atomic_integer Word>
__device__ __forceinline__ void flip_bits(Word* at, Word bits) {
  atomicXor(for_cuda(at), bits);
}
#endif

template <class Word>
TILEHASH_FN Word compare_and_swap(Word* at, Word expected, Word desired) {
  shared_ref<Word>(*at).compare_exchange_strong(expected, desired, relaxed, relaxed);
  return expected;
}

template <class Word>
TILEHASH_FN Word load_relaxed(const Word* at) {
  if constexpr (sizeof(Word) == 16) {
    // An aligned load of 16 bytes is one access on every x86-64 with AVX.
#if defined(TILEHASH_LOAD_16) && !defined(__CUDA_ARCH__)
    return TILEHASH_LOAD_16(at);  // tests (tests/emulated/points.hpp)
#elif defined(__x86_64__) && !defined(__CUDA_ARCH__)
    using vector = long long __attribute__((vector_size(16)));
    vector v;
    asm volatile(TILEHASH_MOVE_16 " %1, %0" : "=x"(v) : "m"(*at));
    return static_cast<u128>(static_cast<u64>(v[1])) << 64 | static_cast<u64>(v[0]);
#elif defined(__CUDA_ARCH__)
    return load_whole(at);
#else
    u128 v;
    __atomic_load(const_cast<u128*>(at), &v, __ATOMIC_RELAXED);
    return v;
#endif
  } else {
    return shared_ref<Word>(const_cast<Word&>(*at)).load(relaxed);
  }
}

// Writes x in one access, for a word that only one thread changes and that others may read.
template <class Word>
TILEHASH_FN void store_relaxed(Word* at, Word x) {
  if constexpr (sizeof(Word) == 16) {
#if defined(__x86_64__) && !defined(__CUDA_ARCH__)
    TILEHASH_BEFORE_ATOMIC();
    using vector = long long __attribute__((vector_size(16)));
    const vector v = {static_cast<long long>(x), static_cast<long long>(x >> 64)};
    asm volatile(TILEHASH_MOVE_16 " %1, %0" : "=m"(*at) : "x"(v));
#elif defined(__CUDA_ARCH__)
    store_whole(at, x);
#else
    __atomic_store(at, &x, __ATOMIC_RELAXED);
#endif
  } else {
    shared_ref<Word>(*at).store(x, relaxed);
  }
}

// Writes the lower half of a word of 8 bytes that no other thread writes concurrently. A GPU does not even
// read the upper half.
template <class At>
TILEHASH_FN void store_low_half(At at, u32 x) {
#if defined(__CUDA_ARCH__)
  *reinterpret_cast<volatile u32*>(at) = x;
#else
  *at = static_cast<u64>(*at) >> 32 << 32 | x;
#endif
}

// Writes x and returns the old word.
template <class Word>
TILEHASH_FN Word exchange(Word* at, Word x) {
  return shared_ref<Word>(*at).exchange(x, relaxed);
}

template <class Word>
TILEHASH_FN Word fetch_add(Word* at, Word by) {
  return shared_ref<Word>(*at).fetch_add(by, relaxed);
}

template <class Word>
TILEHASH_FN void fetch_min(Word* at, Word x) {
  shared_ref<Word>(*at).fetch_min(x, relaxed);
}
template <class Word>
TILEHASH_FN void fetch_max(Word* at, Word x) {
  shared_ref<Word>(*at).fetch_max(x, relaxed);
}

template <class Word>
TILEHASH_FN Word fetch_or(Word* at, Word bits) {
  return shared_ref<Word>(*at).fetch_or(bits, relaxed);
}
// Calls change(half, bits) for each half of a word of 16 bytes that has some of these bits. (On a GPU overlapping
// atomic operations are ordered whatever their sizes: PTX ISA 9.0, section 8.7.2.)
template <class Word, class Change>
TILEHASH_FN void change_halves(Word* at, Word bits, const Change& change) {
  using half [[gnu::may_alias]] = u64;
  auto* const halves = reinterpret_cast<half*>(at);
  constexpr u32 high = std::endian::native == std::endian::little ? 1 : 0;
  const u64 low_bits = static_cast<u64>(bits), high_bits = static_cast<u64>(bits >> 64);
  if (low_bits != 0) change(halves + (1 - high), low_bits);
  if (high_bits != 0) change(halves + high, high_bits);
}

// Sets the bits that are set in `bits`; each half of a word of 16 bytes separately.
template <class Word>
TILEHASH_FN void set_bits(Word* at, Word bits) {
  if constexpr (sizeof(Word) == 16)
    change_halves(at, bits, [](auto* half, u64 some) { set_bits(half, some); });
  else
    shared_ref<Word>(*at).fetch_or(bits, relaxed);
}

// Flips the bits that are set in `bits`; each half of a word of 16 bytes separately.
template <class Word>
TILEHASH_FN void flip_bits(Word* at, Word bits) {
  if constexpr (sizeof(Word) == 16)
    change_halves(at, bits, [](auto* half, u64 some) { flip_bits(half, some); });
  else
    shared_ref<Word>(*at).fetch_xor(bits, relaxed);
}

// Clears a bit of an array. Returns true in the one call that found it set, if several run concurrently.
TILEHASH_FN bool clear_bit(u32* bits, u64 which) {
  const u32 bit = 1U << (which % 32);
  return (shared_ref<u32>(bits[which / 32]).fetch_and(~bit, relaxed) & bit) != 0;
}

// Sets a bit. Returns true in the one call that found it clear, if several run concurrently.
TILEHASH_FN bool set_bit(u32* bits, u64 which) {
  const u32 bit = 1U << (which % 32);
  return (shared_ref<u32>(bits[which / 32]).fetch_or(bit, relaxed) & bit) == 0;
}

// A thread that sees a write of this thread after the fence also sees the writes before it, by this thread
// and by those that met it at a barrier. Reads after the fence are no older than reads before it. It is a
// fence because buckets are read in vectors, which have no memory order. (ThreadSanitizer does not know
// fences: GCC's -Wtsan. It need not, because all accesses that they order here are atomic.)
TILEHASH_FN void device_fence() {
#if defined(__CUDA_ARCH__)
  __threadfence();
#else
  __atomic_thread_fence(__ATOMIC_ACQ_REL);
#endif
}

// Takes the lock bit `which` of an array of bits. Returns false when another thread holds it; never waits.
TILEHASH_FN bool try_lock(u32* bits, u64 which) {
  const u32 bit = 1U << (which % 32);
  return (shared_ref<u32>(bits[which / 32]).fetch_or(bit, acquire) & bit) == 0;
}
TILEHASH_FN void unlock(u32* bits, u64 which) {
  shared_ref<u32>(bits[which / 32]).fetch_and(~(1U << (which % 32)), release);
}
// Releases a lock that was taken, also when a user's op throws.
struct unlock_at_end {
  u32* bits;
  u64 which;
  TILEHASH_FN ~unlock_at_end() { unlock(bits, which); }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
