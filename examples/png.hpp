// SPDX-License-Identifier: Apache-2.0
// Pictures in PNG files, by libpng.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tilehash_examples {

using pixel = std::uint32_t;  // red in the lowest byte, then green, blue and opacity

constexpr pixel colour(std::uint32_t red, std::uint32_t green, std::uint32_t blue) {
  return red | green << 8 | blue << 16 | 0xff000000;
}

struct picture {
  std::uint32_t width = 0, height = 0;
  std::vector<pixel> pixels;  // row by row from the top
  bool narrowed = false;      // the file had 16 bits a channel, of which these are the upper eight

  picture() = default;
  picture(std::uint32_t w, std::uint32_t h, pixel all)
      : width(w), height(h), pixels(std::size_t(w) * h, all) {}
  pixel& at(std::uint32_t x, std::uint32_t y) { return pixels[std::size_t(y) * width + x]; }
  pixel at(std::uint32_t x, std::uint32_t y) const { return pixels[std::size_t(y) * width + x]; }
};

// For any kind of PNG: grey, palette, interlaced ... Both throw std::runtime_error with one line where the
// file cannot be read, is damaged or ends too early; or cannot be written.
picture read_png(const std::string& path);
void write_png(const std::string& path, const picture& p);

}  // namespace tilehash_examples
