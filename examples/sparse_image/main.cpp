// SPDX-License-Identifier: Apache-2.0
// A picture in a hash table: only the pixels that are not background are stored, and the picture is rebuilt
// by asking for every pixel. How fast that goes where neighbouring keys stay together in the table, and where
// they do not, for four orders in which pixels become keys; each rebuilt picture is compared bit by bit.
//
//   example_sparse_image [PICTURE.png] [--background ffffff] [--load 85] [--side 1024] [--repeat 3]
//                        [--prefix sparse_image_]
//
// Without a picture it draws lines on a square of --side pixels. The background is the commonest colour
// unless given. A photograph with a background, in Debian's assimp-testmodels:
// /usr/share/assimp/models/ReferenceImages/MappingModes/spherical.png.
//
// The application of I. Garcia, S. Lefebvre, S. Hornus, A. Lasram, Coherent Parallel Hashing (SIGGRAPH Asia
// 2011), section 4.2; the pictures it writes are those of its figures 1 and 4.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <unordered_map>
#include <utility>

#include <tilehash/core/layout.hpp>
#include <tilehash/papers/layouts/bit_reversal.hpp>

#include "../arguments.hpp"
#include "../sparse_tables/tables.hpp"

namespace sparse_image {
namespace {

using sparse_tables::answered;
using sparse_tables::count;
using sparse_tables::key;
using tilehash_examples::picture;
using tilehash_examples::pixel;

struct settings {
  picture shown;
  pixel background = 0;
  double load_factor = 0.85;
  unsigned repeat = 3;
  std::string prefix = "sparse_image_";  // of the names of the pictures that are written
};

// Curves of a pen in a wheel that rolls in a ring.
picture line_drawing(std::uint32_t side) {
  using tilehash_examples::colour;
  picture p(side, side, colour(255, 255, 255));
  const double middle = side / 2.0, turns = 20, scale = 0.55 * side;
  const auto steps = static_cast<std::uint32_t>(turns * 4 * side);
  for (std::uint32_t curve = 0; curve < 5; ++curve) {
    const double wheel = 0.21 + 0.11 * curve, pen = 0.75 * wheel;
    const pixel ink = colour(20 + 45 * curve, 60 + 70 * (curve % 3), 220 - 40 * curve);
    for (std::uint32_t i = 0; i < steps; ++i) {
      const double t = 2 * std::numbers::pi * turns * i / steps, u = t * (1 - wheel) / wheel;
      const double x = middle + scale * ((1 - wheel) * std::cos(t) + pen * std::cos(u));
      const double y = middle + scale * ((1 - wheel) * std::sin(t) - pen * std::sin(u));
      if (x >= 0 && y >= 0 && x < side && y < side)
        p.at(static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y)) = ink;
    }
  }
  return p;
}

pixel commonest(const picture& p) {
  std::unordered_map<pixel, count> times;
  for (const pixel c : p.pixels) ++times[c];
  return std::ranges::max_element(times, {}, [](const auto& one) { return one.second; })->first;
}

pixel background_colour(const std::string& text) {
  std::uint32_t rgb = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), rgb, 16);
  if (text.size() != 6 || problem != std::errc() || end != text.data() + text.size())
    throw std::runtime_error("--background is '" + text +
                             "'; it must be six hexadecimal digits, as ffffff for white");
  return tilehash_examples::colour(rgb >> 16, rgb >> 8 & 255, rgb & 255);
}

// The pixels as keys: those that are stored with their colours, and all, row by row.
template <class Layout>
sparse_tables::grid_data keyed(const settings& s, const Layout& layout) {
  sparse_tables::grid_data data{.background = s.background, .load_factor = s.load_factor, .repeat = s.repeat};
  for (std::uint32_t y = 0; y < s.shown.height; ++y) {
    for (std::uint32_t x = 0; x < s.shown.width; ++x) {
      data.questions.push_back(layout.encode({x, y}));
      if (s.shown.at(x, y) == s.background) continue;
      data.keys.push_back(data.questions.back());
      data.colours.push_back(s.shown.at(x, y));
    }
  }
  return data;
}

// n cells in rows of some width.
template <class Colour>
picture drawn(std::size_t n, std::size_t width, Colour colour_of) {
  picture p(static_cast<std::uint32_t>(width),
            static_cast<std::uint32_t>(std::max<std::size_t>(1, (n + width - 1) / width)),
            tilehash_examples::colour(0, 0, 0));
  for (std::size_t i = 0; i < n; ++i) p.pixels[i] = colour_of(i);
  return p;
}

// Figure 1: each slot has the colour of its pixel's place in the picture, more red to the right and more
// green downwards; rows are as long as the picture's, so that what the table keeps of them stays in sight.
// Figure 4: black where no key is at home, then blue, green, yellow for maximum ages of 1, 2, 3, and red;
// each slot has its bucket's colour.
template <class Layout>
void draw_table(const settings& s, const answered& table, const Layout& layout, const std::string& name) {
  using tilehash_examples::colour;
  const auto shade = [](std::uint64_t at, std::uint64_t of) {
    return 55 + static_cast<std::uint32_t>(200 * at / of);
  };
  const auto slot_colour = [&](std::size_t i) {
    if (!table.slots[i].taken) return colour(0, 0, 0);
    const auto at = layout.decode(table.slots[i].stands);
    return colour(shade(at[0], s.shown.width), shade(at[1], s.shown.height), 130);
  };
  write_png(s.prefix + "table_" + name + ".png", drawn(table.slots.size(), s.shown.width, slot_colour));

  const pixel by_age[] = {colour(0, 0, 0), colour(40, 80, 220), colour(40, 180, 70), colour(240, 220, 60),
                          colour(220, 40, 40)};
  const std::size_t slots_a_bucket = table.slots.size() / std::max<std::size_t>(1, table.max_ages.size());
  const auto age_colour = [&](std::size_t i) {
    return by_age[std::min(table.max_ages[i / slots_a_bucket], 4U)];
  };
  write_png(s.prefix + "ages_" + name + ".png", drawn(table.slots.size(), s.shown.width, age_colour));
}

// How many pixels were wrong.
template <class Layout>
count run_layout(const settings& s) {
  const Layout layout({s.shown.width, s.shown.height});
  const auto data = keyed(s, layout);
  const auto on_cpu = sparse_tables::ask_on_cpu(data);
  if (Layout::name == tilehash::layouts::row_major<key, 2>::name) {
    picture rebuilt = s.shown;
    rebuilt.pixels = on_cpu.tables[0].answers;
    write_png(s.prefix + "rebuilt.png", rebuilt);
    draw_table(s, on_cpu.tables[0], layout, "coherent");
    draw_table(s, on_cpu.tables[1], layout, "random");
  }
  return tell(on_cpu, Layout::name, data, s.shown.pixels) +
         tell(sparse_tables::ask_on_gpu(data), Layout::name, data, s.shown.pixels);
}

int program(int argc, char** argv) {
  using tilehash_examples::number;
  settings s;
  std::string background;
  std::uint32_t side = 1024;
  const auto paths = tilehash_examples::read_options(
      {argv + 1, argv + argc}, [&](const std::string& name, const std::string& text) {
        if (name == "--background")
          background = text;
        else if (name == "--load")
          s.load_factor = static_cast<double>(number(name, text, 1, 98)) / 100;
        else if (name == "--side")
          side = static_cast<std::uint32_t>(number(name, text, 1, 16384));
        else if (name == "--repeat")
          s.repeat = static_cast<unsigned>(number(name, text, 1, 1000));
        else if (name == "--prefix")
          s.prefix = text;
        else
          return false;
        return true;
      });
  if (paths.size() > 1) throw std::runtime_error("give one picture, or none");
  s.shown = paths.empty() ? line_drawing(side) : tilehash_examples::read_png(paths[0]);
  s.background = background.empty() ? commonest(s.shown) : background_colour(background);

  const auto all = s.shown.pixels.size();
  const auto stored = all - static_cast<std::size_t>(std::ranges::count(s.shown.pixels, s.background));
  std::printf("%s: %u x %u pixels%s, %zu stored (%.1f %%)\n", paths.empty() ? "lines" : paths[0].c_str(),
              s.shown.width, s.shown.height, s.shown.narrowed ? ", 8 of 16 bits a channel" : "", stored,
              100.0 * static_cast<double>(stored) / static_cast<double>(all));
  sparse_tables::tell_heading();
  const count wrong = run_layout<tilehash::layouts::row_major<key, 2>>(s) +
                      run_layout<tilehash::layouts::morton<key, 2>>(s) +
                      run_layout<tilehash::layouts::hilbert<key, 2>>(s) +
                      run_layout<tilehash::papers::bit_reversal<key, 2>>(s);
  if (wrong == 0) std::puts("all pictures were rebuilt bit by bit");
  std::printf("pictures: %srebuilt.png, and %stable_*.png and %sages_*.png of both probe sequences\n",
              s.prefix.c_str(), s.prefix.c_str(), s.prefix.c_str());
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace sparse_image

int main(int argc, char** argv) {
  return tilehash_examples::guarded([&] { return sparse_image::program(argc, argv); });
}
