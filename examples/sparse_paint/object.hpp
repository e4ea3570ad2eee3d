// SPDX-License-Identifier: Apache-2.0
// An object to paint on: a surface of triangles with an atlas, and its views.
//
//   atlas   cells of equal squares; two triangles share a cell, one below its diagonal and one above
//   view    an orthographic projection with a depth buffer: the texel of each pixel that shows the object
//
// Neighbouring pixels have neighbouring texels within a triangle alone, so the texels of a view are scattered over
// the atlas.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace sparse_paint {

class object {
 public:
  using point = std::array<double, 3>;
  using triangle = std::array<std::uint32_t, 3>;

  struct texel {
    std::uint32_t x = 0, y = 0;
  };
  struct view {
    std::vector<std::uint32_t> pixels;  // those that show the object, row by row
    std::vector<texel> texels;          // of each
    std::vector<double> light;          // of each, 0 to 1
  };

  // Reads an OFF file, or makes a sphere with bumps if `path` is empty. `side`: the atlas's.
  object(const std::string& path, std::uint32_t side) {
    if (path.empty())
      make_bumpy_sphere();
    else
      read_off(path);
    fit();
    per_row_ = static_cast<std::uint32_t>(std::ceil(std::sqrt(static_cast<double>(triangles_.size()) / 2)));
    cell_ = side / per_row_;
    if (cell_ < 4)
      throw std::runtime_error("--side is " + std::to_string(side) + "; the " +
                               std::to_string(triangles_.size()) + " triangles need " +
                               std::to_string(4 * per_row_));
  }

  std::size_t triangles() const { return triangles_.size(); }

  // The view of `window`^2 pixels after a turn about the vertical axis.
  view seen_from(double angle, std::uint32_t window) const {
    std::vector<point> turned(points_.size());
    std::ranges::transform(points_, turned.begin(), [&](const point& p) {
      return point{std::cos(angle) * p[0] + std::sin(angle) * p[2], p[1],
                   std::cos(angle) * p[2] - std::sin(angle) * p[0]};
    });
    std::vector<sample> seen(std::size_t(window) * window);
    for (std::size_t t = 0; t < triangles_.size(); ++t) draw(t, turned, window, seen);
    view v;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      if (seen[i].depth == far) continue;
      v.pixels.push_back(static_cast<std::uint32_t>(i));
      v.texels.push_back(texel_of(seen[i]));
      v.light.push_back(seen[i].light);
    }
    return v;
  }

 private:
  static constexpr double far = -1e9;
  struct sample {
    double depth = far, light = 0, b = 0, c = 0;  // shares of the triangle's second and third corner
    std::size_t of = 0;
  };

  texel texel_of(const sample& s) const {
    const double last = cell_ - 2;  // so that the two triangles of a cell share no texel
    auto x = static_cast<std::uint32_t>(s.b * last), y = static_cast<std::uint32_t>(s.c * last);
    if (s.of % 2 != 0) x = cell_ - 1 - x, y = cell_ - 1 - y;
    const auto cell = static_cast<std::uint32_t>(s.of / 2);
    return {cell % per_row_ * cell_ + x, cell / per_row_ * cell_ + y};
  }

  void draw(std::size_t number, const std::vector<point>& at, std::uint32_t window,
            std::vector<sample>& seen) const {
    const point &p = at[triangles_[number][0]], &q = at[triangles_[number][1]],
                &r = at[triangles_[number][2]];
    const double scale = window / 2.2, middle = window / 2.0;
    const auto pixel = [&](const point& a) {
      return std::array{middle + scale * a[0], middle - scale * a[1]};
    };
    const auto a = pixel(p), b = pixel(q), c = pixel(r);
    const double area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    if (area == 0) return;
    const double light = facing(p, q, r);
    const auto first = [&](double x) { return static_cast<int>(std::max(0.0, std::floor(x))); };
    const auto last = [&](double x) { return static_cast<int>(std::min(window - 1.0, std::ceil(x))); };
    for (int y = first(std::min({a[1], b[1], c[1]})); y <= last(std::max({a[1], b[1], c[1]})); ++y) {
      for (int x = first(std::min({a[0], b[0], c[0]})); x <= last(std::max({a[0], b[0], c[0]})); ++x) {
        const double dx = x + 0.5 - a[0], dy = y + 0.5 - a[1];
        const double v = (dx * (c[1] - a[1]) - dy * (c[0] - a[0])) / area;
        const double w = (dy * (b[0] - a[0]) - dx * (b[1] - a[1])) / area;
        if (v < 0 || w < 0 || v + w > 1) continue;
        const double depth = p[2] + v * (q[2] - p[2]) + w * (r[2] - p[2]);
        sample& s = seen[std::size_t(y) * window + static_cast<std::size_t>(x)];
        if (depth > s.depth) s = {depth, light, v, w, number};
      }
    }
  }
  static double facing(const point& p, const point& q, const point& r) {
    const point u{q[0] - p[0], q[1] - p[1], q[2] - p[2]}, v{r[0] - p[0], r[1] - p[1], r[2] - p[2]};
    const point n{u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
    const double length = std::hypot(n[0], n[1], n[2]);
    return length == 0 ? 0 : std::abs(n[2]) / length;
  }

  void make_bumpy_sphere() {
    constexpr std::uint32_t around = 200, down = 100;
    constexpr double pi = 3.14159265358979;
    for (std::uint32_t i = 0; i <= down; ++i) {
      for (std::uint32_t j = 0; j < around; ++j) {
        const double u = pi * i / down, v = 2 * pi * j / around;
        const double radius = 1 + 0.12 * std::sin(5 * u) * std::cos(6 * v);
        points_.push_back(
            {radius * std::sin(u) * std::cos(v), radius * std::cos(u), radius * std::sin(u) * std::sin(v)});
      }
    }
    for (std::uint32_t i = 0; i < down; ++i) {
      for (std::uint32_t j = 0; j < around; ++j) {
        const std::uint32_t a = i * around + j, b = i * around + (j + 1) % around;
        triangles_.push_back({a, b, a + around});
        triangles_.push_back({b + around, a + around, b});
      }
    }
  }
  void read_off(const std::string& path) {
    std::ifstream file(path);
    std::string word;
    std::size_t corners = 0, faces = 0, edges = 0;
    const auto check = [&](bool right) {
      if (!right) throw std::runtime_error(path + ": no OFF file of triangles");
    };
    check(file >> word >> corners >> faces >> edges && word == "OFF" && corners < 100'000'000 && faces != 0);
    points_.resize(corners);
    for (point& p : points_) check(bool(file >> p[0] >> p[1] >> p[2]));
    for (std::size_t i = 0; i < faces; ++i) {
      std::size_t n = 0;
      triangle t{};
      check(file >> n >> t[0] >> t[1] >> t[2] && n == 3 && std::ranges::max(t) < corners);
      triangles_.push_back(t);
    }
  }
  // Into the cube from -1 to 1.
  void fit() {
    point least = points_.at(0), most = least;
    for (const point& p : points_) {
      for (std::size_t k = 0; k < 3; ++k)
        least[k] = std::min(least[k], p[k]), most[k] = std::max(most[k], p[k]);
    }
    double size = 0;
    for (std::size_t k = 0; k < 3; ++k) size = std::max(size, most[k] - least[k]);
    for (point& p : points_) {
      for (std::size_t k = 0; k < 3; ++k) p[k] = (2 * p[k] - least[k] - most[k]) / size;
    }
  }

  std::vector<point> points_;
  std::vector<triangle> triangles_;
  std::uint32_t per_row_ = 0, cell_ = 0;
};

}  // namespace sparse_paint
