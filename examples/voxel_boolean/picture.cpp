// SPDX-License-Identifier: Apache-2.0
#include "picture.hpp"

#include <algorithm>

#include "../png.hpp"

namespace voxel_boolean {
namespace {

constexpr std::uint32_t width = 400;  // of a panel, in pixels
constexpr colour background = {250, 250, 247};

class panel {
 public:
  explicit panel(count side)
      : side_(static_cast<float>(side)), depth_(width * width, far), paint_(width * width) {}

  // The camera looks along z, turned by 0.5 about the vertical and 0.35 about the horizontal axis.
  void draw(voxel v, const colour& paint) {
    const float middle = side_ / 2, scale = static_cast<float>(width) / (0.82F * side_);
    const float x = float(x_of(v)) - middle, y = float(y_of(v)) - middle, z = float(z_of(v)) - middle;
    const float across = 0.878F * x - 0.479F * z, away = 0.479F * x + 0.878F * z;
    const float up = 0.939F * y + 0.343F * away, depth = 0.939F * away - 0.343F * y;
    const auto radius = static_cast<int>(0.75F * scale + 0.5F);
    const auto column = static_cast<int>(width / 2 + across * scale);
    const auto row = static_cast<int>(width / 2 - up * scale);
    for (int r = row - radius; r <= row + radius; ++r) {
      for (int c = column - radius; c <= column + radius; ++c) {
        if (r < 0 || c < 0 || r >= int(width) || c >= int(width)) continue;
        const std::size_t at = std::size_t(r) * width + std::size_t(c);
        if (-depth <= depth_[at]) continue;
        depth_[at] = -depth;  // towards us is more
        paint_[at] = paint;
      }
    }
  }

  colour pixel(int row, int column) const {
    const std::size_t at = std::size_t(row) * width + std::size_t(column);
    if (depth_[at] == far) return background;
    const float right = smooth(row, column + 2) - smooth(row, column - 2);
    const float down = smooth(row + 2, column) - smooth(row - 2, column);
    const float step = 4 * 0.82F * side_ / static_cast<float>(width);
    const float length = std::sqrt(right * right + down * down + step * step);
    const float light = (0.35F * right + 0.5F * down + 0.8F * step) / length;
    const float shade = 0.3F + 0.7F * std::clamp(light, 0.0F, 1.0F);
    colour lit;
    for (std::size_t i = 0; i < 3; ++i) lit[i] = static_cast<std::uint8_t>(shade * float(paint_[at][i]));
    return lit;
  }

 private:
  static constexpr float far = -1e9F;

  // The depth around a pixel, without points behind it at an edge.
  float smooth(int row, int column) const {
    const float here = depth_[std::size_t(std::clamp(row, 0, int(width) - 1)) * width +
                              std::size_t(std::clamp(column, 0, int(width) - 1))];
    float sum = 0, n = 0;
    for (int r = row - 2; r <= row + 2; ++r) {
      for (int c = column - 2; c <= column + 2; ++c) {
        if (r < 0 || c < 0 || r >= int(width) || c >= int(width)) continue;
        const float d = depth_[std::size_t(r) * width + std::size_t(c)];
        if (std::abs(d - here) < 6) sum += d, ++n;
      }
    }
    return n == 0 ? here : sum / n;
  }

  float side_;
  std::vector<float> depth_;
  std::vector<colour> paint_;
};

}  // namespace

void write_picture(const std::string& path, count side,
                   const std::vector<std::vector<coloured_voxels>>& panels) {
  tilehash_examples::picture all(static_cast<std::uint32_t>(panels.size()) * width, width, 0);
  for (std::uint32_t p = 0; p < panels.size(); ++p) {
    panel shown(side);
    for (const auto& list : panels[p]) {
      for (const voxel v : *list.voxels) shown.draw(v, list.paint);
    }
    for (std::uint32_t row = 0; row < width; ++row) {
      for (std::uint32_t column = 0; column < width; ++column) {
        const colour lit = shown.pixel(int(row), int(column));
        all.at(p * width + column, row) = tilehash_examples::colour(lit[0], lit[1], lit[2]);
      }
    }
  }
  tilehash_examples::write_png(path, all);
}

}  // namespace voxel_boolean
