// SPDX-License-Identifier: Apache-2.0
// Hash functions of 32-bit keys that Breslow et al. tried for figure 8, next to the design's own. Each is the function
// for an input of four bytes: Wang's of integers, FNV-1a, Jenkins' Lookup3 and SpookyHash, and CityHash32.
#pragma once

#include <tilehash/core/config.hpp>

#include <bit>

namespace tilehash::bench::figure_8 {

struct wang {
  static constexpr const char* name = "wang";
  static u32 hash(u32 key) {
    key = ~key + (key << 15);
    key ^= key >> 12;
    key += key << 2;
    key ^= key >> 4;
    key *= 2057;
    return key ^ key >> 16;
  }
};

struct fnv {
  static constexpr const char* name = "fnv-1a";
  static u32 hash(u32 key) {
    u32 h = 2166136261U;
    for (u32 i = 0; i < 4; ++i) h = (h ^ (key >> 8 * i & 255)) * 16777619U;
    return h;
  }
};

struct lookup3 {
  static constexpr const char* name = "lookup3";
  static u32 hash(u32 key) {
    const u32 begin = 0xdeadbeefU + 4;
    u32 a = begin + key, b = begin, c = begin;
    c = (c ^ b) - std::rotl(b, 14);
    a = (a ^ c) - std::rotl(c, 11);
    b = (b ^ a) - std::rotl(a, 25);
    c = (c ^ b) - std::rotl(b, 16);
    a = (a ^ c) - std::rotl(c, 4);
    b = (b ^ a) - std::rotl(a, 14);
    return (c ^ b) - std::rotl(b, 24);
  }
};

struct city {
  static constexpr const char* name = "city";
  static u32 hash(u32 key) {
    u32 b = 0, c = 9;
    for (u32 i = 0; i < 4; ++i) {
      b = b * c1 + static_cast<u32>(static_cast<signed char>(key >> 8 * i & 255));
      c ^= b;
    }
    u32 h = mur(b, mur(4, c));
    h = (h ^ h >> 16) * 0x85ebca6bU;
    h = (h ^ h >> 13) * 0xc2b2ae35U;
    return h ^ h >> 16;
  }

 private:
  static constexpr u32 c1 = 0xcc9e2d51U;
  static u32 mur(u32 a, u32 h) {
    return std::rotr(h ^ std::rotr(a * c1, 17) * 0x1b873593U, 19) * 5 + 0xe6546b64U;
  }
};

struct spooky {
  static constexpr const char* name = "spooky";
  static u32 hash(u32 key) {
    u64 a = 0, b = 0, c = 0xdeadbeefdeadbeefULL + key, d = 0xdeadbeefdeadbeefULL + (u64(4) << 56);
    const auto mix = [](u64& to, u64& from, int bits) {
      to ^= from;
      from = std::rotl(from, bits);
      to += from;
    };
    mix(d, c, 15), mix(a, d, 52), mix(b, a, 26), mix(c, b, 51);
    mix(d, c, 28), mix(a, d, 9), mix(b, a, 47), mix(c, b, 54);
    mix(d, c, 32), mix(a, d, 25), mix(b, a, 63);
    return static_cast<u32>(a);
  }
};

}  // namespace tilehash::bench::figure_8
