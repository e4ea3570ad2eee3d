// The frame of the voxel application, written once for every space: two clouds of points become sets of
// voxels, a flood fill finds what lies outside of each, and set operations combine the solids.
//
// All of it happens on hash tables: a voxel is a key of 3 x 21 bits, and what is in no table costs no memory.
#pragma once

#include <cuda/atomic>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <tilehash/set.hpp>

namespace voxel_boolean {

using voxel = std::uint64_t;  // x, y, z from the low bits up, 21 bits each
using count = std::uint64_t;
inline constexpr count largest_side = count(1) << 21;

struct point {
  float x, y, z;  // a mesh fills the cube from 0 to 1
};

// Where a model stands: turned about the vertical axis in its own middle, then moved.
struct placement {
  float cosine = 1, sine = 0;
  point shift = {0, 0, 0};
  float scale = 1;
};

// The voxels of one frame.
struct frame {
  std::vector<voxel> surface_a, surface_b, either, both, a_without_b;
  count solid_a = 0, solid_b = 0, rounds = 0;  // of the flood fill
  double surfaces_s = 0, flood_s = 0, boolean_s = 0;

  double seconds() const { return surfaces_s + flood_s + boolean_s; }
};

// ---- small functions for every voxel or point, run by space.for_each ----

TILEHASH_FN voxel voxel_at(count x, count y, count z) { return x | y << 21 | z << 42; }
TILEHASH_FN count x_of(voxel v) { return v & (largest_side - 1); }
TILEHASH_FN count y_of(voxel v) { return v >> 21 & (largest_side - 1); }
TILEHASH_FN count z_of(voxel v) { return v >> 42; }

TILEHASH_FN count add_one(count* counter) {
  return ::cuda::atomic_ref<count, ::cuda::thread_scope_device>(*counter).fetch_add(
      1, ::cuda::std::memory_order_relaxed);
}

struct to_voxels {
  const point* points;
  voxel* voxels;
  placement at;
  count side;

  TILEHASH_FN count along(float position) const {  // keeps two voxels clear on every side
    const float scaled = position * static_cast<float>(side - 4);
    const float inside = scaled < 0 ? 0 : scaled > static_cast<float>(side - 5) ? float(side - 5) : scaled;
    return 2 + static_cast<count>(inside);
  }
  TILEHASH_FN void operator()(count i) const {
    const point p = points[i];
    const float x = (p.x - 0.5F) * at.scale, y = (p.y - 0.5F) * at.scale, z = (p.z - 0.5F) * at.scale;
    voxels[i] = voxel_at(along(0.5F + at.shift.x + x * at.cosine + z * at.sine), along(0.5F + at.shift.y + y),
                         along(0.5F + at.shift.z - x * at.sine + z * at.cosine));
  }
};

// The six faces of the grid, from which the flood comes in.
struct to_faces {
  voxel* voxels;
  count side;

  TILEHASH_FN void operator()(count i) const {
    const count face = i / (side * side), u = i / side % side, v = i % side, end = face % 2 * (side - 1);
    voxels[i] = face < 2 ? voxel_at(end, u, v) : face < 4 ? voxel_at(u, end, v) : voxel_at(u, v, end);
  }
};

// The neighbours of a voxel that the flood may enter and has not entered yet.
template <class View>
struct to_neighbours {
  const voxel* from;
  View surface, wet;
  count side;
  voxel* found;
  count* number;

  TILEHASH_FN void visit(count x, count y, count z) const {
    if (x >= side || y >= side || z >= side) return;  // below 0 is far above the side
    const voxel v = voxel_at(x, y, z);
    if (!surface.contains(v) && !wet.contains(v)) found[add_one(number)] = v;
  }
  TILEHASH_FN void operator()(count i) const {
    const count x = x_of(from[i]), y = y_of(from[i]), z = z_of(from[i]);
    visit(x - 1, y, z), visit(x + 1, y, z);
    visit(x, y - 1, z), visit(x, y + 1, z);
    visit(x, y, z - 1), visit(x, y, z + 1);
  }
};

// Those of a list that the table has just met for the first time.
struct to_inserted {
  const voxel* from;
  const tilehash::outcome* became;
  voxel* found;
  count* number;

  TILEHASH_FN void operator()(count i) const {
    if (became[i] == tilehash::outcome::inserted) found[add_one(number)] = from[i];
  }
};

// All voxels of the grid that the flood did not reach.
template <class View>
struct to_dry {
  View wet;
  count side;
  voxel* found;  // null: only count them
  count* number;

  TILEHASH_FN void operator()(count i) const {
    const voxel v = voxel_at(i % side, i / side % side, i / side / side);
    if (wet.contains(v)) return;
    const count at = add_one(number);
    if (found != nullptr) found[at] = v;
  }
};

// Those of a list that are in a table, or that are not.
template <class View>
struct to_members {
  const voxel* from;
  View table;
  bool wanted;
  voxel* found;
  count* number;

  TILEHASH_FN void operator()(count i) const {
    if (table.contains(from[i]) == wanted) found[add_one(number)] = from[i];
  }
};

// ---- the application ----
template <class Space>
class application {
  using set = tilehash::set<voxel, Space>;
  using voxels = tilehash::buffer<voxel, Space>;

 public:
  application(Space& space, const std::vector<point>& a, const std::vector<point>& b, count side)
      : space_(space), a_(space, a), b_(space, b), counter_(space, 1), side_(side) {}

  frame run(const placement& at_a, const placement& at_b) {
    frame f;
    set surface_a(space_), surface_b(space_), solid_a(space_), solid_b(space_);
    f.surfaces_s = timed([&] {
      build_surface(surface_a, a_, at_a);
      build_surface(surface_b, b_, at_b);
    });
    voxels inside_a, inside_b;
    f.flood_s = timed([&] {
      inside_a = fill(surface_a, f.rounds);
      inside_b = fill(surface_b, f.rounds);
    });
    voxels both, a_without_b;
    set either(space_);
    f.boolean_s = timed([&] {
      solid_a.build(space_, inside_a.span());
      solid_b.build(space_, inside_b.span());
      either.reserve(space_, solid_a.size() + solid_b.size());
      either.insert(space_, inside_a.span());
      either.insert(space_, inside_b.span());
      both = members(inside_a, solid_b, true);
      a_without_b = members(inside_a, solid_b, false);
    });
    f.solid_a = solid_a.size(), f.solid_b = solid_b.size();
    f.surface_a = contents(surface_a), f.surface_b = contents(surface_b), f.either = contents(either);
    f.both = both.to_host(), f.a_without_b = a_without_b.to_host();
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

  // [build-begin]
  void build_surface(set& surface, const tilehash::buffer<point, Space>& points, const placement& at) {
    voxels keys(space_, points.size());
    space_.for_each(points.size(), to_voxels{points.data(), keys.data(), at, side_});
    surface.build(space_, keys.span());  // many points share a voxel: the set keeps one
  }
  // [build-end]

  // Gives what the flood from the grid's faces does not reach: the surface and all that it encloses.
  voxels fill(const set& surface, count& rounds) {
    const count cells = side_ * side_ * side_;
    set wet(space_, cells);
    voxels found(space_, 6 * side_ * side_);
    space_.for_each(found.size(), to_faces{found.data(), side_});
    // [flood-begin]
    for (count n = found.size(); n != 0; ++rounds) {  // ends: every round adds voxels, or is the last
      tilehash::buffer<tilehash::outcome, Space> became(space_, n);
      wet.insert(space_, found.first(n), became.span());
      voxels front(space_, n);
      const count fresh = listed(n, to_inserted{found.data(), became.data(), front.data(), counter_.data()});
      found = voxels(space_, 6 * fresh);
      n = listed(fresh, to_neighbours<typename set::view_type>{front.data(), surface.view(), wet.view(), side_,
                                                               found.data(), counter_.data()});
    }
    // [flood-end]
    using dry = to_dry<typename set::view_type>;
    voxels inside(space_, listed(cells, dry{wet.view(), side_, nullptr, counter_.data()}));
    listed(cells, dry{wet.view(), side_, inside.data(), counter_.data()});
    return inside;
  }

  // Runs a function that makes a list, and gives the list's length.
  template <class Body>
  count listed(count n, Body body) {
    space_.fill(counter_.data(), 1, count(0));
    space_.for_each(n, body);
    return tilehash::read_one(space_, counter_.data());
  }

  voxels members(const voxels& of, const set& table, bool wanted) {
    voxels found(space_, of.size());
    const count n = listed(of.size(), to_members<typename set::view_type>{of.data(), table.view(), wanted,
                                                                          found.data(), counter_.data()});
    voxels exact(space_, n);
    if (n != 0) space_.copy(exact.data(), found.data(), exact.bytes());
    return exact;
  }

  std::vector<voxel> contents(const set& s) {
    voxels all(space_, s.size());
    s.retrieve_all(space_, all.span());
    return all.to_host();
  }

  Space& space_;
  tilehash::buffer<point, Space> a_, b_;
  tilehash::buffer<count, Space> counter_;
  count side_;
};

// What a space shows: its frames one after another, model b turning.
struct show {
  std::string machine;
  std::vector<frame> frames;
};
inline placement place_a() { return {.shift = {-0.06F, 0, 0}, .scale = 0.8F}; }
inline placement place_b(std::uint32_t number) {
  const float angle = 0.7F + 0.1F * static_cast<float>(number);
  return {.cosine = std::cos(angle), .sine = std::sin(angle), .shift = {0.06F, 0, 0}, .scale = 0.7F};
}

template <class Space>
show run_frames(Space& space, const std::vector<point>& a, const std::vector<point>& b, count side,
                std::uint32_t frames) {
  application<Space> app(space, a, b, side);
  show s{space.name(), {}};
  for (std::uint32_t i = 0; i < frames; ++i) s.frames.push_back(app.run(place_a(), place_b(i)));
  return s;
}

// On the GPU, where the program is built with CUDA and there is one; else no frames.
show run_on_gpu(const std::vector<point>& a, const std::vector<point>& b, count side, std::uint32_t frames);

}  // namespace voxel_boolean
