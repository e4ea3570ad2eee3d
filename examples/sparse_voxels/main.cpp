// SPDX-License-Identifier: Apache-2.0
// A model as coloured voxels in a hash table, and slices through it at random orientations: only voxels that
// the surface meets are stored, and every point of a slice is asked for. How fast that goes for both probe
// sequences of a Robin Hood table and for four orders in which voxels become keys; every slice is compared
// with the voxels themselves.
//
//   example_sparse_voxels [MESH] [--grid 512] [--slices 8] [--load 80] [--repeat 3] [--prefix sparse_voxels_]
//
// The 3D data of I. Garcia, S. Lefebvre, S. Hornus, A. Lasram, Coherent Parallel Hashing (SIGGRAPH Asia
// 2011), section 4.2.
#include <algorithm>
#include <filesystem>

#include <tilehash/papers/layouts/bit_reversal.hpp>

#include "../arguments.hpp"
#include "../sparse_tables/tables.hpp"
#include "mesh.hpp"
#include "slices.hpp"

namespace sparse_voxels {
namespace {

using sparse_tables::count;
using sparse_tables::key;
using tilehash_examples::picture;
using tilehash_examples::pixel;

// A truck of Debian's assimp-testmodels, painted from a PNG file.
constexpr const char* default_model = "/usr/share/assimp/models/glTF/CesiumMilkTruck/CesiumMilkTruck.gltf";
constexpr pixel background = tilehash_examples::colour(44, 48, 58);

struct settings {
  std::vector<voxel> model;
  std::uint32_t side = 512, slices = 8;
  double load_factor = 0.8;
  unsigned repeat = 3;
};

// The slices' right pixels, found without a table: voxels come row by row.
std::vector<pixel> right_answers(const settings& s, const slice_points& asked) {
  const tilehash::layouts::row_major<key, 3> order({s.side, s.side, s.side});
  const auto place = [&](const voxel& v) { return order.encode(v.at); };
  std::vector<pixel> right;
  for (const auto& p : asked.voxels) {
    const auto at = std::ranges::lower_bound(s.model, order.encode(p), {}, place);
    right.push_back(at != s.model.end() && at->at == p ? at->colour : background);
  }
  return right;
}

// How many answers were wrong; what the table answered is drawn.
template <class Layout>
count run_layout(const settings& s, const slice_points& asked, const std::vector<pixel>& right,
                 picture& slices) {
  const Layout layout({s.side, s.side, s.side});
  sparse_tables::grid_data data{.background = background, .load_factor = s.load_factor, .repeat = s.repeat};
  for (const voxel& v : s.model) data.keys.push_back(layout.encode(v.at)), data.colours.push_back(v.colour);
  for (const auto& p : asked.voxels) data.questions.push_back(layout.encode(p));
  const auto on_cpu = sparse_tables::ask_on_cpu(data);
  for (std::size_t i = 0; i < asked.pixels.size(); ++i)
    slices.pixels[asked.pixels[i]] = on_cpu.tables[0].answers[i];
  return tell(on_cpu, Layout::name, data, right) +
         tell(sparse_tables::ask_on_gpu(data), Layout::name, data, right);
}

int program(int argc, char** argv) {
  using tilehash_examples::number;
  settings s;
  std::string prefix = "sparse_voxels_";
  const auto paths = tilehash_examples::read_options(
      {argv + 1, argv + argc}, [&](const std::string& name, const std::string& text) {
        if (name == "--grid")
          s.side = static_cast<std::uint32_t>(number(name, text, 8, 1 << 20));
        else if (name == "--slices")
          s.slices = static_cast<std::uint32_t>(number(name, text, 1, 1000));
        else if (name == "--load")
          s.load_factor = static_cast<double>(number(name, text, 1, 98)) / 100;
        else if (name == "--repeat")
          s.repeat = static_cast<unsigned>(number(name, text, 1, 1000));
        else if (name == "--prefix")
          prefix = text;
        else
          return false;
        return true;
      });
  if (paths.size() > 1) throw std::runtime_error("give one mesh, or none");
  if (paths.empty() && !std::filesystem::exists(default_model)) {
    std::printf("skipped: no %s (Debian, Ubuntu: assimp-testmodels)\n", default_model);
    return 77;
  }
  tilehash::layouts::row_major<key, 3>(
      {s.side, s.side, s.side});  // refuses a grid with more points than keys
  s.model = voxelise(paths.empty() ? default_model : paths[0], s.side);
  const slice_points asked = random_slices(s.side, s.slices);
  const auto right = right_answers(s, asked);
  const auto hits = asked.voxels.size() - static_cast<std::size_t>(std::ranges::count(right, background));
  std::printf("%zu voxels in a grid of %u^3; %u slices ask for %zu points, of which %zu are voxels\n",
              s.model.size(), s.side, s.slices, asked.voxels.size(), hits);

  picture slices(s.side, s.side * s.slices, background);  // one below the other
  sparse_tables::tell_heading();
  const count wrong = run_layout<tilehash::layouts::row_major<key, 3>>(s, asked, right, slices) +
                      run_layout<tilehash::layouts::morton<key, 3>>(s, asked, right, slices) +
                      run_layout<tilehash::layouts::hilbert<key, 3>>(s, asked, right, slices) +
                      run_layout<tilehash::papers::bit_reversal<key, 3>>(s, asked, right, slices);
  if (wrong == 0) std::puts("all points of all slices are right");
  write_png(prefix + "slices.png", slices);
  std::printf("picture: %sslices.png\n", prefix.c_str());
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace sparse_voxels

int main(int argc, char** argv) {
  return tilehash_examples::guarded([&] { return sparse_voxels::program(argc, argv); });
}
