#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the golden values of hash_test.cpp, from the published definitions and not from the library's code."""

MASK32, MASK64, PRIME = (1 << 32) - 1, (1 << 64) - 1, 4294967291
SEEDS = [0, 0x74696C6568617368]
WIDE = [0, 1, 2, 0x123456789ABCDEF0, 1 << 63, MASK64, MASK64 - 1]
NARROW = [0, 1, 2, 0x12345678, 1 << 31, MASK32, MASK32 - 1]


def fmix64(k):  # MurmurHash3, A. Appleby
    k ^= k >> 33
    k = k * 0xFF51AFD7ED558CCD & MASK64
    k ^= k >> 33
    k = k * 0xC4CEB9FE1A85EC53 & MASK64
    return k ^ k >> 33


def fmix32(h):
    h ^= h >> 16
    h = h * 0x85EBCA6B & MASK32
    h ^= h >> 13
    h = h * 0xC2B2AE35 & MASK32
    return h ^ h >> 16


def jenkins(a):  # http://burtleburtle.net/bob/hash/integer.html
    a = a + 0x7ED55D16 + (a << 12) & MASK32
    a = a ^ 0xC761C23C ^ a >> 19
    a = a + 0x165667B1 + (a << 5) & MASK32
    a = (a + 0xD3A2646C ^ a << 9) & MASK32
    a = a + 0xFD7046C5 + (a << 3) & MASK32
    return a ^ 0xB55A4F09 ^ a >> 16


def rehash(h):  # Fibonacci hashing, Knuth
    return (h ^ h >> 32) * 0x9E3779B97F4A7C15 & MASK64


def linear(seed, k):  # Alcantara's thesis, section 3.1.2
    return (1 + fmix64(seed) % (PRIME - 1)) * k + fmix64(seed + 1) % PRIME


def exclusive_or(seed, k):
    return (fmix64(seed) & MASK32 ^ k) + fmix64(seed + 1) % PRIME


def array(values, digits=16):
    return "{" + ", ".join(f"0x{v:0{digits}x}" for v in values) + "}"


def print_seeded(name, function, widths=((32, NARROW, lambda k: k), (64, WIDE, lambda k: fmix64(k) >> 32))):
    for bits, keys, fold in widths:
        rows = ", ".join(array(function(seed, fold(k)) for k in keys) for seed in SEEDS)
        print(f"constexpr u64 golden_{name}_{bits}[2][7] = {{{rows}}};")


print(f"constexpr u64 golden_mix64[] = {array(map(fmix64, WIDE))};")
print(f"constexpr u32 golden_mix32[] = {array(map(fmix32, NARROW), 8)};")
print(f"constexpr u64 golden_rehash[] = {array(map(rehash, WIDE))};")
unfolded = ((32, NARROW, lambda k: k), (64, WIDE, lambda k: k))
print_seeded("murmur", lambda seed, k: fmix64(k ^ fmix64(seed)), unfolded)
print(f"constexpr u64 golden_murmur_128 = 0x{fmix64(42 ^ fmix64(WIDE[3] ^ fmix64(3))):016x};")
print_seeded("linear_polynomial", lambda seed, k: linear(seed, k) % PRIME << 32)
print_seeded("xor_polynomial", lambda seed, k: exclusive_or(seed, k) % PRIME << 32)
print_seeded("jenkins", lambda seed, k: jenkins(k ^ fmix64(seed) & MASK32) << 32)
