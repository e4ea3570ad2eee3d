// SPDX-License-Identifier: Apache-2.0
// Two models as voxels: their union, intersection and difference, built again for every frame. The models bend from frame to
// frame, and the second one turns. The picture shows the last frame.
//
//   example_voxel_boolean [A B] [--grid 128] [--points 160000] [--frames 3] [--picture voxel_boolean.png]
//
// The application of chapter 1 of D. Alcantara's thesis (Efficient Hash Tables on the GPU, UC Davis 2011):
// two models of about 160 000 points in a grid of 128^3, whose tables are built and looked up in every frame.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <unordered_set>
#include <vector>

#include <tilehash/space/cpu.hpp>

#include "../arguments.hpp"
#include "meshes.hpp"
#include "picture.hpp"
#include "voxels.hpp"

namespace voxel_boolean {
namespace {

constexpr const char* models = "/usr/share/assimp/models/";  // of Debian's assimp-testmodels

struct arguments {
  std::string a, b, picture = "voxel_boolean.png";
  count side = 128;
  std::uint32_t points = 160'000, frames = 3;
};

arguments read_arguments(const std::vector<std::string>& given) {
  using tilehash_examples::number;
  arguments a;
  const auto paths =
      tilehash_examples::read_options(given, [&](const std::string& name, const std::string& text) {
        if (name == "--grid")
          a.side = number(name, text, 8, largest_side);
        else if (name == "--points")
          a.points = static_cast<std::uint32_t>(number(name, text, 1, 1'000'000'000));
        else if (name == "--frames")
          a.frames = static_cast<std::uint32_t>(number(name, text, 1, 1'000'000));
        else if (name == "--picture")
          a.picture = text;
        else
          return false;
        return true;
      });
  if (!paths.empty() && paths.size() != 2) throw std::runtime_error("give two meshes, or none");
  if (!paths.empty()) a.a = paths[0], a.b = paths[1];
  return a;
}

// ---- what must hold, found without tables -----------------------------------------------------------------
class dense_solid {
 public:
  dense_solid(const std::vector<voxel>& surface, count side) : side_(side), dry_(side * side * side, true) {
    std::vector<bool> wall(dry_.size());
    for (const voxel v : surface) wall[index(x_of(v), y_of(v), z_of(v))] = true;
    std::vector<voxel> front;
    const auto enter = [&](count x, count y, count z) {
      if (x >= side_ || y >= side_ || z >= side_) return;
      const count i = index(x, y, z);
      if (wall[i] || !dry_[i]) return;
      dry_[i] = false;
      front.push_back(key_at(x, y, z));
    };
    for (count u = 0; u < side; ++u) {
      for (count v = 0; v < side; ++v) {
        for (const count end : {count(0), side - 1}) enter(end, u, v), enter(u, end, v), enter(u, v, end);
      }
    }
    while (!front.empty()) {
      const voxel v = front.back();
      front.pop_back();
      const count x = x_of(v), y = y_of(v), z = z_of(v);
      enter(x - 1, y, z), enter(x + 1, y, z), enter(x, y - 1, z);
      enter(x, y + 1, z), enter(x, y, z - 1), enter(x, y, z + 1);
    }
  }
  bool has(voxel v) const { return dry_[index(x_of(v), y_of(v), z_of(v))]; }

 private:
  count index(count x, count y, count z) const { return (z * side_ + y) * side_ + x; }

  count side_;
  std::vector<bool> dry_;
};

std::vector<voxel> voxels_of(const word_list& list) {
  std::vector<voxel> voxels;
  for (std::size_t i = 0; i < list.words.size(); ++i) {
    const word w = list.words[i];
    for (count bit = 0; bit < 64; ++bit) {
      if ((list.contents[i] >> bit & 1) != 0) voxels.push_back(key_at(64 * x_of(w) + bit, y_of(w), z_of(w)));
    }
  }
  return voxels;
}

// How many voxels of a frame are wrong, missing or there twice.
count mistakes(const frame& f, count side) {
  const dense_solid a(voxels_of(f.surface_a), side), b(voxels_of(f.surface_b), side);
  const auto wrong = [&](const word_list& list, auto belongs) {
    count n = 0;
    std::vector<bool> seen(side * side * side);
    for (const voxel v : voxels_of(list)) {
      const bool inside = x_of(v) < side && y_of(v) < side && z_of(v) < side;
      if (!inside || seen[(z_of(v) * side + y_of(v)) * side + x_of(v)]) {
        ++n;
        continue;
      }
      seen[(z_of(v) * side + y_of(v)) * side + x_of(v)] = true;
    }
    for (count i = 0; i < seen.size(); ++i)
      n += seen[i] != belongs(key_at(i % side, i / side % side, i / side / side));
    return n;
  };
  return wrong(f.solid_a, [&](voxel v) { return a.has(v); }) +
         wrong(f.solid_b, [&](voxel v) { return b.has(v); }) +
         wrong(f.either, [&](voxel v) { return a.has(v) || b.has(v); }) +
         wrong(f.both, [&](voxel v) { return a.has(v) && b.has(v); }) +
         wrong(f.a_without_b, [&](voxel v) { return a.has(v) && !b.has(v); });
}

void print(const show& s) {
  std::vector<double> seconds;
  seconds.reserve(s.frames.size());
  for (const frame& f : s.frames) seconds.push_back(f.seconds());
  const auto middle = std::min_element(seconds.begin(), seconds.end());
  const frame& f = s.frames[static_cast<std::size_t>(middle - seconds.begin())];
  std::printf("%s: %.1f ms a frame (surfaces %.1f, flood fill %.1f in %llu rounds, union and so on %.1f)\n",
              s.machine.c_str(), 1e3 * f.seconds(), 1e3 * f.surfaces_s, 1e3 * f.flood_s,
              static_cast<unsigned long long>(f.rounds), 1e3 * f.boolean_s);
}

int run(const arguments& given) {
  const auto a = sample_mesh(given.a, given.points), b = sample_mesh(given.b, given.points);
  tilehash::cpu space;
  const show on_cpu = run_frames(space, a, b, given.side, given.frames);
  const show on_gpu = run_on_gpu(a, b, given.side, given.frames);

  count wrong = 0;
  for (const show* s : {&on_cpu, &on_gpu}) {
    if (s->frames.empty()) continue;
    wrong += mistakes(s->frames.front(), given.side) + mistakes(s->frames.back(), given.side);
  }

  const frame& f = on_cpu.frames.back();
  const auto surface_a = voxels_of(f.surface_a), surface_b = voxels_of(f.surface_b), both = voxels_of(f.both),
             a_without_b = voxels_of(f.a_without_b);
  std::printf(
      "%zu and %zu voxels of surface enclose %zu and %zu: union %zu, intersection %zu, difference %zu\n",
      surface_a.size(), surface_b.size(), voxels_of(f.solid_a).size(), voxels_of(f.solid_b).size(),
      voxels_of(f.either).size(), both.size(), a_without_b.size());
  print(on_cpu);
  if (on_gpu.frames.empty())
    std::puts("no GPU here, or built without CUDA");
  else
    print(on_gpu);

  const colour blue = {88, 140, 214}, orange = {236, 150, 66}, green = {92, 178, 100}, grey = {190, 190, 190};
  const std::unordered_set<voxel> common(both.begin(), both.end());
  std::vector<voxel> inside, outside;  // the surface of b, in a or not
  for (const voxel v : surface_b) (common.contains(v) ? inside : outside).push_back(v);
  write_picture(given.picture, given.side,
                {{{&surface_a, blue}, {&surface_b, orange}},
                 {{&both, green}},
                 {{&a_without_b, blue}},
                 {{&outside, grey}, {&inside, green}}});
  std::printf("picture: %s (union, intersection, difference, and what of b's surface lies in a)\n",
              given.picture.c_str());
  if (wrong != 0) std::printf("WRONG: %llu\n", static_cast<unsigned long long>(wrong));
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace voxel_boolean

int main(int argc, char** argv) {
  return tilehash_examples::guarded([&] {
    auto given = voxel_boolean::read_arguments({argv + 1, argv + argc});
    if (given.a.empty()) {
      given.a = std::string(voxel_boolean::models) + "PLY/Wuson.ply";
      given.b = std::string(voxel_boolean::models) + "Collada/duck_triangulate.dae";
      for (const auto& path : {given.a, given.b}) {
        if (std::filesystem::exists(path)) continue;
        std::printf("skipped: no %s (Debian, Ubuntu: assimp-testmodels)\n", path.c_str());
        return 77;
      }
    }
    return voxel_boolean::run(given);
  });
}
