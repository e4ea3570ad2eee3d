// SPDX-License-Identifier: Apache-2.0
// A canvas that keeps only the painted texels, written once for every space and every table. One changes a
// table in place, the other rebuilds it for new texels.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <tilehash/core/layout.hpp>
#include <tilehash/designs/robin_hood.hpp>
#include <tilehash/designs/tiled.hpp>
#include <tilehash/papers/robin_hood_random.hpp>
#include <tilehash/table.hpp>

#include "../median.hpp"
#include "../png.hpp"
#include "object.hpp"

namespace sparse_paint {

using tilehash_examples::picture;
using tilehash_examples::pixel;
using key = std::uint32_t;
using count = std::uint64_t;
using texel_order = tilehash::layouts::morton<key, 2>;  // a brush, and a window, is a square and no row

inline constexpr pixel unpainted = tilehash_examples::colour(245, 245, 240);
inline constexpr pixel background = tilehash_examples::colour(255, 255, 255);

// With so much light, 0 to 1.
inline pixel lit(pixel p, double light) {
  const auto part = [&](std::uint32_t shift) {
    return static_cast<std::uint32_t>((p >> shift & 255) * (0.25 + 0.75 * light));
  };
  return tilehash_examples::colour(part(0), part(8), part(16));
}

struct settings {
  std::uint32_t side = 16384, frames = 120, brush = 40, window = 1024;
  double load_factor = 0.8;
  std::optional<object> on;  // else on the texture itself
};

// The texels that a frame paints, each once, and those that it then shows.
struct frame {
  std::vector<key> painted;
  std::vector<pixel> colours;
  std::vector<key> shown;             // texels
  std::vector<std::uint32_t> pixels;  // of the window, that show them
  std::vector<double> light;          // of each; empty: 1
};

// The brush goes all over the texture in small loops, some dabs a frame: over new ground, and over what it
// has painted before. On an object it goes over the window, and paints the texels of the pixels that it touches,
// as in the paper.
class artist {
 public:
  explicit artist(const settings& s) : s_(s), order_({s.side, s.side}) {}

  frame next() { return s_.on ? on_object(*s_.on) : on_texture(); }

 private:
  frame on_texture() {
    std::unordered_map<key, pixel> canvas;  // of dabs that overlap, the last is seen
    frame f;
    for (int dab = 0; dab < 6; ++dab, ++dabs_) {
      const double t = 0.0006 * dabs_, loop = 3.0 * s_.brush;
      const double half = s_.side / 2.0, reach = half - loop - s_.brush - 2;
      const double x = half + reach * std::cos(t) * std::cos(0.02 * t + 0.3) + loop * std::cos(0.2 * dabs_);
      const double y = half + reach * std::sin(2 * t) * std::cos(0.03 * t) + loop * std::sin(0.2 * dabs_);
      put_dab(canvas, x, y);
      if (dab == 5) show_window(f, corner(x), corner(y));
    }
    put_colours(f, canvas);
    return f;
  }
  frame on_object(const object& surface) {
    constexpr double turn_of_frame = 0.01;
    frame f;
    object::view v = surface.seen_from(turn_of_frame * dabs_, s_.window);
    for (const auto& texel : v.texels) f.shown.push_back(order_.encode({texel.x, texel.y}));
    std::unordered_map<key, pixel> canvas;
    const double t = 0.05 * dabs_, reach = 0.42 * s_.window;
    const double x = s_.window / 2.0 + reach * std::cos(t) * std::cos(0.11 * t);
    const double y = s_.window / 2.0 + reach * std::sin(1.7 * t);
    for (std::size_t i = 0; i < v.pixels.size(); ++i) {
      const std::uint32_t column = v.pixels[i] % s_.window, row = v.pixels[i] / s_.window;
      const double dx = column - x, dy = row - y;
      if (dx * dx + dy * dy <= double(s_.brush) * s_.brush) canvas[f.shown[i]] = colour_at(dx * dx + dy * dy);
    }
    f.pixels = std::move(v.pixels), f.light = std::move(v.light);
    put_colours(f, canvas);
    ++dabs_;
    return f;
  }
  void show_window(frame& f, std::uint32_t left, std::uint32_t top) const {
    for (std::uint32_t p = 0; p < s_.window * s_.window; ++p) {
      f.shown.push_back(order_.encode({left + p % s_.window, top + p / s_.window}));
      f.pixels.push_back(p);
    }
  }
  static void put_colours(frame& f, std::unordered_map<key, pixel>& canvas) {
    for (const auto& [texel, colour] : canvas) f.painted.push_back(texel);
    std::ranges::sort(f.painted);  // as a rasteriser would give them, neighbours together
    for (const key texel : f.painted) f.colours.push_back(canvas[texel]);
  }
  // The brush's colour at a squared distance from its middle.
  pixel colour_at(double squared) const {
    const auto hue = static_cast<std::uint32_t>(dabs_);
    const auto shade = static_cast<std::uint32_t>(squared * 60 / (double(s_.brush) * s_.brush));
    return tilehash_examples::colour(30 + hue % 170 + shade / 2, 60 + hue / 3 % 120 + shade, 200 - hue % 140);
  }
  std::uint32_t corner(double middle) const {
    const double most = s_.side - s_.window;
    return static_cast<std::uint32_t>(std::clamp(middle - s_.window / 2.0, 0.0, most));
  }
  void put_dab(std::unordered_map<key, pixel>& canvas, double x, double y) const {
    const auto r = static_cast<int>(s_.brush);
    for (int dy = -r; dy <= r; ++dy) {
      for (int dx = -r; dx <= r; ++dx) {
        if (dx * dx + dy * dy > r * r) continue;
        canvas[order_.encode({static_cast<std::uint32_t>(x + dx), static_cast<std::uint32_t>(y + dy)})] =
            colour_at(dx * dx + dy * dy);
      }
    }
  }

  const settings& s_;
  texel_order order_;
  int dabs_ = 0;
};

// ---- two ways to paint ----

template <class Design, class Space>
class canvas {
 protected:
  template <class T>
  using memory = tilehash::buffer<T, Space>;
  using table_type = tilehash::table<Design, Space>;

 public:
  canvas(Space& space, const settings& s)
      : space_(space), table_(space, 0, {.load_factor = std::min(s.load_factor, Design::max_load_factor)}) {}

  // [sparse_paint-begin]
  // Changes present texels and inserts the others. Returns whether none was refused.
  bool paint(const memory<key>& texels, const memory<pixel>& colours) {
    return table_.insert_or_assign(space_, texels.span(), colours.span()).refused == 0;
  }
  // [sparse_paint-end]
  void show(const memory<key>& window, memory<pixel>& shown) const {
    table_.find_or(space_, window.span(), shown.first(window.size()), unpainted);
  }
  const table_type& table() const { return table_; }

 protected:
  Space& space_;
  table_type table_;
};

// The paper's way: for a new texel, the table is rebuilt from its items and the new ones.
template <class Design, class Space>
class canvas_built_anew : public canvas<Design, Space> {
  using base = canvas<Design, Space>;
  template <class T>
  using memory = typename base::template memory<T>;

 public:
  using base::base;

  // Known texels are twice in the build, and any of the two stays, because they are painted afterwards.
  bool paint(const memory<key>& texels, const memory<pixel>& colours) {
    return (all_known(texels) || build_with(texels, colours)) && base::paint(texels, colours);
  }

 private:
  bool all_known(const memory<key>& texels) const {
    memory<std::uint8_t> there(this->space_, texels.size());
    this->table_.contains(this->space_, texels.span(), there.span());
    return std::ranges::count(there.to_host(), 0) == 0;
  }
  bool build_with(const memory<key>& texels, const memory<pixel>& colours) {
    const count held = this->table_.size(), all = held + texels.size();
    memory<key> k(this->space_, all);
    memory<pixel> c(this->space_, all);
    this->table_.retrieve_all(this->space_, k.span(), c.span());
    this->space_.copy(k.data() + held, texels.data(), texels.size() * sizeof(key));
    this->space_.copy(c.data() + held, colours.data(), texels.size() * sizeof(pixel));
    return this->table_.build(this->space_, k.span(), c.span()).refused == 0;
  }
};

// ---- the frames ----

// Paints and shows all frames; gives how many texels were wrong at last.
template <class Canvas, class Space>
count run_on(Space& space, const settings& s, const char* name, picture& last) {
  Canvas canvas(space, s);
  artist brush(s);
  std::unordered_map<key, pixel> model;
  std::vector<double> painting, showing;
  tilehash::buffer<pixel, Space> shown(space, count(s.window) * s.window);
  frame f;
  count wrong = 0;
  for (std::uint32_t i = 0; i < s.frames; ++i) {
    f = brush.next();
    const tilehash::buffer<key, Space> painted(space, f.painted), asked(space, f.shown);
    const tilehash::buffer<pixel, Space> colours(space, f.colours);
    painting.push_back(space.time([&] { wrong += !canvas.paint(painted, colours); }));
    showing.push_back(space.time([&] { canvas.show(asked, shown); }));
    for (std::size_t k = 0; k < f.painted.size(); ++k) model[f.painted[k]] = f.colours[k];
  }

  // The last window, and all that the table holds.
  const auto answers = shown.to_host();
  last = picture(s.window, s.window, background);
  for (count i = 0; i < f.shown.size(); ++i) {
    const auto at = model.find(f.shown[i]);
    wrong += answers[i] != (at == model.end() ? unpainted : at->second);
    last.pixels[f.pixels[i]] = f.light.empty() ? answers[i] : lit(answers[i], f.light[i]);
  }
  const auto& table = canvas.table();
  tilehash::buffer<key, Space> keys(space, table.size());
  tilehash::buffer<pixel, Space> values(space, table.size());
  table.retrieve_all(space, keys.span(), values.span());
  const auto held = keys.to_host();
  const auto colours = values.to_host();
  wrong += held.size() > model.size() ? held.size() - model.size() : model.size() - held.size();
  for (std::size_t k = 0; k < held.size(); ++k) {
    const auto at = model.find(held[k]);
    wrong += at == model.end() || at->second != colours[k];
  }
  const auto worst = *std::ranges::max_element(painting);
  const double paint = tilehash_examples::median(painting), show = tilehash_examples::median(showing);
  std::printf("%-32s %9.3f %9.3f %9.3f %9.0f %10zu %10zu %6.2f\n", name, 1e3 * paint, 1e3 * worst, 1e3 * show,
              1 / (paint + show), f.shown.size(), model.size(), table.load_factor());
  if (wrong != 0) std::printf("WRONG: %llu texels\n", static_cast<unsigned long long>(wrong));
  return wrong;
}

template <class Space>
count run(Space& space, const settings& s, picture& last) {
  std::printf("%s\n%-32s %9s %9s %9s %9s %10s %10s %6s\n", space.name().c_str(), "milliseconds a frame",
              "paint", "worst", "show", "frames/s", "shown", "painted", "load");
  using coherent = tilehash::robin_hood<key, pixel>;
  using random = tilehash::papers::robin_hood_random<key, pixel>;
  using tiled = tilehash::tiled<key, pixel>;
  return run_on<canvas<coherent, Space>>(space, s, "robin_hood, coherent", last) +
         run_on<canvas_built_anew<coherent, Space>>(space, s, "robin_hood, coherent, built anew", last) +
         run_on<canvas_built_anew<random, Space>>(space, s, "robin_hood, random, built anew", last) +
         run_on<canvas<tiled, Space>>(space, s, "tiled", last);
}
// The same on a GPU, if there is one.
count run_on_gpu(const settings& s, picture& last);

}  // namespace sparse_paint
