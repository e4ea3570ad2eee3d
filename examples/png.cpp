// SPDX-License-Identifier: Apache-2.0
#include "png.hpp"

#include <png.h>

#include <stdexcept>

namespace tilehash_examples {

static_assert(PNG_FORMAT_RGBA == (PNG_FORMAT_FLAG_COLOR | PNG_FORMAT_FLAG_ALPHA),
              "bytes in the order of pixel");

picture read_png(const std::string& path) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  const auto fail = [&](const std::string& what) {
    const std::string text = path + ": " + what;
    png_image_free(&image);
    throw std::runtime_error(text);
  };
  if (png_image_begin_read_from_file(&image, path.c_str()) == 0) fail(image.message);
  if (std::uint64_t(image.width) * image.height > std::uint64_t(1) << 30)
    fail("over 2^30 pixels; give a smaller picture");
  picture p(image.width, image.height, 0);
  p.narrowed = (image.format & PNG_FORMAT_FLAG_LINEAR) != 0;
  image.format = PNG_FORMAT_RGBA;
  if (png_image_finish_read(&image, nullptr, p.pixels.data(), 0, nullptr) == 0)
    fail(std::string("the picture is damaged, or ends too early: ") + image.message);
  return p;
}

void write_png(const std::string& path, const picture& p) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = p.width;
  image.height = p.height;
  image.format = PNG_FORMAT_RGBA;
  if (png_image_write_to_file(&image, path.c_str(), 0, p.pixels.data(), 0, nullptr) == 0)
    throw std::runtime_error(path + ": " + image.message);
}

}  // namespace tilehash_examples
