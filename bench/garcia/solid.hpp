// SPDX-License-Identifier: Apache-2.0
// The inside of a closed surface of triangles, row by row of a cube of voxels.
#pragma once

#include <tilehash/core/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace tilehash::bench {

class solid {
 public:
  // Reads an OFF file, and fits it into a cube of side^3 voxels. Throws invalid_argument.
  solid(const std::string& path, std::size_t side) : side_(side), crossings_(side * side) {
    std::ifstream file(path);
    std::string word;
    std::size_t corners = 0, faces = 0, edges = 0;
    const auto check = [&](bool right) {
      if (!right) throw invalid_argument(path + ": no OFF file of triangles");
    };
    check(file >> word >> corners >> faces >> edges && word == "OFF" && corners != 0 &&
          corners < 100'000'000);
    std::vector<point> points(corners);
    for (point& p : points) check(bool(file >> p[0] >> p[1] >> p[2]));
    fit(points);
    for (std::size_t i = 0; i < faces; ++i) {
      std::size_t n = 0;
      std::array<std::size_t, 3> t{};
      check(file >> n >> t[0] >> t[1] >> t[2] && n == 3 && std::ranges::max(t) < corners);
      std::ranges::sort(t);  // so that neighbours cut their edge at the same point
      cut({points[t[0]], points[t[1]], points[t[2]]});
    }
    for (auto& row : crossings_) std::ranges::sort(row);
  }

  bool has(std::size_t x, std::size_t y, std::size_t z) const {
    const auto& row = crossings_[z * side_ + y];
    const auto before = std::ranges::lower_bound(row, static_cast<double>(x) + 0.5) - row.begin();
    return before % 2 != 0;
  }

 private:
  using point = std::array<double, 3>;

  void fit(std::vector<point>& points) const {
    point least = points[0], most = least;
    for (const point& p : points) {
      for (std::size_t k = 0; k < 3; ++k)
        least[k] = std::min(least[k], p[k]), most[k] = std::max(most[k], p[k]);
    }
    double size = 0;
    for (std::size_t k = 0; k < 3; ++k) size = std::max(size, most[k] - least[k]);
    const double scale = (static_cast<double>(side_) - 1) / size, middle = static_cast<double>(side_) / 2;
    for (point& p : points) {
      for (std::size_t k = 0; k < 3; ++k) p[k] = middle + scale * (p[k] - (least[k] + most[k]) / 2);
    }
  }

  // Middles of the voxels that a part from `a` to `b` of an axis has, as numbers of voxels.
  std::pair<std::size_t, std::size_t> middles(double a, double b) const {
    const auto from = [&](double at) {
      return static_cast<std::size_t>(std::clamp(std::ceil(at - 0.5), 0.0, static_cast<double>(side_)));
    };
    return {from(std::min(a, b)), from(std::max(a, b))};
  }

  // Planes of z cut the triangle, and rows of y the lines that this gives.
  void cut(const std::array<point, 3>& t) {
    const auto [first, last] =
        middles(std::min({t[0][2], t[1][2], t[2][2]}), std::max({t[0][2], t[1][2], t[2][2]}));
    for (std::size_t z = first; z < last; ++z) {
      const double plane = static_cast<double>(z) + 0.5;
      std::array<point, 2> ends{};
      std::size_t n = 0;
      for (const auto& [a, b] : {std::pair(0, 1), std::pair(0, 2), std::pair(1, 2)}) {
        const point &p = t[static_cast<std::size_t>(a)], &q = t[static_cast<std::size_t>(b)];
        if ((p[2] <= plane) == (q[2] <= plane) || n == 2) continue;
        const double share = (plane - p[2]) / (q[2] - p[2]);
        ends[n++] = {p[0] + share * (q[0] - p[0]), p[1] + share * (q[1] - p[1]), plane};
      }
      if (n == 2) cross(z, ends[0], ends[1]);
    }
  }
  void cross(std::size_t z, const point& p, const point& q) {
    const auto [first, last] = middles(p[1], q[1]);
    for (std::size_t y = first; y < last; ++y) {
      const double share = (static_cast<double>(y) + 0.5 - p[1]) / (q[1] - p[1]);
      crossings_[z * side_ + y].push_back(p[0] + share * (q[0] - p[0]));
    }
  }

  std::size_t side_;
  std::vector<std::vector<double>> crossings_;  // of each row
};

}  // namespace tilehash::bench
