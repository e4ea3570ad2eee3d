// SPDX-License-Identifier: Apache-2.0
// The frame of the voxel application, written once for every space: two clouds of points become solids of
// voxels, a flood fill finds the voxels outside of each, and set operations combine them.
//
// All of it happens on hash tables. A table maps words to bits: 64 neighbouring voxels along x share a key,
// and a voxel in no table costs no memory. insert_or_apply with OR adds voxels.
#pragma once

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <tilehash/map.hpp>
#include <tilehash/set.hpp>

namespace voxel_boolean {

using voxel = std::uint64_t;  // x, y, z from the low bits up, 21 bits each
using word = std::uint64_t;   // the same with x / 64
using bits = std::uint64_t;   // of a word's voxels
using count = std::uint64_t;
inline constexpr count largest_side = count(1) << 21;

struct point {
  float x, y, z;  // a mesh fills the cube from 0 to 1
};

// The place of a model: bent to the side, turned about the vertical axis in its own middle, then moved.
struct placement {
  float cosine = 1, sine = 0;
  point shift = {0, 0, 0};
  float scale = 1;
  float bend = 0;  // the shift at a height of 1 above or below the middle
};

// Voxels as they come from a table.
struct word_list {
  std::vector<word> words;
  std::vector<bits> contents;
};
struct frame {
  word_list surface_a, surface_b, solid_a, solid_b, either, both, a_without_b;
  count rounds = 0;  // of the flood fill
  double surfaces_s = 0, flood_s = 0, boolean_s = 0;

  double seconds() const { return surfaces_s + flood_s + boolean_s; }
};

// ---- small functions for every point or word, run by space.for_each
// -----------------------------------------

TILEHASH_FN std::uint64_t key_at(count x, count y, count z) { return x | y << 21 | z << 42; }
TILEHASH_FN count x_of(std::uint64_t key) { return key & (largest_side - 1); }
TILEHASH_FN count y_of(std::uint64_t key) { return key >> 21 & (largest_side - 1); }
TILEHASH_FN count z_of(std::uint64_t key) { return key >> 42; }

struct join {
  static constexpr bool is_associative = true;
  TILEHASH_FN bits operator()(const bits& stored, const bits& given) const { return stored | given; }
};

// A list of words that grows while a function runs; `length` may exceed its capacity.
struct appender {
  word* words;
  bits* contents;
  count* length;

  TILEHASH_FN void add(word w, bits b) const {
    if (b == 0) return;
#if defined(__CUDA_ARCH__)
    const count at = atomicAdd(reinterpret_cast<unsigned long long*>(length), 1ULL);
#else
    const count at = std::atomic_ref(*length).fetch_add(1, std::memory_order_relaxed);
#endif
    words[at] = w;
    contents[at] = b;
  }
};

struct to_voxels {
  const point* points;
  word* words;
  bits* contents;
  placement at;
  count side;

  TILEHASH_FN count along(float position) const {  // keeps two voxels clear on every side
    const auto last = static_cast<float>(side - 5);
    const float scaled = position * (last + 1);
    return 2 + static_cast<count>(scaled < 0 ? 0 : scaled > last ? last : scaled);
  }
  TILEHASH_FN void operator()(count i) const {
    const point p = points[i];
    const float y = (p.y - 0.5F) * at.scale, z = (p.z - 0.5F) * at.scale;
    const float x = (p.x - 0.5F) * at.scale + at.bend * y * y;
    const count column = along(0.5F + at.shift.x + x * at.cosine + z * at.sine);
    words[i] = key_at(column / 64, along(0.5F + at.shift.y + y),
                      along(0.5F + at.shift.z - x * at.sine + z * at.cosine));
    contents[i] = bits(1) << column % 64;
  }
};

template <class View>
TILEHASH_FN bits bits_in(const View& table, word w) {
  const auto hit = table.find(w);
  return hit.found() ? hit.value() : 0;
}

// Where the flood is, and where it may go.
template <class View>
struct waters {
  View surface, wet;
  count side;

  TILEHASH_FN count row_words() const { return (side + 63) / 64; }
  TILEHASH_FN word word_at(count i) const {  // of row_words() * side * side
    return key_at(i % row_words(), i / row_words() % side, i / row_words() / side);
  }
  TILEHASH_FN bits inside_grid(count x) const {
    return side % 64 != 0 && x == side / 64 ? (bits(1) << side % 64) - 1 : ~bits(0);
  }
  // The bits that flow into a word where `entering` does: along x, up to the surface on both sides.
  TILEHASH_FN bits flow(word w, bits entering) const {
    const bits free = inside_grid(x_of(w)) & ~bits_in(surface, w);
    bits up = entering & free, down = up;
    bits open_up = free, open_down = free;
    for (std::uint32_t by = 1; by < 64; by *= 2) {
      up |= open_up & up << by, open_up &= open_up << by;
      down |= open_down & down >> by, open_down &= open_down >> by;
    }
    return up | down;
  }
};

// The flood comes in from the six faces of the grid.
template <class View>
struct from_faces {
  waters<View> water;
  appender found;

  TILEHASH_FN void operator()(count i) const {
    const word w = water.word_at(i);
    const count x = x_of(w), y = y_of(w), z = z_of(w), end = water.side - 1;
    const bool all = y == 0 || y == end || z == 0 || z == end;
    const bits first = x == 0 ? 1 : 0, last = x == end / 64 ? bits(1) << end % 64 : 0;
    found.add(w, water.flow(w, all ? ~bits(0) : first | last));
  }
};

// ... and goes on from words that it has entered to their neighbours.
template <class View>
struct to_neighbours {
  const word* front;
  waters<View> water;
  appender found;

  TILEHASH_FN void visit(count x, count y, count z, bits entering) const {
    if (x >= water.row_words() || y >= water.side || z >= water.side) return;  // below 0 is far above
    const word w = key_at(x, y, z);
    const bits wet = bits_in(water.wet, w);
    if ((entering & ~wet) != 0) found.add(w, water.flow(w, entering) & ~wet);
  }
  TILEHASH_FN void operator()(count i) const {
    const count x = x_of(front[i]), y = y_of(front[i]), z = z_of(front[i]);
    const bits here = bits_in(water.wet, front[i]);
    visit(x, y - 1, z, here), visit(x, y + 1, z, here);
    visit(x, y, z - 1, here), visit(x, y, z + 1, here);
    visit(x + 1, y, z, here >> 63), visit(x - 1, y, z, here << 63);
  }
};

// The voxels that the flood did not reach: the surface and all that it encloses.
template <class View>
struct to_dry {
  waters<View> water;
  appender found;

  TILEHASH_FN void operator()(count i) const {
    const word w = water.word_at(i);
    found.add(w, water.inside_grid(x_of(w)) & ~bits_in(water.wet, w));
  }
};

// The voxels of a list that a table holds too, or that it does not.
template <class View>
struct to_common {
  const word* words;
  const bits* contents;
  View table;
  bool wanted;
  appender found;

  TILEHASH_FN void operator()(count i) const {
    const bits there = bits_in(table, words[i]);
    found.add(words[i], contents[i] & (wanted ? there : ~there));
  }
};

// ---- the application
// ----------------------------------------------------------------------------------------
template <class Space>
class application {
  using map = tilehash::map<word, bits, Space>;
  using view = typename map::view_type;
  template <class T>
  using memory = tilehash::buffer<T, Space>;
  struct list {
    memory<word> words;
    memory<bits> contents;
    count size = 0;
  };

 public:
  application(Space& space, const std::vector<point>& a, const std::vector<point>& b, count side)
      : space_(space), a_(space, a), b_(space, b), length_(space, 1), side_(side) {}

  frame run(const placement& at_a, const placement& at_b) {
    frame f;
    map surface_a(space_), surface_b(space_), solid_b(space_), either(space_);
    list inside_a, inside_b, both, a_without_b;
    f.surfaces_s = timed([&] {
      make_surface(surface_a, a_, at_a);
      make_surface(surface_b, b_, at_b);
    });
    f.flood_s = timed([&] {
      inside_a = fill(surface_a, f.rounds);
      inside_b = fill(surface_b, f.rounds);
    });
    f.boolean_s = timed([&] {
      solid_b.reserve(space_, inside_b.size);
      join_to(solid_b, inside_b);
      either.reserve(space_, inside_a.size + inside_b.size);
      join_to(either, inside_a);
      join_to(either, inside_b);
      both = common(inside_a, solid_b, true);
      a_without_b = common(inside_a, solid_b, false);
    });
    f.surface_a = contents(surface_a), f.surface_b = contents(surface_b), f.either = contents(either);
    f.solid_a = to_host(inside_a), f.solid_b = to_host(inside_b);
    f.both = to_host(both), f.a_without_b = to_host(a_without_b);
    return f;
  }

 private:
  template <class F>
  double timed(F f) {
    space_.synchronize();
    const auto start = std::chrono::steady_clock::now();
    f();
    space_.synchronize();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  // A refused voxel would be a hole.
  static void put_all(const tilehash::insert_report& report) {
    if (report.refused != 0) throw tilehash::out_of_memory("voxels: no memory for a larger table");
  }

  // [surface-begin]
  void make_surface(map& surface, const memory<point>& points, const placement& at) {
    memory<word> words(space_, points.size());
    memory<bits> contents(space_, points.size());
    space_.for_each(points.size(), to_voxels{points.data(), words.data(), contents.data(), at, side_});
    put_all(surface.insert_or_apply(space_, words.span(), contents.span(), join{}));  // many share a word
  }
  // [surface-end]

  list fill(const map& surface, count& rounds) {
    const count all = (side_ + 63) / 64 * side_ * side_;
    map wet(space_, all);
    tilehash::set<word, Space> entered(space_);
    const auto water = [&] { return waters<view>{surface.view(), wet.view(), side_}; };
    list found = listed(all, all, [&](appender to) { return from_faces<view>{water(), to}; });
    for (; found.size != 0; ++rounds) {  // ends, as every round adds voxels
      const auto words = found.words.first(found.size);
      put_all(wet.insert_or_apply(space_, words, found.contents.first(found.size), join{}));
      put_all(entered.build(space_, words));  // each once
      memory<word> front(space_, entered.size());
      entered.retrieve_all(space_, front.span());
      found = listed(front.size(), 6 * front.size(), [&](appender to) {
        return to_neighbours<view>{front.data(), water(), to};
      });
    }
    return listed(all, all, [&](appender to) { return to_dry<view>{water(), to}; });
  }

  void join_to(map& table, const list& voxels) {
    put_all(table.insert_or_apply(space_, voxels.words.first(voxels.size), voxels.contents.first(voxels.size),
                                  join{}));
  }
  list common(const list& of, const map& table, bool wanted) {
    return listed(of.size, of.size, [&](appender to) {
      return to_common<view>{of.words.data(), of.contents.data(), table.view(), wanted, to};
    });
  }

  // The list that a function makes of n things, at most `most` words long.
  template <class Make>
  list listed(count n, count most, Make make) {
    list l{memory<word>(space_, most), memory<bits>(space_, most), 0};
    space_.fill(length_.data(), 1, count(0));
    space_.for_each(n, make(appender{l.words.data(), l.contents.data(), length_.data()}));
    l.size = length_.to_host()[0];
    return l;
  }

  word_list to_host(const list& l) {
    word_list host{l.words.to_host(), l.contents.to_host()};
    host.words.resize(l.size);
    host.contents.resize(l.size);
    return host;
  }
  word_list contents(const map& m) {
    memory<word> words(space_, m.size());
    memory<bits> contents(space_, m.size());
    m.retrieve_all(space_, words.span(), contents.span());
    return {words.to_host(), contents.to_host()};
  }

  Space& space_;
  memory<point> a_, b_;
  memory<count> length_;
  count side_;
};

// The show of a space: its frames one after another. Both models bend, and b turns.
struct show {
  std::string machine;
  std::vector<frame> frames;
};
inline placement place_a(std::uint32_t number) {
  return {.shift = {-0.06F, 0, 0}, .scale = 0.8F, .bend = 0.4F * std::sin(0.3F * static_cast<float>(number))};
}
inline placement place_b(std::uint32_t number) {
  const auto time = static_cast<float>(number);
  const float angle = 0.7F + 0.1F * time;
  return {.cosine = std::cos(angle),
          .sine = std::sin(angle),
          .shift = {0.06F, 0, 0},
          .scale = 0.7F,
          .bend = -0.4F * std::sin(0.2F * time)};
}

template <class Space>
show run_frames(Space& space, const std::vector<point>& a, const std::vector<point>& b, count side,
                std::uint32_t frames) {
  application<Space> app(space, a, b, side);
  show s{space.name(), {}};
  for (std::uint32_t i = 0; i < frames; ++i) s.frames.push_back(app.run(place_a(i), place_b(i)));
  return s;
}

// On the GPU, where the program is built with CUDA and there is one; else no frames.
show run_on_gpu(const std::vector<point>& a, const std::vector<point>& b, count side, std::uint32_t frames);

}  // namespace voxel_boolean
