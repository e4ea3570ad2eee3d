// SPDX-License-Identifier: Apache-2.0
// Voxels of closed surfaces whose inside is known.
#include "garcia/solid.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>

#include <tilehash/core/error.hpp>

namespace tilehash::bench {
namespace {

class Solid : public ::testing::Test {
 protected:
  ~Solid() override { std::remove(path.c_str()); }
  void write(const std::string& text) const { std::ofstream(path) << text; }

  std::string path = ::testing::TempDir() + "tilehash_solid.off";
};

TEST_F(Solid, octahedron) {
  write(
      "OFF\n6 8 12\n1 0 0\n-1 0 0\n0 1 0\n0 -1 0\n0 0 1\n0 0 -1\n"
      "3 0 2 4\n3 2 1 4\n3 1 3 4\n3 3 0 4\n3 2 0 5\n3 1 2 5\n3 3 1 5\n3 0 3 5\n");
  constexpr std::size_t side = 20;
  const solid its(path, side);
  for (std::size_t z = 0; z < side; ++z) {
    for (std::size_t y = 0; y < side; ++y) {
      for (std::size_t x = 0; x < side; ++x) {
        const auto away = [](std::size_t at) { return std::abs(static_cast<double>(at) - 9.5); };
        const double sum = away(x) + away(y) + away(z);
        if (sum == 9.5) continue;  // on the surface
        EXPECT_EQ(its.has(x, y, z), sum < 9.5) << x << ' ' << y << ' ' << z;
      }
    }
  }
}

TEST_F(Solid, refuses_what_is_no_mesh) {
  for (const char* text : {"", "OFX\n3 1 3\n", "OFF\n3 1 3\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n",
                           "OFF\n4 1 4\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n"}) {
    write(text);
    EXPECT_THROW(solid(path, 8), invalid_argument) << text;
  }
}

}  // namespace
}  // namespace tilehash::bench
