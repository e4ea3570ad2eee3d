// SPDX-License-Identifier: Apache-2.0
// Painting on a texture of 16384^2 texels of which only the painted ones are kept, in a hash table. A frame
// moves the brush, changes the texels that are painted already, puts new ones in, and shows a window of the
// texture. It compares a Robin Hood table that is changed in place, two that are rebuilt for each new texel, and
// `tiled`. At the end every texel is compared with a std::unordered_map.
//
//   example_sparse_paint [--side 16384] [--frames 120] [--brush 40] [--window 1024] [--load 80]
//                        [--picture sparse_paint.png] [--object MESH.off | --object sphere]
//
// With an object the texture is its atlas: the brush paints the texels of the pixels that it touches, the object
// turns, and a frame shows the texels of all its pixels.
//
// The application of I. Garcia, S. Lefebvre, S. Hornus, A. Lasram, Coherent Parallel Hashing (SIGGRAPH Asia
// 2011), section 4.3, which rebuilds.
#include <tilehash/space/cpu.hpp>

#include "../arguments.hpp"
#include "paint.hpp"

namespace sparse_paint {
namespace {

int program(int argc, char** argv) {
  using tilehash_examples::number;
  settings s;
  std::string path = "sparse_paint.png", surface;
  const auto rest = tilehash_examples::read_options(
      {argv + 1, argv + argc}, [&](const std::string& name, const std::string& text) {
        const auto take = [&](std::uint32_t& to, std::uint64_t least, std::uint64_t most) {
          to = static_cast<std::uint32_t>(number(name, text, least, most));
        };
        if (name == "--side")
          take(s.side, 64, 1U << 20);
        else if (name == "--frames")
          take(s.frames, 1, 100'000);
        else if (name == "--brush")
          take(s.brush, 1, 1000);
        else if (name == "--window")
          take(s.window, 1, 8192);
        else if (name == "--load")
          s.load_factor = static_cast<double>(number(name, text, 1, 99)) / 100;
        else if (name == "--object")
          surface = text;
        else if (name == "--picture")
          path = text;
        else
          return false;
        return true;
      });
  if (!rest.empty()) throw std::runtime_error("unknown option " + rest[0]);
  if (s.side < s.window || s.side < 10 * s.brush)
    throw std::runtime_error("--side is " + std::to_string(s.side) +
                             "; it must be at least the window's, and ten times the brush's");
  if (!surface.empty()) s.on.emplace(surface == "sphere" ? "" : surface, s.side);
  if (s.on) std::printf("an object of %zu triangles\n", s.on->triangles());
  std::printf("%u frames on %u x %u texels, a brush of %u, a window of %u x %u\n", s.frames, s.side, s.side,
              2 * s.brush + 1, s.window, s.window);
  tilehash::cpu space;
  picture last(s.window, s.window, unpainted);
  const count wrong = run(space, s, last) + run_on_gpu(s, last);
  write_png(path, last);
  std::printf("picture: %s, the last window\n", path.c_str());
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace sparse_paint

int main(int argc, char** argv) {
  return tilehash_examples::guarded([&] { return sparse_paint::program(argc, argv); });
}
